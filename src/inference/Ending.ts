/**
 * The two ways in which every paid operation ends, and the settlement, receipt, stored answer and metrics that go with an end:
 * `closeServed` after a provider answered, `closeUnserved` after none did. `abandon` is for a bug of the gateway.
 */
import { Cause, Effect, type Exit } from "effect"
import { type Failure, failure, isRefusal, type Reason, storeFailure } from "../domain/Failure.ts"
import { maxNano, type Nano } from "../domain/Money.ts"
import { type Attempt, type AttemptCost, type Candidate, summaryOf } from "../domain/Plan.ts"
import { type Price, providerCost } from "../domain/Pricing.ts"
import { isImplausibleUsage, promptTokens, type CallUsage } from "../domain/Usage.ts"
import { type EndResult, withoutResult } from "../ledger/Ending.ts"
import type { Metrics } from "../platform/telemetry/Metrics.ts"
import { operationNames, operationOf } from "../providers/pool/AttemptRecord.ts"
import type { PoolError } from "../providers/pool/PoolError.ts"
import { keepRefusal } from "./Answer.ts"
import {
  type AdmittedRequest,
  besideOf,
  type AdmissionOptions,
  nanoCostOf,
  providerCostOf,
  ratesAt,
  type RequestResult,
  routingOf
} from "./Admission.ts"
import {
  attemptCostsOf,
  attemptMsOf,
  type ClosedFacts,
  keepClosed,
  keepReason,
  type StoredReason,
  spanMs
} from "./Receipt.ts"
import { type NoOutput, type Outcome, type Settlement, settlementOf } from "./Settlement.ts"

/** Whether the data policy of the caller forbids storing content. */
export const keepsNothing = ({ plan }: Pick<AdmittedRequest, "plan">): boolean =>
  plan.policy.dataPolicy === "zero_retention"

/** The reason of the failure, for the receipt. A provider's message may quote the request, so it is dropped when nothing may be stored. */
const errorOf = (admitted: AdmittedRequest, outcome: RequestResult["outcome"]): StoredReason | null => {
  const error = outcome._tag === "Whole" ? undefined : outcome.error
  if (isRefusal(error) && keepsNothing(admitted)) {
    return keepReason({ ...error, detail: "the provider's message is not stored" })
  }
  return error === undefined ? null : keepReason(error)
}

/** What a request costs at each provider that worked for it. */
const spentOf = (
  served: string | null,
  { attemptCosts = [], providerCost: cost = 0 }: Pick<ClosedFacts, "attemptCosts" | "providerCost">
): ReadonlyArray<readonly [provider: string, cost: Nano]> => [
  ...(served === null ? [] : [[served, BigInt(cost)] as const]),
  ...attemptCosts.map(({ nano, provider }) => [provider, BigInt(nano)] as const)
]

/** The request as the ledger ends it. */
const endingOf = ({ held, request: { charge, principal, requestId } }: AdmittedRequest) => ({
  requestId,
  accountId: principal.accountId,
  charged: charge === true ? held : undefined
})

/** Updates the metrics for a request that has ended. */
const updateMetrics = (
  metrics: Metrics,
  { plan, request }: AdmittedRequest,
  { firstTokenMs, outcome, served }: RequestResult,
  { cost, status, usage }: Settlement,
  { closed, overheadMs, settled }: { readonly overheadMs: number; readonly settled: Nano; readonly closed: ClosedFacts }
): void => {
  const candidate = served ?? plan.candidates[0]
  const failed = outcome._tag === "Whole" ? undefined : (outcome.error?._tag ?? "Cancelled")
  const provider = served?.offer.provider
  const tokens =
    candidate.price.unit !== "token" || "units" in usage
      ? undefined
      : { input: promptTokens(usage), output: usage.output }
  metrics.request({
    operation: operationNames[operationOf[candidate.model.modality]],
    provider,
    model: candidate.model.id,
    errorType: failed,
    totalMs: performance.now() - request.arrivedAt,
    overheadMs,
    firstTokenMs,
    tokens,
    settled,
    absorbed: maxNano(0n, (cost ?? 0n) - settled),
    providerCost: cost === undefined ? undefined : nanoCostOf(served, usage),
    attemptCosts: closed.attemptCosts
  })
  request.watch?.settled({ model: candidate.model.id, provider, tokens, cost: settled })
  request.trace?.span?.set({
    "svc.resolved_model": served?.model.id,
    "svc.provider": served?.offer.provider,
    "svc.status": status,
    "svc.cost_nano_usd": settled
  })
}

