import { Effect, type Redacted } from "effect"
import { Redis } from "effect/persistence"
import { makeRedisLink } from "../platform/RedisLink.ts"
import { type Answers, ENTRY_BYTES, MAX_ANSWER_BYTES, MAX_BYTES, MAX_LIFE_SECONDS } from "./Answers.ts"
import type { CacheKey } from "./CacheKey.ts"

// The braces keep all keys on one node of a cluster, as the script requires.
const PREFIX = "tollgate:cache:{chat}:"
const ENDS = `${PREFIX}ends`
const SIZES = `${PREFIX}sizes`

// A response ends when its key expires, by Redis's clock. Two more keys record when each response ends and how large it is, for the
// size limit. The script removes ended responses from them, and drops the responses that would end next to make room. Both keys
// outlast the longest response. A full Redis may evict only one of them. Sizes without end times would occupy room forever, so the
// script then deletes them.
const putScript = Redis.script(
  (key: CacheKey, text: string, size: number, capacity: number, lifeSeconds: number) => [
    PREFIX + key,
    ENDS,
    SIZES,
    key,
    text,
    size,
    capacity,
    lifeSeconds * 1000,
    2 * MAX_LIFE_SECONDS * 1000,
    PREFIX
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
  began: "chat cache: Redis does not answer; the gateway caches nothing until it does",
  over: "chat cache: Redis answers again"
}

/**
 * Creates a cache in Redis, which all its nodes share with one size limit. While Redis is unreachable, the cache is empty. It uses
 * its own connection, so that rate limits do not wait behind responses.
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
      return Effect.asVoid(link.attempt((redis) => redis.eval(putScript)(key, text, size, capacity, lifeSeconds)))
    }
  } satisfies Answers
})
