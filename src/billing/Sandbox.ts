/** The end of a sandbox: its simulated money and its demo keys are voided, so that the database can serve real providers. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, Audit } from "../account/Audit.ts"
import { Keys } from "../account/Keys.ts"
import { type Nano, usdFromNano } from "../domain/Money.ts"
import { endOf, withoutResult } from "../ledger/Ending.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { accountsWithPlay, demoKeyIds, type SandboxTraces, sandboxTraces, unendedPlay } from "./SandboxSql.ts"

/** The owner of the account that the first start of an empty sandbox creates. */
export const DEMO_EMAIL = "demo@tollgate.local"

/** The records that the end of a sandbox voided. */
export interface VoidedRecords {
  readonly accounts: number
  readonly simulated: Nano
  /** Running requests, which ended without a charge. */
  readonly requests: number
  readonly keys: number
}

/** The records that a sandbox has left in the database. */
export const tracesOf = (sql: SqlClient.SqlClient): Effect.Effect<SandboxTraces, Unavailable> =>
  storeErrors(sandboxTraces(sql, DEMO_EMAIL))

export const hasTraces = ({ keys, simulated }: SandboxTraces): boolean => simulated > 0n || keys > 0n

/** Clears a sandbox, so that its database can serve real providers. */
export class Sandbox extends Context.Service<
  Sandbox,
  {
    /**
     * Ends the requests that simulated money pays for, voids that money, revokes the demo keys, and writes all of this into the audit
     * log. Real money, receipts and everything else stay. A sandbox that still runs may make more, which `left` shows.
     */
    readonly clear: (actor: Actor) => Effect.Effect<VoidedRecords & { readonly left: SandboxTraces }, Unavailable>
  }
>()("tollgate/billing/Sandbox") {
  static readonly layer = Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const keys = yield* Keys
      const ledger = yield* Ledger

      const clearAccount = (accountId: string, actor: Actor) =>
        Effect.gen(function* () {
          const unended = yield* unendedPlay(sql, accountId)
          for (const { charged, cost, id: requestId } of unended) {
            // The same as when the client disconnects.
            const facts = withoutResult("cancelled", null)
            const op = endOf({ requestId, accountId, charged: charged ? cost : undefined }, undefined, facts)
            yield* "_tag" in op ? ledger.within(sql, op) : ledger.conclude(sql, op)
          }
          const { held = 0n, posted = 0n } = (yield* ledger.balance(accountId))?.play ?? {}
          const voided = posted - held
          if (voided > 0n) {
            const source = "play" as const
            yield* ledger.within(sql, { _tag: "Adjust", accountId, amount: -voided, source, reference: null })
          }
          yield* audit.append({
            accountId,
            actor,
            type: "balance.simulated_voided",
            resource: { type: "account", id: accountId },
            changes: { simulated_usd: usdFromNano(voided), requests_cancelled: unended.length }
          })
          return { voided, requests: unended.length }
        }).pipe(sql.withTransaction, storeErrors)

      return Sandbox.of({
        clear: (actor) =>
          Effect.gen(function* () {
            const accounts = yield* storeErrors(accountsWithPlay(sql))
            const cleared = yield* Effect.forEach(accounts, (id) => clearAccount(id, actor))
            const demo = yield* storeErrors(demoKeyIds(sql, DEMO_EMAIL))
            yield* Effect.forEach(demo, (id) => keys.revoke(id, actor), { discard: true })
            return {
              accounts: accounts.length,
              simulated: cleared.reduce((sum, { voided }) => sum + voided, 0n),
              requests: cleared.reduce((sum, { requests }) => sum + requests, 0),
              keys: demo.length,
              left: yield* tracesOf(sql)
            }
          })
      })
    })
  )
}
