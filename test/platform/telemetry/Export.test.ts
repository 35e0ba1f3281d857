import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Tracer } from "effect"
import { Config } from "../../../src/platform/config/Config.ts"
import { Metrics } from "../../../src/platform/telemetry/Metrics.ts"
import { layer } from "../../../src/platform/telemetry/Telemetry.ts"
import { Tracing } from "../../../src/platform/telemetry/Tracing.ts"
import { startCollector } from "../../support/Collector.ts"
import { ended } from "../../support/Metrics.ts"

/** Runs a program that exports its spans, logs and metrics with these settings, with a silent console. */
const telling = <A, E>(env: Record<string, string>, body: Effect.Effect<A, E>) =>
  body.pipe(
    Effect.provide(layer.pipe(Layer.provideMerge(Logger.layer([])), Layer.provide(Config.layerFrom(env)))),
    Effect.scoped
  )

/** Records a trace of one span. */
const one = Effect.map(Tracing, (tracing) => tracing.server(undefined, undefined)?.set({ "svc.amount": 12n }).end())

describe("telemetry", () => {
  it.live("is exported completely before the end, and not at all without an endpoint", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector()
      const endpoint = collector.environment
      const told = Effect.gen(function* () {
        yield* one
        yield* Effect.logInfo("something happened")
        ;(yield* Metrics).http.left(ended(200))
      })
      yield* telling({}, told)
      yield* telling({ ...endpoint, OTEL_SDK_DISABLED: "true" }, told)
      assert.strictEqual(collector.requests(), 0)
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

  it.live("is exported as protobuf unless the operator requests JSON", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector("takes anything")
      const { OTEL_EXPORTER_OTLP_ENDPOINT } = collector.environment
      const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
      const traced = Effect.map(Tracing, (tracing) =>
        tracing.server(`00-${traceId}-00f067aa0ba902b7-01`, undefined)?.end()
      )
      yield* telling({ OTEL_EXPORTER_OTLP_ENDPOINT }, traced)
      assert.isTrue(collector.headers.every((headers) => headers["content-type"] === "application/x-protobuf"))
      // Protobuf holds the id as its bytes.
      assert.isTrue(collector.bodies.some((body) => body.includes(Buffer.from(traceId, "hex"))))
    }).pipe(Effect.scoped)
  )

  it.live("contains no spans of Effect, with or without an exporter", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector()
      const inside = Effect.withSpan(one, "of Effect")
      yield* telling(collector.environment, inside)
      assert.deepStrictEqual(
        collector.spans.map(({ name }) => name),
        ["HTTP"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("has the ids of the surrounding span in its logs, never Effect's placeholder ids", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector()
      const span = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) })
      const inside = Effect.withSpan(Effect.logInfo("inside"), "of Effect")
      yield* telling(
        collector.environment,
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

  it.live("is buffered for only a few exports when the collector does not respond, and does not delay the end", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector("hangs")
      yield* telling(
        collector.environment,
        Effect.gen(function* () {
          // Forty batches of 512 spans, of which eight fit into the buffer.
          for (let batch = 0; batch < 40; batch++) {
            for (let span = 0; span < 512; span++) yield* one
            yield* Effect.yieldNow
          }
        })
      )
      // Logs and metrics may have fit in at the end.
      assert.isAtMost(collector.requests(), 10)
      assert.isAbove(collector.requests(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("is dropped when a collector requests a pause of an hour, and exported again soon", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector("pauses")
      yield* telling(
        collector.environment,
        Effect.gen(function* () {
          yield* one
          while (collector.requests() === 0) yield* Effect.sleep("50 millis")
          yield* one
          while (collector.spans.length < 1) yield* Effect.sleep("50 millis")
        })
      )
      assert.lengthOf(collector.spans, 1)
    }).pipe(Effect.timeout("30 seconds"), Effect.scoped)
  )
})
