import { Effect, type Redacted } from "effect"
import { Redis } from "effect/persistence"
import { makeRedisLink } from "../platform/RedisLink.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import {
  isUnlimited,
  type PolicyName,
  requestsAt,
  type Subject,
  windowOf,
  type WindowName,
  windowSeconds
} from "./Limits.ts"
import { type Store, type Verdict, verdictOf } from "./Store.ts"

const keyOf = (window: WindowName, subject: Subject) => `tollgate:rl:${window}:${subject.kind}:${subject.id}`

// A window is a key with an expiry, so it ends by Redis's clock, the same for every node, and needs no cleanup.
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

const outage = {
  began: "rate limits: Redis does not answer; each node limits by itself until it does",
  over: "rate limits: Redis answers again; nodes share their windows"
}

/** Creates windows in Redis, and in `local` while Redis is unreachable. */
export const make = Effect.fnUntraced(function* (url: Redacted.Redacted, local: Store) {
  const link = yield* makeRedisLink(url, outage)
  const { limits } = yield* Metrics
  limits.sharedWhile(link.isUp)

  const decide = (policy: PolicyName, subject: Subject, scale: number, counted: boolean): Effect.Effect<Verdict> => {
    const window = windowOf(policy)
    const limit = requestsAt(window, scale)
    const unlimited = isUnlimited(policy)
    const verdict = link.attempt((redis) =>
      redis.eval(script)(keyOf(window, subject), limit, counted && !unlimited ? 1 : 0)
    )
    return Effect.flatMap(verdict, (answer) => {
      if (answer === undefined) {
        return counted ? local.consume(policy, subject, scale) : local.peek(policy, subject, scale)
      }
      const [admitted, used, left] = answer
      return Effect.succeed(verdictOf(window, unlimited || admitted === 1, limit, used, left))
    })
  }

  return {
    consume: (policy, subject, scale) => decide(policy, subject, scale, true),
    peek: (policy, subject, scale) => decide(policy, subject, scale, false)
  } satisfies Store
})
