import { Effect } from "effect"
import { isSimulated, summaryOf, type Attempt, type Candidate, type Plan, type RoutingOutcome } from "../domain/Plan.ts"
import type { Auth } from "../auth/Auth.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import type { CallUsage } from "../domain/Usage.ts"
import { maxNano, minNano, type Nano } from "../domain/Money.ts"
import { type Price, providerCost } from "../domain/Pricing.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import type { ExtendOperation, HoldOperation, HoldResult } from "../ledger/Operation.ts"
import type { Metrics } from "../platform/telemetry/Metrics.ts"
import { traceIdOf } from "../platform/telemetry/Tracing.ts"
import type { ProviderSpend, Reservation } from "../usage/ProviderSpend.ts"
import { type Holder, placeHold, type PriceChange } from "./Holding.ts"
import {
  attemptCostsOf,
  attemptMsOf,
  type RowFacts,
  keepOpened,
  keepSoFar,
  type StoredRates,
  type OpenFacts,
  priceOf,
  ratesOf,
  spanMs
} from "./Receipt.ts"
import type { PaidRequest } from "./Request.ts"
import type { Outcome } from "./Settlement.ts"
import type { Bounds } from "../domain/Estimate.ts"

/** The receipt's facts of a request with an expiring hold. */
export type ReceiptSoFar = NonNullable<ExtendOperation["soFar"]>

/** A request with a committed hold or charge. The code that receives one must close it in every case. */
export interface AdmittedRequest<
  R extends PaidRequest = PaidRequest,
  P extends Price = Price,
  E extends Bounds = Bounds
> {
  readonly request: R
  readonly plan: Plan<P>
  readonly estimate: E
  /** The amount held or charged. Extensions increase it. */
  held: Nano
  /** A lower bound of the cost so far. It is charged if this process ends here. */
  progress: () => Nano
  /** The receipt's facts of that use if this process ends here. Undefined until a provider has begun to answer. */
  soFar: (() => ReceiptSoFar) | undefined
  /** What it may cost the operator at most at the providers that were called. */
  readonly reservation: Reservation | undefined
  readonly holdMs: number
  /** When the hold was committed, in `performance.now()` milliseconds. */
  readonly heldAt: number
  /** Until when the hold lives at least, in `performance.now()` milliseconds. Renewals put it off. */
  heldUntil: number
  /** Stops what goes on under the hold, once the hold is over. Undefined while nothing can be stopped. */
  lapse: (() => void) | undefined
  /** The answer's own timestamp in Unix seconds, the same in the response, the stored answer and every replay. */
  readonly created: number
}

/** The result of a request. */
export interface RequestResult<P extends Price = Price> {
  readonly outcome: Outcome | Outcome<number>
  readonly served: Candidate<P> | undefined
  readonly attempts: ReadonlyArray<Attempt>
  /** From the arrival of the request to the first content sent to the client. */
  readonly firstTokenMs: number | null
  /** When the provider finished, in `performance.now()` milliseconds. */
  readonly endedAt: number
}

export interface AdmissionOptions {
  readonly ledger: Ledger["Service"]
  readonly auth: Auth["Service"]
  readonly holdTtlMs: number
  /** The lifetime of an up-front charge, which nothing extends. It exceeds the duration of everything that such a charge pays for. */
  readonly chargeTtlMs: number
  readonly metrics: Metrics
  /** The bounds on what providers cost. Absent where nothing is carried out. */
  readonly spend?: Pick<ProviderSpend["Service"], "begin"> | undefined
}

/** Why a hold was not granted. A key that turned out to be inactive is removed from the cache. */
export const refusalOf = (
  auth: Pick<Auth["Service"], "forget">,
  keyId: string,
  needed: Nano,
  result: Extract<HoldResult, { readonly _tag: "KeyInactive" | "Refused" }>
): Failure => {
  if (result._tag === "Refused") {
    const { _tag, ...refused } = result
    return failure({ ...refused, _tag: "InsufficientCredits", needed })
  }
  auth.forget(keyId)
  return failure({ _tag: "InvalidApiKey" })
}

