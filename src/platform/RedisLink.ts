/** A connection to Redis for what can do without: nobody waits for it long, and while it is away nobody waits at all. */
import { type Cause, Effect, Fiber, Redacted, type Scope } from "effect"
import { Redis } from "effect/persistence"
import { createClient } from "redis"
import { millisOf } from "./Monotonic.ts"

/** A request waits no longer than this for Redis. */
const answerMillis = 500
/**
 * While Redis is unreachable, one request in this time tries it again; all others are told at once. Longer than
 * `answerMillis`, so that whatever was sent before an outage is settled before the first trial, and trials do not
 * overlap.
 */
const retryMillis = 1000
/** How long the start waits for the first connection before it goes on without. */
const startMillis = 2000
/**
 * A connection over which nothing has come or gone for so long is given up for a new one, above all one that was taken and whose
 * greeting nobody answers: as long as it neither stands nor fails, no other is made.
 */
const silenceMillis = 5000
/** How often one that nobody uses is used, so that it is not silent. */
const pingMillis = 2000
/** Commands waiting for an answer; beyond it Redis counts as unreachable. */
const mostWaiting = 10_000

/** Redis, as far as it answers. */
export interface RedisLink {
  /** What Redis answers; undefined while it cannot be reached, or does not answer within half a second. */
  readonly attempt: <A>(
    ask: (redis: Redis.Redis["Service"]) => Effect.Effect<A, Redis.RedisError>
  ) => Effect.Effect<A | undefined>
}

/** What an outage means to whoever uses the link, for the log: once when it begins and once when it is over. */
export interface OutageWords {
  readonly began: string
  readonly over: string
}

interface Connected {
  /** Absent until the first connection stands. */
  redis: Redis.Redis["Service"] | undefined
  /** Gives up a standing connection for a new one. */
  renew: () => void
  /** Why the last attempt to connect failed, which commands refused meanwhile do not say. */
  trouble: unknown
}

// A start must not depend on Redis being up: the first connection is made, and when it fails retried, in the
// background.
const connect = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const link: Connected = { redis: undefined, renew: () => {}, trouble: undefined }
  const failed = (cause: unknown) => {
    link.trouble = cause
  }
  const client = createClient({
    url: Redacted.value(url),
    disableOfflineQueue: true,
    commandsQueueMaxLength: mostWaiting,
    pingInterval: pingMillis,
    // The client's own timeout only covers commands not yet sent, and costs a timer each.
    commandOptions: { timeout: 0 },
    socket: {
      socketTimeout: silenceMillis,
      reconnectStrategy: (retries, cause) => {
        failed(cause)
        return Math.min(50 * 2 ** retries, retryMillis) + Math.random() * 100
      }
    }
  })
  // Without a listener they would end this process. An outage is reported once, below.
  client.on("error", () => {})
  // Closing politely would wait for ever for the answers of a hung server.
  yield* Effect.addFinalizer(() => Effect.sync(() => client.destroy()))
  const send = <A = unknown>(command: string, ...args: ReadonlyArray<string>) =>
    Effect.tryPromise({
      try: () => client.sendCommand<A>([command, ...args]),
      catch: (cause) => new Redis.RedisError({ cause })
    })
  const unused = Effect.die(new Error("commands are all that is sent over this link"))
  const redis = yield* Redis.make({ send, connect: unused, subscribe: () => unused })
  const renew = () => {
    if (!client.isReady) return
    client.destroy()
    client.connect().catch(failed)
  }
  const connecting = yield* Effect.tryPromise({ try: () => client.connect(), catch: failed }).pipe(
    Effect.tap(() =>
      Effect.sync(() => {
        link.redis = redis
        link.renew = renew
        link.trouble = undefined
      })
    ),
    Effect.ignore,
    Effect.forkScoped
  )
  yield* Effect.timeoutOption(Fiber.join(connecting), startMillis)
  return link
})

const describe = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ("code" in cause ? String(cause.code) : cause.name)
}

type Loss = Redis.RedisError | Cause.TimeoutError | "not connected yet"

const reasonOf = (loss: Loss, trouble: unknown): string => {
  if (typeof loss === "string") return trouble === undefined ? loss : describe(trouble)
  return loss._tag === "TimeoutError" ? "no answer in time" : describe(trouble ?? loss.cause)
}

/**
 * A link that is made whether or not Redis is there, and ends with its scope. It says an outage once in the log, without the
 * address or its password, and tries to end it by itself.
 */
export const makeRedisLink: (
  url: Redacted.Redacted,
  words: OutageWords
) => Effect.Effect<RedisLink, never, Scope.Scope> = Effect.fnUntraced(function* (url, words) {
  const link = yield* connect(url)
  let down = false
  let retryAt = 0

  const lose = (loss: Loss) =>
    Effect.clockWith((clock) => {
      const began = !down
      down = true
      retryAt = millisOf(clock) + retryMillis
      const reason = reasonOf(loss, link.trouble)
      // Silence is what a connection to a machine that is gone looks like, and would for many minutes.
      if (typeof loss !== "string" && loss._tag === "TimeoutError") link.renew()
      if (!began) return Effect.void
      return Effect.logWarning(words.began).pipe(Effect.annotateLogs({ reason }))
    })

  const regain = Effect.suspend(() => {
    down = false
    link.trouble = undefined
    return Effect.logInfo(words.over)
  })

  if (link.redis === undefined) yield* lose("not connected yet")
  return {
    attempt: <A>(ask: (redis: Redis.Redis["Service"]) => Effect.Effect<A, Redis.RedisError>) =>
      Effect.clockWith((clock): Effect.Effect<A | undefined> => {
        const now = millisOf(clock)
        if (down && now < retryAt) return Effect.undefined
        const trial = down
        if (trial) retryAt = now + retryMillis
        const asked: Effect.Effect<A, Loss> =
          link.redis === undefined ? Effect.fail("not connected yet") : Effect.timeout(ask(link.redis), answerMillis)
        return Effect.matchEffect(asked, {
          onSuccess: (answer) => (trial ? Effect.as(regain, answer) : Effect.succeed(answer)),
          onFailure: (loss) => Effect.as(lose(loss), undefined)
        })
      })
  }
})
