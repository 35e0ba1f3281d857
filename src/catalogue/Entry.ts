import type { Capability, Modality, ModelStatus, VideoFacts } from "../domain/Model.ts"

/** One provider's serving of a model as it is listed by hand; its price is looked up when the catalogue is built. */
export interface Listing {
  readonly provider: string
  readonly upstreamId: string
  /** Absent: the model's own, or less where the price list knows that this provider serves less. */
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  /** The most pixels of an image at the listed price; absent where it is the same for all sizes. */
  readonly maxPixels?: number
  readonly unsupported?: ReadonlyArray<Capability>
}

/** A model as it is listed by hand, preferred provider first. */
export interface Entry {
  readonly id: string
  readonly name: string
  readonly vendor: string
  readonly brand: string
  readonly description: string
  readonly modality: Modality
  readonly status: ModelStatus
  /** Day of release, `YYYY-MM-DD`. */
  readonly released: string
  /** Without `prompt_caching`, which follows from the prices. */
  readonly capabilities: ReadonlyArray<Capability>
  readonly contextWindow: number
  readonly maxOutputTokens: number
  /** The most prompt tokens one image can be billed at, where that is beyond `TOKENS_PER_IMAGE`. */
  readonly tokensPerImage?: number | undefined
  readonly hiddenReasoning: boolean
  /** Of models that make videos. */
  readonly video?: VideoFacts | undefined
  readonly virtual: boolean
  readonly supportedParameters: ReadonlyArray<string>
  /** What the price does not say by itself; the rest of the note is derived from the price. */
  readonly pricingNote: string
  readonly listings: ReadonlyArray<Listing>
}

/** A listing at a provider under the provider's own name for the model. */
export const at = (
  provider: string,
  upstreamId: string,
  limits: Omit<Listing, "provider" | "upstreamId"> = {}
): Listing => ({ provider, upstreamId, ...limits })

type Ability = Exclude<Capability, "streaming" | "prompt_caching">

/** The sampling parameters a family of models takes. */
export const sampling = {
  openai: ["temperature", "top_p", "stop", "seed", "frequency_penalty", "presence_penalty"],
  anthropic: ["temperature", "top_p", "top_k", "stop"],
  gemini: ["temperature", "top_p", "top_k", "stop", "seed"],
  xai: ["temperature", "top_p", "seed"],
  mistral: ["temperature", "top_p", "stop", "seed", "frequency_penalty", "presence_penalty"],
  perplexity: ["temperature", "top_p", "frequency_penalty", "presence_penalty"],
  bedrock: ["temperature", "top_p", "stop"],
  open: [
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "stop",
    "seed",
    "frequency_penalty",
    "presence_penalty"
  ],
  /** Since the fifth generation, which chooses the rest for itself. */
  gpt: ["verbosity"],
  /** Models that choose for themselves and refuse to be told. */
  fixed: []
} as const satisfies Record<string, ReadonlyArray<string>>

const parametersOf = ({ can: abilities, parallelCalls }: TextSpec): ReadonlyArray<string> => [
  ...(abilities.includes("tools") ? ["tools", "tool_choice"] : []),
  ...(abilities.includes("tools") && parallelCalls !== false ? ["parallel_tool_calls"] : []),
  ...(abilities.includes("json_mode") ? ["response_format"] : []),
  ...(abilities.includes("structured_outputs") ? ["structured_outputs"] : []),
  ...(abilities.includes("reasoning") ? ["reasoning"] : []),
  ...(abilities.includes("logprobs") ? ["logprobs", "top_logprobs"] : [])
]

interface TextSpec {
  readonly id: string
  readonly name: string
  readonly released: string
  readonly status?: ModelStatus
  readonly context: number
  readonly output: number
  readonly perImage?: number
  readonly can: ReadonlyArray<Ability>
  readonly sampling?: ReadonlyArray<string>
  /** False: it refuses to be told whether it may call several tools at once. */
  readonly parallelCalls?: false
  readonly about: string
  readonly note?: string
  readonly at: ReadonlyArray<Listing>
}

/**
 * A maker of text models of one vendor. A model that reasons is taken to hide it: providers bill all reasoning tokens but
 * show some, a summary, or none.
 */
export const textModels =
  (vendor: string, brand: string, family: ReadonlyArray<string>) =>
  (spec: TextSpec): Entry => ({
    id: spec.id,
    name: spec.name,
    vendor,
    brand,
    description: spec.about,
    modality: "text",
    status: spec.status ?? "ga",
    released: spec.released,
    capabilities: ["streaming", ...spec.can],
    contextWindow: spec.context,
    maxOutputTokens: spec.output,
    tokensPerImage: spec.perImage,
    hiddenReasoning: spec.can.includes("reasoning"),
    virtual: false,
    supportedParameters: ["max_tokens", ...(spec.sampling ?? family), ...parametersOf(spec)],
    pricingNote: spec.note ?? "",
    listings: spec.at
  })

interface MediaSpec {
  readonly id: string
  readonly name: string
  readonly vendor: string
  readonly brand: string
  readonly released: string
  readonly status?: ModelStatus
  readonly can?: ReadonlyArray<Ability>
  readonly context?: number
  readonly parameters: ReadonlyArray<string>
  readonly about: string
  readonly note?: string
  readonly video?: VideoFacts
  readonly at: ReadonlyArray<Listing>
}

/** A maker of models of a modality other than text; a window of 0 means that the model counts no tokens. */
export const mediaModels =
  (modality: Exclude<Modality, "text">) =>
  (spec: MediaSpec): Entry => ({
    id: spec.id,
    name: spec.name,
    vendor: spec.vendor,
    brand: spec.brand,
    description: spec.about,
    modality,
    status: spec.status ?? "ga",
    released: spec.released,
    capabilities: spec.can ?? [],
    contextWindow: spec.context ?? 0,
    maxOutputTokens: 0,
    hiddenReasoning: false,
    video: spec.video,
    virtual: false,
    supportedParameters: spec.parameters,
    pricingNote: spec.note ?? "",
    listings: spec.at
  })
