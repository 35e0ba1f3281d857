/**
 * Spans of the request path. They are passed as plain values, so that work in a service's fiber stays in the trace of its request. A
 * request with an unrecorded trace has no span, and tracing costs it nothing.
 */
import { Context, Tracer } from "effect"
import { newSpanId, newTraceId } from "../Ids.ts"

/** A position in a trace, as W3C Trace Context carries it between services. */
export interface TraceContext {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
  /** `tracestate` as received. The gateway passes it on and never reads it. */
  readonly state: string | undefined
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** W3C Trace Context, 3.3.1.5, allows dropping longer ones. */
const TRACESTATE = /^[\x20-\x7e]{1,512}$/

/** Reads the trace headers of a request. A malformed header counts as absent, and a `tracestate` without `traceparent` is ignored. */
export const readTraceContext = (
  traceparent: string | undefined,
  tracestate: string | undefined
): TraceContext | undefined => {
  if (traceparent === undefined) return undefined
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  // Only a future version may have more fields.
  if (version === "00" && more !== undefined) return undefined
  const state = tracestate !== undefined && TRACESTATE.test(tracestate) ? tracestate : undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1, state }
}

/** The headers that propagate a trace. */
export const traceHeaders = ({ sampled, spanId, state, traceId }: TraceContext): Readonly<Record<string, string>> => ({
  traceparent: `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`,
  ...(state === undefined ? {} : { tracestate: state })
})

/** Decides which traces are recorded. */
export interface Sampler {
  /** The share of traces started here that is recorded, from 0 to 1. */
  readonly ratio: number
  /** Whether a caller's decision overrides the ratio for its trace. */
  readonly followsParent: boolean
}

/** OpenTelemetry's probability sampling uses the last 56 bits of a trace id. The first 52 of them are exact as a number. */
const RANDOMNESS = 2 ** 52
const RANDOMNESS_AT = 32 - 56 / 4
const RANDOMNESS_END = RANDOMNESS_AT + 52 / 4

/** Depends only on the trace id, so every node and service with this ratio or a higher one records the same trace. */
const isWithin = (ratio: number, traceId: string): boolean =>
  ratio >= 1 ||
  (ratio > 0 && Number.parseInt(traceId.slice(RANDOMNESS_AT, RANDOMNESS_END), 16) >= (1 - ratio) * RANDOMNESS)

/** Whether a trace is recorded. */
export const isSampled = (sampler: Sampler, traceId: string, parent: TraceContext | undefined): boolean =>
  sampler.followsParent && parent !== undefined ? parent.sampled : isWithin(sampler.ratio, traceId)

export type SpanKind = "internal" | "server" | "client"
export type AttributeValue = string | number | bigint | boolean | ReadonlyArray<string> | undefined
export type Attributes = Readonly<Record<string, AttributeValue>>

/** An ended span in its export format. Times are Unix nanoseconds in decimal. */
export interface SpanRecord {
  readonly name: string
  readonly kind: SpanKind
  readonly context: TraceContext
  readonly parentSpanId: string | undefined
  readonly startTime: string
  readonly endTime: string
  readonly attributes: ReadonlyMap<string, Exclude<AttributeValue, undefined>>
  readonly failed: boolean
}

/** The current time in Unix nanoseconds. The clock has microsecond resolution. */
const nowNanos = (): string => `${Math.round((performance.timeOrigin + performance.now()) * 1_000)}000`

/** A running span of a recorded trace. Attributes never contain a key, a prompt or an answer. */
export class Span {
  readonly context: TraceContext
  /** May be replaced by a better name until the span ends. */
  name: string
  readonly #kind: SpanKind
  readonly #parentSpanId: string | undefined
  readonly #record: (span: SpanRecord) => void
  readonly #startTime = nowNanos()
  readonly #attributes = new Map<string, Exclude<AttributeValue, undefined>>()
  #failed = false
  #ended = false

  constructor(
    name: string,
    kind: SpanKind,
    context: TraceContext,
    parentSpanId: string | undefined,
    record: (span: SpanRecord) => void
  ) {
    this.name = name
    this.context = context
    this.#kind = kind
    this.#parentSpanId = parentSpanId
    this.#record = record
  }

  /** Starts a child span, which may outlive this one. */
  child(name: string, kind: SpanKind, attributes?: Attributes): Span {
    const { spanId, ...context } = this.context
    const span = new Span(name, kind, { ...context, spanId: newSpanId() }, spanId, this.#record)
    return attributes === undefined ? span : span.set(attributes)
  }

  /** Adds attributes. Undefined ones are omitted. */
  set(attributes: Attributes): this {
    for (const name in attributes) {
      const value = attributes[name]
      if (value !== undefined) this.#attributes.set(name, value)
    }
    return this
  }

  /** Marks the span as failed, with a word for the kind of failure. */
  fail(errorType: string): this {
    this.#failed = true
    this.#attributes.set("error.type", errorType)
    return this
  }

  get failed(): boolean {
    return this.#failed
  }

  /** Ends the span and exports it, once. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#record({
      name: this.name,
      kind: this.#kind,
      context: this.context,
      parentSpanId: this.#parentSpanId,
      startTime: this.#startTime,
      endTime: nowNanos(),
      attributes: this.#attributes,
      failed: this.#failed
    })
  }

  /** The span in Effect's form, so that log lines below it carry its ids. */
  get forLogs(): Tracer.AnySpan {
    return Tracer.externalSpan(this.context)
  }
}

/** A request's position in a trace. */
export interface Trace {
  /** The request's own span. Undefined unless the gateway records its trace. */
  readonly span: Span | undefined
  /** The caller's position in the trace. */
  readonly from: TraceContext | undefined
}

/** The trace that a receipt names: the one recorded here, or else the caller's own. */
export const traceIdOf = (trace: Trace | undefined): string | null =>
  trace?.span?.context.traceId ?? trace?.from?.traceId ?? null

/** Starts traces. */
export interface Tracing {
  /** Starts the span of a request that arrived with these headers. Undefined when its trace is not recorded. */
  readonly server: (traceparent: string | undefined, tracestate: string | undefined) => Span | undefined
}

/** Traces with this sampler. Each ended span goes to `record`. */
export const makeTracing = (sampler: Sampler, record: (span: SpanRecord) => void): Tracing => ({
  server: (traceparent, tracestate) => {
    const parent = readTraceContext(traceparent, tracestate)
    const traceId = parent?.traceId ?? newTraceId()
    if (!isSampled(sampler, traceId, parent)) return undefined
    const context = { traceId, spanId: newSpanId(), sampled: true, state: parent?.state }
    return new Span("HTTP", "server", context, parent?.spanId, record)
  }
})

/** The service's tracing. Without an exporter it records nothing. */
export const Tracing = Context.Reference<Tracing>("tollgate/platform/Tracing", {
  defaultValue: () => ({ server: () => undefined })
})
