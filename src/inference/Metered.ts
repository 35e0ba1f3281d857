import { Effect } from "effect"
import { summaryOf } from "../domain/Plan.ts"
import type { Auth } from "../auth/Auth.ts"
import { periodStart } from "../domain/Budget.ts"
import { type Failure, failure, type Reason } from "../domain/Failure.ts"
import { noTokens, promptTokens, type Used } from "../domain/Usage.ts"
import { maxNano, minNano, type Nano } from "../domain/Money.ts"
import type { Attempt, Candidate, Plan, RoutingOutcome } from "../domain/Plan.ts"
import type { Price } from "../domain/Pricing.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import type { HoldResult } from "../ledger/Operation.ts"
import type { HoldOutcome, Metrics } from "../platform/Metrics.ts"
import type { Unavailable } from "../platform/Sql.ts"
import { traceIdOf } from "../platform/Tracing.ts"
import { type ClosedFacts, type Opened, priceOf } from "./Receipt.ts"
import type { PaidRequest } from "./Request.ts"
import type { Outcome, Settlement, WorkOutcome } from "./Settlement.ts"

/** What is to be held for a request. */
export interface Bounds {
  /** What must be available for the request to be admitted. */
  readonly atLeast: Nano
  /** The most that is held at the start. */
  readonly upTo: Nano
}

/** A request whose hold is committed. Whoever has one must close it, whatever happens. */
export interface Admitted<R extends PaidRequest = PaidRequest, P extends Price = Price, E extends Bounds = Bounds> {
  readonly request: R
  readonly plan: Plan<P>
  readonly estimate: E
  /** What is held; grows with extensions. */
  held: Nano
  /** What has been used so far, at the least: the charge if this process ends here. */
  progress: () => Nano
  readonly holdMs: number
  /** When the hold was committed, in `performance.now()` milliseconds. */
  readonly heldAt: number
  /** The moment an answer gives as its own, Unix time in seconds: one for what is shown, kept and repeated. */
  readonly created: number
}

/** How a request was carried out. */
export interface Carried<P extends Price = Price, O extends Outcome | WorkOutcome = Outcome | WorkOutcome> {
  readonly outcome: O
  readonly served: Candidate<P> | undefined
  readonly attempts: ReadonlyArray<Attempt>
  /** From the arrival of the request to the first content sent on. */
  readonly firstTokenMs: number | null
  /** When the provider was done, in `performance.now()` milliseconds. */
  readonly endedAt: number
}

/** The books after a close. */
export interface Closed {
  readonly cost: Nano
  /** The balance after it; undefined when the request had been ended by its expiry. */
  readonly posted: Nano | undefined
}

export const storeUnavailable = (error: Unavailable): Failure => failure({ _tag: "StoreUnavailable" }, error)

export interface MeteredOptions {
  readonly ledger: Ledger["Service"]
  readonly auth: Auth["Service"]
  readonly holdTtlMs: number
  readonly metrics: Metrics
}

const holdOutcomes: Readonly<Record<HoldResult["_tag"], HoldOutcome>> = {
  Granted: "admitted",
  Claimed: "claimed",
  KeyInactive: "key_inactive",
  Refused: "refused"
}

/** What a request's span says of it from its plan on; the caller's own words are not among it. */
const planned = ({ stream = false }: PaidRequest, { candidates, policy }: Plan<Price>) => ({
  "svc.model": candidates[0].model.id,
  "svc.streamed": stream,
  "svc.strategy": policy.strategy,
  "svc.data_policy": policy.dataPolicy
})

/** Takes the hold of a request. Answers the id of the request that has the idempotency key instead, where one has. */
export const admit = <R extends PaidRequest, P extends Price, E extends Bounds>(
  { auth, holdTtlMs, ledger, metrics }: MeteredOptions,
  request: R,
  plan: Plan<P>,
  estimate: E
): Effect.Effect<Admitted<R, P, E> | { readonly claimedBy: string }, Failure> => {
  const { principal } = request
  const budgets =
    principal.budget === undefined
      ? []
      : [{ budgetId: principal.budget.id, periodStart: periodStart(principal.budget.period, Date.now()) }]
  const startedAt = performance.now()
  const opened: Opened = {
    streamed: request.stream === true,
    preset: request.preset?.slug,
    queueMs: startedAt - request.arrivedAt,
    traceId: traceIdOf(request.trace),
    prices: [priceOf(plan.candidates[0])]
  }
  const span = request.trace?.span?.set(planned(request, plan))
  const hold = ledger.commit(
    {
      _tag: "Hold",
      requestId: request.requestId,
      accountId: principal.accountId,
      keyId: principal.keyId,
      projectId: principal.projectId,
      operation: request.operation,
      model: request.model,
      atLeast: estimate.atLeast,
      upTo: maxNano(estimate.atLeast, minNano(estimate.upTo, request.holdAtMost ?? estimate.upTo)),
      ttlMs: holdTtlMs,
      budgets,
      opened,
      claim: request.claim,
      charge: false
    },
    span
  )
  return Effect.flatMap(
    Effect.mapError(hold, (error) => {
      metrics.ledger.held("unavailable")
      return storeUnavailable(error)
    }),
    (result): Effect.Effect<Admitted<R, P, E> | { readonly claimedBy: string }, Failure> => {
      metrics.ledger.held(holdOutcomes[result._tag])
      switch (result._tag) {
        case "Granted": {
          const heldAt = performance.now()
          return Effect.succeed({
            request,
            plan,
            estimate,
            held: result.granted,
            progress: () => 0n,
            holdMs: heldAt - startedAt,
            heldAt,
            created: Math.floor(Date.now() / 1000)
          })
        }
        case "Claimed":
          return Effect.succeed({ claimedBy: result.byRequestId })
        case "KeyInactive":
          auth.forget(principal.keyId)
          return Effect.fail(failure({ _tag: "InvalidApiKey" }))
        case "Refused": {
          const { available, limitSource, posted } = result
          return Effect.fail(
            failure({ _tag: "InsufficientCredits", limitSource, needed: estimate.atLeast, available, posted })
          )
        }
      }
    }
  )
}

