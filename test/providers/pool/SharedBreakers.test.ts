import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Logger, Schedule, Scope } from "effect"
import type { Redacted } from "effect"
import { makeMetrics, Metrics } from "../../../src/platform/telemetry/Metrics.ts"
import { millisOf } from "../../../src/platform/Monotonic.ts"
import { type Breaker, type FailureDetails, rules } from "../../../src/providers/pool/Breaker.ts"
import { makeHosts } from "../../../src/providers/Hosts.ts"
import type { Provider } from "../../../src/providers/Provider.ts"
import { ProviderPool } from "../../../src/providers/pool/ProviderPool.ts"
import { makeSandbox } from "../../../src/providers/sandbox/Sandbox.ts"
import { exchange, Openings } from "../../../src/providers/pool/SharedBreakers.ts"
import { inspector } from "../../ratelimit/suite.ts"
import { missing, RedisServer } from "../../support/Redis.ts"
import { announceSkip } from "../../support/Skips.ts"
import { candidate, clocks } from "../calls.ts"
import { failing, outcomes, poolCall } from "../pools.ts"

announceSkip("the Redis half of SharedBreakers", missing)

const KEY = "tollgate:breakers"

/** A new pool, like that of one more node. */
const poolOn = (redisUrl: Redacted.Redacted, ...providers: ReadonlyArray<Provider>) =>
  ProviderPool.layerFrom({ providers, clocks, observe: () => undefined, redisUrl }).pipe(
    Layer.provide(Layer.succeed(Metrics, makeMetrics())),
    Layer.fresh,
    Layer.build,
    Effect.map(Context.get(ProviderPool))
  )

/** A node's breakers for the provider `a`, shared through Redis. */
const nodeOn = Effect.fnUntraced(function* (redisUrl: Redacted.Redacted) {
  const openings = new Openings()
  const hosts = makeHosts([makeSandbox("a")], makeMetrics(), openings.add)
  yield* exchange(redisUrl, hosts, openings)
  return hosts.get("a")!.breakerOf
})

const now = Clock.clockWith((clock) => Effect.sync(() => millisOf(clock)))

const open = (breaker: Breaker, how: FailureDetails = { atOnce: true }) =>
  Effect.map(now, (at) => {
    breaker.failed(breaker.admit(at)!, at, 0, how)
    return at
  })

/** Repeats `ask` until its result holds, for ten seconds at most. */
const until = Effect.fnUntraced(function* <A, E, R>(
  what: string,
  ask: Effect.Effect<A, E, R>,
  holds: (answer: A) => boolean
) {
  const kept = Effect.map(ask, holds)
  yield* Effect.repeat(kept, { until: (yes) => yes, times: 500, schedule: Schedule.spaced("20 millis") })
  assert.isTrue(yield* kept, what)
})

const untilOpen = (breaker: Breaker) =>
  until(
    "the node opened its breaker",
    Effect.sync(() => breaker.state),
    (state) => state === "open"
  )

/** Opens a breaker on one node and waits until the other node has opened it, and so has received all openings before. */
const meet = Effect.fnUntraced(function* (
  from: (model: string) => Breaker,
  to: (model: string) => Breaker,
  at: string
) {
  yield* open(from(at))
  yield* untilOpen(to(at))
})

