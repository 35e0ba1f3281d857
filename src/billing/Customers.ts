import { Context, Effect, Layer } from "effect"
import { Accounts, type EmailTaken } from "../account/Accounts.ts"
import type { AccountRow } from "../account/AccountsSql.ts"
import type { Actor } from "../account/Audit.ts"
import { Keys } from "../account/Keys.ts"
import { scopes } from "../auth/Scopes.ts"
import type { Failure } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import { Ledger } from "../ledger/Ledger.ts"
import type { Unavailable } from "../platform/Sql.ts"

/** A new customer; the only time the keys are shown. */
export interface NewCustomer {
  readonly account: AccountRow
  readonly inferenceKey: string
  readonly managementKey: string
}

/** Opens accounts with money and keys, and takes money in by an operator's hand. */
export class Customers extends Context.Service<
  Customers,
  {
    /** An account with a balance, an inference key and a management key with every scope. */
    readonly open: (
      email: string,
      balance: Nano,
      actor: Actor
    ) => Effect.Effect<NewCustomer, EmailTaken | Failure | Unavailable>
    /** Adds to an account's balance and answers what it is then. */
    readonly topUp: (account: AccountRow, amount: Nano) => Effect.Effect<Nano, Unavailable>
  }
>()("tollgate/billing/Customers") {
  static readonly layer = Layer.effect(
    Customers,
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const keys = yield* Keys
      const ledger = yield* Ledger
      const topUp = (account: AccountRow, amount: Nano) =>
        Effect.gen(function* () {
          if (amount > 0n) {
            const source = "funding" as const
            yield* ledger.commit({ _tag: "Credit", accountId: account.id, amount, source, reference: null })
          }
          return (yield* ledger.balance(account.id))?.posted ?? 0n
        })
      return Customers.of({
        topUp,
        open: (email, balance, actor) =>
          Effect.gen(function* () {
            const account = yield* accounts.create(email, actor)
            yield* topUp(account, balance)
            const { id: accountId } = account
            const inference = yield* keys.create({ accountId, kind: "inference", name: "default", scopes: [], actor })
            const management = yield* keys.create({ accountId, kind: "management", name: "default", scopes, actor })
            return { account, inferenceKey: inference.key, managementKey: management.key }
          })
      })
    })
  )
}
