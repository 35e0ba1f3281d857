/** Adds to models what OpenRouter's clients require of them. */
import type { ModelDetail } from "../../schemas/catalogue/Models.ts"
import type { openRouterModel, textPrices } from "../../schemas/catalogue/OpenRouterModel.ts"
import { type Modality, type Model, readsPdf } from "../domain/Model.ts"

/** The price of a model as numbers. */
export type NumberPricing = Omit<ModelDetail["pricing"], keyof typeof textPrices>

/** A price without an exponent. Rates are multiples of 1e-12 USD. */
const decimal = (usd: number): string => usd.toFixed(12).replace(/\.?0+$/, "")

/** OpenRouter's sign for a price that depends on the request. */
const UNKNOWN = "-1"

type TextPricing = Pick<ModelDetail["pricing"], keyof typeof textPrices>

/** Returns the same price as decimal text. */
export const textPricesOf = (pricing: NumberPricing, modality: Modality): TextPricing => {
  const { meteredCachedPromptPerToken: read, meteredCacheWritePromptPerToken: write, perRequestUsd, unit } = pricing
  if (pricing.typicalRequestUsd === null) return { prompt: UNKNOWN, completion: UNKNOWN }
  return {
    prompt: decimal(pricing.meteredPromptPerToken ?? 0),
    completion: decimal(pricing.meteredCompletionPerToken ?? 0),
    ...(perRequestUsd === null ? {} : { request: decimal(perRequestUsd) }),
    ...(unit === "image" && pricing.perUnitUsd !== null ? { image_output: decimal(pricing.perUnitUsd) } : {}),
    ...(modality === "text" && read !== null ? { input_cache_read: decimal(read) } : {}),
    ...(modality === "text" && write !== null ? { input_cache_write: decimal(write) } : {})
  }
}

type Architecture = ModelDetail["architecture"]

const outputs = {
  text: "text",
  search: "text",
  image: "image",
  image_edit: "image",
  video: "video",
  audio: "speech",
  embedding: "embeddings",
  rerank: "rerank"
} as const satisfies Record<Modality, Architecture["output_modalities"][number]>

const takesImages = ({ capabilities, modality }: Model): boolean =>
  modality === "image_edit" ||
  capabilities.some((one) => one === "vision" || one === "image_to_video" || one === "reference_media")

const architectureOf = (model: Model): Architecture => {
  const inputs: Architecture["input_modalities"] = [
    "text",
    ...(takesImages(model) ? (["image"] as const) : []),
    ...(model.modality === "text" && readsPdf(model) ? (["file"] as const) : [])
  ]
  const output = outputs[model.modality]
  return {
    input_modalities: inputs,
    output_modalities: [output],
    modality: `${inputs.join("+")}->${output}`,
    instruct_type: null
  }
}

/** Returns the members of a model that OpenRouter's clients require. */
export const openRouterMembers = (model: Model): Pick<ModelDetail, keyof typeof openRouterModel> => ({
  canonical_slug: model.id,
  context_length: model.contextWindow,
  architecture: architectureOf(model),
  top_provider: {
    context_length: model.contextWindow,
    max_completion_tokens: model.maxOutputTokens === 0 ? null : model.maxOutputTokens,
    is_moderated: false
  },
  supported_parameters: model.supportedParameters,
  links: { details: `/api/v1/models/${model.id}` },
  per_request_limits: null,
  default_parameters: null,
  supported_voices: null
})
