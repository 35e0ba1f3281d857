import { Context, Effect, Layer, Semaphore } from "effect"
import { SqlError } from "effect/sql"
import { type Failure, failure } from "../domain/Failure.ts"
import { Config } from "../platform/Config.ts"
import { isUnanswered, StatementTimeout } from "../platform/StatementTimeout.ts"

/** How many reads a node makes at once, for how long one waits for its turn, and for how long the database is then at it. */
export interface TurnsOptions {
  readonly ofNode: number
  readonly waitMs: number
  readonly statementMs: number
}

const usual: TurnsOptions = { ofNode: 2, waitMs: 1_000, statementMs: 5_000 }

/** Of the pool's connections, one in so many at most. */
const SHARE = 5

const ownReads = failure({
  _tag: "RateLimitExceeded",
  limit: 1,
  retryAfterSeconds: 1,
  detail: "What this account used is looked through one at a time, and another read is under way"
})
const allReads = failure({ _tag: "Overloaded" })
const tooMuch = failure({
  _tag: "ServiceUnavailable",
  detail: "What this account used could not be looked through in time; ask for less of it, or later"
})

/**
 * Turns at reading what an account used, which takes the longer the more there is of it: they share the connections of what is paid
 * for, and must leave it most of them whatever is asked for.
 */
export class ReadTurns extends Context.Service<
  ReadTurns,
  {
    /**
     * Reads by one statement, when it is the account's turn. Fails with `RateLimitExceeded` where the account's own reads
     * take too long before it, with `Overloaded` where those of others do, and with `ServiceUnavailable` where it does itself.
     */
    readonly read: <A>(
      accountId: string,
      statement: Effect.Effect<A, SqlError.SqlError>
    ) => Effect.Effect<A, Failure | SqlError.SqlError>
  }
>()("tollgate/usage/ReadTurns") {
  static readonly layerOf = (options: Partial<TurnsOptions> = {}) => Layer.effect(ReadTurns, make(options))

  static readonly layer = Layer.unwrap(
    Effect.map(Config, ({ database }) =>
      ReadTurns.layerOf({ ofNode: Math.min(usual.ofNode, Math.ceil(database.poolSize / SHARE)) })
    )
  )
}

const make = Effect.fnUntraced(function* (options: Partial<TurnsOptions>) {
  const { ofNode, statementMs, waitMs } = { ...usual, ...options }
  const node = yield* Semaphore.make(ofNode)
  const turnOf = makeTurns()
  return ReadTurns.of({
    read: (accountId, statement) =>
      Effect.scoped(
        Effect.flatMap(turnOf(accountId), (account) => {
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

/** By account, for as long as one of its reads is there. */
const makeTurns = () => {
  const turns = new Map<string, { readonly turn: Semaphore.Semaphore; users: number }>()
  return (accountId: string) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const one = turns.get(accountId) ?? { turn: Semaphore.makeUnsafe(1), users: 0 }
        one.users += 1
        turns.set(accountId, one)
        return one.turn
      }),
      () =>
        Effect.sync(() => {
          const one = turns.get(accountId)!
          one.users -= 1
          if (one.users === 0) turns.delete(accountId)
        })
    )
}
