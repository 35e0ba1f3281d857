/** Converts models to the form of the catalogue's endpoints. */
import type { PriceTerms } from "../../schemas/Access.ts"
import type { ModelDetail, ModelList, ModelQuery } from "../../schemas/catalogue/Models.ts"
import type { Modality, Model, Offer } from "../domain/Model.ts"
import { nanoFromPico, usdFromNano, usdFromPico } from "../domain/Money.ts"
import { isFixed, priceFor } from "../domain/PriceTerms.ts"
import { type Price, type Promotion, tokenCost, unitCost } from "../domain/Pricing.ts"
import { noTokens } from "../domain/Usage.ts"
import type { Event } from "./Changes.ts"
import type { Performance } from "./LiveFigures.ts"
import { type NumberPricing, openRouterMembers, textPricesOf } from "./OpenRouterForm.ts"
import type { Snapshot } from "./Snapshot.ts"

/** The parts of the catalogue that a listing needs. */
export type Prices = Pick<
  Snapshot,
  "provider" | "isServable" | "preferredOffer" | "isOverlay" | "hasOwnStatus" | "historyOf"
>

/** The part of the live figures that a listing needs. */
export interface Figures {
  readonly performance: (model: string, provider: string) => Performance
}

/** Returns one model with its providers, their recent figures, and its prices for an account with these terms. */
export const toWire = (catalogue: Prices, live: Figures, model: Model, terms?: PriceTerms): ModelDetail => {
  const preferred = catalogue.preferredOffer(model)
  const primary = preferred ?? model.offers[0]
  const isOverlay = preferred !== undefined && catalogue.isOverlay(model, preferred)
  const pricing = promotedPricing(model, preferred, terms)
  return {
    object: "model",
    id: model.id,
    name: model.name,
    created: model.created,
    owned_by: model.vendor,
    modality: model.modality,
    status: model.status,
    servable: catalogue.isServable(model),
    capabilities: model.capabilities,
    pricing: { ...pricing, ...textPricesOf(pricing, model.modality) },
    providers: model.offers.map((offer) => providerOf(catalogue, live, model, offer, offer === primary)),
    supportedParameters: model.supportedParameters,
    brand: model.brand,
    description: model.description,
    contextWindow: model.contextWindow,
    maxOutputTokens: model.maxOutputTokens,
    virtual: model.virtual,
    pricingNote: model.pricingNote,
    overlay: {
      isOverlay,
      dispatch: model.virtual ? "router" : "provider",
      overrideStatus: overrides[`${isOverlay}-${catalogue.hasOwnStatus(model)}`]
    },
    history: catalogue.historyOf(model).map((event) => eventOf(model.modality, event)),
    ...openRouterMembers(model)
  }
}

/** By whether the operator set the price and the status. */
const overrides = {
  "false-false": "none",
  "true-false": "price",
  "false-true": "status",
  "true-true": "price_and_status"
} as const

const eventOf = (modality: Modality, { price, ...event }: Event): ModelDetail["history"][number] => {
  if (price === undefined) return event
  if (price.unit !== "token") return { ...event, perUnitUsd: usdFromPico(price.perUnit) }
  const { input, output } = price.tiers[0].rates
  const prompt = { ...event, meteredPromptPerToken: usdFromPico(input) }
  return modality === "text" ? { ...prompt, meteredCompletionPerToken: usdFromPico(output) } : prompt
}

const providerOf = (
  catalogue: Prices,
  live: Figures,
  model: Model,
  offer: Offer,
  isPrimary: boolean
): ModelDetail["providers"][number] => {
  const info = catalogue.provider(offer.provider)
  return {
    provider: offer.provider,
    providerDisplayName: info?.name ?? offer.provider,
    upstreamModelId: offer.upstreamId,
    role: isPrimary ? "primary" : "fallback",
    available: offer.price !== undefined && info !== undefined && info.serving !== "none",
    unsupportedCapabilities: offer.unsupported,
    trainsOnData: info?.trainsOnData ?? true,
    zeroRetentionAvailable: info?.zeroRetention ?? false,
    contextWindow: offer.contextWindow,
    maxOutputTokens: offer.maxOutputTokens,
    performance: shown(live.performance(model.id, offer.provider))
  }
}

