/** The form of the catalogue's files in `data/`, and the models that they list. */
import { Result, Schema } from "effect"
import type { Capability, Modality, ModelStatus, VideoFacts } from "../domain/Model.ts"

/** Schema of a union of literals that the domain declares as a type. */
const oneOf = <const T extends ReadonlyArray<string>>(values: T) => Schema.Literals(values)

const Status = oneOf(["preview", "ga", "deprecated", "retired"] as const satisfies ReadonlyArray<ModelStatus>)

/** Without `streaming` and `prompt_caching`, which follow from the modality and from the prices. */
const Ability = oneOf([
  "tools",
  "vision",
  "json_mode",
  "structured_outputs",
  "reasoning",
  "logprobs",
  "image_to_video",
  "reference_media",
  "audio_generation"
] as const satisfies ReadonlyArray<Capability>)

const Count = Schema.Int.check(Schema.isGreaterThan(0, { message: "must be a whole number above 0" }))
const Text = Schema.NonEmptyString
const Day = Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\d$/, { message: "must be a day, YYYY-MM-DD" }))

/** One provider's offer of a model, as listed by hand. Its price is looked up when the catalogue is built. */
const ListingForm = Schema.Struct({
  provider: Text,
  /** The provider's name for the model. */
  upstreamId: Text,
  /** Absent: the model's own window, or less if the price list gives a smaller one for this provider. */
  contextWindow: Schema.optionalKey(Count),
  maxOutputTokens: Schema.optionalKey(Count),
  /** The most pixels of an image at the listed price; absent when all sizes cost the same. fal bills some models by the megapixel. */
  maxPixels: Schema.optionalKey(Count),
  unsupported: Schema.optionalKey(Schema.Array(Ability))
})
export type Listing = typeof ListingForm.Type

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

const family = oneOf(Object.keys(sampling) as ReadonlyArray<keyof typeof sampling>)

const common = {
  id: Text,
  name: Text,
  vendor: Text,
  brand: Text,
  description: Text,
  /** What the price alone does not say. */
  note: Schema.optionalKey(Text),
  /** Absent: `ga`. */
  status: Schema.optionalKey(Status),
  released: Day,
  /** The providers, the preferred one first. */
  at: Schema.Array(ListingForm)
}

const TextModel = Schema.Struct({
  ...common,
  modality: Schema.Literal("text"),
  context: Count,
  output: Count,
  /** The most prompt tokens that one image can cost, if that exceeds `TOKENS_PER_IMAGE`. Qwen publishes one token per 32 × 32 pixels. */
  tokensPerImage: Schema.optionalKey(Count),
  can: Schema.Array(Ability),
  /** A family of sampling parameters, or a list of them. */
  sampling: Schema.Union([family, Schema.Array(Text)]),
  /** False when the model refuses a setting for parallel tool calls. */
  parallelToolCalls: Schema.optionalKey(Schema.Literal(false))
})
type TextModel = typeof TextModel.Type

const Video = Schema.Struct({
  durations: Schema.Array(Count),
  aspectRatios: Schema.Array(Schema.Literals(["16:9", "9:16"])),
  referenceImages: Schema.Int,
  referenceVideo: Schema.Boolean,
  imageWithReferences: Schema.Boolean
}) satisfies Schema.Schema<VideoFacts>

const MediaModel = Schema.Struct({
  ...common,
  modality: oneOf([
    "image",
    "image_edit",
    "video",
    "audio",
    "embedding",
    "rerank",
    "search"
  ] as const satisfies ReadonlyArray<Modality>),
  /** Absent: the model counts no tokens. */
  context: Schema.optionalKey(Count),
  can: Schema.optionalKey(Schema.Array(Ability)),
  parameters: Schema.Array(Text),
  video: Schema.optionalKey(Video)
})
type MediaModel = typeof MediaModel.Type

const parametersOf = ({ can, parallelToolCalls, sampling: said }: TextModel): ReadonlyArray<string> => [
  "max_tokens",
  ...(typeof said === "string" ? sampling[said] : said),
  ...(can.includes("tools") ? ["tools", "tool_choice"] : []),
  ...(can.includes("tools") && parallelToolCalls !== false ? ["parallel_tool_calls"] : []),
  ...(can.includes("json_mode") ? ["response_format"] : []),
  ...(can.includes("structured_outputs") ? ["structured_outputs"] : []),
  ...(can.includes("reasoning") ? ["reasoning"] : []),
  ...(can.includes("logprobs") ? ["logprobs", "top_logprobs"] : [])
]

/** What a text model has of its own. It counts as hiding its reasoning: providers bill all of it and show some, a summary, or none. */
const textFacts = (model: TextModel) => ({
  capabilities: ["streaming" as const, ...model.can],
  contextWindow: model.context,
  maxOutputTokens: model.output,
  tokensPerImage: model.tokensPerImage,
  hiddenReasoning: model.can.includes("reasoning"),
  supportedParameters: parametersOf(model)
})

const mediaFacts = ({ can = [], context = 0, parameters, video }: MediaModel) => ({
  capabilities: can,
  contextWindow: context,
  maxOutputTokens: 0,
  hiddenReasoning: false,
  video,
  supportedParameters: parameters
})

const entryOf = (model: TextModel | MediaModel): Entry => ({
  id: model.id,
  name: model.name,
  vendor: model.vendor,
  brand: model.brand,
  description: model.description,
  modality: model.modality,
  status: model.status ?? "ga",
  released: model.released,
  ...(model.modality === "text" ? textFacts(model) : mediaFacts(model)),
  virtual: false,
  pricingNote: model.note ?? "",
  listings: model.at
})

const strictly = { onExcessProperty: "error" } as const
const decodeList = Schema.decodeUnknownResult(Schema.Array(Schema.Record(Schema.String, Schema.Unknown)))
const decodeText = Schema.decodeUnknownResult(TextModel, strictly)
const decodeMedia = Schema.decodeUnknownResult(MediaModel, strictly)

/** What a file of the catalogue holds, or an error that names the file, the place in it and what is wrong there. */
export const contentOf = <A>(place: string, decoded: Result.Result<A, Schema.SchemaError>): A =>
  Result.getOrThrowWith(decoded, (error) => new Error(`catalogue/data/${place}: ${error.message}`))

/** The models of one file. Throws an error that names the file, the model and what is wrong with it. */
export const modelsOf = (file: string, value: unknown): ReadonlyArray<Entry> =>
  contentOf(file, decodeList(value)).map((model, index) => {
    const place = `${file}, model ${index + 1} (${String(model["id"])})`
    return entryOf(
      contentOf<TextModel | MediaModel>(place, (model["modality"] === "text" ? decodeText : decodeMedia)(model))
    )
  })