const warnOfUsage = ({ request }: AdmittedRequest, { served }: RequestResult): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning(`${served?.offer.provider} reports more usage than one call can have`), {
    request_id: request.requestId
  })

/**
 * Ends a request in the ledger. `keep` serializes the answer for a replay; the statement that settles also stores it. Without a
 * confirmation the caller gets no answer. What was charged then stands only if the client has received content or a repeat can return
 * the stored answer.
 */
const close = (
  { ledger, metrics }: AdmissionOptions,
  admitted: AdmittedRequest,
  carried: RequestResult,
  settlement: Settlement,
  { isGiven, keep }: { readonly isGiven: boolean; readonly keep: () => object | null }
): Effect.Effect<EndResult, Failure> => {
  const { request } = admitted
  const providerMs = carried.endedAt - admitted.heldAt
  const totalMs = performance.now() - request.arrivedAt
  const overheadMs = spanMs(totalMs - providerMs)
  const closed: ClosedFacts = {
    usage: settlement.usage,
    basis: settlement.basis,
    routing: summaryOf(routingOf(admitted, carried)),
    attemptMs: attemptMsOf(carried.attempts, request.arrivedAt, carried.endedAt),
    rates: ratesAt(admitted, carried),
    providerCost: settlement.cost === undefined ? undefined : providerCostOf(carried, settlement.usage),
    attemptCosts: attemptCostsOf(carried.attempts),
    simulated: carried.served?.offer.simulated,
    finishReason: (carried.outcome._tag === "Whole" ? carried.outcome.finish : undefined) ?? null,
    error: errorOf(admitted, carried.outcome),
    holdMs: spanMs(admitted.holdMs),
    firstTokenMs: carried.firstTokenMs === null ? null : spanMs(carried.firstTokenMs),
    totalMs: spanMs(totalMs),
    overheadMs,
    endedAtMs: Date.now()
  }
  const row = besideOf(admitted, carried)
  const keepClaim = request.claim !== undefined && settlement.final
  const facts = {
    status: settlement.status,
    keepClaim,
    resolvedModel: row.resolved_model,
    provider: row.provider,
    closed: keepClosed(closed, row),
    answer: keepClaim ? keep() : null
  }
  const ending = endingOf(admitted)
  const ended = Effect.tapError(ledger.end(ending, settlement.cost, facts, request.trace?.span), () =>
    isGiven || facts.answer !== null ? Effect.void : ledger.giveBack(ending)
  )
  const endsAt = performance.now()
  const noted = isImplausibleUsage(settlement.usage) ? Effect.andThen(warnOfUsage(admitted, carried), ended) : ended
  return Effect.map(Effect.mapError(noted, storeFailure), (books) => {
    metrics.ledger.settled(performance.now() - endsAt)
    admitted.reservation?.end(spentOf(row.provider, closed))
    updateMetrics(metrics, admitted, carried, settlement, { overheadMs, settled: books.cost, closed })
    return books
  })
}

/** The refusal to store for a replay, if it may be stored: it may quote the request. */
const keptRefusal = (admitted: AdmittedRequest, error: Reason | undefined): object | null =>
  error === undefined || keepsNothing(admitted) ? null : keepRefusal(error)

/**
 * The attempts of a request that a provider served. An answer that broke off was no success of its provider, whose attempt served until
 * then. When nothing of an answer is paid for, its cost is that attempt's.
 */
const attemptsOf = <P extends Price>({
  attempts,
  candidate,
  outcome,
  wasted
}: ServedEnd<P>): ReadonlyArray<Attempt> => {
  if (outcome._tag === "Whole") return attempts
  const failed = outcome.error === undefined ? {} : ({ outcome: "failed" } as const)
  const used = outcome._tag === "NoOutput" ? wasted?.() : undefined
  const nano = used && providerCost(candidate.offer.cost, used.usage)
  const cost = used === undefined || !nano ? {} : { cost: { nano: Number(nano), basis: used.basis } }
  return attempts.map((attempt) => (attempt.outcome === "served" ? { ...attempt, ...failed, ...cost } : attempt))
}