/**
 * Reserves what a call of a candidate may cost the operator at most; false when a bound leaves no room for it. A candidate with an unknown
 * cost reserves nothing, and is not called either once its provider has reached a bound.
 */
export const affords = <P extends Price>(
  { reservation }: Pick<AdmittedRequest, "reservation">,
  { offer }: Candidate<P>,
  mostAt: (cost: Price) => Nano
): boolean => {
  if (reservation === undefined) return true
  return reservation.reserve(offer.provider, offer.cost === undefined ? 0n : mostAt(offer.cost))
}

/** The span attributes of a planned request. They contain none of the caller's text. */
const planAttributes = ({ stream = false }: PaidRequest, { candidates, policy }: Plan<Price>) => ({
  "svc.model": candidates[0].model.id,
  "svc.streamed": stream,
  "svc.strategy": policy.strategy,
  "svc.data_policy": policy.dataPolicy
})

/**
 * Takes the hold of a request. Returns the id of the request that already has the idempotency key if there is one, and the caller with its
 * current prices if those have changed since the request was planned.
 */
export const admit = <R extends PaidRequest, P extends Price, E extends Bounds>(
  { auth, chargeTtlMs, holdTtlMs, ledger, metrics, spend }: AdmissionOptions,
  request: R,
  plan: Plan<P>,
  estimate: E
): Effect.Effect<AdmittedRequest<R, P, E> | { readonly claimedBy: string } | PriceChange, Failure> => {
  const { principal } = request
  const startedAt = performance.now()
  const opened: OpenFacts = {
    streamed: request.stream === true,
    preset: request.preset?.slug,
    queueMs: spanMs(startedAt - request.arrivedAt),
    traceId: traceIdOf(request.trace),
    prices: request.charge === true ? [priceOf(plan.candidates[0])] : []
  }
  const span = request.trace?.span?.set(planAttributes(request, plan))
  request.watch?.planned(plan.candidates[0].model.id)
  const { carvedFrom } = request
  const ttlMs = request.charge === true ? chargeTtlMs : holdTtlMs
  let sentAt = startedAt
  const attempt = (holder: Holder) => {
    sentAt = performance.now()
    const hold: HoldOperation = {
      ...holder,
      _tag: "Hold",
      requestId: request.requestId,
      operation: request.operation,
      model: request.model,
      atLeast: estimate.atLeast,
      upTo: maxNano(estimate.atLeast, minNano(estimate.upTo, request.holdAtMost ?? estimate.upTo)),
      ttlMs,
      opened: keepOpened(opened),
      claim: request.claim,
      charge: request.charge === true,
      ...(isSimulated(plan) ? { simulated: true } : {})
    }
    return carvedFrom === undefined ? ledger.commit(hold, span) : ledger.carve(carvedFrom, hold, span)
  }
  return Effect.flatMap(
    placeHold({ auth, metrics }, request, attempt),
    (result): Effect.Effect<AdmittedRequest<R, P, E> | { readonly claimedBy: string } | PriceChange, Failure> => {
      switch (result._tag) {
        case "Granted": {
          const heldAt = performance.now()
          metrics.ledger.admitted(heldAt - startedAt)
          return Effect.succeed({
            request,
            plan,
            estimate,
            held: result.granted,
            progress: () => 0n,
            soFar: undefined,
            reservation: spend?.begin(),
            holdMs: heldAt - startedAt,
            heldAt,
            heldUntil: sentAt + ttlMs,
            lapse: undefined,
            created: Math.floor(Date.now() / 1000)
          })
        }
        case "PriceChange":
          return Effect.succeed(result)
        case "Claimed":
          return Effect.succeed({ claimedBy: result.byRequestId })
        default:
          return Effect.fail(refusalOf(auth, principal.keyId, estimate.atLeast, result))
      }
    }
  )
}

