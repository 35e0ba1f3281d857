import type { PriceTerms } from "../../schemas/Access.ts"
import type { RouterDecisionSummary, RoutingSummary } from "../../schemas/Routing.ts"
import type { Model, Offer } from "./Model.ts"
import type { PriceRule } from "./PriceTerms.ts"
import type { Price, TokenPrice } from "./Pricing.ts"

export type Strategy = "balanced" | "cost" | "latency" | "quality"
export type DataPolicy = "default" | "no_training" | "zero_retention"

/** From the laxest to the strictest. */
const dataPolicies: ReadonlyArray<DataPolicy> = ["default", "no_training", "zero_retention"]

/** The stricter of two data policies. */
export const stricter = (a: DataPolicy, b: DataPolicy): DataPolicy =>
  dataPolicies.indexOf(a) >= dataPolicies.indexOf(b) ? a : b

/** The routing options of a request, with defaults filled in. */
export interface RoutingPolicy {
  readonly strategy: Strategy
  readonly only: ReadonlyArray<string> | undefined
  /** The field of the request that sets `only`; absent where a key or a preset sets it. */
  readonly onlyField?: string
  readonly order: ReadonlyArray<string>
  readonly ignore: ReadonlyArray<string>
  readonly allowFallbacks: boolean
  readonly dataPolicy: DataPolicy
  /** The laxest data policy that a request of its key may have; any where it is absent. */
  readonly dataFloor?: DataPolicy
  readonly caching: "auto" | undefined
  readonly requireParameters: boolean
  readonly maxPrice: MaxPrice
  readonly timeouts: Timeouts
  /** The account's own prices, which replace the catalogue's. No request can set them. */
  readonly terms?: PriceTerms
  readonly source: "request" | "project" | "default"
}

/** Upper limits in USD per million tokens, per request, or per image. */
export interface MaxPrice {
  readonly prompt?: number
  readonly completion?: number
  readonly request?: number
  readonly image?: number
}

/** The caller's own clocks, in milliseconds; each can only shorten the service's. */
export interface Timeouts {
  readonly connectMs?: number
  readonly firstTokenMs?: number
  readonly totalMs?: number
}

export const defaultPolicy: RoutingPolicy = {
  strategy: "balanced",
  only: undefined,
  order: [],
  ignore: [],
  allowFallbacks: true,
  dataPolicy: "default",
  caching: undefined,
  requireParameters: false,
  maxPrice: {},
  timeouts: {},
  source: "default"
}

/** One model at one provider at one price: what an attempt is made of. */
export interface Candidate<P extends Price = TokenPrice> {
  readonly model: Model
  readonly offer: Offer
  readonly price: P
  /** How the price came about; absent for the catalogue's. */
  readonly rule?: PriceRule
}

/** How `svc/auto` came to its choice, as answers and receipts show it. */
export type RouterDecision = RouterDecisionSummary

/** The decision of the router: the candidates in the order in which to ask them. */
export interface Plan<P extends Price = TokenPrice> {
  readonly requestedModels: ReadonlyArray<string>
  readonly policy: RoutingPolicy
  readonly candidates: readonly [Candidate<P>, ...ReadonlyArray<Candidate<P>>]
  /** Of a request to `svc/auto`. */
  readonly decision?: RouterDecision
  /**
   * When the first candidate has given nothing after so many milliseconds, no first token of a stream, no whole answer, a second
   * one may be asked beside it.
   */
  readonly hedgeAfterMs?: number
}

/** Whether only doubles of the sandbox can serve it: then simulated money may pay for it. */
export const isSimulated = ({ candidates }: Pick<Plan<Price>, "candidates">): boolean =>
  candidates.every(({ offer }) => offer.simulated === true)

export type AttemptOutcome = "served" | "failed_over" | "failed"

/** What an attempt that served no answer costs the operator. */
export interface AttemptCost {
  /** In nano-USD, as a plain number, because job rows keep it as JSON. */
  readonly nano: number
  /** `estimated`: the provider reported no usage, and it was counted from what the attempt was sent and what had arrived. */
  readonly basis: "reported" | "estimated"
}

/** One call to one provider and how it ended. */
export interface Attempt {
  readonly provider: string
  readonly model: string
  readonly outcome: AttemptOutcome
  readonly index: number
  /** In milliseconds of the clock that its request is timed with. */
  readonly startedAt: number
  /** In milliseconds of the same clock. Undefined for the attempt that served, because its answer ends later. */
  readonly endedAt?: number | undefined
  /** Absent for the attempt that served, and where the provider has not worked or its cost is unknown. */
  readonly cost?: AttemptCost
}

/** The account of a plan carried out, kept on the receipt and shown with the answer. */
export interface RoutingOutcome {
  readonly policy: RoutingPolicy
  readonly requestedModels: ReadonlyArray<string>
  readonly resolvedModel: string
  readonly provider: string | null
  readonly attempts: ReadonlyArray<Attempt>
  readonly decision?: RouterDecision | undefined
}

/** The account of a plan as answers and receipts show it. */
export const summaryOf = ({
  attempts,
  decision,
  policy,
  provider,
  requestedModels,
  resolvedModel
}: RoutingOutcome): RoutingSummary => ({
  strategy: policy.strategy,
  requested_models: requestedModels,
  resolved_model: resolvedModel,
  provider,
  provider_attempts: attempts.map((attempt) => ({
    provider: attempt.provider,
    outcome: attempt.outcome,
    attempt_index: attempt.index
  })),
  fallbacks_allowed: policy.allowFallbacks,
  data_policy: policy.dataPolicy,
  ...(policy.caching === undefined ? {} : { caching: policy.caching }),
  source: policy.source,
  ...(decision === undefined ? {} : { router: decision })
})
