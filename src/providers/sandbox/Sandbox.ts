import { Clock, Effect } from "effect"
import { pulledSource } from "../wire/EventSource.ts"
import { finishEvent, type Output, OutputFold, type OutputEvent } from "../../domain/Output.ts"
import type { ChatCall, ChatSource, Provider } from "../Provider.ts"
import { ProviderError, type ProviderFault } from "../ProviderError.ts"
import { type Answer, answerOf } from "./Answer.ts"
import { draw } from "./Images.ts"
import { makeRetrieval } from "./Retrieval.ts"
import { search } from "./Search.ts"
import { speak } from "./Speech.ts"
import { brokenFault, faultAtOnce, SLOW_MS, type Steering, steeringOf } from "./Steering.ts"
import { makeVideos } from "./Videos.ts"

/**
 * The deterministic double of the provider with this id. It enforces the time limits of its call by Effect's clock, reports the usage
 * that it delivered, and misbehaves only as the call's steering asks.
 */
export const makeSandbox = (id: string): Provider => ({
  id,
  stopsBillingOnAbort: true,
  steerable: true,
  chat: (call) => Effect.flatMap(begin(id, call), chat),
  chatStream: (call) => Effect.map(begin(id, call), sourceOf),
  ...makeRetrieval(id),
  speak: (call, work) => speak(id, call, work),
  makeImages: (call, work) => draw(id, call, work),
  ...makeVideos(id),
  search: (call, work) => search(id, call, work)
})

interface SandboxAnswer {
  readonly call: ChatCall
  readonly steering: Steering
  readonly answer: Answer
  readonly latencyMs: number
  readonly startedAt: number
  /** The number of content chunks before the fault that stops them, if there is one. */
  readonly stopAt: number
  readonly fail: (fault: ProviderFault) => Effect.Effect<never, ProviderError>
}

const begin = Effect.fnUntraced(function* (id: string, call: ChatCall) {
  const fail = (fault: ProviderFault) => Effect.fail(new ProviderError({ provider: id, fault }))
  const steering = yield* steeringOf(id, call.steering)
  const answer = answerOf(call, steering)
  const stops = steering.fault === "stall" || steering.fault === "break"
  const play: SandboxAnswer = {
    call,
    steering,
    answer,
    latencyMs: steering.latencyMs ?? (steering.fault === "slow" ? SLOW_MS : 0),
    startedAt: yield* Clock.currentTimeMillis,
    stopAt: stops ? Math.min(steering.after ?? (call.folds === true ? 0 : 1), answer.chunks.length) : Infinity,
    fail
  }
  const fault = faultAtOnce(steering)
  if (fault === undefined) return play
  yield* pause(play, play.latencyMs, "first_token")
  return yield* fail(fault)
})

/** Waits, or fails when a time limit of the call ends first. */
const pause = (
  { call: { clocks }, startedAt, fail }: SandboxAnswer,
  ms: number,
  clock: "first_token" | "idle" | "answer"
): Effect.Effect<void, ProviderError> => {
  if (ms === 0) return Effect.void
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const sinceStart = now - startedAt
    const total = clocks.totalMs - sinceStart
    const answerMs = clocks.answer?.ms ?? Infinity
    const ownMs = { idle: clocks.idleMs + sinceStart, first_token: clocks.firstTokenMs, answer: answerMs }[clock]
    const own = ownMs - sinceStart
    const named = clock === "answer" ? (clocks.answer?.clock ?? clock) : clock
    const left = Math.max(0, Math.min(own, total))
    if (ms < left) return Effect.sleep(ms)
    return Effect.andThen(Effect.sleep(left), fail({ _tag: "TimedOut", clock: own > total ? "total" : named }))
  })
}

const chat = (play: SandboxAnswer): Effect.Effect<Output, ProviderError> => {
  const { answer, steering, latencyMs } = play
  const stalled = steering.fault === "stall"
  const ms = stalled ? Infinity : latencyMs + steering.chunkMs * Math.max(0, answer.chunks.length - 1)
  return Effect.flatMap(pause(play, ms, "answer"), () => {
    if (steering.fault === "break") return play.fail(brokenFault)
    const fold = new OutputFold()
    for (const event of answer.chunks.flat()) fold.push(event)
    for (const event of closing(answer)) fold.push(event)
    return Effect.succeed(fold.output())
  })
}

const closing = ({ finish, stopSequence, usage }: Answer): ReadonlyArray<OutputEvent> => [
  finishEvent(finish, stopSequence),
  ...(usage === undefined ? [] : [{ _tag: "Usage", usage } as const])
]

const sourceOf = (play: SandboxAnswer): ChatSource => {
  const { answer, steering, latencyMs, stopAt } = play
  let sent = 0
  let over = false
  const next: Effect.Effect<ReadonlyArray<OutputEvent> | undefined, ProviderError> = Effect.suspend(() => {
    if (over) return Effect.undefined
    const clock = sent === 0 ? "first_token" : "idle"
    if (sent === stopAt && steering.fault === "stall") {
      return Effect.flatMap(pause(play, Infinity, clock), () => Effect.never)
    }
    const ms = sent === 0 ? latencyMs : sent < answer.chunks.length ? steering.chunkMs : 0
    return Effect.flatMap(pause(play, ms, clock), () => {
      if (sent === stopAt) return play.fail(brokenFault)
      const chunk = answer.chunks[sent]
      if (chunk !== undefined) {
        sent += 1
        return Effect.succeed(chunk)
      }
      over = true
      return Effect.succeed(closing(answer))
    })
  })
  return pulledSource(next)
}