describe.skipIf(missing !== undefined)("breakers shared through Redis", () => {
  it.live("are applied by another node, which keeps to a pause like the first node", () =>
    Effect.gen(function* () {
      const { url } = yield* RedisServer
      const limited = failing("a", { _tag: "RateLimited", retryAfterSeconds: 600 })
      const one = yield* poolOn(url, limited, makeSandbox("b"))
      const other = yield* poolOn(url, makeSandbox("a"), makeSandbox("b"))
      const both = poolCall([candidate("a"), candidate("b")])
      assert.deepStrictEqual(outcomes((yield* other.chat(both)).attempts), ["a served"])
      assert.deepStrictEqual(outcomes((yield* one.chat(both)).attempts), ["a failed_over", "b served"])
      yield* until(
        "the other node skips the provider",
        other.chat(both),
        ({ attempts }) => attempts[0]?.provider === "b"
      )
      for (const pool of [one, other]) {
        const { attempts, reason } = yield* Effect.flip(pool.chat(poolCall([candidate("a")])))
        assert.lengthOf(attempts, 0)
        if (reason._tag !== "NoProviderAvailable") throw new Error(reason._tag)
        assert.isAtMost(reason.retryAfterSeconds ?? 0, 600)
        assert.isAbove(reason.retryAfterSeconds ?? 0, 500)
      }
    }).pipe(Effect.scoped, Effect.provide(RedisServer.layer))
  )

  it.live(
    "open on other nodes for the remaining time plus jitter, and are sent only by the node that opened them",
    () =>
      Effect.gen(function* () {
        const { url } = yield* RedisServer
        const redis = yield* inspector(url)
        const [one, other] = [yield* nodeOn(url), yield* nodeOn(url)]
        const began = yield* open(one("model 1/x"))
        yield* untilOpen(other("model 1/x"))
        const shared = () => redis.use((client) => client.zRangeWithScores(KEY, 0, -1))
        const states = yield* shared()
        assert.deepStrictEqual(
          states.map(({ value }) => value),
          ["open a model 1/x"]
        )
        yield* meet(other, one, "model-2")
        yield* meet(one, other, "model-3")
        assert.deepStrictEqual((yield* shared())[0], states[0])
        const later = yield* nodeOn(url)
        yield* untilOpen(later("model 1/x"))
        assert.isDefined(one("model 1/x").admit(began + rules.longestOpenMs))
        for (const breakerOf of [other, later]) {
          assert.isUndefined(breakerOf("model 1/x").admit(began + rules.longestOpenMs - 1_000))
          assert.isDefined(breakerOf("model 1/x").admit((yield* now) + rules.longestOpenMs * (1 + rules.jitter)))
        }
      }).pipe(Effect.scoped, Effect.provide(RedisServer.layer))
  )

  it.live("stay closed on a node where a probe has succeeded since", () =>
    Effect.gen(function* () {
      const { url } = yield* RedisServer
      const [one, other] = [yield* nodeOn(url), yield* nodeOn(url)]
      yield* meet(one, other, "model-1")
      for (const breakerOf of [one, other]) {
        const breaker = breakerOf("model-1")
        const at = breaker.availableAt()
        breaker.answered(breaker.admitEarly(at)!, at)
      }
      yield* meet(one, other, "model-2")
      yield* meet(other, one, "model-3")
      assert.deepStrictEqual([one("model-1").state, other("model-1").state], ["closed", "closed"])
    }).pipe(Effect.scoped, Effect.provide(RedisServer.layer))
  )

  it.live("are limited in Redis, expire there, and apply only to known providers", () =>
    Effect.gen(function* () {
      const { url } = yield* RedisServer
      const redis = yield* inspector(url)
      const ends = Date.now() + 30_000
      const strangers = Array.from({ length: 1_500 }, (_, index) => ({ score: ends, value: `open z ${index}` }))
      const past = { score: Date.now() - 1, value: "open a model-0" }
      const nonsense = { score: ends + 1, value: "nonsense" }
      yield* redis.use((client) => client.zAdd(KEY, [...strangers, past, nonsense]))
      const [one, other] = [yield* nodeOn(url), yield* nodeOn(url)]
      yield* meet(one, other, "model-1")
      assert.strictEqual(other("model-0").state, "closed")
      assert.strictEqual(yield* redis.use((client) => client.zCard(KEY)), 1_000)
      assert.isTrue((yield* redis.use((client) => client.zScore(KEY, "nonsense"))) !== null)
      const left = yield* redis.use((client) => client.pTTL(KEY))
      assert.isAbove(left, 0)
      assert.isAtMost(left, rules.longestOpenMs)
    }).pipe(Effect.scoped, Effect.provide(RedisServer.layer))
  )

  it.live("are local while Redis is down, which the node logs once, and shared when Redis is back", () => {
    const lines: Array<string> = []
    const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))])
    return Effect.gen(function* () {
      const server = yield* RedisServer
      yield* server.stop
      const one = yield* nodeOn(server.url)
      yield* open(one("model-1"))
      assert.strictEqual(one("model-1").state, "open")
      const said = (words: string) =>
        until(
          words,
          Effect.sync(() => lines),
          (all) => all.some((line) => line.includes(words))
        )
      yield* said("breakers: Redis does not answer")
      yield* server.start
      yield* said("breakers: Redis answers again")
      assert.lengthOf(lines, 2, lines.join("\n"))
      const other = yield* nodeOn(server.url)
      yield* untilOpen(other("model-1"))
    }).pipe(Effect.scoped, Effect.provide([RedisServer.layer, logger]))
  })

  it.live("are no longer updated once the pool has stopped", () =>
    Effect.gen(function* () {
      const { url } = yield* RedisServer
      const scope = yield* Scope.make()
      const gone = yield* nodeOn(url).pipe(Scope.provide(scope))
      const [one, other] = [yield* nodeOn(url), yield* nodeOn(url)]
      yield* meet(gone, one, "model-1")
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      yield* meet(one, other, "model-2")
      yield* meet(other, one, "model-3")
      assert.strictEqual(gone("model-3").state, "closed")
    }).pipe(Effect.scoped, Effect.provide(RedisServer.layer))
  )
})
