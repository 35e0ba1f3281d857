import { Clock, Context, Data, Effect, Exit, Layer, Scope } from "effect"
import type { Reason } from "../domain/Failure.ts"
import { isContent, isEmpty, type Output, type OutputEvent } from "../domain/Output.ts"
import type { Attempt, Candidate, Plan } from "../domain/Plan.ts"
import { Metrics } from "../platform/Metrics.ts"
import type { Trace } from "../platform/Tracing.ts"
import { AttemptRecord } from "./AttemptRecord.ts"
import {
  type ChatCall,
  type ChatSource,
  type Clocks,
  type Provider,
  ProviderError,
  type ProviderFault
} from "./Provider.ts"

/** A chat call that may be tried at several providers. */
export interface PoolCall extends Omit<ChatCall, "candidate" | "maxOutputTokens" | "clocks" | "traceHeaders"> {
  readonly plan: Plan
  /** The trace its attempts belong to, where there is one. */
  readonly trace?: Trace | undefined
  /** The output cap at a candidate, within what is held. */
  readonly maxOutputTokens: (candidate: Candidate) => number
  /** Told at the start of every attempt whom it goes to, so that whoever hangs up knows whether to drain. */
  readonly onAttempt?: (info: { readonly provider: string; readonly stopsBillingOnAbort: boolean }) => void
}

/** Who answered, and who was tried before. Attempts end with the one that served. */
export interface ServedBy {
  readonly candidate: Candidate
  readonly attempts: ReadonlyArray<Attempt>
  /** From the start of the attempt that served to its first content; known of streams only. */
  readonly firstTokenMs: number | undefined
  readonly stopsBillingOnAbort: boolean
}

export interface Served<A> extends ServedBy {
  readonly output: A
}

/** An open stream whose first content has come, so that nobody else will be asked. It ends with the scope it was opened in. */
export interface ServedStream extends ServedBy {
  readonly source: ChatSource
}

/** How one attempt failed; without a fault it answered nothing. */
export interface FailedAttempt {
  readonly provider: string
  readonly model: string
  readonly fault: ProviderFault | undefined
}

/** Nobody served. `reason` is for the caller; `failures` hold what providers said, for the log only. */
export class PoolError extends Data.TaggedError("PoolError")<{
  readonly reason: Reason
  readonly attempts: ReadonlyArray<Attempt>
  readonly failures: ReadonlyArray<FailedAttempt>
}> {}

/** One attempt as the live figures see it. A request refused, or given up by its caller before an answer, is none. */
export interface AttemptSample {
  readonly model: string
  readonly provider: string
  readonly ok: boolean
  readonly durationMs: number
  readonly firstTokenMs: number | undefined
}

export interface ProviderPoolOptions {
  readonly providers: ReadonlyArray<Provider>
  /** The longest clocks; a plan's policy can shorten them. */
  readonly clocks: Clocks
  readonly observe: (sample: AttemptSample) => void
  /** Ids of the providers that are told of the trace a call belongs to; nobody when absent. */
  readonly traceTo?: ReadonlySet<string>
}

/**
 * Carries out a plan: its candidates are tried in order, only the first when fallbacks are not allowed, until one gives
 * content. An answer without any, and not cut short by its cap, is a failed attempt. Once content of a stream has come,
 * nobody else is asked, whatever happens to it. Each candidate is asked once; the last one once more, at once, when no
 * connection could be made, since a kept connection that has died looks like that.
 */
export class ProviderPool extends Context.Service<
  ProviderPool,
  {
    readonly chat: (call: PoolCall) => Effect.Effect<Served<Output>, PoolError>
    readonly chatStream: (call: PoolCall) => Effect.Effect<ServedStream, PoolError, Scope.Scope>
    readonly has: (provider: string) => boolean
  }
>()("tollgate/providers/ProviderPool") {
  static readonly layerFrom = (options: ProviderPoolOptions) =>
    Layer.effect(
      ProviderPool,
      Effect.map(Metrics, (metrics) => make(options, metrics))
    )
}

const make = (options: ProviderPoolOptions, metrics: Metrics): ProviderPool["Service"] => {
  const providers = new Map(options.providers.map((provider) => [provider.id, provider]))
  return ProviderPool.of({
    has: (provider) => providers.has(provider),
    chat: (call) =>
      Effect.map(run({ providers, options, metrics, stream: false }, call, attemptChat), ({ served, by }) => ({
        ...by,
        output: served
      })),
    chatStream: (call) =>
      Effect.map(run({ providers, options, metrics, stream: true }, call, attemptStream), ({ served, by }) => ({
        ...by,
        firstTokenMs: served.firstTokenMs,
        source: served.source
      }))
  })
}

interface AttemptContext {
  readonly provider: Provider
  readonly call: ChatCall
  readonly observe: ProviderPoolOptions["observe"]
  readonly record: AttemptRecord
}

