/** Amounts, times and statuses. Hovering shows the full value. */
import { useEffect, useState } from "react"
import { ago, moment } from "../format/Figures.ts"
import { exactMoney, money } from "../format/Money.ts"
import { statusName, toneOf } from "../format/Words.ts"

/** A figure. A screen reader says "minus" for its minus sign. */
export const Signed = ({ text }: { readonly text: string }) =>
  text.startsWith("−") ? (
    <span className="signed">
      <span className="unseen">minus </span>
      <span aria-hidden="true">−</span>
      {text.slice(1)}
    </span>
  ) : (
    text
  )

/** An amount in US dollars. */
export const Money = ({ usd }: { readonly usd: number }) => (
  <span className="number" title={exactMoney(usd)}>
    <Signed text={money(usd)} />
  </span>
)

const REFRESH_MS = 10_000

/** The time since a moment, or until it. It updates every ten seconds. */
export const Ago = ({ at }: { readonly at: number }) => {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <time className="number" dateTime={new Date(at * 1_000).toISOString()} title={moment(at)}>
      {ago(at)}
    </time>
  )
}

/** The name of a status, in its colour. */
export const Status = ({ of }: { readonly of: string }) => (
  <span className={`badge ${toneOf(of)}`}>{statusName(of)}</span>
)
