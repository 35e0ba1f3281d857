import { assert, type Vitest } from "@effect/vitest"
import { Context, Effect, Layer, type Redacted } from "effect"
import { type Answers, ENTRY_BYTES, MAX_ANSWER_BYTES } from "../../src/cache/Answers.ts"
import { type CacheKey, keyOf } from "../../src/cache/CacheKey.ts"
import { ChatCache } from "../../src/cache/ChatCache.ts"

/** Room for four answers of a thousand bytes, and not for five. */
export const CAPACITY = 4 * (1_000 + ENTRY_BYTES)

/** A cache to prove, with power over its time. */
export class Subject extends Context.Service<
  Subject,
  {
    /** Two ways to the same answers, with room for more than any test keeps. */
    readonly wide: readonly [Answers, Answers]
    /** One with room for `CAPACITY` bytes, and nothing in it. */
    readonly narrow: Effect.Effect<Answers>
    /** Lets time pass for every answer. */
    readonly pass: (seconds: number) => Effect.Effect<void>
  }
>()("tollgate/test/cache/Subject") {}

/** A cache of its own, as one more node would have. */
export const node = (redisUrl: Redacted.Redacted | undefined, capacity?: number) =>
  Effect.map(
    Layer.build(Layer.fresh(ChatCache.layerFrom({ redisUrl, ...(capacity === undefined ? {} : { capacity }) }))),
    Context.get(ChatCache)
  )

let made = 0

/** A key nobody has used before. */
export const freshKey = (): CacheKey =>
  keyOf({ accountId: "a", projectId: null, model: "m", request: { number: ++made } })

const thousand = "x".repeat(1_000)

/** What every cache promises. */
export const suite = (it: Vitest.MethodsNonLive<Subject>) => {
  it.effect("gives out what was kept under the very key, to whoever asks", () =>
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

  it.effect("keeps each answer for its own life, which use does not prolong", () =>
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

  it.effect("keeps no answer of more than a mebibyte, nor what stood there before", () =>
    Effect.gen(function* () {
      const { wide } = yield* Subject
      const [fits, large] = [freshKey(), freshKey()]
      yield* wide[0].put(fits, "x".repeat(MAX_ANSWER_BYTES), 60)
      yield* wide[0].put(large, "é".repeat(MAX_ANSWER_BYTES / 2 + 1), 60)
      assert.lengthOf((yield* wide[0].get(fits)) ?? "", MAX_ANSWER_BYTES)
      assert.isUndefined(yield* wide[0].get(large))
    })
  )

  it.effect("makes room by what is least worth keeping, and never by more than it must", () =>
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

  it.effect("gives the room of ended answers to others", () =>
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
