/** Records spans of the OpenTelemetry SDK in memory. */
import { SpanKind as SdkKind, SpanStatusCode } from "@opentelemetry/api"
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  ParentBasedSampler,
  type ReadableSpan
} from "@opentelemetry/sdk-trace-base"
import { makeTracing, type SpanKind } from "../../src/platform/telemetry/Tracing.ts"

/** An ended span. Times are Unix nanoseconds. */
export interface RecordedSpan {
  readonly name: string
  readonly kind: SpanKind | undefined
  readonly context: { readonly traceId: string; readonly spanId: string; readonly state: string | undefined }
  readonly parentSpanId: string | undefined
  readonly startTime: bigint
  readonly endTime: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly failed: boolean
}

const kinds: Readonly<Record<number, SpanKind>> = {
  [SdkKind.INTERNAL]: "internal",
  [SdkKind.SERVER]: "server",
  [SdkKind.CLIENT]: "client"
}

const nanosOf = ([seconds, nanos]: readonly [number, number]) => BigInt(seconds) * 1_000_000_000n + BigInt(nanos)

const recordOf = (span: ReadableSpan): RecordedSpan => {
  const { spanId, traceId, traceState } = span.spanContext()
  return {
    name: span.name,
    kind: kinds[span.kind],
    context: { traceId, spanId, state: traceState?.serialize() },
    parentSpanId: span.parentSpanContext?.spanId,
    startTime: nanosOf(span.startTime),
    endTime: nanosOf(span.endTime),
    attributes: span.attributes,
    failed: span.status.code === SpanStatusCode.ERROR
  }
}

/** A tracing that records all traces, or only those that callers record, and the spans that have ended so far. */
export const recordSpans = (which: "all" | "of callers" = "all") => {
  const spans: Array<RecordedSpan> = []
  const provider = new BasicTracerProvider({
    sampler: new ParentBasedSampler({ root: which === "all" ? new AlwaysOnSampler() : new AlwaysOffSampler() }),
    spanProcessors: [
      {
        onStart: () => undefined,
        onEnd: (span) => void spans.push(recordOf(span)),
        forceFlush: () => Promise.resolve(),
        shutdown: () => Promise.resolve()
      }
    ]
  })
  return { spans, tracing: makeTracing(provider.getTracer("test")) }
}