/** Adds to a hold, records its progress and puts its expiry off. False where that was refused or could not be done. */
export const extendHold = (options: MeteredOptions, admitted: Admitted, more: Nano): Effect.Effect<boolean> =>
  Effect.suspend(() =>
    options.ledger.commit(
      {
        _tag: "Extend",
        requestId: admitted.request.requestId,
        accountId: admitted.request.principal.accountId,
        held: admitted.held,
        more,
        progress: minNano(admitted.progress(), admitted.held),
        ttlMs: options.holdTtlMs
      },
      admitted.request.trace?.span
    )
  ).pipe(
    Effect.map((result) => {
      if (result._tag === "Extended") admitted.held += more
      return result._tag === "Extended"
    }),
    Effect.catch(() => Effect.succeed(false))
  )

/** The routing of a request as its answer and its receipt show it. */
export const routingOf = (admitted: Admitted, carried: Pick<Carried, "served" | "attempts">): RoutingOutcome => ({
  policy: admitted.plan.policy,
  requestedModels: admitted.plan.requestedModels,
  resolvedModel: carried.served?.model.id ?? admitted.plan.candidates[0].model.id,
  provider: carried.served?.offer.provider ?? null,
  attempts: carried.attempts,
  decision: admitted.plan.decision
})

/** Why it failed, for the receipt. A provider's own words may quote the request, so they are not kept where nothing may be. */
const errorOf = ({ plan }: Admitted, outcome: Carried["outcome"]): Reason | null => {
  const error = outcome._tag === "Whole" ? undefined : outcome.error
  if (error?._tag === "ProviderRefused" && plan.policy.dataPolicy === "zero_retention") {
    return { ...error, detail: "its words are not kept" }
  }
  return error ?? null
}

/**
 * Ends a hold as its settlement says. `keep` makes what a repeat under the same idempotency key is to be
 * answered with; it is written in the same statement as the settle.
 */
export const close = (
  { ledger, metrics }: MeteredOptions,
  admitted: Admitted,
  carried: Carried,
  settlement: Settlement<Used>,
  keep: () => object | null
): Effect.Effect<Closed, Failure> => {
  const { request } = admitted
  const providerMs = carried.endedAt - admitted.heldAt
  const closed: ClosedFacts = {
    usage: settlement.usage,
    basis: settlement.basis,
    routing: summaryOf(routingOf(admitted, carried)),
    ...(carried.served === undefined || carried.served === admitted.plan.candidates[0]
      ? {}
      : { price: priceOf(carried.served) }),
    finishReason: "finish" in carried.outcome ? carried.outcome.finish : null,
    error: errorOf(admitted, carried.outcome),
    holdMs: admitted.holdMs,
    firstTokenMs: carried.firstTokenMs,
    totalMs: performance.now() - request.arrivedAt,
    overheadMs: performance.now() - request.arrivedAt - providerMs,
    endedAtMs: Date.now()
  }
  const keepClaim = request.claim !== undefined && settlement.final
  const operation = ledger.commit(
    {
      _tag: "Close",
      requestId: request.requestId,
      accountId: request.principal.accountId,
      settle: settlement.cost === undefined ? undefined : { cost: settlement.cost },
      onlyIfExpired: false,
      status: settlement.status,
      keepClaim,
      resolvedModel: carried.served?.model.id ?? null,
      provider: carried.served?.offer.provider ?? null,
      closed,
      answer: keepClaim ? keep() : null
    },
    request.trace?.span
  )
  return Effect.map(Effect.mapError(operation, storeUnavailable), (result) => {
    counted(metrics, admitted, carried, settlement, closed.overheadMs, result.settled)
    return { cost: result.settled, posted: result._tag === "Closed" ? result.posted : undefined }
  })
}

/** Counts a request whose hold is closed. */
const counted = (
  metrics: Metrics,
  { plan, request }: Admitted,
  { firstTokenMs, outcome, served }: Carried,
  { status, usage }: Settlement<Used>,
  overheadMs: number,
  settled: Nano
): void => {
  const tokens = "units" in usage ? noTokens : usage
  const failed = outcome._tag === "Whole" ? undefined : (outcome.error?._tag ?? "Cancelled")
  metrics.request({
    provider: served?.offer.provider,
    model: (served ?? plan.candidates[0]).model.id,
    errorType: failed,
    totalMs: performance.now() - request.arrivedAt,
    overheadMs,
    firstTokenMs,
    inputTokens: promptTokens(tokens),
    outputTokens: tokens.output,
    settled
  })
  request.trace?.span?.set({
    "svc.resolved_model": served?.model.id,
    "svc.provider": served?.offer.provider,
    "svc.status": status,
    "svc.cost_nano_usd": settled
  })
}

/** Ends a hold after a fault of ours, whatever it was: nothing is charged. A request that is ended already stays as it is. */
export const abandon = ({ ledger }: MeteredOptions, admitted: Admitted): Effect.Effect<void> =>
  Effect.ignore(
    ledger.commit(
      {
        _tag: "Close",
        requestId: admitted.request.requestId,
        accountId: admitted.request.principal.accountId,
        settle: undefined,
        onlyIfExpired: false,
        status: "failed",
        keepClaim: false,
        resolvedModel: null,
        provider: null,
        closed: { error: { _tag: "InternalError" } },
        answer: null
      },
      admitted.request.trace?.span
    )
  )
