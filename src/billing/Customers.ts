import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts, type EmailTaken } from "../account/Accounts.ts"
import type { AccountRow } from "../account/AccountsSql.ts"
import { type Actor, Audit } from "../account/Audit.ts"
import { Keys } from "../account/Keys.ts"
import { scopes } from "../auth/Scopes.ts"
import type { Failure } from "../domain/Failure.ts"
import { type Nano, usdFromNano } from "../domain/Money.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { nanoOfTopUp } from "./TopUps.ts"
import { endOpen, type TopUpRow } from "./TopUpsSql.ts"

/** Somebody with the command line of the machine. */
export const OPERATOR: Actor = { type: "operator", id: "command-line" }

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
    /** An account with a balance, an inference key and a management key with every scope; all of it or nothing. */
    readonly open: (
      email: string,
      balance: Nano,
      actor: Actor
    ) => Effect.Effect<NewCustomer, EmailTaken | Failure | Unavailable>
    /** Adds to an account's balance, writes that into its audit log and answers what the balance is then. */
    readonly topUp: (account: AccountRow, amount: Nano, actor?: Actor) => Effect.Effect<Nano, Unavailable>
    /**
     * Ends a top-up that stays open, as `expired`, and writes that into the audit log; undefined where there is no open one. What is
     * paid for it all the same is credited.
     */
    readonly endTopUp: (id: string, actor: Actor) => Effect.Effect<TopUpRow | undefined, Unavailable>
  }
>()("tollgate/billing/Customers") {
  static readonly layer = Layer.effect(
    Customers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const audit = yield* Audit
      const keys = yield* Keys
      const ledger = yield* Ledger
      const topUp = (account: AccountRow, amount: Nano, actor: Actor = OPERATOR) =>
        Effect.gen(function* () {
          const { id: accountId } = account
          if (amount > 0n) {
            yield* audit.append({
              accountId,
              type: "balance.topped_up",
              actor,
              resource: { type: "account", id: accountId },
              changes: { amount_usd: usdFromNano(amount) }
            })
            // Last, because it locks the balance that running requests wait for.
            yield* ledger.within(sql, { _tag: "Credit", accountId, amount, source: "funding", reference: null })
          }
          return (yield* ledger.balance(accountId))?.posted ?? 0n
        }).pipe(sql.withTransaction, storeErrors)
      const endTopUp = (id: string, actor: Actor) =>
        Effect.gen(function* () {
          const row = yield* endOpen(sql, id)
          if (row === undefined) return undefined
          yield* audit.append({
            accountId: row.account_id,
            type: "top_up.ended",
            actor,
            resource: { type: "top_up", id },
            changes: {
              status: { from: "open", to: row.status },
              amount_usd: usdFromNano(nanoOfTopUp(row.amount_cents))
            }
          })
          return row
        }).pipe(sql.withTransaction, storeErrors)
      return Customers.of({
        topUp,
        endTopUp,
        open: (email, balance, actor) =>
          Effect.gen(function* () {
            const account = yield* accounts.create(email, actor)
            const { id: accountId } = account
            const inference = yield* keys.create({ accountId, kind: "inference", name: "default", scopes: [], actor })
            const management = yield* keys.create({ accountId, kind: "management", name: "default", scopes, actor })
            yield* topUp(account, balance, actor)
            return { account, inferenceKey: inference.key, managementKey: management.key }
          }).pipe(sql.withTransaction, storeErrors)
      })
    })
  )
}
