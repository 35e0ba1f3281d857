import { assert, type Vitest } from "@effect/vitest"
import { NodeRedis } from "@effect/platform-node"
import { Context, Effect, Layer, Redacted } from "effect"
import { limits, type PolicyName, type Subject } from "../../src/ratelimit/Limits.ts"
import { RateLimiter } from "../../src/ratelimit/RateLimiter.ts"
import type { Store, Verdict } from "../../src/ratelimit/Store.ts"

/** The stores under test, with control over their time. */
export class Subjects extends Context.Service<
  Subjects,
  {
    /** Two stores of the same windows. */
    readonly stores: readonly [Store, Store]
    /** Lets time pass for every open window. */
    readonly pass: (seconds: number) => Effect.Effect<void>
    /** Seconds of real time that may pass during the test. */
    readonly slackSeconds: number
  }
>()("tollgate/test/ratelimit/Subjects") {}

/** A client that inspects the Redis server. */
export const inspector = (url: Redacted.Redacted) =>
  Effect.map(Layer.build(Layer.fresh(NodeRedis.layer({ url: Redacted.value(url) }))), Context.get(NodeRedis.NodeRedis))

/** A new limiter, like that of one more node. */
export const node = (redisUrl: Redacted.Redacted | undefined) =>
  Effect.map(Layer.build(Layer.fresh(RateLimiter.layerFrom({ redisUrl }))), Context.get(RateLimiter))

let made = 0

/** A key without counted requests. */
export const freshKey = (): Subject => ({ kind: "key", id: `key-${++made}` })

export const times = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }), () => effect)

/** 200 requests at once, half of them through each store. */
export const rush = (stores: readonly [Store, Store], policy: PolicyName, subject: Subject, scale = 1) =>
  Effect.forEach(
    Array.from({ length: 200 }, (_, index) => stores[index % 2 === 0 ? 0 : 1]),
    (store) => store.consume(policy, subject, scale),
    { concurrency: "unbounded" }
  )

export const admittedOf = (verdicts: ReadonlyArray<Verdict>) => verdicts.filter((verdict) => verdict.admitted)

const assertReset = (actual: number, expected: number, slack: number) => {
  assert.isAtMost(actual, expected)
  assert.isAtLeast(actual, expected - slack)
}

