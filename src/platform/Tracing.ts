/**
 * Spans of the request path. They are handed on as plain values, so that work in a fiber of a service stays in the trace of the
 * request it is for, and so that a request whose trace is not recorded costs nothing: it has no span.
 */
import { Context, Tracer } from "effect"
import { newSpanId, newTraceId } from "./Ids.ts"

/** Where in a trace something stands, as W3C Trace Context carries it between services. */
export interface TraceContext {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
  /** `tracestate` as it came; it is passed on and never read. */
  readonly state: string | undefined
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Longer ones may be dropped, says W3C Trace Context, 3.3.1.5. */
const TRACESTATE = /^[\x20-\x7e]{1,512}$/

/** Reads the headers of a caller. What is not well formed is as good as absent, and a `tracestate` alone means nothing. */
export const readTraceContext = (
  traceparent: string | undefined,
  tracestate: string | undefined
): TraceContext | undefined => {
  if (traceparent === undefined) return undefined
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  // Only a version to come may say more than this one.
  if (version === "00" && more !== undefined) return undefined
  const state = tracestate !== undefined && TRACESTATE.test(tracestate) ? tracestate : undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1, state }
}

/** The headers that hand a trace on. */
export const traceHeaders = ({ sampled, spanId, state, traceId }: TraceContext): Readonly<Record<string, string>> => ({
  traceparent: `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`,
  ...(state === undefined ? {} : { tracestate: state })
})

/** Which traces are recorded. */
export interface Sampler {
  /** The part of the traces begun here that is recorded, from 0 to 1. */
  readonly ratio: number
  /** Whether a caller's decision stands for its trace, instead of the ratio. */
  readonly followsParent: boolean
}

/** OpenTelemetry's probability sampling looks at the last 56 bits of a trace id; the first 52 of them are exact as a number. */
const RANDOMNESS = 2 ** 52
const RANDOMNESS_AT = 32 - 56 / 4
const RANDOMNESS_END = RANDOMNESS_AT + 52 / 4

/** A function of the trace id alone, so that every node and service with this ratio, or a greater one, records the same trace. */
const isWithin = (ratio: number, traceId: string): boolean =>
  ratio >= 1 ||
  (ratio > 0 && Number.parseInt(traceId.slice(RANDOMNESS_AT, RANDOMNESS_END), 16) >= (1 - ratio) * RANDOMNESS)

/** Whether a trace is recorded. */
export const isSampled = (sampler: Sampler, traceId: string, parent: TraceContext | undefined): boolean =>
  sampler.followsParent && parent !== undefined ? parent.sampled : isWithin(sampler.ratio, traceId)

export type SpanKind = "internal" | "server" | "client"
export type AttributeValue = string | number | bigint | boolean | ReadonlyArray<string> | undefined
export type Attributes = Readonly<Record<string, AttributeValue>>

/** A span that has ended, as it is exported. Times are Unix nanoseconds in decimal. */
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

/** Unix nanoseconds of now; the clock has microseconds. */
const nowNanos = (): string => `${Math.round((performance.timeOrigin + performance.now()) * 1_000)}000`

/** A span under way, of a trace that is recorded. Attributes never hold a key, or what was asked or answered. */
export class Span {
  readonly context: TraceContext
  /** May be given a better one until the end. */
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

  /** Begins a span below this one, which may outlive it. */
  child(name: string, kind: SpanKind, attributes?: Attributes): Span {
    const { spanId, ...context } = this.context
    const span = new Span(name, kind, { ...context, spanId: newSpanId() }, spanId, this.#record)
    return attributes === undefined ? span : span.set(attributes)
  }

  /** Adds attributes; an undefined one is left out. */
  set(attributes: Attributes): this {
    for (const name in attributes) {
      const value = attributes[name]
      if (value !== undefined) this.#attributes.set(name, value)
    }
    return this
  }

  /** Marks it as failed, with a word for the kind of failure. */
  fail(errorType: string): this {
    this.#failed = true
    this.#attributes.set("error.type", errorType)
    return this
  }

  get failed(): boolean {
    return this.#failed
  }

  /** Hands it to be exported, once. */
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

  /** As Effect knows it, so that what is logged beneath it carries its ids. */
  get forLogs(): Tracer.AnySpan {
    return Tracer.externalSpan(this.context)
  }
}

/** A request's place in a trace. */
export interface Trace {
  /** Its own span; undefined unless its trace is recorded here. */
  readonly span: Span | undefined
  /** Where its caller stood. */
  readonly from: TraceContext | undefined
}

/** The trace that a receipt names: the one recorded here, else the caller's own. */
export const traceIdOf = (trace: Trace | undefined): string | null =>
  trace?.span?.context.traceId ?? trace?.from?.traceId ?? null

/** Begins traces. */
export interface Tracing {
  /** The span of a request that has arrived with these headers; undefined where its trace is not recorded. */
  readonly server: (traceparent: string | undefined, tracestate: string | undefined) => Span | undefined
}

/** Traces by this sampler, each ended span handed to `record`. */
export const makeTracing = (sampler: Sampler, record: (span: SpanRecord) => void): Tracing => ({
  server: (traceparent, tracestate) => {
    const parent = readTraceContext(traceparent, tracestate)
    const traceId = parent?.traceId ?? newTraceId()
    if (!isSampled(sampler, traceId, parent)) return undefined
    const context = { traceId, spanId: newSpanId(), sampled: true, state: parent?.state }
    return new Span("HTTP", "server", context, parent?.spanId, record)
  }
})

/** The service's tracing; without an exporter it records nothing. */
export const Tracing = Context.Reference<Tracing>("tollgate/platform/Tracing", {
  defaultValue: () => ({ server: () => undefined })
})
