import { Context, Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Balance } from "../domain/Balance.ts"
import type { Nano } from "../domain/Money.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import { storeErrors, Unavailable } from "../platform/database/Sql.ts"
import { statementsOf } from "../platform/database/Statements.ts"
import type { Span } from "../platform/telemetry/Tracing.ts"
import { endResultOf, endOf, type EndResult, type EndingRequest, withoutResult } from "./Ending.ts"
import { makeGroupCommit, type LedgerTimeouts } from "./GroupCommit.ts"
import { recordSpan } from "./LedgerSpan.ts"
import {
  balanceOf,
  carveOne,
  commitWithin,
  concludeOne,
  dropOldClaims,
  expireOverdue,
  freeLapsed,
  refundOverdue
} from "./LedgerSql.ts"
import type {
  CloseOperation,
  CloseResult,
  ConcludeOperation,
  ConcludeResult,
  HoldOperation,
  HoldResult,
  Operation,
  OperationResult,
  RefundOperation,
  RequestEnd
} from "./Operation.ts"

/** The maximum number of overdue holds to end, or old claims to free, in one statement of a sweep. */
const SWEEP_BATCH = 100

const RETRY_PAUSE = "100 millis"

/** Ends a hold without an owner, if it was committed. Otherwise it would keep its idempotency key and its money until it expires. */
const undone = (
  { accountId, atLeast, charge, requestId, ttlMs }: HoldOperation,
  end: (op: CloseOperation | ConcludeOperation) => Effect.Effect<unknown, Unavailable>
): Effect.Effect<void> => {
  const request = { requestId, accountId, charged: charge ? atLeast : undefined }
  const ended = end(endOf(request, undefined, withoutResult("failed", { _tag: "StoreUnavailable" })))
  return Effect.ignore(Effect.retry(ended, Schedule.spaced("1 second").pipe(Schedule.upTo({ duration: ttlMs }))))
}

/** How long the ledger retries to end a request without a returned answer while the database is unavailable. */
const GIVE_BACK_FOR = "1 hour"

/** Ends a request without a cost. Gives back what an unconfirmed end has charged. */
const refundOf = (
  request: EndingRequest,
  end: (op: CloseOperation | ConcludeOperation) => Effect.Effect<CloseResult | ConcludeResult, Unavailable>,
  refund: (op: RefundOperation) => Effect.Effect<unknown, Unavailable>
): Effect.Effect<void> => {
  const { accountId, requestId } = request
  const ended = end(endOf(request, undefined, withoutResult("failed", { _tag: "StoreUnavailable" })))
  const back = Effect.flatMap(ended, (result) => {
    const amount = endResultOf(result).cost
    if (amount === 0n) return Effect.void
    return refund({ _tag: "Refund", requestId, accountId, amount, reference: `undelivered ${requestId}` })
  })
  return Effect.ignore(Effect.retry(back, Schedule.spaced("1 second").pipe(Schedule.upTo({ duration: GIVE_BACK_FOR }))))
}

const usualPatience: LedgerTimeouts = { holdMs: 3_000, closeMs: 30_000, statementMs: 10_000 }

/**
 * Moves money. Every movement is one of the operations of `Operation.ts`, and one statement commits it, as a whole or not at all. The
 * ledger never lets an account's holds exceed its balance, and never settles more than was held. It knows nothing of models.
 */
export class Ledger extends Context.Service<
  Ledger,
  {
    /**
     * Joins the next group commit. Repeating an operation after `Unavailable` is safe, because each happens once. A hold must not be
     * repeated: the ledger ends one that may be committed although it answered `Unavailable`. With the span of its request, the
     * operation is recorded as a span below it.
     */
    readonly commit: <Op extends Operation>(
      operation: Op,
      span?: Span
    ) => Effect.Effect<OperationResult<Op>, Unavailable>
    /** Runs the operation at once in the caller's transaction, and is rolled back with it. */
    readonly within: <Op extends Operation>(
      transaction: SqlClient.SqlClient,
      operation: Op
    ) => Effect.Effect<OperationResult<Op>, SqlError.SqlError>
    /**
     * Takes a hold out of another open hold of the same account, the source. In the same instant the source shrinks by what is granted,
     * so the hold is not refused while the source has room beyond its progress. It counts towards the source's budgets. If the source
     * does not have enough left, the remainder is held from the balance like any other hold. A repeat takes nothing more. The owner of
     * the source renews it by an `Extend` with `held` zero; with the former amount it would get that amount again.
     */
    readonly carve: (fromRequestId: string, hold: HoldOperation, span?: Span) => Effect.Effect<HoldResult, Unavailable>
    /**
     * Ends a request that was charged up front, once, in the caller's transaction: gives back `refund` and completes its receipt.
     * Returns "Gone" when it was concluded before, or refunded at its expiry.
     */
    readonly conclude: (
      transaction: SqlClient.SqlClient,
      end: ConcludeOperation
    ) => Effect.Effect<ConcludeResult["_tag"], SqlError.SqlError>
    /** Ends a request that was charged up front, in a transaction of its own, which the ledger retries for as long as a close. */
    readonly concludeAlone: (end: ConcludeOperation, span?: Span) => Effect.Effect<ConcludeResult, Unavailable>
    /** Ends a request by a close when its money was held, or by a conclusion when it was charged up front. */
    readonly end: (
      request: EndingRequest,
      cost: Nano | undefined,
      facts: RequestEnd,
      span?: Span
    ) => Effect.Effect<EndResult, Unavailable>
    /**
     * Makes a request free whose answer cannot be returned, because its end was not confirmed. In the background, as soon as the database
     * is available, it ends the request without a cost, or gives back what the unconfirmed end has charged. Only this process retries it.
     */
    readonly giveBack: (request: EndingRequest) => Effect.Effect<void>
    /** Refunds some of the charges that are past their expiry and were never concluded, as a whole. Returns how many. */
    readonly refundOverdue: Effect.Effect<number, Unavailable>
    /** Returns what an account has, and how much of it is held and is simulated money. Undefined for an unknown account. */
    readonly balance: (accountId: string) => Effect.Effect<Balance | undefined, Unavailable>
    /** Ends some overdue holds: settles their recorded progress and releases the rest. Returns how many. */
    readonly expireOverdue: Effect.Effect<number, Unavailable>
    /** Frees an account's claims of requests that expired uncharged. Returns how many. */
    readonly freeLapsed: (accountId: string, claims: ReadonlyArray<string>) => Effect.Effect<number, Unavailable>
    /** Frees some idempotency keys of requests that ended longer ago than this, and deletes their stored answers. Returns how many. */
    readonly dropClaims: (olderThanMs: number) => Effect.Effect<number, Unavailable>
  }
