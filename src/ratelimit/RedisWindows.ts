import { NodeRedis } from "@effect/platform-node"
import { type Cause, Effect, Fiber, Layer, Redacted, References } from "effect"
import { Redis } from "effect/persistence"
import {
  isUnlimited,
  type PolicyName,
  requestsAt,
  type Subject,
  windowOf,
  type WindowName,
  windowSeconds
} from "./Limits.ts"
import { millisOf, type Store, type Verdict, verdictOf } from "./Store.ts"

/** A request waits no longer than this for Redis; then this node's memory decides. */
const answerMillis = 500
/**
 * While Redis is unreachable, one request in this time tries it again; all others go to memory at once. Longer than
 * `answerMillis`, so that whatever was sent before an outage is settled before the first trial, and trials do not
 * overlap.
 */
const retryMillis = 1000
/** How long the start waits for the first connection before it goes on without. */
const startMillis = 2000
/** Commands waiting for an answer; beyond it Redis counts as unreachable. */
const mostWaiting = 10_000

const keyOf = (window: WindowName, subject: Subject) => `tollgate:rl:${window}:${subject.kind}:${subject.id}`

// The window is the key's own expiry, so it ends by Redis's clock, the same for every node, and nothing is left to
// clean up.
const script = Redis.script((key: string, limit: number, count: 0 | 1) => [key, limit, windowSeconds * 1000, count], {
  numberOfKeys: 1,
  lua: `
local used = tonumber(redis.call("GET", KEYS[1]))
local left = redis.call("PTTL", KEYS[1])
local limit, length, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if not used or left <= 0 then
  if count == 1 then redis.call("SET", KEYS[1], 1, "PX", length) end
  return {1, count, length}
end
if used >= limit then return {0, used, left} end
if count == 1 then redis.call("INCR", KEYS[1]) end
return {1, used + count, left}
`
}).withReturnType<readonly [admitted: 0 | 1, used: number, leftMillis: number]>()

interface Link {
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
  const link: Link = { redis: undefined, renew: () => {}, trouble: undefined }
  const client = NodeRedis.layer({
    url: Redacted.value(url),
    disableOfflineQueue: true,
    commandsQueueMaxLength: mostWaiting,
    // The client's own timeout only covers commands not yet sent, and costs a timer each.
    commandOptions: { timeout: 0 },
    socket: {
      reconnectStrategy: (retries, cause) => {
        link.trouble = cause
        return Math.min(50 * 2 ** retries, retryMillis) + Math.random() * 100
      }
    }
  })
  const connecting = yield* Effect.gen(function* () {
    const context = yield* Layer.build(client)
    const { client: connection } = yield* Effect.provide(NodeRedis.NodeRedis, context)
    // Closing politely would wait for ever for the answers of a hung server.
    yield* Effect.addFinalizer(() => Effect.sync(() => connection.destroy()))
    link.renew = () => {
      if (!connection.isReady) return
      connection.destroy()
      connection.connect().catch((cause: unknown) => {
        link.trouble = cause
      })
    }
    link.redis = yield* Effect.provide(Redis.Redis, context)
    link.trouble = undefined
  }).pipe(
    // It warns at every attempt; an outage is reported once, below.
    Effect.provideService(References.MinimumLogLevel, "Error"),
    // It fails only when closed.
    Effect.ignore,
    Effect.forkScoped
  )
  yield* Fiber.join(connecting).pipe(Effect.timeoutOption(startMillis))
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

const ask = (
  link: Link,
  policy: PolicyName,
  subject: Subject,
  scale: number,
  counted: boolean
): Effect.Effect<Verdict, Loss> => {
  if (link.redis === undefined) return Effect.fail("not connected yet")
  const window = windowOf(policy)
  const limit = requestsAt(window, scale)
  const unlimited = isUnlimited(policy)
  return link.redis
    .eval(script)(keyOf(window, subject), limit, counted && !unlimited ? 1 : 0)
    .pipe(
      Effect.map(([admitted, used, left]) => verdictOf(window, unlimited || admitted === 1, limit, used, left)),
      Effect.timeout(answerMillis)
    )
}

/**
 * Windows in Redis, and in `local` while Redis cannot be reached, which it says once per outage in the log and tries to
 * end by itself.
 */
export const make = Effect.fnUntraced(function* (url: Redacted.Redacted, local: Store) {
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
      return Effect.logWarning("rate limits: Redis does not answer, each node limits by itself until it does").pipe(
        Effect.annotateLogs({ reason })
      )
    })

  const regain = Effect.suspend(() => {
    down = false
    link.trouble = undefined
    return Effect.logInfo("rate limits: Redis answers again, nodes share their windows")
  })

  const decide = (policy: PolicyName, subject: Subject, scale: number, counted: boolean): Effect.Effect<Verdict> =>
    Effect.clockWith((clock) => {
      const instead = counted ? local.consume(policy, subject, scale) : local.peek(policy, subject, scale)
      const now = millisOf(clock)
      if (down && now < retryAt) return instead
      const trial = down
      if (trial) retryAt = now + retryMillis
      return Effect.matchEffect(ask(link, policy, subject, scale, counted), {
        onSuccess: (verdict) => (trial ? Effect.as(regain, verdict) : Effect.succeed(verdict)),
        onFailure: (loss) => Effect.andThen(lose(loss), instead)
      })
    })

  if (link.redis === undefined) yield* lose("not connected yet")
  return {
    consume: (policy, subject, scale) => decide(policy, subject, scale, true),
    peek: (policy, subject, scale) => decide(policy, subject, scale, false)
  } satisfies Store
})