interface Running {
  readonly providers: ReadonlyMap<string, Provider>
  readonly options: ProviderPoolOptions
  readonly metrics: Metrics
  readonly stream: boolean
}

/** What an attempt gave; undefined when that was nothing. */
type AttemptBy<A, R> = (context: AttemptContext) => Effect.Effect<A | undefined, ProviderError, R>

const run = Effect.fnUntraced(function* <A, R>(
  { metrics, options, providers, stream }: Running,
  call: PoolCall,
  attempt: AttemptBy<A, R>
) {
  const { plan, maxOutputTokens, onAttempt, trace } = call
  const clocks = shorten(options.clocks, plan.policy.timeouts)
  const candidates = plan.policy.allowFallbacks ? plan.candidates : [plan.candidates[0]]
  const failures: Array<FailedAttempt> = []
  const queue = [...candidates]
  let retried = false
  for (let candidate = queue.shift(); candidate !== undefined; candidate = queue.shift()) {
    const provider = providers.get(candidate.offer.provider)
    const failed = { provider: candidate.offer.provider, model: candidate.model.id }
    if (provider === undefined) {
      failures.push({ ...failed, fault: { _tag: "Unreachable", detail: "no such provider" } })
      continue
    }
    onAttempt?.({ provider: provider.id, stopsBillingOnAbort: provider.stopsBillingOnAbort })
    const asked: ChatCall = {
      requestId: call.requestId,
      candidate,
      conversation: call.conversation,
      maxOutputTokens: maxOutputTokens(candidate),
      promptBound: call.promptBound,
      held: call.held,
      clocks,
      steering: call.steering
    }
    const record = new AttemptRecord({ metrics, trace, provider, call: asked, index: failures.length, stream })
    const traceHeaders = options.traceTo?.has(provider.id) === true ? record.traceHeaders : undefined
    const context: AttemptContext = {
      provider,
      call: traceHeaders === undefined ? asked : { ...asked, traceHeaders },
      observe: options.observe,
      record
    }
    const result = yield* Effect.result(
      Effect.onInterrupt(attempt(context), () => Effect.sync(() => record.cancelled()))
    )
    if (result._tag === "Success" && result.success !== undefined) {
      const attempts = attemptsOf(failures, { ...failed, outcome: "served" })
      const { stopsBillingOnAbort } = provider
      return { served: result.success, by: { candidate, attempts, firstTokenMs: undefined, stopsBillingOnAbort } }
    }
    const fault = result._tag === "Failure" ? result.failure.fault : undefined
    failures.push({ ...failed, fault })
    record.failed(fault, queue.length === 0 && (retried || fault?._tag !== "Unreachable") ? "failed" : "failed_over")
    if (fault?._tag === "Unreachable" && queue.length === 0 && !retried) {
      retried = true
      queue.push(candidate)
    }
  }
  return yield* new PoolError({ reason: reasonOf(failures), attempts: attemptsOf(failures), failures })
})

/** The caller's clocks, each of which can only shorten the service's. */
const shorten = (clocks: Clocks, timeouts: Plan["policy"]["timeouts"]): Clocks => ({
  connectMs: Math.min(clocks.connectMs, timeouts.connectMs ?? Infinity),
  firstTokenMs: Math.min(clocks.firstTokenMs, timeouts.firstTokenMs ?? Infinity),
  idleMs: clocks.idleMs,
  totalMs: Math.min(clocks.totalMs, timeouts.totalMs ?? Infinity)
})

const attemptsOf = (
  failures: ReadonlyArray<FailedAttempt>,
  served?: Omit<Attempt, "index">
): ReadonlyArray<Attempt> => {
  const last = served === undefined ? failures.length - 1 : -1
  const failed = failures.map(({ provider, model }, index): Attempt => ({
    provider,
    model,
    outcome: index === last ? "failed" : "failed_over",
    index
  }))
  return served === undefined ? failed : [...failed, { ...served, index: failed.length }]
}

const attemptChat: AttemptBy<Output, never> = (context) =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const sample = sampler(context, clock.currentTimeMillisUnsafe())
    return Effect.matchEffect(context.provider.chat(context.call), {
      onFailure: (error) => {
        sample(clock.currentTimeMillisUnsafe(), error)
        return Effect.fail(error)
      },
      onSuccess: (output) => {
        const empty = isEmpty(output) && output.finish !== "length"
        sample(clock.currentTimeMillisUnsafe(), empty ? "empty" : "ok")
        if (!empty) context.record.served(output)
        return Effect.succeed(empty ? undefined : output)
      }
    })
  })

interface FirstContent {
  readonly source: ChatSource
  readonly firstTokenMs: number | undefined
}

/** Opens the stream in a scope of its own, so that an attempt that gives nothing is closed before the next begins. */
const attemptStream: AttemptBy<FirstContent, Scope.Scope> = Effect.fnUntraced(function* (context: AttemptContext) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* pullFirst(context, scope).pipe(
    Effect.onExit((exit) => (Exit.isSuccess(exit) && exit.value !== undefined ? Effect.void : Scope.close(scope, exit)))
  )
})

