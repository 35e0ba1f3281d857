/** The fields of a budget. */
import { Field } from "./Fields.tsx"

export const periods = ["daily", "weekly", "monthly", "lifetime"] as const
export type Period = (typeof periods)[number]

export interface BudgetDraft {
  /** The amount in dollars, as the user typed it. */
  readonly usd: string
  readonly period: Period
}

const CENTS = 100

/** The fields for a budget of the API; null stands for no budget. */
export const draftOf = (cents: number | null, period: Period | null): BudgetDraft => ({
  usd: cents === null ? "" : String(cents / CENTS),
  period: period ?? "monthly"
})

/** Whether the amount is empty, which means no budget, or is dollars in whole cents. */
export const isBudget = ({ usd }: BudgetDraft): boolean => usd.trim() === "" || /^\d{1,8}(\.\d{1,2})?$/.test(usd.trim())

/** The budget for the API. */
export const budgetOf = ({ period, usd }: BudgetDraft) =>
  usd.trim() === ""
    ? { budget_cents: null, budget_period: null }
    : { budget_cents: Math.round(Number(usd) * CENTS), budget_period: period }

interface BudgetFieldsProps {
  readonly draft: BudgetDraft
  readonly onChange: (draft: BudgetDraft) => void
}

/** The amount and the period of a budget, side by side. */
export const BudgetFields = ({ draft, onChange }: BudgetFieldsProps) => (
  <div className="grid two">
    <Field
      label="Budget in dollars"
      hint="Leave it empty for no budget. The gateway refuses requests once it is spent."
      wrong={isBudget(draft) ? undefined : "The budget must be an amount such as 25 or 12.50."}
    >
      {(props) => (
        <input
          {...props}
          className="input"
          inputMode="decimal"
          value={draft.usd}
          onChange={(event) => onChange({ ...draft, usd: event.target.value })}
        />
      )}
    </Field>
    <Field label="Period" hint="Periods follow the calendar in UTC.">
      {(props) => (
        <select
          {...props}
          className="select"
          value={draft.period}
          onChange={(event) => onChange({ ...draft, period: event.target.value as Period })}
        >
          {periods.map((period) => (
            <option key={period}>{period}</option>
          ))}
        </select>
      )}
    </Field>
  </div>
)
