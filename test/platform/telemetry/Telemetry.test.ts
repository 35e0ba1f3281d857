import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Layer, Logger, References, Tracer } from "effect"
import { Config } from "../../../src/platform/config/Config.ts"
import { Metrics } from "../../../src/platform/telemetry/Metrics.ts"
import { layer, logging } from "../../../src/platform/telemetry/Telemetry.ts"
import { Tracing } from "../../../src/platform/telemetry/Tracing.ts"
import { startCollector } from "../../support/Collector.ts"

/** What of the program's spans, logs and metrics a program with these settings exports; its console is silent. */
const telling = <A, E>(env: Record<string, string>, body: Effect.Effect<A, E>) =>
  body.pipe(
    Effect.provide(layer.pipe(Layer.provideMerge(Logger.layer([])), Layer.provide(Config.layerFrom(env)))),
    Effect.scoped
  )

/** A trace of one span. */
const one = Effect.map(Tracing, (tracing) => tracing.server(undefined, undefined)?.set({ "svc.amount": 12n }).end())

describe("telemetry", () => {
  it.live("is exported completely at the end, and not at all without an endpoint", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector()
      const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint }
      const told = Effect.gen(function* () {
        yield* one
        yield* Effect.logInfo("something happened")
        ;(yield* Metrics).http.left(200)
      })
      yield* telling({}, told)
      yield* telling({ ...endpoint, OTEL_SDK_DISABLED: "true" }, told)
      assert.strictEqual(collector.asked(), 0)
      yield* telling(endpoint, told)
      assert.lengthOf(collector.spans, 1)
      assert.strictEqual(collector.spans[0]?.attributes["svc.amount"], 12)
      assert.deepStrictEqual(
        collector.logs.map(({ body }) => body),
        ["something happened"]
      )
      assert.isTrue(collector.metrics.has("svc.http.requests"))
      assert.isTrue(collector.metrics.has("process.memory.usage"))
      assert.deepStrictEqual(collector.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("makes no spans of Effect's own, with or without an exporter", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector()
      const inside = Effect.withSpan(one, "of Effect")
      yield* telling({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint }, inside)
      assert.deepStrictEqual(
        collector.spans.map(({ name }) => name),
        ["HTTP"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("sends logs with the ids of the surrounding span, never with Effect's placeholder ids", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector()
      const span = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) })
      const inside = Effect.withSpan(Effect.logInfo("inside"), "of Effect")
      yield* telling(
        { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
        Effect.andThen(inside, Effect.provideService(inside, Tracer.ParentSpan, span))
      )
      assert.deepStrictEqual(
        collector.logs.map(({ body, spanId, traceId }) => ({ body, spanId, traceId })),
        [
          { body: "inside", spanId: undefined, traceId: undefined },
          { body: "inside", spanId: "b".repeat(16), traceId: "a".repeat(32) }
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("buffers only a few exports for an unresponsive collector, and ends without it", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector("hangs")
      yield* telling(
        { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
        Effect.gen(function* () {
          // Batches of 512: forty of them, of which eight find room.
          for (let batch = 0; batch < 40; batch++) {
            for (let span = 0; span < 512; span++) yield* one
            yield* Effect.yieldNow
          }
        })
      )
      // Logs and metrics may have found room at the end.
      assert.isAtMost(collector.asked(), 10)
      assert.isAbove(collector.asked(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("buffers nothing during a pause that a collector asks for, and resumes soon", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector("pauses")
      yield* telling(
        { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
        Effect.gen(function* () {
          yield* one
          while (collector.asked() === 0) yield* Effect.sleep("50 millis")
          yield* one
          while (collector.spans.length < 2) yield* Effect.sleep("50 millis")
        })
      )
      assert.lengthOf(collector.spans, 2)
    }).pipe(Effect.timeout("30 seconds"), Effect.scoped)
  )
})

describe("the console", () => {
  const lines = (env: Record<string, string>, body: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const console = { ...globalThis.console, log: (...words: ReadonlyArray<unknown>) => said.push(words.join(" ")) }
      yield* body.pipe(
        Effect.provide(logging.pipe(Layer.provide(Config.layerFrom({ LOG_FORMAT: "json", ...env })))),
        Effect.provideService(Console.Console, console as never)
      )
      return said.map((line) => JSON.parse(line))
    })

  it.live("prints a JSON line for each entry, with its request and trace", () =>
    Effect.gen(function* () {
      const span = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) })
      const within = Effect.logWarning("late", { after: 5n }).pipe(
        Effect.annotateLogs({ request_id: "req_1", timestamp: "never" }),
        Effect.provideService(Tracer.ParentSpan, span)
      )
      const [plain, traced, ...more] = yield* lines({}, Effect.andThen(Effect.logInfo("started\nnow"), within))
      assert.isEmpty(more)
      assert.deepStrictEqual(Object.keys(plain), ["timestamp", "level", "message"])
      assert.deepStrictEqual([plain.level, plain.message], ["INFO", "started\nnow"])
      assert.include(traced, { request_id: "req_1", trace_id: "a".repeat(32), span_id: "b".repeat(16), level: "WARN" })
      assert.match(traced.timestamp, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    })
  )

  it.live("prints the ids of the surrounding span, never Effect's placeholder ids", () =>
    Effect.gen(function* () {
      const span = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) })
      const inside = Effect.logInfo("inside").pipe(
        Effect.withSpan("of Effect"),
        Effect.provideService(References.TracerEnabled, false)
      )
      const said = yield* lines({}, Effect.andThen(inside, Effect.provideService(inside, Tracer.ParentSpan, span)))
      assert.deepStrictEqual(
        said.map(({ span_id, trace_id }) => [trace_id, span_id]),
        [
          [undefined, undefined],
          ["a".repeat(32), "b".repeat(16)]
        ]
      )
    })
  )

  it.live("prints nothing below the operator's level", () =>
    Effect.gen(function* () {
      const both = Effect.andThen(Effect.logInfo("quiet"), Effect.logError("loud"))
      const said = yield* lines({ LOG_LEVEL: "error" }, both)
      assert.deepStrictEqual(
        said.map(({ message }) => message),
        ["loud"]
      )
    })
  )
})
