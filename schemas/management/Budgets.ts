import { Schema } from "effect"
import { integer } from "../Bounds.ts"

/** What may be spent in each period, in integer USD cents: a hundred million dollars at most. */
export const BudgetCents = integer(0, 10_000_000_000)

/** The UTC day, the week from Monday, the month, or all time. */
export const BudgetPeriod = Schema.Literals(["daily", "weekly", "monthly", "lifetime"])
