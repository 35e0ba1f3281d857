/**
 * The providers that may make a video and their prices, as its job stores them. A change of the catalogue does not affect a paid job.
 */
import type { Model, Offer } from "../domain/Model.ts"
import { maxNano, type Nano } from "../domain/Money.ts"
import { type Candidate, defaultPolicy, type Plan, type RoutingPolicy } from "../domain/Plan.ts"
import type { PriceRule } from "../domain/PriceTerms.ts"
import { type Price, unitCost, type UnitPrice } from "../domain/Pricing.ts"
import type { UnitUsage } from "../domain/Usage.ts"
import { neededFor, type VideoOptions } from "../domain/Video.ts"

interface StoredOffer extends Pick<Offer, "provider" | "upstreamId"> {
  readonly unit: UnitPrice["unit"]
  readonly perUnit: string
  /** What the provider charges the operator for a unit, in pico-USD; absent when unknown. */
  readonly costPerUnit?: string
  /** A double took the provider's place when the job was planned. No real provider is called instead. */
  readonly simulated?: true
  /** How the price came about; absent for the catalogue's. */
  readonly rule?: PriceRule
}

/** A plan as JSON. */
export interface StoredVideoPlan {
  readonly model: Omit<Model, "offers">
  readonly offers: readonly [StoredOffer, ...ReadonlyArray<StoredOffer>]
  /** The routing policy that chose them. Absent: the default. */
  readonly policy?: RoutingPolicy
}

export type VideoPlan = Plan<UnitPrice>

const isPerUnit = (candidate: Candidate<Price>): candidate is Candidate<UnitPrice> => candidate.price.unit !== "token"

/** The candidates of a plan that support the whole request and may be called; undefined when there is none. */
export const videoPlanOf = (
  plan: Plan<Price>,
  options: VideoOptions,
  isStopped: (provider: string) => boolean = () => false
): VideoPlan | undefined => {
  const needed = neededFor(options)
  const [first, ...others] = plan.candidates
    .filter(isPerUnit)
    .filter(({ offer }) => needed.every((capability) => !offer.unsupported.includes(capability)))
    .filter(({ offer }) => !isStopped(offer.provider))
  return first === undefined ? undefined : { ...plan, candidates: [first, ...others] }
}

/** A whole video of this length, in the measure of its price. */
export const usedAt = (unit: UnitPrice["unit"], seconds: number): UnitUsage => ({
  units: unit === "second" ? seconds : 1,
  unit
})

/** The cost of a video of this length at this price, which is per second or per video. */
export const clipCost = (price: UnitPrice, seconds: number): Nano => unitCost(price, usedAt(price.unit, seconds).units)

/** The maximum cost at any of the candidates, which is the charge. */
export const chargeOf = ({ candidates }: VideoPlan, seconds: number): Nano =>
  candidates.map(({ price }) => clipCost(price, seconds)).reduce(maxNano, 0n)

const keptOffer = ({ offer, price, rule }: Candidate<UnitPrice>): StoredOffer => ({
  provider: offer.provider,
  upstreamId: offer.upstreamId,
  unit: price.unit,
  perUnit: String(price.perUnit),
  ...(offer.cost?.unit === price.unit ? { costPerUnit: String(offer.cost.perUnit) } : {}),
  ...(offer.simulated === true ? { simulated: true } : {}),
  ...(rule === undefined ? {} : { rule })
})

export const keepPlan = ({ candidates: [first, ...others], policy }: VideoPlan): StoredVideoPlan => {
  const { offers: _, ...model } = first.model
  // The prices are kept with the offers.
  const { terms: __, ...chosen } = policy
  const chosenBy = policy.source === "default" ? {} : { policy: chosen }
  return { model, offers: [keptOffer(first), ...others.map(keptOffer)], ...chosenBy }
}

/** Restores a plan from the result of `keepPlan`. */
export const restorePlan = ({ model, offers: [first, ...others], policy }: StoredVideoPlan): VideoPlan => {
  const candidate = ({
    costPerUnit,
    perUnit,
    provider,
    rule,
    simulated,
    unit,
    upstreamId
  }: StoredOffer): Candidate<UnitPrice> => {
    const price = { unit, perUnit: BigInt(perUnit) }
    const { contextWindow, maxOutputTokens } = model
    const offer: Offer = {
      provider,
      upstreamId,
      price,
      contextWindow,
      maxOutputTokens,
      unsupported: [],
      ...(costPerUnit === undefined ? {} : { cost: { unit, perUnit: BigInt(costPerUnit) } }),
      ...(simulated === true ? { simulated } : {})
    }
    return { model: { ...model, offers: [offer] }, offer, price, ...(rule === undefined ? {} : { rule }) }
  }
  return {
    requestedModels: [model.id],
    policy: policy ?? defaultPolicy,
    candidates: [candidate(first), ...others.map(candidate)]
  }
}
