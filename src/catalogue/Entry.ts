import type { Capability, Modality, ModelStatus, VideoFacts } from "../domain/Model.ts"

/** One provider's offer of a model, as listed by hand. Its price is looked up when the catalogue is built. */
export interface Listing {
  readonly provider: string
  readonly upstreamId: string
  /** Absent: the model's own window, or less if the price list gives a smaller one for this provider. */
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  /** The most pixels of an image at the listed price; absent when all sizes cost the same. */
  readonly maxPixels?: number
  readonly unsupported?: ReadonlyArray<Capability>
}

/** A model as listed by hand, with the preferred provider first. */
export interface Entry {
  readonly id: string
  readonly name: string
  readonly vendor: string
  readonly brand: string
  readonly description: string
  readonly modality: Modality
  readonly status: ModelStatus
  /** The day of release, `YYYY-MM-DD`. */
  readonly released: string
  /** Without `prompt_caching`, which follows from the prices. */
  readonly capabilities: ReadonlyArray<Capability>
  readonly contextWindow: number
  readonly maxOutputTokens: number
  /** The most prompt tokens that one image can cost, if that exceeds `TOKENS_PER_IMAGE`. */
  readonly tokensPerImage?: number | undefined
  readonly hiddenReasoning: boolean
  /** Present for models that make videos. */
  readonly video?: VideoFacts | undefined
  readonly virtual: boolean
  readonly supportedParameters: ReadonlyArray<string>
  /** What the price alone does not say. The rest of the note is derived from the price. */
  readonly pricingNote: string
  readonly listings: ReadonlyArray<Listing>
}

/** Creates a listing at a provider, under the provider's name for the model. */
export const at = (
  provider: string,
  upstreamId: string,
  limits: Omit<Listing, "provider" | "upstreamId"> = {}
): Listing => ({ provider, upstreamId, ...limits })

type Ability = Exclude<Capability, "streaming" | "prompt_caching">

/** The sampling parameters that a family of models accepts. */
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
  /** Since the fifth generation, which sets all other sampling parameters itself. */
  gpt: ["verbosity"],
  /** Models that refuse all sampling parameters. */
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
  /** False when the model refuses a setting for parallel tool calls. */
  readonly parallelCalls?: false
  readonly about: string
  readonly note?: string
  readonly at: ReadonlyArray<Listing>
}

/**
 * Returns a function that creates text models of one vendor. The catalogue assumes that a reasoning model hides its reasoning:
 * providers bill all reasoning tokens but show some of them, a summary, or none.
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

/**
 * Returns a function that creates models of a modality other than text. A context window of 0 means that the model counts no
 * tokens.
 */
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
