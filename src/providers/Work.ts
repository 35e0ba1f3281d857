/** Work other than chat: what a provider is asked, and what comes of it. */
import type { Effect } from "effect"
import type { Candidate } from "../domain/Plan.ts"
import type { Price } from "../domain/Pricing.ts"
import type { Clocks, ProviderError } from "./Provider.ts"

export type WorkOperation = "embeddings" | "rerank" | "speech" | "search" | "images" | "videos"

/** One call to one provider, whatever it is for. */
export interface WorkCall {
  readonly requestId: string
  readonly candidate: Candidate<Price>
  /** After connecting, those of the answer and the whole attempt count for an answer that is not streamed. */
  readonly clocks: Clocks
  /** What tells the provider of the trace the call belongs to; absent for one that is not to be told. */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined
  /** The raw `X-Svc-Sandbox` header; only the sandbox's double looks at it. */
  readonly steering: string | undefined
}

/** Texts to be placed in a model's vector space. */
export interface EmbedWork {
  /** Texts, or each one's tokens. */
  readonly inputs: ReadonlyArray<string> | ReadonlyArray<ReadonlyArray<number>>
  readonly dimensions: number | undefined
  readonly format: "float" | "base64"
  readonly inputType: "query" | "document" | undefined
  /** Whether inputs beyond the model's window are cut; they are refused otherwise. */
  readonly truncation: boolean
  readonly user: string | undefined
}

export interface Embedded {
  /**
   * The JSON of the list of embeddings, as the provider wrote it: it is long, and nothing in it is ours to change. Empty where
   * the list is still arriving.
   */
  readonly data: Uint8Array
  /** Prompt tokens as the provider counts them; absent when it does not say, or has yet to. */
  readonly tokens: number | undefined
  /** A very long list, whose beginning has come and is right. */
  readonly arriving?: ArrivingVectors
}

/** A list of embeddings on its way. It comes whether it is read or not, but waits for its reader when too much of it does. */
export interface ArrivingVectors {
  /** Some of what has come since, never nothing; undefined when no more will come. For one reader, interrupted once it has left. */
  readonly next: Effect.Effect<ReadonlyArray<Uint8Array> | undefined>
  /** Nobody reads it any more: what waits is dropped, and what is still to come is not kept. */
  readonly leave: () => void
  /** Vectors that have come and are right. */
  readonly count: number
  /** Waits for the end: the prompt tokens as the provider counts them, or why the list is not whole. */
  readonly whole: Effect.Effect<number | undefined, ProviderError>
}

/** Documents to be put in the order in which they answer a query. */
export interface RerankWork {
  readonly query: string
  readonly documents: ReadonlyArray<string>
  readonly topN: number | undefined
  readonly truncation: boolean
}

export interface Reranked {
  /** Best first; `index` is the document's place in the request. */
  readonly results: ReadonlyArray<{ readonly index: number; readonly score: number }>
  readonly tokens: number | undefined
}

export type AudioFormat = "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm"

/** A text to be spoken. */
export interface SpeakWork {
  readonly input: string
  readonly voice: string
  readonly format: AudioFormat
  /** From 0.25 to 4. */
  readonly speed: number
}

export interface Spoken {
  readonly audio: Uint8Array
}

/** Questions to a search engine. */
export interface SearchWork {
  /** One to five. */
  readonly queries: ReadonlyArray<string>
  /** Of each query, 1 to 20. */
  readonly maxResults: number
  readonly maxTokensPerPage: number | undefined
  /** ISO 3166-1 alpha-2. */
  readonly country: string | undefined
  readonly languages: ReadonlyArray<string>
  readonly domains: ReadonlyArray<string>
  readonly withoutDomains: ReadonlyArray<string>
  readonly recency: "hour" | "day" | "week" | "month" | "year" | undefined
  /** Days as `YYYY-MM-DD`. */
  readonly publishedAfter: string | undefined
  readonly publishedBefore: string | undefined
  readonly updatedAfter: string | undefined
  readonly updatedBefore: string | undefined
  readonly mode: "web" | "academic" | "sec"
  readonly contextSize: "low" | "medium" | "high"
}

export interface Found {
  readonly results: ReadonlyArray<{
    readonly title: string
    readonly url: string
    readonly snippet: string
    readonly date?: string
    readonly lastUpdated?: string
    /** Which of the queries it answers. */
    readonly queryIndex: number
  }>
}

/** An image as bytes, with its content type. */
export interface MediaBytes {
  readonly bytes: Uint8Array
  readonly contentType: string
}

export type ImageFormat = "png" | "jpeg" | "webp"

/** Images to be drawn, or one to be edited. */
export interface DrawWork {
  readonly prompt: string
  /** How many, 1 to 10. */
  readonly n: number
  /** The images to be edited, fetched; none for one drawn from the prompt alone. */
  readonly images: ReadonlyArray<MediaBytes>
  /** Pixels; absent leaves it to the model. */
  readonly size: { readonly width: number; readonly height: number } | undefined
  readonly quality: string | undefined
  readonly format: ImageFormat | undefined
  readonly background: "transparent" | "opaque" | "auto" | undefined
  readonly style: "vivid" | "natural" | undefined
  readonly user: string | undefined
}

export interface Drawn {
  /** As many as came, at most as many as were asked for. */
  readonly images: ReadonlyArray<MediaBytes & { readonly revisedPrompt?: string }>
}

export type AspectRatio = "16:9" | "9:16"

/** A video to be made. Addresses are public and were checked; a provider is told them, or their bytes. */
export interface FilmWork {
  readonly prompt: string
  /** Whole seconds. */
  readonly duration: number
  readonly aspectRatio: AspectRatio
  /** The picture it begins with. */
  readonly image: MediaBytes | undefined
  readonly referenceImages: ReadonlyArray<MediaBytes>
  readonly referenceVideo: MediaBytes | undefined
  readonly audio: boolean
  readonly seed: number | undefined
}

/** What a provider calls a job of ours, as text of its adapter's own making. */
export interface FilmTicket {
  readonly ticket: string
}

/** How far a provider's job is. */
export type FilmState =
  | { readonly _tag: "Queued" }
  /** `progress` in per cent, where the provider says it. */
  | { readonly _tag: "Processing"; readonly progress: number | undefined }
  /** `url` is the provider's own address of the clip, https, read once by us; `bytes` where there is no address. */
  | { readonly _tag: "Completed"; readonly clip: { readonly url: string } | MediaBytes }
  /** Final. `detail` is for operators; `refused` when the caller's request was judged wrong (content policy, bad reference …). */
  | { readonly _tag: "Failed"; readonly detail: string; readonly refused: boolean }
