/**
 * How images are returned: at a URL, as bytes, or the usual way. The usual way is a URL, plus bytes for OpenAI's `gpt-image` models,
 * because OpenAI returns only bytes for these and some clients read nothing else.
 */
export type ImageForm = "url" | "b64_json" | "usual"

/** A returned image: its URL, its bytes in base64, or both. */
export interface ReturnedImage {
  readonly url?: string
  readonly base64?: string
  readonly revisedPrompt?: string
}

export type WorkOperation = "embeddings" | "rerank" | "speech" | "search" | "images" | "videos"

/** Texts to embed. */
export interface EmbedWork {
  /** Texts, or the token ids of each text. */
  readonly inputs: ReadonlyArray<string> | ReadonlyArray<ReadonlyArray<number>>
  readonly dimensions: number | undefined
  readonly format: "float" | "base64"
  readonly inputType: "query" | "document" | undefined
  /** Whether inputs beyond the model's context window are truncated. Otherwise they are rejected. */
  readonly truncation: boolean
  readonly user: string | undefined
}

/** Documents to rank by their relevance to a query. */
export interface RerankWork {
  readonly query: string
  readonly documents: ReadonlyArray<string>
  readonly topN: number | undefined
  readonly truncation: boolean
}

export interface Ranking {
  /** Best first. `index` is the document's position in the request. */
  readonly results: ReadonlyArray<{ readonly index: number; readonly score: number }>
  readonly tokens: number | undefined
}

export type AudioFormat = "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm"

/** A text to speak. */
export interface SpeakWork {
  readonly input: string
  readonly voice: string
  readonly format: AudioFormat
  /** From 0.25 to 4. */
  readonly speed: number
}

export interface SpeechResult {
  readonly audio: Uint8Array
}

/** Queries for a search engine. */
export interface SearchWork {
  /** One to five. */
  readonly queries: ReadonlyArray<string>
  /** Per query, 1 to 20. */
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

export interface SearchResults {
  readonly results: ReadonlyArray<{
    readonly title: string
    readonly url: string
    readonly snippet: string
    readonly date?: string
    readonly lastUpdated?: string
    /** The index of the query that it answers. */
    readonly queryIndex: number
  }>
}

/** An image as bytes, with its content type. */
export interface MediaBytes {
  readonly bytes: Uint8Array
  readonly contentType: string
}

export type ImageFormat = "png" | "jpeg" | "webp"

/** Images to draw, or one to edit. */
export interface ImagesWork {
  readonly prompt: string
  /** The number of images, 1 to 10. */
  readonly n: number
  /** The downloaded images to edit; empty for an image drawn from the prompt alone. */
  readonly images: ReadonlyArray<MediaBytes>
  /** In pixels. Undefined: the model decides. */
  readonly size: { readonly width: number; readonly height: number } | undefined
  readonly quality: string | undefined
  readonly format: ImageFormat | undefined
  readonly background: "transparent" | "opaque" | "auto" | undefined
  readonly style: "vivid" | "natural" | undefined
  readonly user: string | undefined
}

export interface ImageResult {
  /** At most as many as requested. */
  readonly images: ReadonlyArray<MediaBytes & { readonly revisedPrompt?: string }>
}

export type AspectRatio = "16:9" | "9:16"

/** A video to make. URLs are public and were checked; the provider receives them or their bytes. */
export interface VideoWork {
  readonly prompt: string
  /** Whole seconds. */
  readonly duration: number
  readonly aspectRatio: AspectRatio
  /** The first frame. */
  readonly image: MediaBytes | undefined
  readonly referenceImages: ReadonlyArray<MediaBytes>
  readonly referenceVideo: MediaBytes | undefined
  readonly audio: boolean
  readonly seed: number | undefined
}

/** The provider's reference for a job, in a format that its adapter defines. */
export interface VideoTicket {
  readonly ticket: string
}

/** The state of a provider's job. */
export type VideoJobState =
  | { readonly _tag: "Queued" }
  /** `progress` is a percentage, if the provider reports it. */
  | { readonly _tag: "Processing"; readonly progress: number | undefined }
  /** `url` is the provider's https URL of the video, which the gateway reads once; `bytes` if there is no URL. */
  | { readonly _tag: "Completed"; readonly clip: { readonly url: string } | MediaBytes }
  /** Final. `detail` is for operators. `refused`: the caller's request was rejected (content policy, invalid reference …). */
  | { readonly _tag: "Failed"; readonly detail: string; readonly refused: boolean }
