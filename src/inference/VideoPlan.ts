/** Who may make a video at what price, as its job keeps it: a change of the catalogue does not reach a job that is paid for. */
import type { Model, Offer } from "../domain/Model.ts"
import { maxNano, type Nano } from "../domain/Money.ts"
import { type Candidate, defaultPolicy, type Plan, type RoutingPolicy } from "../domain/Plan.ts"
import { type Price, unitCost, type UnitPrice } from "../domain/Pricing.ts"
import { neededFor, type VideoWish } from "../domain/Video.ts"

interface KeptOffer extends Pick<Offer, "provider" | "upstreamId"> {
  readonly unit: UnitPrice["unit"]
  readonly perUnit: string
  /** A double answered for the provider when it was planned. No real one is asked in its place. */
  readonly simulated?: true
}

/** A plan as JSON. */
export interface KeptVideoPlan {
  readonly model: Omit<Model, "offers">
  readonly offers: readonly [KeptOffer, ...ReadonlyArray<KeptOffer>]
  /** By which they were chosen; absent where that was the default. */
  readonly policy?: RoutingPolicy
}

export type FilmPlan = Plan<UnitPrice>

const isPerUnit = (candidate: Candidate<Price>): candidate is Candidate<UnitPrice> => candidate.price.unit !== "token"

/** Those of a plan that can do all that is wished; undefined where nobody can. */
export const filmPlanOf = (plan: Plan<Price>, wish: VideoWish): FilmPlan | undefined => {
  const needed = neededFor(wish)
  const [first, ...others] = plan.candidates
    .filter(isPerUnit)
    .filter(({ offer }) => needed.every((capability) => !offer.unsupported.includes(capability)))
  return first === undefined ? undefined : { ...plan, candidates: [first, ...others] }
}

/** What a clip of so many seconds costs at this price, whether it is per second or per clip. */
export const clipCost = (price: UnitPrice, seconds: number): Nano =>
  unitCost(price, price.unit === "second" ? seconds : 1)

/** The most that a clip can cost at any of its candidates: the charge. */
export const chargeOf = ({ candidates }: FilmPlan, seconds: number): Nano =>
  candidates.map(({ price }) => clipCost(price, seconds)).reduce(maxNano, 0n)

const keptOffer = ({ offer, price }: Candidate<UnitPrice>): KeptOffer => ({
  provider: offer.provider,
  upstreamId: offer.upstreamId,
  unit: price.unit,
  perUnit: String(price.perUnit),
  ...(offer.simulated === true ? { simulated: true } : {})
})

export const keepPlan = ({ candidates: [first, ...others], policy }: FilmPlan): KeptVideoPlan => {
  const { offers: _, ...model } = first.model
  const chosenBy = policy.source === "default" ? {} : { policy }
  return { model, offers: [keptOffer(first), ...others.map(keptOffer)], ...chosenBy }
}

/** The plan again, of what `keepPlan` made of it. */
export const restorePlan = ({ model, offers: [first, ...others], policy }: KeptVideoPlan): FilmPlan => {
  const candidate = ({ perUnit, provider, simulated, unit, upstreamId }: KeptOffer): Candidate<UnitPrice> => {
    const price = { unit, perUnit: BigInt(perUnit) }
    const { contextWindow, maxOutputTokens } = model
    const offer: Offer = {
      ...{ provider, upstreamId, price, contextWindow, maxOutputTokens, unsupported: [] },
      ...(simulated === true ? { simulated } : {})
    }
    return { model: { ...model, offers: [offer] }, offer, price }
  }
  return {
    requestedModels: [model.id],
    policy: policy ?? defaultPolicy,
    candidates: [candidate(first), ...others.map(candidate)]
  }
}
