import { Effect, type Redacted } from "effect"
import { Redis } from "effect/persistence"
import { makeRedisLink } from "../platform/RedisLink.ts"
import { type Answers, ENTRY_BYTES, MAX_ANSWER_BYTES, MAX_BYTES, MAX_LIFE_SECONDS } from "./Answers.ts"
import type { CacheKey } from "./CacheKey.ts"

// The braces keep all of it on one node of a cluster, for the script's sake.
const PREFIX = "tollgate:cache:{chat}:"
const ENDS = `${PREFIX}ends`
const SIZES = `${PREFIX}sizes`

// An answer ends by its own expiry, so by Redis's clock. Beside it stand when each ends and how large it is, for the
// bound: what has ended is taken off it, and what would end next makes room. Both outlast the longest life. A Redis that is full may
// evict the one and not the other; sizes of which nobody knows when they end would be room taken for ever, so they are forgotten.
const putting = Redis.script(
  (key: CacheKey, text: string, size: number, capacity: number, lifeSeconds: number) => [
    ...[PREFIX + key, ENDS, SIZES],
    ...[key, text, size, capacity, lifeSeconds * 1000, 2 * MAX_LIFE_SECONDS * 1000, PREFIX]
  ],
  {
    numberOfKeys: 3,
    lua: `
local id, size, capacity, life = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function drop(other)
  local bytes = redis.call("HGET", KEYS[3], other)
  if bytes then
    redis.call("HDEL", KEYS[3], other)
    redis.call("HINCRBY", KEYS[3], "all", -bytes)
  end
  redis.call("ZREM", KEYS[2], other)
  redis.call("DEL", ARGV[7] .. other)
end
drop(id)
for _, ended in ipairs(redis.call("ZRANGEBYSCORE", KEYS[2], "-inf", now, "LIMIT", 0, 100)) do drop(ended) end
while tonumber(redis.call("HGET", KEYS[3], "all") or 0) + size > capacity do
  local next = redis.call("ZRANGE", KEYS[2], 0, 0)[1]
  if next then drop(next) else redis.call("DEL", KEYS[3]) end
end
redis.call("SET", KEYS[1], ARGV[2], "PX", life)
redis.call("ZADD", KEYS[2], now + life, id)
redis.call("HSET", KEYS[3], id, size)
redis.call("HINCRBY", KEYS[3], "all", size)
redis.call("PEXPIRE", KEYS[2], ARGV[6])
redis.call("PEXPIRE", KEYS[3], ARGV[6])
return 1
`
  }
).withReturnType<1>()

const outage = {
  began: "chat cache: Redis does not answer, nothing is cached until it does",
  over: "chat cache: Redis answers again"
}

/**
 * Answers in Redis, shared by all nodes that use it and bounded together. While it cannot be reached there are none. A connection
 * of its own, so that no rate limit waits behind an answer.
 */
export const make = Effect.fnUntraced(function* (url: Redacted.Redacted, capacity: number = MAX_BYTES) {
  const link = yield* makeRedisLink(url, outage)
  return {
    get: (key) =>
      Effect.map(
        link.attempt((redis) => redis.send<string | null>("GET", PREFIX + key)),
        (text) => text ?? undefined
      ),
    put: (key, text, lifeSeconds) => {
      const bytes = Buffer.byteLength(text, "utf8")
      const size = bytes + ENTRY_BYTES
      if (bytes > MAX_ANSWER_BYTES || size > capacity) return Effect.void
      return Effect.asVoid(link.attempt((redis) => redis.eval(putting)(key, text, size, capacity, lifeSeconds)))
    }
  } satisfies Answers
})