>()("tollgate/ledger/Ledger") {
  /** Creates the ledger with other time limits for an unavailable database. */
  static readonly layerWithTimeouts = (timeouts: LedgerTimeouts) =>
    Layer.effect(
      Ledger,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const persistent = Schedule.spaced(RETRY_PAUSE).pipe(Schedule.upTo({ duration: timeouts.closeMs }))
        const timely = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, Unavailable> =>
          Effect.timeoutOrElse(storeErrors(statement), {
            duration: timeouts.statementMs,
            orElse: () => new Unavailable({ store: "database", cause: "the database does not answer" })
          })
        const scope = yield* Effect.scope
        const { committed } = (yield* Metrics).ledger
        const concludeAlone = (end: ConcludeOperation) => Effect.retry(timely(concludeOne(sql, end)), persistent)
        const end = (
          op: CloseOperation | ConcludeOperation
        ): Effect.Effect<CloseResult | ConcludeResult, Unavailable> =>
          "_tag" in op ? (group.commit(op) as Effect.Effect<CloseResult, Unavailable>) : concludeAlone(op)
        const undo = (hold: HoldOperation) => Effect.forkIn(undone(hold, end), scope)
        const inScope = Effect.runForkWith(yield* Effect.context<never>())
        const unsure = (operation: Operation) => {
          if (operation._tag === "Hold") inScope(undo(operation))
        }
        const group = yield* makeGroupCommit(statementsOf(sql), timeouts, { committed, unsure })
        return Ledger.of({
          commit: <Op extends Operation>(operation: Op, span?: Span) => {
            const committed = group.commit(operation) as Effect.Effect<OperationResult<Op>, Unavailable>
            return span === undefined ? committed : recordSpan(committed, operation, span)
          },
          within: <Op extends Operation>(transaction: SqlClient.SqlClient, operation: Op) =>
            Effect.map(commitWithin(transaction, operation), ([result]) => result as OperationResult<Op>),
          carve: (fromRequestId, hold, span) => {
            const carved = Effect.suspend(() => {
              const since = performance.now()
              return Effect.retry(timely(carveOne(sql, fromRequestId, hold)), {
                schedule: Schedule.spaced(RETRY_PAUSE),
                while: () => performance.now() - since < timeouts.holdMs
              })
            }).pipe(Effect.tapError(() => undo(hold)))
            return span === undefined ? carved : recordSpan(carved, hold, span)
          },
          conclude: (transaction, end) => Effect.map(concludeOne(transaction, end), ({ _tag }) => _tag),
          concludeAlone: (end, span) => {
            const concluded = concludeAlone(end)
            return span === undefined ? concluded : recordSpan(concluded, end, span)
          },
          end: (request, cost, facts, span) => {
            const op = endOf(request, cost, facts)
            return Effect.map(span === undefined ? end(op) : recordSpan(end(op), op, span), endResultOf)
          },
          giveBack: (request) =>
            Effect.asVoid(
              Effect.forkIn(
                refundOf(request, end, (refund) => group.commit(refund)),
                scope
              )
            ),
          refundOverdue: timely(refundOverdue(sql, SWEEP_BATCH)),
          balance: (accountId) => timely(balanceOf(sql, accountId)),
          expireOverdue: timely(expireOverdue(sql, SWEEP_BATCH)),
          freeLapsed: (accountId, claims) => timely(freeLapsed(sql, accountId, claims)),
          dropClaims: (olderThanMs) => timely(dropOldClaims(sql, olderThanMs, SWEEP_BATCH))
        })
      })
    )

  static readonly layer = this.layerWithTimeouts(usualPatience)
}