const pullFirst = Effect.fnUntraced(function* (context: AttemptContext, scope: Scope.Closeable) {
  const clock = yield* Clock.Clock
  const startedAt = clock.currentTimeMillisUnsafe()
  const sample = sampler(context, startedAt)
  const failed = (error: ProviderError) => Effect.sync(() => sample(clock.currentTimeMillisUnsafe(), error))
  const { next } = yield* Scope.provide(context.provider.chatStream(context.call), scope).pipe(Effect.tapError(failed))
  const pulled: Array<OutputEvent> = []
  let events = yield* Effect.tapError(next, failed)
  while (events !== undefined) {
    pulled.push(...events)
    if (events.some(isContent)) break
    events = yield* Effect.tapError(next, failed)
  }
  const now = clock.currentTimeMillisUnsafe()
  const cut = pulled.some((event) => event._tag === "Finish" && event.reason === "length")
  if (events === undefined && !cut) return void sample(now, "empty")
  const firstTokenMs = events === undefined ? undefined : now - startedAt
  if (firstTokenMs !== undefined) context.record.firstContent()
  context.record.note(pulled)
  const end = (outcome: SampleOutcome) => sample(clock.currentTimeMillisUnsafe(), outcome, firstTokenMs)
  yield* Scope.addFinalizerExit(scope, (exit) =>
    Effect.sync(() => {
      end("ok")
      if (Exit.hasInterrupts(exit)) context.record.cancelled()
      else context.record.served()
    })
  )
  return { source: resumed(context.record, pulled, events === undefined, next, end), firstTokenMs }
})

/** The stream from its beginning: first what was pulled already, then the rest, whose end is reported. */
const resumed = (
  record: AttemptRecord,
  pulled: ReadonlyArray<OutputEvent>,
  over: boolean,
  next: ChatSource["next"],
  end: (outcome: SampleOutcome) => void
): ChatSource => {
  let first: ReadonlyArray<OutputEvent> | undefined = pulled
  const rest = Effect.tapError(
    Effect.map(next, (events) => {
      if (events === undefined) {
        end("ok")
        record.served()
      } else record.note(events)
      return events
    }),
    (error) =>
      Effect.sync(() => {
        end(error)
        record.broke(error.fault)
      })
  )
  return {
    next: Effect.suspend(() => {
      if (first === undefined) return over ? Effect.undefined : rest
      const events = first
      first = undefined
      return Effect.succeed(events)
    })
  }
}

type SampleOutcome = "ok" | "empty" | ProviderError

/** Reports the outcome of an attempt, the first one told. */
const sampler = ({ provider, call, observe }: AttemptContext, startedAt: number) => {
  let told = false
  return (now: number, outcome: SampleOutcome, firstTokenMs?: number): void => {
    if (told) return
    told = true
    if (outcome instanceof ProviderError && outcome.fault._tag === "Refused") return
    observe({
      model: call.candidate.model.id,
      provider: provider.id,
      ok: outcome === "ok",
      durationMs: now - startedAt,
      firstTokenMs
    })
  }
}

/**
 * What the caller is told when nobody served. Faults that are ours or the network's say nothing about the request, so a
 * refusal that only they followed still stands.
 */
const reasonOf = (failures: ReadonlyArray<FailedAttempt>): Reason => {
  const last = failures.at(-1)?.fault
  const decisive = failures.findLast(({ fault }) => fault?._tag !== "Unreachable" && fault?._tag !== "Unauthorized")
  if (decisive?.fault?._tag === "Refused") {
    return { _tag: "ProviderRefused", provider: decisive.provider, detail: decisive.fault.detail }
  }
  if (last?._tag === "TimedOut" && failures.every(({ fault }) => fault?._tag === "TimedOut")) {
    return { _tag: "UpstreamTimeout", clock: last.clock }
  }
  if (failures.every(({ fault }) => fault === undefined)) return { _tag: "EmptyCompletion" }
  const detail = failures.map(({ provider, fault }) => `${provider}: ${describe(fault)}`).join("; ")
  const pause = last?._tag === "RateLimited" ? last.retryAfterSeconds : undefined
  return { _tag: "UpstreamError", detail, ...(pause === undefined ? {} : { retryAfterSeconds: pause }) }
}

/** A fault in words of our own, since a caller may read them. */
const describe = (fault: ProviderFault | undefined): string => {
  switch (fault?._tag) {
    case undefined:
      return "empty answer"
    case "Unreachable":
    case "Unauthorized":
      return "unavailable"
    case "TimedOut":
      return "timed out"
    case "RateLimited":
      return "rate limited"
    case "Refused":
      return "refused the request"
    case "ServerError":
      return "server error"
    case "Malformed":
      return "malformed answer"
    case "Broken":
      return "broken connection"
  }
}
