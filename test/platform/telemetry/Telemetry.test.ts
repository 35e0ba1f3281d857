import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Layer, References, Tracer } from "effect"
import { Config } from "../../../src/platform/config/Config.ts"
import { logLayer } from "../../../src/platform/telemetry/Telemetry.ts"

describe("the console", () => {
  const lines = (env: Record<string, string>, body: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const console = { ...globalThis.console, log: (...words: ReadonlyArray<unknown>) => said.push(words.join(" ")) }
      yield* body.pipe(
        Effect.provide(logLayer.pipe(Layer.provide(Config.layerFrom({ LOG_FORMAT: "json", ...env })))),
        Effect.provideService(Console.Console, console as never)
      )
      return said.map((line) => JSON.parse(line))
    })

  it.live("prints a JSON line for each log entry, with its request and trace", () =>
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

  it.live("prints no entry below the operator's log level", () =>
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
