import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Observation } from "../../src/catalogue/Counts.ts"
import { LiveFigures, MAX_SERIES, THIN_BELOW_SAMPLES } from "../../src/catalogue/LiveFigures.ts"
import { writeCounts } from "../../src/catalogue/LiveFiguresSql.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { newClient } from "../ledger/Fixture.ts"
import { makeWire } from "../ledger/Wire.ts"
import * as Database from "../support/Database.ts"
import { giveBack, takeAway } from "../support/Outage.ts"

const MINUTE_MS = 60_000

const nothing = {
  samples: 0,
  successRate: null,
  p50Ms: null,
  p95Ms: null,
  medianTtftMs: null,
  p95TtftMs: null,
  streamed: 0,
  thin: true
}

const seen = (observation: Partial<Observation>): Observation => ({
  model: "m",
  provider: "p",
  ok: true,
  durationMs: 1_000,
  firstTokenMs: undefined,
  ...observation
})

const near = (actual: number | null, expected: number) => {
  assert.isNotNull(actual)
  assert.approximately(actual, expected, expected * 0.1)
}

const many = (
  live: Context.Service.Shape<typeof LiveFigures>,
  count: number,
  observation: Partial<Observation> = {}
) => {
  for (let done = 0; done < count; done += 1) live.record(seen(observation))
}

const run = <A>(effect: Effect.Effect<A, never, LiveFigures>) => effect.pipe(Effect.provide(LiveFigures.layerMemory))

describe("LiveFigures", () => {
  it.effect("has no figures for a model without observations", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        live.record(seen({ model: "other" }))
        assert.deepStrictEqual(live.performance("m", "p"), nothing)
      })
    )
  )

  it.effect("gives the exact success rate, and quantiles within 10%", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        for (let ms = 1; ms <= 1_000; ms += 1) live.record(seen({ durationMs: ms * 10, firstTokenMs: ms }))
        for (let count = 0; count < 250; count += 1) live.record(seen({ ok: false, durationMs: 1 }))
        const { samples, successRate, p50Ms, p95Ms, medianTtftMs, thin } = live.performance("m", "p")
        assert.strictEqual(samples, 1_250)
        assert.strictEqual(successRate, 0.8)
        assert.isFalse(thin)
        near(p50Ms, 5_000)
        near(p95Ms, 9_500)
        near(medianTtftMs, 500)
      })
    )
  )

  it.effect("has no durations after failures alone, and no time to first token without a stream", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        live.record(seen({ ok: false }))
        assert.deepStrictEqual(live.performance("m", "p"), { ...nothing, samples: 1, successRate: 0 })
        live.record(seen({ durationMs: 0 }))
        live.record(seen({ durationMs: 1e9 }))
        const { medianTtftMs, p50Ms, p95Ms } = live.performance("m", "p")
        assert.isNull(medianTtftMs)
        assert.isAtLeast(p50Ms ?? -1, 0)
        assert.isAbove(p95Ms ?? 0, 1_000_000)
      })
    )
  )

  it.effect("marks figures as thin below 20 samples", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        for (let count = 1; count < THIN_BELOW_SAMPLES; count += 1) live.record(seen({}))
        assert.isTrue(live.performance("m", "p").thin)
        live.record(seen({}))
        assert.isFalse(live.performance("m", "p").thin)
      })
    )
  )

  it.effect("shows the first 20 samples at once, and later ones within a second", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        const samples = () => live.performance("m", "p").samples
        for (let count = 1; count <= THIN_BELOW_SAMPLES; count += 1) {
          live.record(seen({}))
          assert.strictEqual(samples(), count)
        }
        const shown = live.performance("m", "p")
        live.record(seen({}))
        assert.strictEqual(live.performance("m", "p"), shown)
        yield* TestClock.adjust("999 millis")
        assert.strictEqual(live.performance("m", "p"), shown)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(samples(), THIN_BELOW_SAMPLES + 1)
        yield* TestClock.setTime(59_500)
        assert.strictEqual(samples(), THIN_BELOW_SAMPLES + 1)
        live.record(seen({}))
        yield* TestClock.setTime(60_000)
        assert.strictEqual(samples(), THIN_BELOW_SAMPLES + 2)
        live.record(seen({}))
        yield* TestClock.setTime(30_000)
        assert.strictEqual(samples(), THIN_BELOW_SAMPLES + 3)
      })
    )
  )

  it.effect("drops samples older than 30 minutes, minute by minute", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        live.record(seen({ durationMs: 100, firstTokenMs: 10 }))
        yield* TestClock.adjust("10 minutes")
        live.record(seen({ durationMs: 10_000, firstTokenMs: 1_000 }))
        live.record(seen({ ok: false }))
        yield* TestClock.adjust("19 minutes")
        assert.strictEqual(live.performance("m", "p").samples, 3)
        yield* TestClock.adjust("1 minute")
        const later = live.performance("m", "p")
        assert.strictEqual(later.samples, 2)
        assert.strictEqual(later.successRate, 0.5)
        near(later.p50Ms, 10_000)
        near(later.medianTtftMs, 1_000)
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(live.performance("m", "p"), nothing)
        live.record(seen({}))
        assert.strictEqual(live.performance("m", "p").samples, 1)
        yield* TestClock.adjust("3 days")
        assert.deepStrictEqual(live.performance("m", "p"), nothing)
      })
    )
  )

  it.effect("keeps a limited number of series, and drops the least recently recorded one", () =>
    run(
      Effect.gen(function* () {
        const live = yield* LiveFigures
        live.record(seen({ provider: "first" }))
        yield* TestClock.adjust("1 minute")
        for (let count = 1; count < MAX_SERIES; count += 1) live.record(seen({ provider: `p${count}` }))
        assert.strictEqual(live.performance("m", "first").samples, 1)
        live.record(seen({ provider: "last" }))
        assert.strictEqual(live.performance("m", "first").samples, 0)
        assert.strictEqual(live.performance("m", "last").samples, 1)
        assert.strictEqual(live.performance("m", "p1").samples, 1)
      })
    )
  )
})

