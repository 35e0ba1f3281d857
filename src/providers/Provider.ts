import { Data, Effect, type Scope } from "effect"
import type { Conversation } from "../domain/Conversation.ts"
import type { Nano } from "../domain/Money.ts"
import type { Output, OutputEvent } from "../domain/Output.ts"
import type { Candidate } from "../domain/Plan.ts"
import type { AnswerClock } from "./pool/AnswerClock.ts"
import type {
  Drawn,
  DrawWork,
  Embedded,
  EmbedWork,
  FilmState,
  FilmTicket,
  FilmWork,
  Found,
  MediaBytes,
  Reranked,
  RerankWork,
  SearchWork,
  SpeakWork,
  Spoken,
  WorkCall
} from "./Work.ts"

/** The time limits of one attempt, in milliseconds. */
export interface Clocks {
  readonly connectMs: number
  /** From sending the request to the first content of a stream. */
  readonly firstTokenMs: number
  /** The longest silence between two chunks of a stream. */
  readonly idleMs: number
  /** The whole attempt. */
  readonly totalMs: number
  /** The limit after which the next candidate is tried, for an answer that is not streamed; absent: none. */
  readonly answer?: AnswerClock | undefined
}

/** One chat call to one provider. */
export interface ChatCall extends WorkCall {
  /** The account of the request. Providers never receive it. */
  readonly accountId?: string | undefined
  readonly candidate: Candidate
  readonly conversation: Conversation
  /** Whether a complete answer is requested as a stream. The caller does not see its chunks. */
  readonly folds?: boolean
  /** Whether the gateway sets prompt cache breakpoints for the caller. */
  readonly caching?: "auto" | undefined
  /** The output cap sent to the provider, which the hold covers. */
  readonly maxOutputTokens: number
  /** The number of prompt tokens that the hold covers. The candidate counts no more for ordinary text. */
  readonly promptBound: number
  /** The hold for the call. Adapters of real providers do not use it; the sandbox can spend all of it. */
  readonly held: Nano
}

/** How a provider call can fail. */
export type ProviderFault =
  | { readonly _tag: "Unreachable"; readonly detail: string }
  /** `held`: a slow reader made the provider wait for a part of that time. */
  | {
      readonly _tag: "TimedOut"
      readonly clock: "connect" | "first_token" | "idle" | "answer" | "total"
      readonly held?: true
    }
  | { readonly _tag: "RateLimited"; readonly retryAfterSeconds: number | undefined }
  /** The provider rejected the caller's request (400, 404, 413, 422 …). Another provider may accept it. */
  | {
      readonly _tag: "Refused"
      readonly status: number
      readonly detail: string
      /** The rejected field of the caller's request, if the adapter knows it. */
      readonly param?: string
      /** The prompt is too long for the model's context, or its content is not allowed. */
      readonly about?: "context" | "policy"
    }
  /** The gateway's own credential or account at the provider is at fault. */
  | { readonly _tag: "Unauthorized"; readonly status: number }
  | {
      readonly _tag: "ServerError"
      readonly status: number
      readonly detail: string
      /** The pause the host asks for, if it names one. */
      readonly retryAfterSeconds?: number
    }
  /**
   * `ofModel`: the host is healthy, but could not parse its model's output. With some tools, a model produces such output every time.
   */
  | { readonly _tag: "Malformed"; readonly detail: string; readonly ofModel?: true }
  /** The answer violates the requested schema, or could not be checked. `detail` tells where, in the gateway's own words. */
  | { readonly _tag: "OffSchema"; readonly detail: string }
  /** No provider was called, because no answer could be checked against the caller's schema, which is in `field`. */
  | {
      readonly _tag: "SchemaRefused"
      readonly field: string
      readonly detail: string
      /** Whether the check may succeed at another time. */
      readonly passing?: true
      /** Instead of that: the limit on the account's invalid answers, whatever the schema. */
      readonly limit?: { readonly limit: number; readonly retryAfterSeconds: number }
    }
  /** The connection ended before the answer did. */
  | { readonly _tag: "Broken"; readonly detail: string }
  /**
   * The work was done and will be billed, but its result is lost. No other provider is tried, because the house would pay each time.
   * `ours`: the loss says nothing about the provider. `param` is the field of the caller's request that made the result too long.
   */
  | { readonly _tag: "Lost"; readonly detail: string; readonly ours?: true; readonly param?: string }