/** The tests that every store passes. */
export const suite = (it: Vitest.MethodsNonLive<Subjects>) => {
  it.effect("admits exactly the limit of 200 parallel requests, each with its own remaining count", () =>
    Effect.gen(function* () {
      const { slackSeconds, stores } = yield* Subjects
      const verdicts = yield* rush(stores, "chat", freshKey())
      const admitted = admittedOf(verdicts)
      assert.deepStrictEqual(
        admitted.map((verdict) => verdict.remaining).toSorted((a, b) => a - b),
        Array.from({ length: 60 }, (_, remaining) => remaining)
      )
      for (const verdict of verdicts) {
        assert.strictEqual(verdict.policy, "chat")
        assert.strictEqual(verdict.limit, 60)
        assertReset(verdict.resetSeconds, 60, slackSeconds)
        assert.strictEqual(verdict.retryAfterSeconds, verdict.admitted ? undefined : verdict.resetSeconds)
        if (!verdict.admitted) assert.strictEqual(verdict.remaining, 0)
      }
    })
  )

  it.effect("does not count refused requests", () =>
    Effect.gen(function* () {
      const { stores } = yield* Subjects
      const key = freshKey()
      const first = yield* times(7, stores[0].consume("video", key, 1))
      assert.deepStrictEqual(
        first.map((verdict) => verdict.admitted),
        [true, true, false, false, false, false, false]
      )
      const second = yield* times(4, stores[1].consume("video", key, 2))
      assert.deepStrictEqual(
        second.map((verdict) => [verdict.admitted, verdict.remaining]),
        [
          [true, 1],
          [true, 0],
          [false, 0],
          [false, 0]
        ]
      )
    })
  )

  it.effect("opens a window with the first request, does not extend it, and ends it after 60 seconds", () =>
    Effect.gen(function* () {
      const { pass, slackSeconds, stores } = yield* Subjects
      const key = freshKey()
      yield* pass(7)
      assertReset((yield* stores[0].consume("images", key, 1)).resetSeconds, 60, slackSeconds)
      yield* pass(30)
      const later = yield* times(30, stores[1].consume("images", key, 1))
      assert.strictEqual(admittedOf(later).length, 29)
      const refused = later.at(-1)
      assert.strictEqual(refused?.admitted, false)
      assertReset(refused?.retryAfterSeconds ?? 0, 30, slackSeconds)
      yield* pass(refused?.retryAfterSeconds ?? 0)
      const next = yield* stores[0].consume("images", key, 1)
      assert.isTrue(next.admitted)
      assert.strictEqual(next.remaining, 29)
      assertReset(next.resetSeconds, 60, slackSeconds)
    })
  )

  it.effect("does not share windows between policies or subjects", () =>
    Effect.gen(function* () {
      const { stores } = yield* Subjects
      const key = freshKey()
      assert.strictEqual(admittedOf(yield* times(3, stores[0].consume("video", key, 1))).length, 2)
      const others: ReadonlyArray<readonly [PolicyName, Subject]> = [
        ["chat", key],
        ["default", key],
        ["video", freshKey()],
        ["video", { kind: "account", id: key.id }],
        ["video", { kind: "address", id: key.id }]
      ]
      for (const [policy, subject] of others) {
        const verdict = yield* stores[1].consume(policy, subject, 1)
        assert.isTrue(verdict.admitted)
        assert.strictEqual(verdict.remaining, limits[policy].requests === 60 ? 59 : 1)
      }
    })
  )

  it.effect("multiplies the limit by the scale, rounds down and leaves at least one", () =>
    Effect.gen(function* () {
      const { stores } = yield* Subjects
      const count = (policy: PolicyName, scale: number) =>
        Effect.map(rush(stores, policy, freshKey(), scale), (verdicts) => admittedOf(verdicts).length)
      assert.strictEqual(yield* count("images", 1.25), 37)
      assert.strictEqual(yield* count("video", 10), 20)
      assert.strictEqual(yield* count("video", 0.001), 1)
      assert.strictEqual(yield* count("management_reads", 0.5), 60)
    })
  )

  it.effect("reports the default window for an unlimited route, and does not change it", () =>
    Effect.gen(function* () {
      const { pass, slackSeconds, stores } = yield* Subjects
      const key = freshKey()
      const unopened = yield* stores[0].consume("video_status", key, 1)
      assert.deepStrictEqual(unopened, {
        policy: "default",
        admitted: true,
        limit: 60,
        remaining: 60,
        resetSeconds: 60
      })
      yield* pass(20)
      yield* times(3, stores[0].consume("default", key, 1))
      yield* pass(20)
      for (const shown of yield* times(70, stores[1].consume("video_status", key, 1))) {
        assert.deepInclude(shown, { policy: "default", admitted: true, limit: 60, remaining: 57 })
        assertReset(shown.resetSeconds, 40, slackSeconds)
      }
      yield* times(57, stores[0].consume("default", key, 1))
      assert.isFalse((yield* stores[0].consume("default", key, 1)).admitted)
      const full = yield* stores[1].consume("video_status", key, 1)
      assert.deepInclude(full, { admitted: true, remaining: 0 })
      assert.notProperty(full, "retryAfterSeconds")
    })
  )

  it.effect("peek returns what consume would, and neither counts nor opens a window", () =>
    Effect.gen(function* () {
      const { pass, slackSeconds, stores } = yield* Subjects
      const key = freshKey()
      const unopened = { policy: "video", admitted: true, limit: 2, remaining: 2, resetSeconds: 60 } as const
      for (const verdict of yield* times(5, stores[0].peek("video", key, 1))) assert.deepStrictEqual(verdict, unopened)
      yield* pass(20)
      assertReset((yield* stores[0].consume("video", key, 1)).resetSeconds, 60, slackSeconds)
      for (const verdict of yield* times(5, stores[1].peek("video", key, 1))) {
        assert.deepInclude(verdict, { admitted: true, remaining: 1 })
      }
      yield* stores[0].consume("video", key, 1)
      const full = yield* stores[1].peek("video", key, 1)
      assert.deepInclude(full, { admitted: false, remaining: 0 })
      assert.strictEqual(full.retryAfterSeconds, full.resetSeconds)
    })
  )
}
