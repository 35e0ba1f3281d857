import { money } from "../format/Money.ts"

const CLOSE = 0.8

interface MeterProps {
  readonly spentCents: number
  readonly budgetCents: number
  readonly period: string | null
}

/** The spent part of a budget, in words and as a bar. */
export const Meter = ({ budgetCents, period, spentCents }: MeterProps) => {
  const part = budgetCents === 0 ? 1 : Math.min(1, spentCents / budgetCents)
  const tone = part >= 1 ? " bad" : part >= CLOSE ? " warn" : ""
  return (
    <div className={`meter${tone}`}>
      <span className="number small">
        {money(spentCents / 100)} <span className="muted">of {money(budgetCents / 100)}</span>
        {period === null ? null : <span className="muted"> {period}</span>}
        {part >= 1 ? " · spent" : ""}
      </span>
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect className="track" width="100" height="4" />
        <rect className="fill" width={part * 100} height="4" />
      </svg>
    </div>
  )
}