/** Starts a node on this database, with its own pool. */
const node = Effect.fnUntraced(function* (url: string, beforeItStarts: Effect.Effect<void> = Effect.void) {
  const scope = yield* Effect.acquireRelease(Scope.make(), (made) => Scope.close(made, Exit.void))
  const database = yield* Scope.fork(scope)
  const pool = yield* TestClock.withLive(Layer.buildWithScope(Database.layerUrl(url, 2), database))
  yield* beforeItStarts
  const context = yield* Layer.buildWithScope(LiveFigures.layer.pipe(Layer.provide(Layer.succeedContext(pool))), scope)
  const live = Context.get(context, LiveFigures)
  return {
    ...live,
    samples: (provider = "p") => live.performance("m", provider).samples,
    stop: Scope.close(scope, Exit.void),
    /** Stops the node before it can write anything more, like a killed process. */
    kill: Effect.andThen(Scope.close(database, Exit.void), Scope.close(scope, Exit.void))
  }
})

const rowsOf = (url: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ samples: number }>`SELECT samples FROM live_figure ORDER BY samples`
  ).pipe(
    Effect.map((rows) => rows.map(({ samples }) => samples)),
    Effect.provide(Database.layerUrl(url, 1)),
    Effect.scoped,
    TestClock.withLive
  )

/** Advances the clock by a second, and waits for the nodes' work in it. */
const second = Effect.andThen(
  TestClock.adjust("1 second"),
  Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
)

const until = Effect.fnUntraced(function* (what: () => boolean) {
  for (let tries = 0; tries < 500 && !what(); tries += 1) yield* second
  assert.isTrue(what())
})

