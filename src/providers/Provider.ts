import { Data, Effect, type Scope } from "effect"
import type { Conversation } from "../domain/Conversation.ts"
import type { Nano } from "../domain/Money.ts"
import type { Output, OutputEvent } from "../domain/Output.ts"
import type { Candidate } from "../domain/Plan.ts"
import type { AnswerClock } from "./AnswerClock.ts"
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

/** The clocks of one attempt, in milliseconds. */
export interface Clocks {
  readonly connectMs: number
  /** From the request sent to the first content of a stream. */
  readonly firstTokenMs: number
  /** The longest silence between two pieces of a stream. */
  readonly idleMs: number
  /** The whole attempt. */
  readonly totalMs: number
  /** Of an attempt at an answer that is not streamed, when the next candidate is asked instead; no such time when absent. */
  readonly answer?: AnswerClock | undefined
}

/** One chat call to one provider. */
export interface ChatCall extends WorkCall {
  /** Whose request it is; no provider is told. */
  readonly accountId?: string | undefined
  readonly candidate: Candidate
  readonly conversation: Conversation
  /** A whole answer that is asked for as a stream: nobody sees its pieces. */
  readonly folds?: boolean
  /** Whether breakpoints of the prompt cache are to be set for the caller. */
  readonly caching?: "auto" | undefined
  /** The cap sent upstream; what the hold covers. */
  readonly maxOutputTokens: number
  /** As many prompt tokens as are held for: the candidate counts no more of ordinary text. */
  readonly promptBound: number
  /** What is held for the call. Adapters of real providers have no use for it; the sandbox can spend it whole. */
  readonly held: Nano
}

/** What can go wrong at a provider. */
export type ProviderFault =
  | { readonly _tag: "Unreachable"; readonly detail: string }
  /** `held` where a slow reader has kept the provider waiting for a part of that time. */
  | {
      readonly _tag: "TimedOut"
      readonly clock: "connect" | "first_token" | "idle" | "answer" | "total"
      readonly held?: true
    }
  | { readonly _tag: "RateLimited"; readonly retryAfterSeconds: number | undefined }
  /** The provider judged the caller's request wrong (400, 404, 413, 422 …); another provider may judge otherwise. */
  | {
      readonly _tag: "Refused"
      readonly status: number
      readonly detail: string
      /** The member of the caller's request that is refused, where an adapter knows it. */
      readonly param?: string
      /** The prompt is too long for the model's context, or its content is not allowed. */
      readonly about?: "context" | "policy"
    }
  /** Our own credential or account with the provider is at fault. */
  | { readonly _tag: "Unauthorized"; readonly status: number }
  | {
      readonly _tag: "ServerError"
      readonly status: number
      readonly detail: string
      /** The pause the host asks for, where it does. */
      readonly retryAfterSeconds?: number
    }
  /** `ofModel` where the host is well, and its model said what it could not read: with some tools a model says so each time. */
  | { readonly _tag: "Malformed"; readonly detail: string; readonly ofModel?: true }
  /** The answer does not meet the schema it was asked for with, or could not be checked; `detail` says where, in our own words. */
  | { readonly _tag: "OffSchema"; readonly detail: string }
  /** Nobody was asked, because no answer could be judged by the caller's schema, which stands in `field`. */
  | {
      readonly _tag: "SchemaRefused"
      readonly field: string
      readonly detail: string
      /** Another time it may be judged otherwise. */
      readonly passing?: true
      /** In place of that: what the account's answers may not go beyond, whatever the schema. */
      readonly limit?: { readonly limit: number; readonly retryAfterSeconds: number }
    }
  /** The connection ended before the answer did. */
  | { readonly _tag: "Broken"; readonly detail: string }
  /**
   * The work was done, and will be billed, but what came of it cannot be had. Nobody is asked for it again: the house would pay for
   * it each time. `ours` where that says nothing of the provider; `param` is the member of the caller's request that made it too long.
   */
  | { readonly _tag: "Lost"; readonly detail: string; readonly ours?: true; readonly param?: string }

/** A failed attempt. `detail`s come from outside: shown to operators, never raw to callers, but of `Refused` and the two of schemas. */
export class ProviderError extends Data.TaggedError("ProviderError")<{
  readonly provider: string
  readonly fault: ProviderFault
}> {}

/** Is given events in their order, and never none. Answers whether it wants more at once. */
export type TakeEvents = (events: ReadonlyArray<OutputEvent>) => boolean

/** An open stream of one attempt. `next` gives what has arrived since, never an empty list, and undefined at the end. */
export interface ChatSource {
  /** All of it was there before the first of it was given, so that the time to that says nothing. */
  readonly collected?: true
  readonly next: Effect.Effect<ReadonlyArray<OutputEvent> | undefined, ProviderError>
  /**
   * The same for a reader that need not be woken: gives it all that comes, until it wants no more, which is answered with true, or
   * until the end. Absent where `next` does as well.
   */
  readonly each?: (take: TakeEvents) => Effect.Effect<boolean, ProviderError>
}

/** Gives all that comes, whatever the source. */
export const eachOf = (source: ChatSource, take: TakeEvents): Effect.Effect<boolean, ProviderError> => {
  if (source.each !== undefined) return source.each(take)
  const further: Effect.Effect<boolean, ProviderError> = Effect.flatMap(source.next, (events) => {
    if (events === undefined) return Effect.succeed(false)
    return take(events) ? further : Effect.succeed(true)
  })
  return further
}

/**
 * The contract an adapter meets. Interrupting `chat`, or closing the scope of `chatStream`, ends the upstream call at once.
 * Adapters keep the clocks of their call, ask for usage always, convert it to disjoint buckets, and never retry.
 */
export interface Provider {
  readonly id: string
  /** Whether the provider stops charging when we hang up. Where it does not, a call is drained instead. */
  readonly stopsBillingOnAbort: boolean
  /** Whether it is the sandbox's double, which fails as its call's steering asks. */
  readonly steerable?: boolean
  /** Whether it edits prompts by itself, as the conversation asks. */
  readonly editsContext?: boolean
  /** The host that its calls go to, where it is known. */
  readonly server?: { readonly address: string; readonly port: number }
  readonly chat: (call: ChatCall) => Effect.Effect<Output, ProviderError>
  readonly chatStream: (call: ChatCall) => Effect.Effect<ChatSource, ProviderError, Scope.Scope>
  /** Work other than chat, each where the provider does it. Interrupting it ends the upstream call at once. */
  readonly embed?: (call: WorkCall, work: EmbedWork) => Effect.Effect<Embedded, ProviderError>
  readonly rerank?: (call: WorkCall, work: RerankWork) => Effect.Effect<Reranked, ProviderError>
  readonly speak?: (call: WorkCall, work: SpeakWork) => Effect.Effect<Spoken, ProviderError>
  readonly draw?: (call: WorkCall, work: DrawWork) => Effect.Effect<Drawn, ProviderError>
  /** Hands a video in. Interrupting it leaves open whether the provider has taken it. */
  readonly film?: (call: WorkCall, work: FilmWork) => Effect.Effect<FilmTicket, ProviderError>
  /** Asks how far a video is. */
  readonly filmState?: (call: WorkCall, ticket: string) => Effect.Effect<FilmState, ProviderError>
  /** Reads a clip from the address of `FilmState`, with the provider's own credential where it wants one. */
  readonly filmClip?: (call: WorkCall, url: string) => Effect.Effect<MediaBytes, ProviderError>
  readonly search?: (call: WorkCall, work: SearchWork) => Effect.Effect<Found, ProviderError>
}
