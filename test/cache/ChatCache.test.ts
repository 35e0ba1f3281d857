import { assert, describe, layer } from "@effect/vitest"
import { NodeRedis } from "@effect/platform-node"
import { Context, Effect, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ChatCache } from "../../src/cache/ChatCache.ts"
import { missing, RedisServer } from "../support/Redis.ts"
import { announceSkip } from "../support/Skips.ts"
import { CAPACITY, freshKey, node, Subject, suite } from "./suite.ts"

const Memory = Layer.effect(
  Subject,
  Effect.gen(function* () {
    const cache = yield* ChatCache
    const narrow = Effect.scoped(node(undefined, CAPACITY))
    return { wide: [cache, cache], narrow, pass: (seconds) => TestClock.adjust(seconds * 1000) }
  })
).pipe(Layer.provide(ChatCache.layerFrom({ redisUrl: undefined })))

layer(Memory)("ChatCache in memory", (it) => {
  suite(it)

  it.effect("has separate answers on each node without Redis", () =>
    Effect.gen(function* () {
      const { wide } = yield* Subject
      const key = freshKey()
      yield* wide[0].put(key, "x", 60)
      assert.isUndefined(yield* (yield* node(undefined)).get(key))
    })
  )
})

/** Returns a client that inspects the server. */
const inspector = (url: Redacted.Redacted) =>
  Effect.map(Layer.build(Layer.fresh(NodeRedis.layer({ url: Redacted.value(url) }))), Context.get(NodeRedis.NodeRedis))

// Brings every expiry nearer, both in Redis and in the cache's own index.
const shift = `
for _, key in ipairs(redis.call("KEYS", "tollgate:cache:{chat}:*")) do
  local left = redis.call("PTTL", key)
  if redis.call("TYPE", key).ok == "string" then redis.call("PEXPIRE", key, left - ARGV[1]) end
end
local ends = "tollgate:cache:{chat}:ends"
for _, id in ipairs(redis.call("ZRANGE", ends, 0, -1)) do redis.call("ZINCRBY", ends, -ARGV[1], id) end`

const Shared = Layer.effect(
  Subject,
  Effect.gen(function* () {
    const { url } = yield* RedisServer
    const { client } = yield* inspector(url)
    const scope = yield* Effect.scope
    return {
      wide: [yield* node(url), yield* node(url)],
      narrow: Effect.andThen(
        Effect.promise(() => client.flushAll()),
        Effect.provideService(node(url, CAPACITY), Scope.Scope, scope)
      ),
      pass: (seconds) => Effect.promise(() => client.eval(shift, { arguments: [`${seconds * 1000}`] }))
    }
  })
).pipe(Layer.provideMerge(RedisServer.layer))

announceSkip("the Redis half of ChatCache", missing)

describe.skipIf(missing !== undefined)("ChatCache in Redis", () => {
  layer(Shared, { excludeTestServices: true })((it) => {
    suite(it)

    it.effect("gives all of its keys the prefix and an expiry", () =>
      Effect.gen(function* () {
        const { wide } = yield* Subject
        const { client } = yield* inspector((yield* RedisServer).url)
        yield* Effect.promise(() => client.flushAll())
        const key = freshKey()
        yield* wide[0].put(key, "x", 300)
        const keys = yield* Effect.promise(() => client.keys("*"))
        assert.sameMembers(
          keys,
          [key, "ends", "sizes"].map((name) => `tollgate:cache:{chat}:${name}`)
        )
        for (const name of keys) {
          const left = yield* Effect.promise(() => client.ttl(name))
          assert.isAtLeast(left, 280)
          assert.isAtMost(left, name.endsWith(key) ? 300 : 7_200)
        }
      })
    )

    it.effect("counts no space for answers that a full Redis has evicted by itself", () =>
      Effect.gen(function* () {
        const { narrow } = yield* Subject
        const cache = yield* narrow
        const { client } = yield* inspector((yield* RedisServer).url)
        const text = "x".repeat(1_000)
        for (const _ of [1, 2, 3, 4]) yield* cache.put(freshKey(), text, 300)
        yield* Effect.promise(() => client.del("tollgate:cache:{chat}:ends"))
        const keys = [freshKey(), freshKey(), freshKey(), freshKey()]
        for (const key of keys) yield* cache.put(key, text, 300)
        for (const key of keys) assert.strictEqual(yield* cache.get(key), text)
      })
    )
  })
})
