import type { Price, Promotion } from "./Pricing.ts"

export type Modality = "text" | "image" | "image_edit" | "video" | "audio" | "embedding" | "rerank" | "search"
export type ModelStatus = "preview" | "ga" | "deprecated" | "retired"
export type Capability =
  | "streaming"
  | "tools"
  | "vision"
  | "json_mode"
  | "structured_outputs"
  | "reasoning"
  | "prompt_caching"
  | "logprobs"
  | "image_to_video"
  | "reference_media"
  | "audio_generation"

/** The limits of the videos that a model makes. Its capabilities say whether it takes pictures, references or sound. */
export interface VideoFacts {
  /** Whole seconds, ascending, each from 4 to 15. */
  readonly durations: ReadonlyArray<number>
  readonly aspectRatios: ReadonlyArray<"16:9" | "9:16">
  /** The most reference images; 0 when it takes none. */
  readonly referenceImages: number
  readonly referenceVideo: boolean
  /** Whether it takes a first image together with references. */
  readonly imageWithReferences: boolean
}

/** One model of the catalogue and every provider that serves it, the preferred one first. */
export interface Model {
  readonly id: string
  readonly name: string
  readonly vendor: string
  readonly brand: string
  readonly description: string
  readonly modality: Modality
  readonly status: ModelStatus
  /** Unix seconds of the model's release. */
  readonly created: number
  readonly capabilities: ReadonlyArray<Capability>
  readonly contextWindow: number
  readonly maxOutputTokens: number
  /** The most prompt tokens that one image can be billed at, when that is more than the bound for all models. */
  readonly tokensPerImage?: number | undefined
  /** Output tokens a caller never sees (reasoning): such models are held whole at the start, never in steps. */
  readonly hiddenReasoning: boolean
  /** Only models that make videos have it. */
  readonly video?: VideoFacts | undefined
  /** True for an id that stands for a choice among others, such as `svc/auto`. */
  readonly virtual: boolean
  readonly supportedParameters: ReadonlyArray<string>
  readonly pricingNote: string
  readonly offers: ReadonlyArray<Offer>
}

/** One provider's serving of a model. An offer without a price is never called. */
export interface Offer {
  readonly provider: string
  readonly upstreamId: string
  readonly price: Price | undefined
  /** What the provider charges the operator for the same; absent when no price list has it. */
  readonly cost?: Price
  /** The discount that applies now, and the price without it. */
  readonly promotion?: { readonly now: Promotion; readonly listPrice: Price }
  readonly contextWindow: number
  readonly maxOutputTokens: number
  /** A double of the sandbox answers for the provider, so that simulated money may pay for it. */
  readonly simulated?: true
  /** For images: the most pixels an image may have at this price, unless the price is for all sizes. */
  readonly maxPixels?: number | undefined
  readonly unsupported: ReadonlyArray<Capability>
}

/** Providers whose own API shows PDF files to models with vision. Hosts of their models mostly do not. */
const PDF_READERS: ReadonlySet<string> = new Set(["anthropic", "gemini", "openai"])

/** Whether an offer's provider shows PDF files to the model. */
export const offerReadsPdf = (
  { capabilities }: Pick<Model, "capabilities">,
  { provider, unsupported }: Offer
): boolean => PDF_READERS.has(provider) && capabilities.includes("vision") && !unsupported.includes("vision")

/** Whether any provider shows PDF files to a model. */
export const readsPdf = (model: Pick<Model, "capabilities" | "offers">): boolean =>
  model.offers.some((offer) => offerReadsPdf(model, offer))

/** A company or host that serves models; which adapter speaks to it is the provider pool's affair. */
export interface ProviderInfo {
  readonly id: string
  readonly name: string
  readonly trainsOnData: boolean
  readonly zeroRetention: boolean
}
