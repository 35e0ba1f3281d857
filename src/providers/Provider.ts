import { type Effect, type Scope } from "effect"
import type { Conversation } from "../domain/Conversation.ts"
import type { Nano } from "../domain/Money.ts"
import type { Output, OutputEvent } from "../domain/Output.ts"
import type { Candidate } from "../domain/Plan.ts"
import type { Price } from "../domain/Pricing.ts"
import type { ProviderError } from "./ProviderError.ts"
import type { Embeddings } from "./Work.ts"
import type {
  ImageResult,
  ImagesWork,
  EmbedWork,
  VideoJobState,
  VideoTicket,
  VideoWork,
  SearchResults,
  MediaBytes,
  Ranking,
  RerankWork,
  SearchWork,
  SpeakWork,
  SpeechResult
} from "../domain/Work.ts"
import type { Clocks } from "./pool/AnswerClock.ts"

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

/** Receives events in order, never an empty list. Returns whether it wants more at once. */
export type TakeEvents = (events: ReadonlyArray<OutputEvent>) => boolean

/** The open stream of one attempt. */
export interface ChatSource {
  /** The whole answer was complete before its first event, so the time to the first token means nothing. */
  readonly collected?: true
  /**
   * Delivers the events to `take` as they arrive, without waking a fiber for each. It ends with true when `take` wants no more, and
   * with false at the end of the stream. A later call delivers the events after those that `take` has received.
   */
  readonly each: (take: TakeEvents) => Effect.Effect<boolean, ProviderError>
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
  readonly embed?: (call: WorkCall, work: EmbedWork) => Effect.Effect<Embeddings, ProviderError>
  readonly rerank?: (call: WorkCall, work: RerankWork) => Effect.Effect<Ranking, ProviderError>
  readonly speak?: (call: WorkCall, work: SpeakWork) => Effect.Effect<SpeechResult, ProviderError>
  readonly makeImages?: (call: WorkCall, work: ImagesWork) => Effect.Effect<ImageResult, ProviderError>
  /** Submits a video. After an interruption it is unknown whether the provider accepted it. */
  readonly makeVideo?: (call: WorkCall, work: VideoWork) => Effect.Effect<VideoTicket, ProviderError>
  /** Reads the progress of a video. */
  readonly videoState?: (call: WorkCall, ticket: string) => Effect.Effect<VideoJobState, ProviderError>
  /** Reads a video from the URL of `VideoJobState`, with the provider's credential if the URL requires it. */
  readonly videoClip?: (call: WorkCall, url: string) => Effect.Effect<MediaBytes, ProviderError>
  readonly search?: (call: WorkCall, work: SearchWork) => Effect.Effect<SearchResults, ProviderError>
}

/** One call to one provider, of any kind. */
export interface WorkCall {
  readonly requestId: string
  readonly candidate: Candidate<Price>
  /** Besides connecting, an answer that is not streamed uses the limits of the answer and of the whole attempt. */
  readonly clocks: Clocks
  /** The trace headers for the provider. Absent when it must not receive any. */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined
  /** The raw `X-Svc-Sandbox` header. Only the sandbox's double reads it. */
  readonly steering: string | undefined
}
