/** A catalogue of invented models, for tests that set every figure themselves. */
import { Layer } from "effect"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import type { Snapshot } from "../../src/catalogue/Snapshot.ts"
import type { Capability, Model, ProviderInfo } from "../../src/domain/Model.ts"
import { picoFromUsd, picoPerUnit } from "../../src/domain/Money.ts"

/** A provider of a synthetic model. Prices are in USD per million tokens, and per request. */
export interface Serving extends Partial<Omit<ProviderInfo, "name">> {
  readonly id: string
  readonly prompt?: number
  readonly completion?: number
  readonly request?: number
  readonly contextWindow?: number
  readonly unsupported?: ReadonlyArray<Capability>
  /** Whether the gateway has a key for the provider. Default: true. */
  readonly keyed?: boolean
}

const capabilities: ReadonlyArray<Capability> = ["streaming", "tools", "vision", "json_mode"]

const rates = ({ completion = 2, prompt = 1 }: Serving) => ({
  input: picoPerUnit(prompt),
  cached: picoPerUnit(prompt),
  cacheWrite: picoPerUnit(prompt),
  output: picoPerUnit(completion)
})

const modelOf = (id: string, servings: ReadonlyArray<Serving>): Model => ({
  id,
  name: id,
  vendor: "none",
  brand: "None",
  description: "",
  modality: "text",
  status: "ga",
  created: 0,
  capabilities,
  contextWindow: 128_000,
  maxOutputTokens: 16_000,
  hiddenReasoning: false,
  virtual: false,
  supportedParameters: ["max_tokens", "temperature", "tools", "response_format"],
  pricingNote: "",
  offers: servings.map((serving) => ({
    provider: serving.id,
    upstreamId: id,
    price: {
      unit: "token",
      tiers: [{ abovePromptTokens: 0, rates: rates(serving) }],
      perRequest: picoFromUsd(serving.request ?? 0)
    },
    contextWindow: serving.contextWindow ?? 128_000,
    maxOutputTokens: 16_000,
    unsupported: serving.unsupported ?? []
  }))
})

/** A snapshot of these models. The properties of a provider in one model apply to all its models. */
export const syntheticCatalogue = (servings: Readonly<Record<string, ReadonlyArray<Serving>>>): Snapshot => {
  const all = Object.entries(servings).map(([id, of]) => modelOf(id, of))
  const byId = new Map(all.map((model) => [model.id, model]))
  const providers = new Map(
    Object.values(servings)
      .flat()
      .map(({ id, keyed = true, trainsOnData = false, zeroRetention = false }) => [
        id,
        { id, name: id, trainsOnData, zeroRetention, serving: keyed ? ("real" as const) : ("none" as const) }
      ])
  )
  const callable = (model: Model) => model.offers.filter(({ provider }) => providers.get(provider)?.serving === "real")
  return {
    all,
    find: (id) => byId.get(id),
    providers: [...providers.values()],
    provider: (id) => providers.get(id),
    isServable: (model) => callable(model).length > 0,
    preferredOffer: (model) => callable(model)[0],
    isOverlay: () => false,
    hasOwnStatus: () => false,
    historyOf: () => []
  }
}

/** The catalogue service with a snapshot that never changes. */
export const layerOf = (snapshot: Snapshot) =>
  Layer.succeed(Catalogue, Catalogue.of({ ...snapshot, current: () => snapshot }))
