import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { RateLimiter } from "../../src/ratelimit/RateLimiter.ts"
import { missing, RedisServer } from "../support/Redis.ts"
import { announceSkip } from "../support/Skips.ts"
import { admittedOf, freshKey, inspector, node, rush, Subjects, suite, times } from "./suite.ts"

const Memory = Layer.effect(
  Subjects,
  Effect.gen(function* () {
    const limiter = yield* RateLimiter
    return { stores: [limiter, limiter], pass: (seconds) => TestClock.adjust(seconds * 1000), slackSeconds: 0 }
  })
).pipe(Layer.provide(RateLimiter.layerFrom({ redisUrl: undefined })))

layer(Memory)("RateLimiter in memory", (it) => {
  suite(it)

  it.effect("keeps separate windows on two nodes without Redis", () =>
    Effect.gen(function* () {
      const { stores } = yield* Subjects
      const other = yield* node(undefined)
      const key = freshKey()
      assert.strictEqual(admittedOf(yield* rush([stores[0], other], "chat", key)).length, 120)
    })
  )
})

const shiftExpiries = `
for _, key in ipairs(redis.call("KEYS", "tollgate:rl:*")) do
  redis.call("PEXPIRE", key, redis.call("PTTL", key) - ARGV[1])
end`

const Shared = Layer.effect(
  Subjects,
  Effect.gen(function* () {
    const { url } = yield* RedisServer
    const { client } = yield* inspector(url)
    return {
      stores: [yield* node(url), yield* node(url)],
      pass: (seconds) => Effect.promise(() => client.eval(shiftExpiries, { arguments: [`${seconds * 1000}`] })),
      slackSeconds: 20
    }
  })
).pipe(Layer.provideMerge(RedisServer.layer))

announceSkip("the Redis half of RateLimiter", missing)

describe.skipIf(missing !== undefined)("RateLimiter in Redis", () => {
  layer(Shared, { excludeTestServices: true })((it) => {
    suite(it)

    it.effect("prefixes its keys, and lets them expire", () =>
      Effect.gen(function* () {
        const { stores } = yield* Subjects
        const { client } = yield* inspector((yield* RedisServer).url)
        yield* Effect.promise(() => client.flushAll())
        yield* stores[0].peek("chat", freshKey(), 1)
        yield* stores[0].consume("chat", { kind: "key", id: "k" }, 1)
        yield* stores[0].consume("management_reads", { kind: "account", id: "a" }, 1)
        yield* times(70, stores[0].consume("default", { kind: "address", id: "::1" }, 1))
        const keys = yield* Effect.promise(() => client.keys("*"))
        assert.deepStrictEqual(keys.toSorted(), [
          "tollgate:rl:chat:key:k",
          "tollgate:rl:default:address:::1",
          "tollgate:rl:management_reads:account:a"
        ])
        for (const key of keys) {
          const left = yield* Effect.promise(() => client.pTTL(key))
          assert.isAbove(left, 0)
          assert.isAtMost(left, 60_000)
        }
      })
    )
  })
})
