/** Filters and sorts the list of models. */
import type { ModelDetail, ModelProvider } from "../../../client/Contract.ts"

export type Sort = "name" | "price" | "-price" | "context" | "created"

const priceOf = ({ pricing }: Pick<ModelDetail, "pricing">): number =>
  pricing.typicalRequestUsd ?? pricing.perUnitUsd ?? pricing.perRequestUsd ?? 0

const orders: Readonly<Record<Sort, (a: ModelDetail, b: ModelDetail) => number>> = {
  name: (a, b) => a.id.localeCompare(b.id),
  price: (a, b) => priceOf(a) - priceOf(b),
  "-price": (a, b) => priceOf(b) - priceOf(a),
  context: (a, b) => b.contextWindow - a.contextWindow,
  created: (a, b) => b.created - a.created
}

/** Whether a provider satisfies a data policy. */
const satisfies = ({ trainsOnData, zeroRetentionAvailable }: ModelProvider, policy: ModelFilter["policy"]): boolean =>
  policy === "zero_retention" ? zeroRetentionAvailable : !trainsOnData

export interface ModelFilter {
  readonly q?: string
  readonly modality?: string
  readonly capability?: string
  readonly provider?: string
  /** The highest price of a typical request, in dollars. */
  readonly price?: string
  /** The smallest context window, in tokens. */
  readonly context?: string
  readonly policy?: "no_training" | "zero_retention"
  readonly sort?: Sort
}

/** The models that match every filter, in the chosen order. */
export const filterModels = (models: ReadonlyArray<ModelDetail>, filter: ModelFilter): ReadonlyArray<ModelDetail> => {
  const words = (filter.q ?? "").toLowerCase().split(/\s+/)
  return models
    .filter(
      ({ brand, capabilities, contextWindow, id, modality, name, pricing, providers }) =>
        words.every((word) => `${id} ${name} ${brand}`.toLowerCase().includes(word)) &&
        (filter.modality === undefined || modality === filter.modality) &&
        (filter.capability === undefined || capabilities.includes(filter.capability)) &&
        (filter.price === undefined || priceOf({ pricing }) <= Number(filter.price)) &&
        (filter.context === undefined || contextWindow >= Number(filter.context)) &&
        (filter.policy === undefined || providers.some((one) => satisfies(one, filter.policy))) &&
        (filter.provider === undefined || providers.some(({ provider }) => provider === filter.provider))
    )
    .toSorted(orders[filter.sort ?? "created"])
}
