import { Clock, Context, Effect, Redacted, Semaphore } from "effect"
import { Outbound, type OutboundResponse, type targetOf } from "../platform/Outbound.ts"
import { faultOfOutbound, presentable, type RefusedAnswer } from "./Failure.ts"
import { ProviderError, type ProviderFault } from "./Provider.ts"
import type { WorkCall } from "./Work.ts"

/** A host that is asked for work other than chat, with JSON over HTTP. */
export interface HttpWorkOptions {
  readonly id: string
  /** Taken out of whatever the host says, should it repeat it. */
  readonly apiKey: Redacted.Redacted<string> | undefined
  /** The credential's among them; `accept` and `content-type` are given. */
  readonly headers: Readonly<Record<string, string>>
  /** What an answer other than a success means. */
  readonly faultOfStatus: (answer: RefusedAnswer, nowMs: number) => ProviderFault
}

export interface WorkQuestion {
  readonly target: ReturnType<typeof targetOf>
  /** JSON. */
  readonly body: string
  /** The longest answer that can be right, in bytes. */
  readonly maxBodyBytes: number
  /** `application/json` when absent. */
  readonly accept?: string | undefined
}

export interface HttpWork {
  /** The body of a success. */
  readonly ask: (call: WorkCall, question: WorkQuestion) => Effect.Effect<Uint8Array, ProviderError>
  readonly error: (fault: ProviderFault) => ProviderError
}

const MEBIBYTE = 1_048_576

/** Memory for long answers of providers, in mebibytes: two of the longest lists of vectors there are. */
const ROOM_MEBIBYTES = 512

/** Answers that cannot be longer than this take none of it. */
const SHORT_BYTES = 4 * MEBIBYTE

/** What this node has for long answers, of which each takes as much as it can need; one too many waits for another to end. */
export const AnswerRoom = Context.Reference<Semaphore.Semaphore>("tollgate/providers/AnswerRoom", {
  defaultValue: () => Semaphore.makeUnsafe(ROOM_MEBIBYTES)
})

const isOk = (status: number) => status >= 200 && status < 300

/** Asks one host, over the outbound pool. Interrupting a question drops its call. */
export const makeHttpWork = (options: HttpWorkOptions): Effect.Effect<HttpWork, never, Outbound> =>
  Effect.gen(function* () {
    const outbound = yield* Outbound
    const room = yield* AnswerRoom
    const { apiKey, faultOfStatus, headers, id } = options
    const secret = apiKey === undefined ? "" : Redacted.value(apiKey)
    const error = (fault: ProviderFault) => new ProviderError({ provider: id, fault: presentable(fault, secret) })
    const taken = (answer: OutboundResponse): Effect.Effect<Uint8Array, ProviderError> =>
      isOk(answer.status)
        ? Effect.succeed(answer.body)
        : Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(error(faultOfStatus(answer, now))))
    const within = (bytes: number) =>
      bytes <= SHORT_BYTES
        ? <A, E>(self: Effect.Effect<A, E>) => self
        : room.withPermits(Math.min(ROOM_MEBIBYTES, Math.ceil(bytes / MEBIBYTE)))
    const ask: HttpWork["ask"] = (call, { accept = "application/json", body, maxBodyBytes, target }) =>
      outbound
        .send({
          method: "POST",
          ...target,
          headers: {
            "content-type": "application/json",
            accept,
            "user-agent": "tollgate",
            ...headers,
            ...call.traceHeaders
          },
          body,
          clocks: { connectMs: call.clocks.connectMs, totalMs: call.clocks.totalMs },
          maxBodyBytes
        })
        .pipe(
          Effect.mapError((failed) => error(faultOfOutbound(failed))),
          within(maxBodyBytes),
          Effect.flatMap(taken)
        )
    return { ask, error }
  })
