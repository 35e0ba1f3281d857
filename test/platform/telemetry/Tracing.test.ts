import { assert, describe, it } from "@effect/vitest"
import { readTraceContext, traceHeaders, traceIdOf } from "../../../src/platform/telemetry/Tracing.ts"
import { recordSpans } from "../../support/Spans.ts"

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
const SPAN = "00f067aa0ba902b7"

describe("W3C trace context", () => {
  it("is written as it was read", () => {
    for (const flags of ["00", "01"]) {
      const traceparent = `00-${TRACE}-${SPAN}-${flags}`
      const read = readTraceContext(traceparent, "a=1,b=2")
      assert.deepStrictEqual(read, { traceId: TRACE, spanId: SPAN, sampled: flags === "01", state: "a=1,b=2" })
      assert.deepStrictEqual(traceHeaders(read!), { traceparent, tracestate: "a=1,b=2" })
    }
  })

  it("of a future version is read as far as its format is known", () => {
    assert.strictEqual(readTraceContext(`01-${TRACE}-${SPAN}-01-more`, undefined)?.traceId, TRACE)
    assert.strictEqual(readTraceContext(`01-${TRACE}-${SPAN}-03`, undefined)?.sampled, true)
  })

  it("is ignored when malformed", () => {
    const malformed = [
      "",
      TRACE,
      `00-${TRACE}-${SPAN}`,
      `00-${TRACE}-${SPAN}-01-more`,
      `00-${TRACE}-${SPAN}-0g`,
      `ff-${TRACE}-${SPAN}-01`,
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${"0".repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${"0".repeat(16)}-01`,
      `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
      ` 00-${TRACE}-${SPAN}-01`
    ]
    for (const text of malformed) assert.isUndefined(readTraceContext(text, "a=1"), text)
    assert.isUndefined(readTraceContext(undefined, "a=1"))
  })

  it("is read without a tracestate that is too long or contains a line break", () => {
    for (const state of ["a".repeat(513), "a=1\r\nx: y", ""]) {
      assert.isUndefined(readTraceContext(`00-${TRACE}-${SPAN}-01`, state)?.state)
    }
  })
})

describe("a span", () => {
  it("continues its caller's trace, or starts one", () => {
    const { spans, tracing } = recordSpans()
    tracing.server(`00-${TRACE}-${SPAN}-01`, "a=1")!.end()
    tracing.server("nonsense", "a=1")!.end()
    const [continued, begun] = spans
    assert.deepStrictEqual(
      [continued?.context.traceId, continued?.parentSpanId, continued?.context.state],
      [TRACE, SPAN, "a=1"]
    )
    assert.deepStrictEqual([begun?.parentSpanId, begun?.context.state], [undefined, undefined])
    assert.match(begun?.context.traceId ?? "", /^[0-9a-f]{32}$/)
    assert.notStrictEqual(begun?.context.traceId, TRACE)
  })

  it("is absent when its trace is not recorded", () => {
    const { tracing } = recordSpans("of callers")
    assert.isUndefined(tracing.server(undefined, undefined))
    assert.isDefined(tracing.server(`00-${TRACE}-${SPAN}-01`, undefined))
  })

  it("has children in its trace, which may outlive it", () => {
    const { spans, tracing } = recordSpans()
    const parent = tracing.server(undefined, undefined)!
    const child = parent.child("work", "internal", { amount: 5n, absent: undefined })
    parent.end()
    child.set({ done: true }).end()
    const [first, second] = spans
    assert.strictEqual(second?.parentSpanId, first?.context.spanId)
    assert.strictEqual(second?.context.traceId, first?.context.traceId)
    assert.deepStrictEqual(second!.attributes, { amount: 5, done: true })
    assert.isTrue(second!.endTime >= second!.startTime)
  })

  it("ends once, with its final attributes", () => {
    const { spans, tracing } = recordSpans()
    const span = tracing.server(undefined, undefined)!
    span.fail("Broken").end()
    span.end()
    assert.lengthOf(spans, 1)
    assert.isTrue(spans[0]?.failed)
    assert.strictEqual(spans[0]?.attributes["error.type"], "Broken")
  })

  it("takes precedence over the caller's trace on a receipt", () => {
    const { tracing } = recordSpans()
    const span = tracing.server(undefined, undefined)
    const from = readTraceContext(`00-${TRACE}-${SPAN}-00`, undefined)
    assert.strictEqual(traceIdOf({ span, from }), span?.context.traceId)
    assert.strictEqual(traceIdOf({ span: undefined, from }), TRACE)
    assert.isNull(traceIdOf({ span: undefined, from: undefined }))
    assert.isNull(traceIdOf(undefined))
  })
})
