import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Nano } from "../domain/Money.ts"
import { Metrics } from "../platform/Metrics.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import type { Span } from "../platform/Tracing.ts"
import { makeGroupCommit, type Patience } from "./GroupCommit.ts"
import { recorded } from "./LedgerSpan.ts"
import { balanceOf, commitGroup, dropOldClaims, expireOverdue, freeLapsed } from "./LedgerSql.ts"
import type { Operation, OperationResult } from "./Operation.ts"

/** Overdue holds ended, or old claims freed, in one statement of a sweep. */
const SWEEP_BATCH = 100

const usualPatience: Patience = { holdMs: 3_000, closeMs: 30_000, statementMs: 10_000 }

/**
 * Money. Every movement is one of the operations of `Operation.ts`, carried out durably by one statement, whole or not at all.
 * It never lets an account's holds exceed what it has, never settles more than was held, and knows nothing of models.
 */
export class Ledger extends Context.Service<
  Ledger,
  {
    /**
     * Joins the next group commit. Repeating it after `Unavailable` is safe: each operation happens once. Given the span of its
     * request, it is recorded as one below it.
     */
    readonly commit: <Op extends Operation>(
      operation: Op,
      span?: Span
    ) => Effect.Effect<OperationResult<Op>, Unavailable>
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
    /** Frees those of an account's claims whose requests ended by their expiry with nothing charged; answers how many. */
    readonly freeLapsed: (accountId: string, claims: ReadonlyArray<string>) => Effect.Effect<number, Unavailable>
    /** Frees some idempotency keys that ended longer ago than this and forgets their stored answers; answers how many. */
    readonly dropClaims: (olderThanMs: number) => Effect.Effect<number, Unavailable>
  }
>()("tollgate/ledger/Ledger") {
  /** With another patience towards a database that cannot be used. */
  static readonly layerPatience = (patience: Patience) =>
    Layer.effect(
      Ledger,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const group = yield* makeGroupCommit(sql, patience, (yield* Metrics).ledger.committed)
        return Ledger.of({
          commit: <Op extends Operation>(operation: Op, span?: Span) => {
            const committed = group.commit(operation) as Effect.Effect<OperationResult<Op>, Unavailable>
            return span === undefined ? committed : recorded(committed, operation, span)
          },
          within: <Op extends Operation>(transaction: SqlClient.SqlClient, operation: Op) =>
            Effect.map(commitGroup(transaction, [operation]), ([result]) => result as OperationResult<Op>),
          balance: (accountId) => storeErrors(balanceOf(sql, accountId)),
          expireOverdue: storeErrors(expireOverdue(sql, SWEEP_BATCH)),
          freeLapsed: (accountId, claims) => storeErrors(freeLapsed(sql, accountId, claims)),
          dropClaims: (olderThanMs) => storeErrors(dropOldClaims(sql, olderThanMs, SWEEP_BATCH))
        })
      })
    )

  static readonly layer = this.layerPatience(usualPatience)
}
