import { Schema } from "effect"
import { Usd } from "../Bounds.ts"

/** What the account has. `available_usd` is what running requests do not hold. */
export const BalanceReport = Schema.Struct({
  data: Schema.Struct({
    balance_usd: Schema.Finite,
    held_usd: Usd,
    available_usd: Schema.Finite,
    currency: Schema.Literal("USD"),
    /** How much of the balance is simulated money of a sandbox, which cannot pay a real provider. */
    simulated_usd: Schema.Finite,
    /** The balance is below $5.00. */
    low_balance: Schema.Boolean,
    /** What the account was given when its owner's telephone was verified; 0 before. */
    starter_credit_usd: Usd
  })
}).annotate({ identifier: "BalanceReport" })
export type BalanceReport = typeof BalanceReport.Type
