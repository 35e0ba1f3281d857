/** One attempt at one provider up to its first content. After that, no other provider is tried. */
import { Clock, Effect, Exit, Scope } from "effect"
import { type FinishReason, isEmpty, isAnswerPart, type Output, type OutputEvent } from "../../domain/Output.ts"
import type { AttemptRecord } from "./AttemptRecord.ts"
import { filteredFault } from "./PoolError.ts"
import { type ChatCall, type ChatSource, type Provider, type TakeEvents, type WorkCall } from "../Provider.ts"
import { ProviderError, type ProviderFault } from "../ProviderError.ts"

/**
 * One attempt in the live figures. Attempts that say nothing about the provider are not recorded: a rejected request, a well-formed
 * empty answer, a timeout of the caller's own limit, and a disconnect before an answer.
 */
export interface AttemptSample {
  readonly model: string
  readonly provider: string
  readonly ok: boolean
  /** Undefined for an attempt that was abandoned before its end. */
  readonly durationMs: number | undefined
  readonly firstTokenMs: number | undefined
}

export interface AttemptContext<C extends WorkCall = ChatCall> {
  readonly provider: Provider
  readonly call: C
  readonly observe: (sample: AttemptSample) => void
  readonly record: AttemptRecord
  /** Whether a fault says something about the provider. Without a fault, the answer was well-formed and empty. */
  readonly blames: (fault: ProviderFault | undefined) => boolean
  /** Called once with the outcome of a stream after its first content. Without a fault it succeeded. */
  readonly ended: (fault: ProviderFault | undefined) => void
}

/** How to make an attempt of one kind. */
export interface AttemptMethod<A, R> {
  readonly stream: boolean
  /** Undefined when the attempt produced no content. */
  readonly attempt: (context: AttemptContext) => Effect.Effect<A | undefined, ProviderError, R>
  /** Releases the result of an attempt that another attempt has made superfluous. */
  readonly abandon: (given: A) => Effect.Effect<void>
}

export interface FirstContent {
  readonly source: ChatSource
  readonly firstTokenMs: number | undefined
  readonly abandon: Effect.Effect<void>
}

/** The fault of an answer that has neither content nor a finish of its own. No request makes a model answer like that. */
const endless: ProviderFault = {
  _tag: "Malformed",
  detail: "the answer has neither content nor a reason for its end"
}

/** Why an answer without content is a failed attempt; undefined when it is only empty. */
const faultOfEmpty = (finish: FinishReason | undefined): ProviderFault | undefined => {
  if (finish === undefined) return endless
  return finish === "content_filter" ? filteredFault : undefined
}

const attemptChat = (context: AttemptContext): Effect.Effect<Output | undefined, ProviderError> =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const sample = sampler(context, clock.currentTimeMillisUnsafe())
    return Effect.matchEffect(context.provider.chat(context.call), {
      onFailure: (error) => {
        context.record.arrived = error.arrived
        sample(clock.currentTimeMillisUnsafe(), error)
        return Effect.fail(error)
      },
      onSuccess: (output) => {
        context.record.arrived = output
        const now = clock.currentTimeMillisUnsafe()
        if (isEmpty(output) && output.finish !== "length") {
          const fault = faultOfEmpty(output.finish)
          if (fault === undefined) return Effect.undefined
          const error = new ProviderError({ provider: context.provider.id, fault })
          sample(now, error)
          return Effect.fail(error)
        }
        sample(now, "ok")
        context.record.served(output)
        context.ended(undefined)
        return Effect.succeed(output)
      }
    })
  })

/** Waits for the rest of an answer. Undefined for an answer without a rest. */
export type RestOf<A> = (answer: A) => Effect.Effect<unknown, ProviderError> | undefined

/** The prompt tokens that an answer to work other than chat reports, or that the end of a long answer reports. */
const tokensOf = (said: unknown): number | undefined => {
  const tokens = typeof said === "object" && said !== null && "tokens" in said ? said.tokens : said
  return typeof tokens === "number" ? tokens : undefined
}

/** One attempt at work other than chat. The outcome of an answer with a rest is reported at the end of the rest, as with a stream. */
export const attemptWork = <A>(
  context: AttemptContext<WorkCall>,
  work: Effect.Effect<A, ProviderError>,
  restOf: RestOf<A> = () => undefined
): Effect.Effect<A, ProviderError> =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const sample = sampler(context, clock.currentTimeMillisUnsafe())
    const failed = (error: ProviderError) => sample(clock.currentTimeMillisUnsafe(), error)
    const served = (servedOutput: unknown) => {
      sample(clock.currentTimeMillisUnsafe(), "ok")
      context.record.worked(tokensOf(servedOutput))
      context.ended(undefined)
    }
    const broke = (error: ProviderError) => {
      failed(error)
      context.record.broke(error.fault)
      context.ended(error.fault)
    }
    return Effect.matchEffect(work, {
      onFailure: (error) => {
        failed(error)
        return Effect.fail(error)
      },
      onSuccess: (answer) => {
        const rest = restOf(answer)
        if (rest === undefined) {
          served(answer)
          return Effect.succeed(answer)
        }
        const over = Effect.match(rest, { onFailure: broke, onSuccess: served })
        return Effect.as(Effect.forkDetach(over, { startImmediately: true }), answer)
      }
    })
  })

