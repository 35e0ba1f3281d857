import { assert, describe, it } from "@effect/vitest"
import { emptyOutput } from "../../../src/domain/Output.ts"
import { makeMetrics } from "../../../src/platform/telemetry/Metrics.ts"
import type { AttemptFigures } from "../../../src/platform/telemetry/ProviderMetrics.ts"
import { readTraceContext, type Trace } from "../../../src/platform/telemetry/Tracing.ts"
import { AttemptRecord } from "../../../src/providers/pool/AttemptRecord.ts"
import { makeSandbox } from "../../../src/providers/sandbox/Sandbox.ts"
import { asked } from "../../support/Conversations.ts"
import { type RecordedSpan, recordSpans } from "../../support/Spans.ts"
import { candidate, chatCall } from "../calls.ts"

const usage = { input: 10, cached: 3, cacheWrite: 2, output: 20, reasoning: 5 }

/** Begins a record of an attempt, whose trace is recorded unless another is given, and collects what it reports. */
const begin = (trace?: Trace) => {
  const { spans, tracing } = recordSpans()
  const counted: Array<AttemptFigures> = []
  const span = tracing.server(undefined, undefined)
  const record = new AttemptRecord({
    metrics: { ...makeMetrics(), attempt: (figures) => counted.push(figures) },
    trace: trace ?? { span, from: undefined },
    provider: { ...makeSandbox("mistral"), server: { address: "api.example.com", port: 443 } },
    operation: "chat",
    call: chatCall({
      candidate: candidate("mistral", { upstreamId: "up-1" }),
      conversation: {
        ...asked("PLANTED"),
        sampling: { temperature: 0.2, topP: 0.9, stop: ["PLANTED"] },
        user: "PLANTED"
      },
      maxOutputTokens: 64
    }),
    index: 1,
    stream: true
  })
  return { counted, parent: span!, record, spans }
}

const attributesOf = (spans: ReadonlyArray<RecordedSpan>) => ({ ...spans[0]?.attributes })

describe("an attempt", () => {
  it("is a client span by the GenAI conventions, without the caller's text", () => {
    const { counted, parent, record, spans } = begin()
    record.served({ ...emptyOutput, text: "PLANTED", finish: "length", usage })
    const [span, ...more] = spans
    assert.isEmpty(more)
    assert.deepStrictEqual([span?.name, span?.kind, span?.failed], ["chat model-1", "client", false])
    assert.strictEqual(span?.parentSpanId, parent.context.spanId)
    assert.deepStrictEqual(attributesOf(spans), {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "mistral_ai",
      "gen_ai.request.model": "model-1",
      "server.address": "api.example.com",
      "server.port": 443,
      "svc.provider": "mistral",
      "svc.upstream_model": "up-1",
      "svc.attempt.index": 1,
      "gen_ai.request.stream": true,
      "gen_ai.output.type": "text",
      "gen_ai.request.max_tokens": 64,
      "gen_ai.request.temperature": 0.2,
      "gen_ai.request.top_p": 0.9,
      "gen_ai.response.finish_reasons": ["length"],
      "gen_ai.usage.input_tokens": 15,
      "gen_ai.usage.cache_read.input_tokens": 3,
      "gen_ai.usage.cache_creation.input_tokens": 2,
      "gen_ai.usage.output_tokens": 20,
      "gen_ai.usage.reasoning.output_tokens": 5,
      "svc.attempt.outcome": "served"
    })
    const [{ durationMs, ...figures } = { durationMs: -1 }] = counted
    assert.isAtLeast(durationMs, 0)
    assert.deepStrictEqual(figures, {
      operation: "chat",
      provider: "mistral",
      model: "model-1",
      outcome: "served",
      errorType: undefined
    })
  })

  it("of a stream records its first content and its end", () => {
    const { record, spans } = begin()
    record.firstContent()
    record.note([{ _tag: "Text", text: "PLANTED" }])
    record.note([
      { _tag: "Finish", reason: "stop" },
      { _tag: "Usage", usage }
    ])
    assert.isEmpty(spans)
    record.served()
    const attributes = attributesOf(spans)
    assert.isAtLeast(attributes["gen_ai.response.time_to_first_chunk"] as number, 0)
    assert.deepStrictEqual(attributes["gen_ai.response.finish_reasons"], ["stop"])
    assert.strictEqual(attributes["gen_ai.usage.input_tokens"], 15)
  })

  it("ends once, with its first outcome", () => {
    const ends = [
      [
        (one: AttemptRecord) => one.failed({ _tag: "ServerError", status: 500, detail: "PLANTED" }, "failed_over"),
        "failed",
        "failed_over",
        "ServerError"
      ],
      [(one: AttemptRecord) => one.failed(undefined, "failed"), "failed", "failed", "Empty"],
      [(one: AttemptRecord) => one.broke({ _tag: "Broken", detail: "PLANTED" }), "failed", "failed", "Broken"],
      [(one: AttemptRecord) => one.cancelled(), "cancelled", "cancelled", undefined]
    ] as const
    for (const [end, outcome, said, errorType] of ends) {
      const { counted, record, spans } = begin()
      end(record)
      record.served()
      record.failed(undefined, "failed")
      assert.lengthOf(spans, 1)
      assert.deepInclude(attributesOf(spans), { "svc.attempt.outcome": said })
      assert.strictEqual(attributesOf(spans)["error.type"], errorType)
      assert.strictEqual(spans[0]?.failed, errorType !== undefined)
      assert.deepInclude(counted, { ...counted[0]!, outcome, errorType })
      assert.lengthOf(counted, 1)
    }
  })

  it("propagates its span, or the caller's context when unrecorded, or nothing", () => {
    const recorded = begin()
    recorded.record.served()
    const { spanId, traceId } = recorded.spans[0]!.context
    assert.deepStrictEqual(recorded.record.traceHeaders, { traceparent: `00-${traceId}-${spanId}-01` })
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-00`
    const from = readTraceContext(traceparent, "x=1")
    const passed = begin({ span: undefined, from })
    assert.deepStrictEqual(passed.record.traceHeaders, { traceparent, tracestate: "x=1" })
    passed.record.note([{ _tag: "Usage", usage }])
    passed.record.served()
    assert.isEmpty(passed.spans)
    assert.lengthOf(passed.counted, 1)
    assert.isUndefined(begin({ span: undefined, from: undefined }).record.traceHeaders)
  })
})
