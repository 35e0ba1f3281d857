import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Nano } from "../domain/Money.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { expiryOf, makeGroupCommit } from "./GroupCommit.ts"
import { balanceOf, commitGroup, dropOldClaims, ensureBudgetPeriods, overdueRequests } from "./LedgerSql.ts"
import type { BudgetPeriod, Operation, OperationResult } from "./Operation.ts"

/** Overdue holds ended, or old claims freed, in one statement of a sweep. */
const SWEEP_BATCH = 100

/** Budget periods known to have their row; past this many the set starts anew. */
const KNOWN_PERIODS_MAX = 10_000

const periodsOf = (operation: Operation) => ("budgets" in operation ? operation.budgets : [])

/**
 * Money. Every movement is one of the operations of `Operation.ts`, carried out durably by one statement, whole or not at all.
 * It never lets an account's holds exceed what it has, never settles more than was held, and knows nothing of models.
 */
export class Ledger extends Context.Service<
  Ledger,
  {
    /** Joins the next group commit. Repeating it after `Unavailable` is safe: each operation happens once. */
    readonly commit: <Op extends Operation>(operation: Op) => Effect.Effect<OperationResult<Op>, Unavailable>
    /** Runs at once, inside the caller's transaction on this database, and is undone with it. */
    readonly within: <Op extends Operation>(
      transaction: SqlClient.SqlClient,
      operation: Op
    ) => Effect.Effect<OperationResult<Op>, SqlError.SqlError>
    /** What an account has, and what of that is held. Undefined for an unknown account. */
    readonly balance: (
      accountId: string
    ) => Effect.Effect<{ readonly posted: Nano; readonly held: Nano } | undefined, Unavailable>
    /** Ends what is overdue: settles its recorded progress, releases the rest. Answers how many it ended. */
    readonly expireOverdue: Effect.Effect<number, Unavailable>
    /** Frees idempotency keys that ended longer ago than this and forgets their stored answers. */
    readonly dropClaims: (olderThanMs: number) => Effect.Effect<void, Unavailable>
  }
>()("tollgate/ledger/Ledger") {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const group = yield* makeGroupCommit(sql)
      const known = new Set<string>()

      const ensurePeriods = (client: SqlClient.SqlClient, budgets: ReadonlyArray<BudgetPeriod>) => {
        const missing = budgets.filter((b) => !known.has(`${b.budgetId}:${b.periodStart}`))
        if (missing.length === 0) return Effect.void
        return Effect.map(ensureBudgetPeriods(client, missing), () => {
          // Rows made in a transaction may still be undone; only a committed one is remembered.
          if (client !== sql) return
          if (known.size >= KNOWN_PERIODS_MAX) known.clear()
          for (const b of missing) known.add(`${b.budgetId}:${b.periodStart}`)
        })
      }

      return Ledger.of({
        commit: <Op extends Operation>(operation: Op) => {
          const budgets = periodsOf(operation)
          const commit = group.commit(operation) as Effect.Effect<OperationResult<Op>, Unavailable>
          return budgets.length === 0 ? commit : Effect.andThen(storeErrors(ensurePeriods(sql, budgets)), commit)
        },
        within: <Op extends Operation>(transaction: SqlClient.SqlClient, operation: Op) =>
          Effect.andThen(
            ensurePeriods(transaction, periodsOf(operation)),
            Effect.map(commitGroup(transaction, [operation]), ([result]) => result as OperationResult<Op>)
          ),
        balance: (accountId) => storeErrors(balanceOf(sql, accountId)),
        expireOverdue: storeErrors(
          Effect.gen(function* () {
            const overdue = yield* overdueRequests(sql, SWEEP_BATCH)
            const results = overdue.length === 0 ? [] : yield* commitGroup(sql, overdue.map(expiryOf))
            return results.filter((result) => result._tag === "Closed").length
          })
        ),
        dropClaims: (olderThanMs) => storeErrors(Effect.asVoid(dropOldClaims(sql, olderThanMs, SWEEP_BATCH)))
      })
    })
  )
}
