/** A connection to Redis for optional uses: requests wait only briefly for an answer, and not at all while Redis is down. */
import { Cause, Effect, Fiber, Redacted, type Scope } from "effect"
import { Redis } from "effect/persistence"
import { millisOf } from "./Monotonic.ts"

/** The longest time that a request waits for Redis. */
const answerMillis = 500
/**
 * The wait is made of steps this long, each of which counts as one however long it took. A node that stood still has the answer of
 * Redis already, and reads it between two steps: one long timer would fire before.
 */
const stepMillis = 50
/**
 * While Redis is unreachable, one request per this interval tries it again; all others fail at once. The interval is longer than
 * `answerMillis`, so that every command sent before an outage has ended before the first trial, and trials do not overlap.
 */
const retryMillis = 1000
/** How long the start waits for the first connection before it continues without Redis. */
const startMillis = 2000
/**
 * A connection that has been silent for this long is replaced. This matters most for a connection that was accepted but where the greeting
 * gets no answer: while it is neither ready nor failed, the client makes no other.
 */
const silenceMillis = 5000
/** How often an idle connection sends a ping, so that it does not fall silent. */
const pingMillis = 2000
/** The maximum number of commands that wait for an answer. Beyond it, Redis counts as unreachable. */
const mostWaiting = 10_000

/** Access to Redis while it answers. */
export interface RedisLink {
  /** Redis's answer. Undefined while Redis is unreachable, or when it does not answer within half a second. */
  readonly attempt: <A>(
    ask: (redis: Redis.Redis["Service"]) => Effect.Effect<A, Redis.RedisError>
  ) => Effect.Effect<A | undefined>
  /** Whether Redis answered when it was last asked. */
  readonly isUp: () => boolean
}

/** The log lines of an outage for the feature that uses the link: one when it begins and one when it ends. */
export interface OutageWords {
  readonly began: string
  readonly over: string
}

interface RedisConnection {
  /** Undefined until the first connection is ready. */
  redis: Redis.Redis["Service"] | undefined
  /** Replaces the current connection with a new one. */
  renew: () => void
  /** Why the last attempt to connect failed. Commands that are refused meanwhile do not say. */
  trouble: unknown
}

// A start must not depend on Redis. The first connection is made in the background, and retried when it fails.
const connect = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const link: RedisConnection = { redis: undefined, renew: () => {}, trouble: undefined }
  const failed = (cause: unknown) => {
    link.trouble = cause
  }
  // A node without Redis does not load its client: 640 modules and two megabytes of source.
  const { createClient } = yield* Effect.promise(() => import("redis"))
  const client = createClient({
    url: Redacted.value(url),
    disableOfflineQueue: true,
    commandsQueueMaxLength: mostWaiting,
    pingInterval: pingMillis,
    // The client's own timeout covers only commands that have not been sent, and costs a timer per command.
    commandOptions: { timeout: 0 },
    socket: {
      socketTimeout: silenceMillis,
      reconnectStrategy: (retries, cause) => {
        failed(cause)
        return Math.min(50 * 2 ** retries, retryMillis) + Math.random() * 100
      }
    }
  })
  // Without a listener, an error event would end this process. The code below reports each outage once.
  client.on("error", () => {})
  // A graceful close would wait for ever for the answers of a hung server.
  yield* Effect.addFinalizer(() => Effect.sync(() => client.destroy()))
  const send = <A = unknown>(command: string, ...args: ReadonlyArray<string>) =>
    Effect.tryPromise({
      try: () => client.sendCommand<A>([command, ...args]),
      catch: (cause) => new Redis.RedisError({ cause })
    })
  const unused = Effect.die(new Error("this link only sends commands"))
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

const timedOut = Effect.repeat(Effect.sleep(stepMillis), { times: answerMillis / stepMillis - 1 }).pipe(
  Effect.andThen(Effect.fail(new Cause.TimeoutError()))
)

type Loss = Redis.RedisError | Cause.TimeoutError | "not connected yet"

const reasonOf = (loss: Loss, trouble: unknown): string => {
  if (typeof loss === "string") return trouble === undefined ? loss : describe(trouble)
  return loss._tag === "TimeoutError" ? "no answer in time" : describe(trouble ?? loss.cause)
}

/**
 * Creates a link whether or not Redis is up, and closes it with the scope. The link logs each outage once, without the address or its
 * password, and keeps trying to reconnect.
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
      // When a remote machine disappears, its connection only falls silent, and would stay so for many minutes.
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
    isUp: () => !down,
    attempt: <A>(ask: (redis: Redis.Redis["Service"]) => Effect.Effect<A, Redis.RedisError>) =>
      Effect.clockWith((clock): Effect.Effect<A | undefined> => {
        const now = millisOf(clock)
        if (down && now < retryAt) return Effect.undefined
        const trial = down
        if (trial) retryAt = now + retryMillis
        const answer: Effect.Effect<A, Loss> =
          link.redis === undefined ? Effect.fail("not connected yet") : Effect.raceFirst(ask(link.redis), timedOut)
        return Effect.matchEffect(answer, {
          onSuccess: (answer) => (trial ? Effect.as(regain, answer) : Effect.succeed(answer)),
          onFailure: (loss) => Effect.as(lose(loss), undefined)
        })
      })
  }
})