const shown = ({ medianTtftMs, p50Ms, p95Ms, samples, successRate, thin }: Performance) => ({
  samples,
  successRate,
  p50Ms,
  p95Ms,
  medianTtftMs,
  thin
})

/** The unit that models of each modality are charged by. */
export const units = {
  text: "token",
  embedding: "token",
  rerank: "token",
  image: "image",
  image_edit: "image",
  video: "second",
  audio: "character",
  search: "request"
} as const satisfies Record<Modality, Price["unit"]>

const unpriced = {
  typicalRequestUsd: null,
  meteredPromptPerToken: null,
  meteredCachedPromptPerToken: null,
  meteredCacheWritePromptPerToken: null,
  meteredCompletionPerToken: null,
  perRequestUsd: null,
  perUnitUsd: null,
  listPerUnitUsd: null,
  promotion: null
}

const promotedPricing = (
  { id, modality }: Model,
  offer: Offer | undefined,
  terms: PriceTerms | undefined
): NumberPricing => {
  const price = offer?.price === undefined ? undefined : priceFor(terms, id, offer.price)
  const pricing = pricingOf(modality, price)
  if (offer?.promotion === undefined || isFixed(terms, id, offer.promotion.listPrice)) return pricing
  const { now } = offer.promotion
  const listPrice = priceFor(terms, id, offer.promotion.listPrice)
  const unit = listPrice.unit === "token" ? listPrice.tiers[0].rates.input : listPrice.perUnit
  return { ...pricing, listPerUnitUsd: usdFromPico(unit), promotion: promotionOf(now) }
}

const promotionOf = ({ discountPercent, endsAt, label, startsAt }: Promotion): NumberPricing["promotion"] => ({
  label,
  discountPercent,
  startsAt: new Date(startsAt).toISOString(),
  endsAt: new Date(endsAt).toISOString()
})

const pricingOf = (modality: Modality, price: Price | undefined): NumberPricing => {
  if (price === undefined) return { ...unpriced, unit: units[modality] }
  const typicalRequestUsd = usdFromNano(typicalCost(modality, price))
  if (price.unit !== "token") {
    const perUnitUsd = usdFromPico(price.perUnit)
    const perRequestUsd = price.unit === "request" ? perUnitUsd : null
    return { ...unpriced, unit: price.unit, typicalRequestUsd, perUnitUsd, listPerUnitUsd: perUnitUsd, perRequestUsd }
  }
  const { rates } = price.tiers[0]
  const prompt = { ...unpriced, unit: price.unit, typicalRequestUsd, meteredPromptPerToken: usdFromPico(rates.input) }
  if (modality !== "text") return prompt
  return {
    ...prompt,
    meteredCachedPromptPerToken: usdFromPico(rates.cached),
    meteredCacheWritePromptPerToken: usdFromPico(rates.cacheWrite),
    meteredCompletionPerToken: usdFromPico(rates.output),
    perRequestUsd: usdFromNano(nanoFromPico(price.perRequest))
  }
}

/** The typical request of each modality, for comparing models. */
const typical = {
  text: { input: 1_000, output: 500, units: 1 },
  embedding: { input: 1_000, output: 0, units: 1 },
  rerank: { input: 10_000, output: 0, units: 1 },
  image: { input: 0, output: 0, units: 1 },
  image_edit: { input: 0, output: 0, units: 1 },
  video: { input: 0, output: 0, units: 5 },
  audio: { input: 0, output: 0, units: 1_000 },
  search: { input: 0, output: 0, units: 1 }
} as const satisfies Record<Modality, object>

const typicalCost = (modality: Modality, price: Price) => {
  const { input, output, units } = typical[modality]
  return price.unit === "token" ? tokenCost(price, { ...noTokens, input, output }) : unitCost(price, units)
}

/** Returns the models that pass every filter of the query, in the requested order. */
export const select = (models: ReadonlyArray<ModelDetail>, query: ModelQuery): ReadonlyArray<ModelDetail> => {
  const matching = models.filter((model) => passes(model, query))
  return query.sort === undefined ? matching : matching.toSorted(orders[query.sort])
}

