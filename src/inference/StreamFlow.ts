import { Cause, Deferred, Effect, Exit, type Scope } from "effect"
import { type Failure, failure, type Reason } from "../domain/Failure.ts"
import {
  emptyOutput,
  type FinishReason,
  isContent,
  type Output,
  OutputFold,
  type OutputEvent
} from "../domain/Output.ts"
import { tokenCost } from "../domain/Pricing.ts"
import { noTokens, type PromptUsage, promptTokens, type TokenUsage } from "../domain/Usage.ts"
import type { ActiveSet } from "../platform/ActiveSet.ts"
import type { ProviderError } from "../providers/ProviderError.ts"
import type { PoolError } from "../providers/pool/PoolError.ts"
import type { ProviderPool, ServedStream } from "../providers/pool/ProviderPool.ts"
import { MAX_KEPT_BYTES } from "./Answer.ts"
import type { StreamItem, PresetUse } from "../domain/Answer.ts"
import { type AdmittedChat, type ChatOptions, closeAnswered, poolCall, promptOnce, sealerOf } from "./ChatFlow.ts"
import { abandon, closeUnserved, keepsNothing } from "./Ending.ts"
import { soFarOf } from "./Admission.ts"
import type { ActiveCall } from "./PaidFlow.ts"
import type { Pipe, TakeItems } from "./Pipe.ts"
import { Progress } from "./Progress.ts"
import { RollingHold } from "./RollingHold.ts"
import type { Outcome } from "./Settlement.ts"
import { whileHeld } from "./WhileHeld.ts"

/** A stream after its first content, or after its provider has been silent for so long that the reader needs a sign of life. */
export interface AnswerStream {
  readonly requestId: string
  readonly created: number
  readonly preset?: PresetUse | undefined
  readonly replayed: boolean
  /** Passes all items to one reader, until the last. Interrupting it, or a defect of the reader, counts as a disconnect. */
  readonly read: (take: TakeItems) => Effect.Effect<void>
}

/** What has arrived of a stream so far. */
class Delivery {
  readonly progress = new Progress()
  served: ServedStream | undefined
  firstTokenMs: number | null = null
  finish: FinishReason | undefined
  contextEdits: ReadonlyArray<object> | undefined
  stopSequence: string | undefined
  usage: TokenUsage | undefined
  #prompt: PromptUsage | undefined
  readonly #countPrompt: () => number
  #fold: OutputFold | undefined
  #delivered = false
  #calledTools = false

  constructor(admitted: AdmittedChat) {
    this.#countPrompt = promptOnce(admitted)
    this.#fold = admitted.request.claim === undefined ? undefined : new OutputFold()
  }

  get anything(): boolean {
    return this.#delivered
  }

  /** Takes the events that arrived and returns those that the caller may see at once. The finish and the usage wait for the settle. */
  take(events: ReadonlyArray<OutputEvent>): ReadonlyArray<OutputEvent> {
    let content = true
    for (const event of events) {
      if (event._tag === "Finish") {
        this.finish = event.reason
        this.stopSequence = event.stopSequence
      } else if (event._tag === "Usage") this.usage = event.usage
      else if (event._tag === "ContextEdits") this.contextEdits = event.applied
      else if (event._tag === "PromptUsage") this.#told(event.usage)
      if (!isContent(event)) {
        content = false
        continue
      }
      this.#delivered = true
      if (event._tag === "ToolStart") this.#calledTools = true
    }
    return content ? events : events.filter(isContent)
  }

  /** Records the events that are sent to the client. They are counted, and stored for a replay. */
  deliver(visible: ReadonlyArray<OutputEvent>): void {
    for (const event of visible) {
      this.progress.push(event)
      this.#fold?.push(event)
    }
    if (this.#fold !== undefined && this.#fold.length > MAX_KEPT_BYTES) this.#fold = undefined
  }

  /** Ends the delivery at what was sent to the client. If the reported usage counts more output, only its prompt part is used. */
  cut(): void {
    this.finish = "length"
    this.stopSequence = undefined
    if (this.usage !== undefined) this.#told(this.usage)
    this.usage = undefined
  }

  /** Our own count of the usage so far, except for a prompt that the provider has counted. */
  counted(): TokenUsage {
    const prompt = this.#prompt ?? { input: this.#countPrompt() }
    return { ...noTokens, ...prompt, output: this.progress.count() }
  }

  /** No prompt is empty. Some hosts send zeros until they know the count; then our own count stands. */
  #told(prompt: PromptUsage): void {
    if (promptTokens(prompt) > 0) this.#prompt = prompt
  }

