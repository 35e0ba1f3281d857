import { Context, Effect, Layer, Semaphore } from "effect"
import { SqlError } from "effect/sql"
import { type Failure, failure } from "../domain/Failure.ts"
import { Config } from "../platform/config/Config.ts"
import { makeKeyedSemaphores } from "../platform/KeyedSemaphores.ts"
import { isUnanswered, StatementTimeout } from "../platform/database/StatementTimeout.ts"

/** How many reads a node makes at a time, how long a read waits for the ones before it, and how long the database may then take. */
export interface UsageReadsOptions {
  readonly ofNode: number
  readonly waitMs: number
  readonly statementMs: number
}

const usual: UsageReadsOptions = { ofNode: 2, waitMs: 1_000, statementMs: 5_000 }

/** Reads use at most one in this many of the pool's connections. */
const SHARE = 5

const ownReads = failure({
  _tag: "RateLimitExceeded",
  limit: 1,
  retryAfterSeconds: 1,
  detail: "The gateway reads an account's usage one request at a time, and another read is running. Try again."
})
const allReads = failure({ _tag: "Overloaded" })
const tooMuch = failure({
  _tag: "ServiceUnavailable",
  detail: "Reading this account's usage took too long. Ask for a smaller range, or try again later."
})

/**
 * Limits concurrent reads of usage. Such reads take longer the more usage there is. They share the database connections with paid
 * requests, which must keep most of them.
 */
export class UsageReads extends Context.Service<
  UsageReads,
  {
    /**
     * Runs one statement when the earlier reads have ended. Fails with `RateLimitExceeded` when the account's own earlier reads take
     * too long, with `Overloaded` when those of other accounts do, and with `ServiceUnavailable` when this read itself does.
     */
    readonly read: <A>(
      accountId: string,
      statement: Effect.Effect<A, SqlError.SqlError>
    ) => Effect.Effect<A, Failure | SqlError.SqlError>
  }
>()("tollgate/usage/UsageReads") {
  static readonly layerOf = (options: Partial<UsageReadsOptions> = {}) => Layer.effect(UsageReads, make(options))

  static readonly layer = Layer.unwrap(
    Effect.map(Config, ({ database }) =>
      UsageReads.layerOf({ ofNode: Math.min(usual.ofNode, Math.ceil(database.poolSize / SHARE)) })
    )
  )
}

const make = Effect.fnUntraced(function* (options: Partial<UsageReadsOptions>) {
  const { ofNode, statementMs, waitMs } = { ...usual, ...options }
  const node = yield* Semaphore.make(ofNode)
  const readsOf = makeKeyedSemaphores(1)
  return UsageReads.of({
    read: (accountId, statement) =>
      Effect.scoped(
        Effect.flatMap(readsOf(accountId), (account) => {
          let missing: Failure | undefined = ownReads
          const work = Effect.provideService(statement, StatementTimeout, statementMs)
          const begun = Effect.suspend(() => {
            missing = undefined
            return work
          })
          const own = Effect.suspend(() => {
            missing = allReads
            return node.withPermit(begun)
          })
          const late = Effect.suspend(() => missing ?? Effect.never)
          return Effect.raceFirst(account.withPermit(own), Effect.delay(late, waitMs))
        })
      ).pipe(
        Effect.catchIf(
          (error) => SqlError.isSqlError(error) && isUnanswered(error),
          () => tooMuch
        )
      )
  })
})