/** What a provider's answer came to. */
export interface ServedEnd<P extends Price> {
  readonly candidate: Candidate<P>
  readonly attempts: ReadonlyArray<Attempt>
  readonly outcome: Outcome | Outcome<number>
  readonly firstTokenMs: number | null
  readonly endedAt: number
  /** Whether the client may have received content before the end. */
  readonly isGiven: boolean
  /** What the provider used for an answer of which nothing was delivered. Absent: nothing that it would bill. */
  readonly wasted?: () => { readonly usage: CallUsage; readonly basis: AttemptCost["basis"] } | undefined
}

/** A request that a provider served, and what it used. */
export interface ServedClose extends EndResult {
  readonly carried: RequestResult
  readonly usage: CallUsage
}

/**
 * Ends a request that a provider served, by what its answer came to. `kept` serializes a whole answer for a replay under the same
 * idempotency key. A refusal is stored as itself. A part that was paid for is not stored: a repeat leads to the receipt, and does not
 * run the work again.
 */
export const closeServed = <P extends Price>(
  options: AdmissionOptions,
  admitted: AdmittedRequest,
  served: ServedEnd<P>,
  kept: (carried: RequestResult, usage: CallUsage) => object | null
): Effect.Effect<ServedClose, Failure> => {
  const { candidate, endedAt, firstTokenMs, isGiven, outcome } = served
  const carried: RequestResult = { outcome, firstTokenMs, endedAt, served: candidate, attempts: attemptsOf(served) }
  const settlement = settlementOf(outcome, candidate.price)
  const { usage } = settlement
  const keep = () => {
    if (outcome._tag === "NoOutput") return keptRefusal(admitted, outcome.error)
    return outcome._tag === "Whole" && !keepsNothing(admitted) ? kept(carried, usage) : null
  }
  return Effect.map(close(options, admitted, carried, settlement, { isGiven, keep }), (ended) => ({
    ...ended,
    carried,
    usage
  }))
}

/** Why a request was not served: the failure of its providers, a bug, or neither, when the client disconnected. */
const noOutputOf = (cause: Cause.Cause<PoolError>): NoOutput => {
  const error = cause.reasons.find(Cause.isFailReason)?.error
  const bug = cause.reasons.some(Cause.isDieReason)
  return { _tag: "NoOutput", error: error?.reason ?? (bug ? { _tag: "InternalError" } : undefined) }
}

/** The providers' messages go only to the log, and not even there when nothing may be stored. */
const failureOfPool = (admitted: AdmittedRequest, error: PoolError): Failure =>
  keepsNothing(admitted) ? failure(error.reason) : failure(error.reason, error.failures)

/**
 * Ends a request that no provider served: nothing is charged. Fails with the failure of the providers, for the caller.
 * `before` are the attempts until no client waited for an answer any more.
 */
export const closeUnserved = (
  options: AdmissionOptions,
  admitted: AdmittedRequest,
  { cause }: Exit.Failure<unknown, PoolError>,
  before: ReadonlyArray<Attempt> = []
): Effect.Effect<never, Failure> => {
  const outcome = noOutputOf(cause)
  const carried: RequestResult = {
    outcome,
    served: undefined,
    attempts: cause.reasons.find(Cause.isFailReason)?.error.attempts ?? before,
    firstTokenMs: null,
    endedAt: performance.now()
  }
  const settlement = settlementOf(outcome, admitted.plan.candidates[0].price)
  return Effect.andThen(
    close(options, admitted, carried, settlement, { isGiven: false, keep: () => keptRefusal(admitted, outcome.error) }),
    Effect.failCause(Cause.map(cause, (error) => failureOfPool(admitted, error)))
  )
}

/** Ends a request after any fault of the gateway: nothing is charged. A request that has already ended stays unchanged. */
export const abandon = ({ ledger }: AdmissionOptions, admitted: AdmittedRequest): Effect.Effect<void> =>
  Effect.ignore(
    ledger.end(
      endingOf(admitted),
      undefined,
      withoutResult("failed", { _tag: "InternalError" }),
      admitted.request.trace?.span
    )
  )