  /** The whole output if it was stored, or else only its end. */
  output(finish: FinishReason): Output {
    const { contextEdits, stopSequence, usage } = this
    const ended = stopSequence === undefined ? { finish, usage } : { finish, stopSequence, usage }
    const edited = contextEdits === undefined ? {} : { contextEdits }
    return { ...(this.#fold?.output() ?? emptyOutput), ...ended, ...edited }
  }

  /** The provider's finish reason, or the one that the output implies. */
  get finished(): FinishReason {
    return this.finish ?? (this.#calledTools ? "tool_calls" : "stop")
  }

  get kept(): boolean {
    return this.#fold !== undefined
  }
}

interface StreamFlow {
  readonly options: ChatOptions
  readonly pool: Pick<ProviderPool["Service"], "chatStream">
  readonly admitted: AdmittedChat
  readonly running: ActiveCall
  readonly pipe: Pipe
  /** The pipes that must not be silent. */
  readonly open: ActiveSet<Pipe>
  /** Completed when the first content has arrived, when none will, or when the provider has been silent for too long. */
  readonly opened: Deferred.Deferred<AnswerStream, Failure>
}

const streamOf = ({ admitted, pipe }: StreamFlow): AnswerStream => ({
  requestId: admitted.request.requestId,
  created: admitted.created,
  preset: admitted.request.preset,
  replayed: false,
  read: (take) => pipe.read(take)
})

const pump = Effect.fnUntraced(function* (
  flow: StreamFlow,
  delivery: Delivery
): Effect.fn.Return<void, PoolError | ProviderError, Scope.Scope> {
  const { admitted, pipe } = flow
  const served = yield* flow.pool.chatStream(poolCall(admitted, flow.running))
  delivery.served = served
  delivery.firstTokenMs = performance.now() - admitted.request.arrivedAt
  // Hidden reasoning is known only from the usage at the end. Without this, a client could disconnect before it and get the reasoning
  // for free.
  if (served.candidate.model.hiddenReasoning) flow.running.stopsBillingOnAbort = false
  const progress = () => tokenCost(served.candidate.price, delivery.counted())
  admitted.progress = progress
  const { attempts, candidate } = served
  const { firstTokenMs } = delivery
  const soFar = () => soFarOf(admitted, { served: candidate, attempts, firstTokenMs }, delivery.counted())
  admitted.soFar = soFar
  const hold = new RollingHold(flow.options, admitted, served.candidate, delivery.progress)
  yield* Deferred.succeed(flow.opened, streamOf(flow))
  /** Arrived events that the hold must cover before they are sent. */
  let unheld: ReadonlyArray<OutputEvent> | undefined
  const leaves = () => pipe.readerLeft && flow.running.stopsBillingOnAbort
  const give = (visible: ReadonlyArray<OutputEvent>) => {
    delivery.deliver(visible)
    return (visible.length === 0 || pipe.push({ _tag: "Events", events: visible })) && !leaves()
  }
  const sealer = sealerOf(flow.options, admitted, served.candidate)
  const take = (events: ReadonlyArray<OutputEvent>): boolean => {
    const visible = delivery.take(sealer.push(events))
    if (hold.ahead(visible)) return give(visible)
    unheld = visible
    return false
  }
  while (yield* served.source.each(take)) {
    if (unheld !== undefined) {
      const visible = unheld
      unheld = undefined
      if (!(yield* hold.advance(visible))) return delivery.cut()
      if (give(visible)) continue
    }
    if (!leaves()) yield* pipe.room
    if (leaves()) return yield* Effect.interrupt
  }
  give(sealer.end())
})

/** Returns why an answer broke off. `isPaid`: after its first output. */
const brokenReason = (cause: Cause.Cause<PoolError | ProviderError>, isPaid: boolean): Reason | undefined => {
  const error = cause.reasons.find(Cause.isFailReason)?.error
  if (error === undefined) return cause.reasons.some(Cause.isDieReason) ? { _tag: "InternalError" } : undefined
  if (error._tag === "PoolError") return error.reason
  const { fault, provider } = error
  const paid = isPaid ? { provider } : {}
  if (fault._tag === "TimedOut") return { _tag: "UpstreamTimeout", clock: fault.clock, ...paid }
  return { _tag: "UpstreamError", detail: `${provider} broke off`, ...paid }
}

/** What the provider's answer came to. */
const outcomeOf = (delivery: Delivery, exit: Exit.Exit<void, PoolError | ProviderError>): Outcome => {
  const delivered = { reported: delivery.usage, counted: () => delivery.counted() }
  if (Exit.isSuccess(exit)) return { _tag: "Whole", finish: delivery.finished, delivered }
  const error = brokenReason(exit.cause, delivery.anything)
  return delivery.anything ? { _tag: "Partial", error, delivered } : { _tag: "NoOutput", error }
}

/** Ends a stream that a provider served, and returns its last item. */
const endStream = (
  { admitted, options }: StreamFlow,
  delivery: Delivery,
  { attempts, candidate }: ServedStream,
  exit: Exit.Exit<void, PoolError | ProviderError>
): Effect.Effect<StreamItem, Failure> => {
  const outcome = outcomeOf(delivery, exit)
  const output = delivery.output(outcome._tag === "Whole" ? delivery.finished : "stop")
  const { firstTokenMs } = delivery
  const wasted = () => {
    const { usage } = delivery
    return usage === undefined
      ? { usage: delivery.counted(), basis: "estimated" as const }
      : { usage, basis: "reported" as const }
  }
  const end = {
    candidate,
    attempts,
    outcome,
    firstTokenMs,
    endedAt: performance.now(),
    isGiven: delivery.anything,
    wasted
  }
  return Effect.map(closeAnswered(options, admitted, end, output, delivery.kept), (answer): StreamItem => {
    if (outcome._tag === "Whole") return { _tag: "End", answer }
    const log = Exit.isFailure(exit) && !keepsNothing(admitted) ? exit.cause : undefined
    return { _tag: "Error", failure: failure(outcome.error ?? { _tag: "InternalError" }, log), cost: answer.cost }
  })
}

/**
 * Carries out an admitted stream and closes its hold in every case. The last item is sent after the settle is committed. Only the
 * provider's call can be interrupted.
 */
export const carryOutStream = Effect.fnUntraced(function* (flow: StreamFlow): Effect.fn.Return<void> {
  const { admitted, opened, options, pipe, running } = flow
  const delivery = new Delivery(admitted)
  pipe.onSilence(() => Deferred.doneUnsafe(opened, Effect.succeed(streamOf(flow))))
  const opening = flow.open.add(pipe)
  const exit = yield* whileHeld(admitted, running, Effect.scoped(pump(flow, delivery)))
  flow.open.remove(opening)
  const { served } = delivery
  const last = yield* Effect.exit(
    served === undefined
      ? closeUnserved(options, admitted, exit as Exit.Failure<void, PoolError>, running.attempts)
      : endStream(flow, delivery, served, exit)
  )
  if (Exit.isFailure(last) && Cause.hasDies(last.cause)) yield* abandon(options, admitted)
  if (Exit.isSuccess(last)) return pipe.end(last.value)
  if (served !== undefined) {
    return pipe.end({ _tag: "Error", failure: failure({ _tag: "StoreUnavailable" }, last.cause) })
  }
  // A stream that was opened because its provider was silent already has its status, so its failure goes into the stream.
  if (!(yield* Deferred.failCause(opened, last.cause))) pipe.end({ _tag: "Error", failure: failureIn(last.cause) })
}, Effect.uninterruptible)

/** The failure of a cause. A cause without one is an interruption by the stopping service, or a bug. */
const failureIn = (cause: Cause.Cause<Failure>): Failure =>
  cause.reasons.find(Cause.isFailReason)?.error ?? failure({ _tag: "InternalError" }, cause)