/** Opens the stream in a scope of its own, so that an attempt without content is closed before the next one starts. */
const attemptStream = Effect.fnUntraced(function* (context: AttemptContext) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* pullFirst(context, scope).pipe(
    Effect.onExit((exit) => (Exit.isSuccess(exit) && exit.value !== undefined ? Effect.void : Scope.close(scope, exit)))
  )
})

const pullFirst = Effect.fnUntraced(function* (context: AttemptContext, scope: Scope.Closeable) {
  const clock = yield* Clock.Clock
  const startedAt = clock.currentTimeMillisUnsafe()
  const sample = sampler(context, startedAt)
  const failed = (error: ProviderError) =>
    Effect.sync(() => {
      context.record.arrived = error.arrived ?? context.record.arrived
      sample(clock.currentTimeMillisUnsafe(), error)
    })
  const opened = Scope.provide(context.provider.chatStream(context.call), scope)
  const opening = yield* Effect.tapError(opened, failed)
  const { collected } = opening
  const pulled: Array<OutputEvent> = []
  context.record.arrived = pulled
  const first = opening.each((events) => {
    pulled.push(...events)
    return !events.some(isAnswerPart)
  })
  const over = !(yield* Effect.tapError(first, failed))
  const now = clock.currentTimeMillisUnsafe()
  const finish = pulled.find((event) => event._tag === "Finish")?.reason
  if (over && finish !== "length") {
    const fault = faultOfEmpty(finish)
    if (fault === undefined) return undefined
    const error = new ProviderError({ provider: context.provider.id, fault })
    sample(now, error)
    return yield* error
  }
  const firstTokenMs = over || collected === true ? undefined : now - startedAt
  if (firstTokenMs !== undefined) context.record.firstContent()
  context.record.note(pulled)
  const end = (outcome: "ok" | "abandoned" | ProviderError) => {
    const endedAt = outcome === "abandoned" ? undefined : clock.currentTimeMillisUnsafe()
    const fault = outcome instanceof ProviderError ? outcome : "ok"
    if (sample(endedAt, fault, firstTokenMs)) context.ended(fault === "ok" ? undefined : fault.fault)
  }
  yield* Scope.addFinalizerExit(scope, (exit) =>
    Effect.sync(() => {
      end(over ? "ok" : "abandoned")
      if (Exit.hasInterrupts(exit)) context.record.cancelled()
      else context.record.served()
    })
  )
  const source = resumeStream(context.record, pulled, over, opening, end)
  return { source, firstTokenMs, abandon: Scope.close(scope, Exit.interrupt()) } satisfies FirstContent
})

/** The stream from its beginning: first the events that were already read, then the rest, and reports its end. */
const resumeStream = (
  record: AttemptRecord,
  pulled: ReadonlyArray<OutputEvent>,
  over: boolean,
  opened: ChatSource,
  end: (outcome: "ok" | ProviderError) => void
): ChatSource => {
  let first: ReadonlyArray<OutputEvent> | undefined = pulled
  const ended = () => {
    end("ok")
    record.served()
  }
  const reported = <A>(rest: Effect.Effect<A, ProviderError>): Effect.Effect<A, ProviderError> =>
    Effect.tapError(rest, (error) =>
      Effect.sync(() => {
        end(error)
        record.broke(error.fault)
      })
    )
  const restTo = (take: TakeEvents): Effect.Effect<boolean, ProviderError> =>
    reported(
      Effect.map(
        opened.each((events) => {
          record.note(events)
          return take(events)
        }),
        (more) => {
          if (!more) ended()
          return more
        }
      )
    )
  const taken = (): ReadonlyArray<OutputEvent> | undefined => {
    const events = first
    first = undefined
    record.arrived = undefined
    return events
  }
  return {
    each: (take) =>
      Effect.suspend(() => {
        const events = taken()
        if (events !== undefined && !take(events)) return Effect.succeed(true)
        return over ? Effect.succeed(false) : restTo(take)
      })
  }
}

/**
 * Reports the outcome of an attempt, once; returns whether this call was the first. An attempt abandoned before its end has no outcome.
 */
const sampler = ({ blames, call, observe, provider }: AttemptContext<WorkCall>, startedAt: number) => {
  let isReported = false
  return (endedAt: number | undefined, outcome: "ok" | ProviderError, firstTokenMs?: number): boolean => {
    if (isReported) return false
    isReported = true
    if (outcome !== "ok" && !blames(outcome.fault)) return true
    observe({
      model: call.candidate.model.id,
      provider: provider.id,
      ok: outcome === "ok",
      durationMs: endedAt === undefined ? undefined : endedAt - startedAt,
      firstTokenMs
    })
    return true
  }
}

export const wholeAttempt: AttemptMethod<Output, never> = {
  stream: false,
  attempt: attemptChat,
  abandon: () => Effect.void
}

export const streamAttempt: AttemptMethod<FirstContent, Scope.Scope> = {
  stream: true,
  attempt: attemptStream,
  abandon: ({ abandon }) => abandon
}