describe("LiveFigures on a database", () => {
  it.effect("adds up the observations of all nodes, per model and provider", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const [one, two] = [yield* node(url), yield* node(url)]
      many(one, 30, { durationMs: 400, firstTokenMs: 40 })
      many(two, 10, { ok: false })
      many(two, 3, { provider: "q" })
      yield* until(() => one.samples() === 40 && two.samples() === 40 && one.samples("q") === 3)
      assert.deepStrictEqual(one.performance("m", "p"), two.performance("m", "p"))
      const { p50Ms, successRate } = two.performance("m", "p")
      assert.strictEqual(successRate, 0.75)
      near(p50Ms, 400)
      many(two, 30, { durationMs: 10_000 })
      yield* until(() => one.samples() === 70)
      near(one.performance("m", "p").p95Ms, 10_000)
    })
  )

  it.effect("starts with the stored observations of earlier nodes, each counted once", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const first = yield* node(url)
      many(first, 25, { firstTokenMs: 300 })
      yield* first.stop
      const second = yield* node(url)
      assert.strictEqual(second.samples(), 25)
      near(second.performance("m", "p").medianTtftMs, 300)
      many(second, 5)
      yield* second.stop
      assert.strictEqual((yield* node(url)).samples(), 30)
    })
  )

  it.effect("counts observations once when it writes them again after a lost database answer", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const wire = yield* makeWire(url)
      const [one, two] = [yield* node(wire.url), yield* node(url)]
      yield* wire.loseNextAnswer
      many(one, 21)
      yield* until(() => two.samples() === 21)
      many(one, 2)
      yield* until(() => two.samples() === 23)
      yield* TestClock.adjust("1 minute")
      many(one, 1)
      yield* until(() => two.samples() === 24)
      assert.strictEqual(one.samples(), 24)
      assert.deepStrictEqual(yield* rowsOf(url), [1, 23])
      assert.strictEqual((yield* node(url)).samples(), 24)
    })
  )

  it.effect("reads rows that were written before its last read and committed after it", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const [one, two, slow] = [yield* node(url), yield* node(url), yield* newClient(url)]
      const late = { minute: 0, model: "m", provider: "p", samples: 4, ok: 0, streamed: 0 }
      yield* slow.withTransaction(
        Effect.gen(function* () {
          yield* writeCounts(slow, newResourceId(), [{ ...late, durations: [], firstTokens: [] }])
          many(one, 20)
          yield* until(() => two.samples() === 20)
          many(one, 1)
          yield* until(() => two.samples() === 21)
        })
      )
      yield* until(() => two.samples() === 25)
    })
  )

  it.effect("loses only the observations that a killed process had not yet written", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const [killed, other] = [yield* node(url), yield* node(url)]
      many(killed, 30)
      yield* until(() => other.samples() === 30)
      many(killed, 7)
      yield* killed.kill
      many(other, 1)
      yield* other.stop
      assert.strictEqual((yield* node(url)).samples(), 31)
    })
  )

  it.effect("keeps recording without its database, logs that once, and shares everything later", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const said: Array<string> = []
      const logger = Logger.make(({ message }) => void said.push(String(Array.isArray(message) ? message[0] : message)))
      const [one, two] = [yield* Effect.provide(node(url), Logger.layer([logger])), yield* node(url)]
      many(one, 20)
      yield* until(() => two.samples() === 20)
      yield* takeAway(url)
      many(one, 20)
      yield* until(() => said.length > 0)
      for (let tries = 0; tries < 20; tries += 1) {
        many(one, 1)
        yield* second
      }
      assert.strictEqual(one.samples(), 60)
      yield* TestClock.adjust("1 minute")
      many(one, 1)
      assert.deepStrictEqual(said, ["nodes cannot share live figures"])
      yield* giveBack(url)
      yield* until(() => two.samples() === 61 && said.length > 1)
      assert.deepStrictEqual(said, ["nodes cannot share live figures", "nodes share live figures again"])
    })
  )

  it.effect("starts without its database", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const wire = yield* makeWire(url)
      const one = yield* node(wire.url, wire.cut)
      many(one, 3)
      assert.strictEqual(one.samples(), 3)
      yield* wire.mend
      const two = yield* node(url)
      yield* until(() => two.samples() === 3)
    })
  )

  it.effect("stops in finite time when its database connection hangs", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const wire = yield* makeWire(url)
      const one = yield* node(wire.url)
      many(one, 3)
      yield* wire.freeze
      const stopping = yield* Effect.forkChild(one.stop)
      yield* until(() => stopping.pollUnsafe() !== undefined)
      assert.deepStrictEqual(yield* rowsOf(url), [])
    })
  )

  it.effect("drops the samples of other nodes minute by minute, and deletes their rows", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const [one, two] = [yield* node(url), yield* node(url)]
      many(one, 2, { durationMs: 100 })
      yield* until(() => two.samples() === 2)
      yield* TestClock.setTime(10 * MINUTE_MS)
      many(one, 3, { durationMs: 10_000 })
      yield* until(() => two.samples() === 5)
      yield* TestClock.setTime(30 * MINUTE_MS - 1)
      assert.strictEqual(two.samples(), 5)
      yield* TestClock.setTime(30 * MINUTE_MS)
      assert.strictEqual(two.samples(), 3)
      near(two.performance("m", "p").p50Ms, 10_000)
      yield* TestClock.setTime(40 * MINUTE_MS)
      assert.deepStrictEqual(two.performance("m", "p"), nothing)
      assert.strictEqual((yield* node(url)).samples(), 0)
      let left = yield* rowsOf(url)
      assert.deepStrictEqual(left, [2, 3])
      yield* TestClock.setTime(71 * MINUTE_MS)
      for (let tries = 0; tries < 100 && left.length > 0; tries += 1) {
        yield* second
        left = yield* rowsOf(url)
      }
      assert.deepStrictEqual(left, [])
    })
  )

  it.effect("limits the series of all nodes together, and keeps those it records itself", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const one = yield* node(url)
      for (let count = 0; count < MAX_SERIES; count += 1) many(one, 1, { provider: `p${count}` })
      const two = yield* node(url)
      many(two, 2, { provider: "own" })
      yield* one.stop
      yield* until(() => two.samples("p0") === 1)
      const known = Array.from({ length: MAX_SERIES }, (_, index) => two.samples(`p${index}`))
      assert.strictEqual(known.filter((samples) => samples === 1).length, MAX_SERIES - 1)
      assert.strictEqual(two.samples("own"), 2)
      many(two, 1, { provider: "new" })
      assert.strictEqual(two.samples("new"), 1)
    })
  )
})