/**
 * Increases a hold, records its progress and extends its lifetime. Returns false when that was refused or failed. What goes on under a
 * hold that has ended is stopped.
 */
export const extendHold = (options: AdmissionOptions, admitted: AdmittedRequest, more: Nano): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const sentAt = performance.now()
    const extension: ExtendOperation = {
      _tag: "Extend",
      requestId: admitted.request.requestId,
      accountId: admitted.request.principal.accountId,
      // A renewal must not restore what other holds were carved out of this one.
      held: more === 0n ? 0n : admitted.held,
      more,
      progress: minNano(admitted.progress(), admitted.held),
      ttlMs: options.holdTtlMs,
      soFar: admitted.soFar?.()
    }
    return Effect.map(options.ledger.commit(extension, admitted.request.trace?.span), ({ _tag }) => {
      if (_tag === "Gone") admitted.lapse?.()
      if (_tag !== "Extended") return false
      admitted.held += more
      admitted.heldUntil = Math.max(admitted.heldUntil, sentAt + options.holdTtlMs)
      return true
    })
  }).pipe(Effect.catch(() => Effect.succeed(false)))

/** The routing of a request as its answer and its receipt show it. */
export const routingOf = (
  admitted: AdmittedRequest,
  carried: Pick<RequestResult, "served" | "attempts">
): RoutingOutcome => ({
  policy: admitted.plan.policy,
  requestedModels: admitted.plan.requestedModels,
  resolvedModel: carried.served?.model.id ?? admitted.plan.candidates[0].model.id,
  provider: carried.served?.offer.provider ?? null,
  attempts: carried.attempts,
  decision: admitted.plan.decision
})

/** The rates of the provider that served, unless they were stored when the request was charged. */
export const ratesAt = (
  { plan, request }: AdmittedRequest,
  { served }: Pick<RequestResult, "served">
): StoredRates | undefined =>
  served === undefined || (request.charge === true && served === plan.candidates[0]) ? undefined : ratesOf(served)

/** What this usage costs the operator at the provider that served, as far as known. */
export const nanoCostOf = (served: RequestResult["served"], usage: CallUsage): Nano | undefined =>
  served === undefined ? undefined : providerCost(served.offer.cost, usage)

/** Returns what this usage costs the operator as a number of nano-USD, for the receipt. */
export const providerCostOf = ({ served }: Pick<RequestResult, "served">, usage: CallUsage): number | undefined => {
  const cost = nanoCostOf(served, usage)
  return cost === undefined ? undefined : Number(cost)
}

/** The receipt's facts of the usage so far, by our own count, at the provider that is serving. */
export const soFarOf = (
  admitted: AdmittedRequest,
  carried: Pick<RequestResult, "attempts" | "firstTokenMs" | "served">,
  usage: CallUsage
): ReceiptSoFar => {
  const row = besideOf(admitted, carried)
  return {
    resolvedModel: row.resolved_model,
    provider: row.provider,
    closed: keepSoFar(
      {
        usage,
        basis: "counted",
        routing: summaryOf(routingOf(admitted, carried)),
        attemptMs: attemptMsOf(carried.attempts, admitted.request.arrivedAt),
        rates: ratesAt(admitted, carried),
        providerCost: providerCostOf(carried, usage),
        attemptCosts: attemptCostsOf(carried.attempts),
        simulated: carried.served?.offer.simulated,
        holdMs: spanMs(admitted.holdMs),
        firstTokenMs: carried.firstTokenMs === null ? null : spanMs(carried.firstTokenMs)
      },
      row
    )
  }
}

/** The facts of a request that have columns of their own. */
export const besideOf = ({ request }: AdmittedRequest, { served }: Pick<RequestResult, "served">): RowFacts => ({
  model: request.model,
  resolved_model: served?.model.id ?? null,
  provider: served?.offer.provider ?? null
})