/** Returns the part of a list that a query pages through. It is empty when the named model is not in the list. */
const pageSlice = (
  models: ReadonlyArray<ModelDetail>,
  { after_id, before_id, offset }: ModelQuery
): ReadonlyArray<ModelDetail> => {
  const placeOf = (id: string) => models.findIndex((model) => model.id === id)
  if (before_id !== undefined) return models.slice(0, Math.max(0, placeOf(before_id)))
  if (after_id === undefined) return models.slice(offset ?? 0)
  const place = placeOf(after_id)
  return place === -1 ? [] : models.slice(place + 1)
}

/** Returns the path of the page after the one that ends with a model; null where none follows it. */
const nextOf = (models: ReadonlyArray<ModelDetail>, query: ModelQuery, last: ModelDetail | undefined) => {
  if (last === undefined || last === models.at(-1)) return null
  const { after_id: _, before_id: __, offset: ___, ...filters } = query
  const fields = Object.entries({ ...filters, after_id: last.id }).filter(([, value]) => value !== undefined)
  return `/api/v1/models?${new URLSearchParams(fields.map(([name, value]) => [name, String(value)]))}`
}

/** Returns the requested page of a list. With `before_id`, it is the page nearest to that model. */
export const pageOf = (models: ReadonlyArray<ModelDetail>, query: ModelQuery): ModelList => {
  const paged = pageSlice(models, query)
  const count = Math.min(query.limit ?? paged.length, paged.length)
  const data = query.before_id === undefined ? paged.slice(0, count) : paged.slice(paged.length - count)
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
  const links = { next: nextOf(models, query, data.at(-1)) }
  return { object: "list", data, has_more: count < paged.length, ...ends, total_count: models.length, links }
}

const words = (text: string | undefined, separator: RegExp) =>
  (text ?? "").split(separator).filter((word) => word !== "")

/** Reports whether the query selects this provider and it is callable. */
const isMeant = (one: ModelDetail["providers"][number], { provider, zdr }: ModelQuery): boolean =>
  one.available && (provider === undefined || one.provider === provider) && (zdr !== true || one.zeroRetentionAvailable)

const passes = (model: ModelDetail, query: ModelQuery): boolean => {
  const { max_price: maxPrice, modality, provider, zdr } = query
  if (modality !== undefined && model.modality !== modality) return false
  if ((provider !== undefined || zdr === true) && !model.providers.some((one) => isMeant(one, query))) return false
  const parameters = words(query.supported_parameters, /[\s,]+/)
  if (!parameters.every((parameter) => model.supportedParameters.includes(parameter))) return false
  if (maxPrice !== undefined && !(promptPerMillion(model) <= maxPrice)) return false
  const text = `${model.id} ${model.name} ${model.brand} ${model.description}`.toLowerCase()
  return words(query.q?.toLowerCase(), /\s+/).every((word) => text.includes(word))
}

/** Returns NaN when prompts are not metered, so that no price limit admits the model. */
const promptPerMillion = ({ pricing }: ModelDetail): number =>
  pricing.meteredPromptPerToken === null ? Number.NaN : Math.round(pricing.meteredPromptPerToken * 1e12) / 1e6

type Order = (a: ModelDetail, b: ModelDetail) => number

const byPrice =
  (direction: 1 | -1): Order =>
  (a, b) => {
    const [left, right] = [a.pricing.typicalRequestUsd, b.pricing.typicalRequestUsd]
    if (left === null || right === null) return Number(left === null) - Number(right === null)
    return direction * (left - right)
  }

const orders = {
  price: byPrice(1),
  "-price": byPrice(-1),
  created: (a, b) => a.created - b.created,
  "-created": (a, b) => b.created - a.created,
  name: (a, b) =>
    a.name.toLowerCase() < b.name.toLowerCase() ? -1 : a.name.toLowerCase() > b.name.toLowerCase() ? 1 : 0,
  context: (a, b) => b.contextWindow - a.contextWindow
} satisfies Record<NonNullable<ModelQuery["sort"]>, Order>
