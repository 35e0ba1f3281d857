import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Tracer } from "effect"
import { spanAround } from "../../../src/platform/telemetry/LogSpan.ts"

describe("the span of a log entry", () => {
  it.effect("is the nearest span that has ids, or none", () =>
    Effect.gen(function* () {
      const found: Array<string | undefined> = []
      const logger = Logger.make((entry) => void found.push(spanAround(entry)?.spanId))
      const log = Effect.provide(Effect.logInfo("said"), Logger.layer([logger]))
      yield* log
      const around = Tracer.externalSpan({ traceId: "0".repeat(31) + "1", spanId: "0".repeat(15) + "1" })
      yield* Effect.provideService(log, Tracer.ParentSpan, around)
      assert.deepStrictEqual(found, [undefined, "0000000000000001"])
    })
  )
})
