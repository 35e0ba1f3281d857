/**
 * Spans of the request path, made by the OpenTelemetry SDK. They are passed as plain values, so that work in a service's fiber stays in
 * the trace of its request. A request with an unrecorded trace has no span.
 */
import {
  createTraceState,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind as SdkKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer as SdkTracer
} from "@opentelemetry/api"
import { Context, Tracer } from "effect"

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

export type SpanKind = "internal" | "server" | "client"
export type AttributeValue = string | number | bigint | boolean | ReadonlyArray<string> | undefined
export type Attributes = Readonly<Record<string, AttributeValue>>

const kinds = { internal: SdkKind.INTERNAL, server: SdkKind.SERVER, client: SdkKind.CLIENT } as const

/** The context below a caller's span. */
const remote = ({ sampled, spanId, state, traceId }: TraceContext) =>
  trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(state === undefined ? {} : { traceState: createTraceState(state) })
  })

/** A running span of a recorded trace. Attributes never contain a key, a prompt or an answer. */
export class Span {
  readonly context: TraceContext
  readonly #span: SdkSpan
  readonly #tracer: SdkTracer
  #name: string
  #failed = false

  constructor(tracer: SdkTracer, span: SdkSpan, name: string) {
    const { spanId, traceId, traceState } = span.spanContext()
    this.context = { traceId, spanId, sampled: true, state: traceState?.serialize() }
    this.#tracer = tracer
    this.#span = span
    this.#name = name
  }

  get name(): string {
    return this.#name
  }

  /** May be replaced by a better name until the span ends. */
  set name(name: string) {
    this.#name = name
    this.#span.updateName(name)
  }

  /** Starts a child span, which may outlive this one. */
  child(name: string, kind: SpanKind, attributes?: Attributes): Span {
    const parent = trace.setSpan(ROOT_CONTEXT, this.#span)
    const span = new Span(this.#tracer, this.#tracer.startSpan(name, { kind: kinds[kind] }, parent), name)
    return attributes === undefined ? span : span.set(attributes)
  }

  /** Adds attributes. Undefined ones are omitted, and amounts become numbers, because OpenTelemetry knows no bigint. */
  set(attributes: Attributes): this {
    for (const name in attributes) {
      const value = attributes[name]
      if (value === undefined) continue
      if (typeof value === "object") this.#span.setAttribute(name, [...value])
      else this.#span.setAttribute(name, typeof value === "bigint" ? Number(value) : value)
    }
    return this
  }

  /** Marks the span as failed, with a word for the kind of failure. */
  fail(errorType: string): this {
    this.#failed = true
    this.#span.setStatus({ code: SpanStatusCode.ERROR })
    this.#span.setAttribute("error.type", errorType)
    return this
  }

  get failed(): boolean {
    return this.#failed
  }

  /** Ends the span and hands it to the exporter. A second call has no effect. */
  end(): void {
    if (this.#span.isRecording()) this.#span.end()
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

/** Traces by a tracer of the SDK, whose sampler decides which traces are recorded. */
export const makeTracing = (tracer: SdkTracer): Tracing => ({
  server: (traceparent, tracestate) => {
    const parent = readTraceContext(traceparent, tracestate)
    const context = parent === undefined ? ROOT_CONTEXT : remote(parent)
    const span = tracer.startSpan("HTTP", { kind: SdkKind.SERVER }, context)
    return span.isRecording() ? new Span(tracer, span, "HTTP") : undefined
  }
})

/** The service's tracing. Without an exporter it records nothing. */
export const Tracing = Context.Reference<Tracing>("tollgate/platform/Tracing", {
  defaultValue: () => ({ server: () => undefined })
})
