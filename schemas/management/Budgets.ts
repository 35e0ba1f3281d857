import { Schema } from "effect"
import { integer } from "../Bounds.ts"

/** The limit per period in whole USD cents, at most a hundred million dollars. */
export const BudgetCents = integer(0, 10_000_000_000)

/** The UTC day, the week from Monday, the month, or all time. */
export const BudgetPeriod = Schema.Literals(["daily", "weekly", "monthly", "lifetime"])