/**
 * A failed attempt. Its `detail` comes from outside: operators may see it, callers only that of `Refused` and of the two schema faults.
 */
export class ProviderError extends Data.TaggedError("ProviderError")<{
  readonly provider: string
  readonly fault: ProviderFault
}> {}

/** Receives events in order, never an empty list. Returns whether it wants more at once. */
export type TakeEvents = (events: ReadonlyArray<OutputEvent>) => boolean

/** The open stream of one attempt. `next` returns the events that have arrived since, never an empty list, and undefined at the end. */
export interface ChatSource {
  /** The whole answer was complete before its first event, so the time to the first token means nothing. */
  readonly collected?: true
  readonly next: Effect.Effect<ReadonlyArray<OutputEvent> | undefined, ProviderError>
  /**
   * Delivers all events to `take` without waking a fiber for each. It ends with true when `take` wants no more, or at the end of the
   * stream. Absent where `next` is as good.
   */
  readonly each?: (take: TakeEvents) => Effect.Effect<boolean, ProviderError>
}

/** Delivers all events of any source. */
export const eachOf = (source: ChatSource, take: TakeEvents): Effect.Effect<boolean, ProviderError> => {
  if (source.each !== undefined) return source.each(take)
  const further: Effect.Effect<boolean, ProviderError> = Effect.flatMap(source.next, (events) => {
    if (events === undefined) return Effect.succeed(false)
    return take(events) ? further : Effect.succeed(true)
  })
  return further
}

/**
 * The contract of an adapter. Interrupting `chat`, or closing the scope of `chatStream`, ends the upstream call at once. Adapters
 * enforce the time limits of their call, always request usage, convert it to disjoint buckets, and never retry.
 */
export interface Provider {
  readonly id: string
  /** Whether the provider stops charging when the gateway closes the connection. Otherwise the gateway drains the call. */
  readonly stopsBillingOnAbort: boolean
  /** Whether this is the sandbox's double, which fails as the call's steering asks. */
  readonly steerable?: boolean
  /** Whether the provider applies the conversation's context edits itself. */
  readonly editsContext?: boolean
  /** The host of its calls, if it is known. */
  readonly server?: { readonly address: string; readonly port: number }
  readonly chat: (call: ChatCall) => Effect.Effect<Output, ProviderError>
  readonly chatStream: (call: ChatCall) => Effect.Effect<ChatSource, ProviderError, Scope.Scope>
  /** Work other than chat, each kind only where the provider supports it. Interrupting it ends the upstream call at once. */
  readonly embed?: (call: WorkCall, work: EmbedWork) => Effect.Effect<Embedded, ProviderError>
  readonly rerank?: (call: WorkCall, work: RerankWork) => Effect.Effect<Reranked, ProviderError>
  readonly speak?: (call: WorkCall, work: SpeakWork) => Effect.Effect<Spoken, ProviderError>
  readonly draw?: (call: WorkCall, work: DrawWork) => Effect.Effect<Drawn, ProviderError>
  /** Submits a video. After an interruption it is unknown whether the provider accepted it. */
  readonly film?: (call: WorkCall, work: FilmWork) => Effect.Effect<FilmTicket, ProviderError>
  /** Reads the progress of a video. */
  readonly filmState?: (call: WorkCall, ticket: string) => Effect.Effect<FilmState, ProviderError>
  /** Reads a video from the URL of `FilmState`, with the provider's credential if the URL requires it. */
  readonly filmClip?: (call: WorkCall, url: string) => Effect.Effect<MediaBytes, ProviderError>
  readonly search?: (call: WorkCall, work: SearchWork) => Effect.Effect<Found, ProviderError>
}
