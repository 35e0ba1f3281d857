import { Schema } from "effect"
import { Usd } from "../Bounds.ts"

/** The account's money. `available_usd` is the part that running requests do not hold. */
export const BalanceReport = Schema.Struct({
  data: Schema.Struct({
    balance_usd: Schema.Finite,
    held_usd: Usd,
    available_usd: Schema.Finite,
    currency: Schema.Literal("USD"),
    /** The part of the balance that is simulated money of a sandbox, which cannot pay a real provider. */
    simulated_usd: Schema.Finite,
    /** Whether the balance is below $5.00. */
    low_balance: Schema.Boolean,
    /** The credit that the account received when its owner's phone number was verified; 0 before. */
    starter_credit_usd: Usd
  })
}).annotate({ identifier: "BalanceReport" })
export type BalanceReport = typeof BalanceReport.Type
