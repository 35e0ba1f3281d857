import { assert, type Vitest } from "@effect/vitest"
import { Context, Effect, Layer, type Redacted } from "effect"
import { type Answers, ENTRY_BYTES, MAX_ANSWER_BYTES } from "../../src/cache/Answers.ts"
import { type CacheKey, keyOf } from "../../src/cache/CacheKey.ts"
import { ChatCache } from "../../src/cache/ChatCache.ts"

/** Space for four answers of 1,000 bytes, but not for five. */
export const CAPACITY = 4 * (1_000 + ENTRY_BYTES)

/** The cache under test, with control of its time. */
export class Subject extends Context.Service<
  Subject,
  {
    /** Two views of the same answers, with more space than any test needs. */
    readonly wide: readonly [Answers, Answers]
    /** An empty cache with space for `CAPACITY` bytes. */
    readonly narrow: Effect.Effect<Answers>
    /** Lets time pass for every answer. */
    readonly pass: (seconds: number) => Effect.Effect<void>
  }
>()("tollgate/test/cache/Subject") {}

/** Builds a separate cache, as another node would have. */
export const node = (redisUrl: Redacted.Redacted | undefined, capacity?: number) =>
  Effect.map(
    Layer.build(Layer.fresh(ChatCache.layerFrom({ redisUrl, ...(capacity === undefined ? {} : { capacity }) }))),
    Context.get(ChatCache)
  )

let made = 0

/** Returns a key that no test has used before. */
export const freshKey = (): CacheKey =>
  keyOf({ accountId: "a", projectId: null, model: "m", request: { number: ++made } })

const thousand = "x".repeat(1_000)

/** Tests what every cache promises. */
export const suite = (it: Vitest.MethodsNonLive<Subject>) => {
  it.effect("returns what either view stored under exactly this key", () =>
    Effect.gen(function* () {
      const { wide } = yield* Subject
      const [one, other] = [freshKey(), freshKey()]
      assert.isUndefined(yield* wide[0].get(one))
      yield* wide[0].put(one, "first ✓ é \u0000", 60)
      assert.strictEqual(yield* wide[1].get(one), "first ✓ é \u0000")
      assert.isUndefined(yield* wide[1].get(other))
      yield* wide[1].put(one, "second", 60)
      assert.strictEqual(yield* wide[0].get(one), "second")
    })
  )

  it.effect("keeps each answer for its own lifetime, which a read does not extend", () =>
    Effect.gen(function* () {
      const { pass, wide } = yield* Subject
      const [short, long] = [freshKey(), freshKey()]
      yield* wide[0].put(short, "short", 300)
      yield* wide[0].put(long, "long", 3_600)
      yield* pass(200)
      assert.strictEqual(yield* wide[0].get(short), "short")
      yield* pass(101)
      assert.isUndefined(yield* wide[0].get(short))
      assert.strictEqual(yield* wide[0].get(long), "long")
      yield* wide[0].put(long, "again", 300)
      yield* pass(301)
      assert.isUndefined(yield* wide[0].get(long))
    })
  )

  it.effect("keeps no answer of more than 1 MiB", () =>
    Effect.gen(function* () {
      const { wide } = yield* Subject
      const [fits, large] = [freshKey(), freshKey()]
      yield* wide[0].put(fits, "x".repeat(MAX_ANSWER_BYTES), 60)
      yield* wide[0].put(large, "é".repeat(MAX_ANSWER_BYTES / 2 + 1), 60)
      assert.lengthOf((yield* wide[0].get(fits)) ?? "", MAX_ANSWER_BYTES)
      assert.isUndefined(yield* wide[0].get(large))
    })
  )

  it.effect("evicts one answer for one that does not fit, and none for one that replaces its own key", () =>
    Effect.gen(function* () {
      const { narrow } = yield* Subject
      const cache = yield* narrow
      const keys = Array.from({ length: 5 }, freshKey)
      for (const [at, key] of keys.entries()) yield* cache.put(key, thousand, 300 + at)
      const kept = yield* Effect.forEach(keys, (key) => Effect.map(cache.get(key), (text) => text !== undefined))
      assert.deepStrictEqual(kept, [false, true, true, true, true])
      yield* cache.put(keys[4]!, thousand, 400)
      const still = yield* Effect.forEach(keys, (key) => Effect.map(cache.get(key), (text) => text !== undefined))
      assert.deepStrictEqual(still, kept)
    })
  )

  it.effect("gives the space of expired answers to new ones", () =>
    Effect.gen(function* () {
      const { narrow, pass } = yield* Subject
      const cache = yield* narrow
      const ended = Array.from({ length: 3 }, freshKey)
      const lasting = freshKey()
      for (const key of ended) yield* cache.put(key, thousand, 10)
      yield* cache.put(lasting, thousand, 900)
      yield* pass(11)
      const others = Array.from({ length: 3 }, freshKey)
      for (const key of others) yield* cache.put(key, thousand, 1_000)
      for (const key of [lasting, ...others]) assert.strictEqual(yield* cache.get(key), thousand)
    })
  )
}
