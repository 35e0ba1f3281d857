import { Context, Duration, Effect, Exit, Layer, Result } from "effect"
import type { Principal } from "../../schemas/Access.ts"
import { Auth } from "../auth/Auth.ts"
import { type Failure, failure, type Reason, storeFailure } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import { Ledger } from "../ledger/Ledger.ts"
import type { Claim, HoldOperation } from "../ledger/Operation.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import { type Trace, traceIdOf } from "../platform/telemetry/Tracing.ts"
import { Requests } from "../usage/Requests.ts"
import type { ClaimedRequest } from "../usage/RequestsSql.ts"
import { keepAnswer, restore } from "../inference/Answer.ts"
import type { PaidAnswer } from "../domain/Answer.ts"
import { balanceWarning } from "../domain/Balance.ts"
import { type Holder, placeHold } from "../inference/Holding.ts"
import { refusalOf } from "../inference/Admission.ts"
import type { Bounds } from "../domain/Estimate.ts"
import { keepOpened, keepReason, type OpenFacts, spanMs } from "../inference/Receipt.ts"
import { noteReplay } from "../inference/Replay.ts"
import type { PaidRequest } from "../inference/Request.ts"
import type { AcceptedBody, ServedItem } from "../inference/BatchOperation.ts"

/** The number of a batch's requests that run in parallel. */
const CONCURRENCY = 8

/** How many times per lifetime the hold of a batch is renewed. */
const RENEWALS_PER_TTL = 3

/** One decoded request of a batch. */
export interface BatchItem extends Pick<AcceptedBody, "bounds" | "serve" | "again"> {
  readonly claim: Claim | undefined
}

/** A batch of requests that share one hold and one idempotency key. */
export interface BatchRequest extends Pick<PaidRequest, "requestId" | "claim" | "arrivedAt"> {
  readonly principal: Principal
  readonly trace: Trace | undefined
  readonly items: ReadonlyArray<BatchItem>
  /** Decodes the requests again for the caller with other prices. */
  readonly itemsFor: (principal: Principal) => Effect.Effect<ReadonlyArray<BatchItem>, Failure>
}

/** The outcome of a batch. */
export interface BatchOutcome {
  /** The id of the batch; for a replay, the id of the first one. */
  readonly requestId: string
  /** In the order of the requests; undefined for a request that was not served. */
  readonly served: ReadonlyArray<ServedItem | undefined>
  /** The first request in that order that failed. Requests that had not started by then were not made. */
  readonly failed: { readonly index: number; readonly failure: Failure } | undefined
  readonly balanceWarning: string | undefined
  readonly replayed: boolean
}

/** A request that is still to be served, and the bounds of its hold. */
interface DueRequest {
  readonly index: number
  readonly item: BatchItem
  readonly bounds: Bounds
}

/** What earlier attempts under the same idempotency key have left. */
interface EarlierAttempts {
  readonly batch: ClaimedRequest | undefined
  readonly served: ReadonlyArray<ServedItem | undefined>
  /** The claims of requests with an unknown outcome. */
  readonly lapsed: ReadonlyArray<string>
}

const nothingBefore = ({ items }: BatchRequest): EarlierAttempts => ({
  batch: undefined,
  served: items.map(() => undefined),
  lapsed: []
})

const servedBefore = (
  item: BatchItem,
  { answer, cost, id, lapsed, refused }: ClaimedRequest
): ServedItem | undefined => {
  if (lapsed || refused) return undefined
  if (answer === null) return { requestId: id, cost, body: undefined }
  const body = item.again(answer, cost)
  return body === undefined ? undefined : { requestId: id, cost, body }
}

/**
 * Reads what is stored under the claims of a batch and its requests. Fails when that belongs to other requests, or is still running.
 */
const lookUp = ({ requests }: Deps, request: BatchRequest): Effect.Effect<EarlierAttempts, Failure> => {
  const { claim, items, principal } = request
  if (claim === undefined) return Effect.succeed(nothingBefore(request))
  const claims = [claim, ...items.flatMap((item) => (item.claim === undefined ? [] : [item.claim]))]
  const found = requests.claims(
    principal.accountId,
    claims.map((one) => one.claim)
  )
  return Effect.flatMap(Effect.mapError(found, storeFailure), (rows) => {
    const byClaim = new Map(rows.map((row) => [row.claim, row]))
    if (claims.some((one) => (byClaim.get(one.claim) ?? one).fingerprint !== one.fingerprint)) {
      return Effect.fail(failure({ _tag: "IdempotencyKeyReused" }))
    }
    if (rows.some(({ running }) => running)) return Effect.fail(failure({ _tag: "IdempotencyInProgress" }))
    return Effect.succeed({
      batch: byClaim.get(claim.claim),
      served: items.map((item) => {
        const row = byClaim.get(item.claim?.claim ?? "")
        return row === undefined ? undefined : servedBefore(item, row)
      }),
      lapsed: rows.filter(({ lapsed }) => lapsed).map((row) => row.claim)
    })
  })
}

/** The requests that are still to be served. Fails with the error of the first one that cannot be planned. */
const dueOf = (
  { items }: BatchRequest,
  { served }: EarlierAttempts
): Result.Result<ReadonlyArray<DueRequest>, Failure> =>
  Result.gen(function* () {
    const due: Array<DueRequest> = []
    for (const [index, item] of items.entries()) {
      if (served[index] === undefined) due.push({ index, item, bounds: yield* item.bounds() })
    }
    return due
  })

const sum = (amounts: ReadonlyArray<Nano>): Nano => amounts.reduce((all, one) => all + one, 0n)

const leastOf = (due: ReadonlyArray<DueRequest>): Nano => sum(due.map(({ bounds }) => bounds.atLeast))

/** Distributes the amount granted beyond the sum of the minimums, in proportion to how much more each request may need. */
const sharesOf = (granted: Nano, due: ReadonlyArray<DueRequest>): ReadonlyArray<Nano> => {
  const least = leastOf(due)
  const room = sum(due.map(({ bounds }) => bounds.upTo)) - least
  return due.map(({ bounds: { atLeast, upTo } }) =>
    room === 0n ? upTo : atLeast + ((granted - least) * (upTo - atLeast)) / room
  )
}

/** Makes an effect interruptible again. */
type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** The stored answer of a finished batch is empty, because its requests store their answers themselves. */
const keptBatch = keepAnswer({})

const warningOf = (kept: unknown): string | undefined => {
  const restored = restore<PaidAnswer>(kept, 0n)
  return restored._tag === "Answer" ? restored.answer.balanceWarning : undefined
}

/** The services for running a batch. */
interface Deps {
  readonly ledger: Ledger["Service"]
  readonly auth: Auth["Service"]
  readonly metrics: Metrics
  readonly requests: Requests["Service"]
  readonly holdTtlMs: number
}

const takeHold = (
  { auth, holdTtlMs, ledger, metrics }: Deps,
  { arrivedAt, claim, principal, requestId, trace }: BatchRequest,
  due: ReadonlyArray<DueRequest>
) => {
  const opened: OpenFacts = {
    streamed: false,
    queueMs: spanMs(performance.now() - arrivedAt),
    traceId: traceIdOf(trace),
    prices: []
  }
  const operation: Omit<HoldOperation, keyof Holder> = {
    _tag: "Hold",
    requestId,
    operation: "batch",
    model: "batch",
    atLeast: leastOf(due),
    upTo: sum(due.map(({ bounds }) => bounds.upTo)),
    // One kind of money pays for the whole batch, because each request's hold is carved out of this one.
    simulated: due.every(({ bounds }) => bounds.simulated === true),
    ttlMs: holdTtlMs,
    opened: keepOpened(opened),
    claim,
    charge: false
  }
  return placeHold({ auth, metrics }, { principal }, (holder) => {
    const hold: HoldOperation = { ...operation, ...holder }
    return ledger.commit(hold, trace?.span)
  })
}

/** Renews the batch's hold until it is interrupted. */
const renewHold = ({ holdTtlMs, ledger }: Deps, { principal, requestId }: BatchRequest): Effect.Effect<never> => {
  // It adds nothing to the hold, because the parts that were carved out must not be held twice.
  const renewed = ledger.commit({
    _tag: "Extend",
    requestId,
    accountId: principal.accountId,
    held: 0n,
    more: 0n,
    progress: 0n,
    ttlMs: holdTtlMs
  })
  return Effect.forever(Effect.andThen(Effect.sleep(holdTtlMs / RENEWALS_PER_TTL), Effect.ignore(renewed)))
}

/** Releases the rest of the hold. `error` is null for a finished batch, and undefined when the client disconnected. */
const close = (
  { ledger }: Deps,
  { claim, principal, requestId, trace }: BatchRequest,
  error: Reason | null | undefined
) => {
  const keepClaim = error === null && claim !== undefined
  const facts = {
    status: error === null ? "succeeded" : error === undefined ? "cancelled" : "failed",
    keepClaim,
    resolvedModel: null,
    provider: null,
    closed: { error: error == null ? null : keepReason(error) },
    answer: keepClaim ? keptBatch : null
  } as const
  const ending = { requestId, accountId: principal.accountId, charged: undefined }
  return ledger.end(ending, error === null ? 0n : undefined, facts, trace?.span)
}

/** Frees the claims of requests with an unknown outcome once their hold has expired. */
const free = (
  { ledger }: Deps,
  { principal }: BatchRequest,
  { lapsed }: EarlierAttempts
): Effect.Effect<void, Failure> =>
  lapsed.length === 0
    ? Effect.void
    : Effect.asVoid(Effect.mapError(ledger.freeLapsed(principal.accountId, lapsed), storeFailure))

/** Serves the remaining requests, and starts no more once one has failed. */
const serveRemaining = (
  request: BatchRequest,
  before: EarlierAttempts,
  due: ReadonlyArray<DueRequest>,
  granted: Nano
) =>
  Effect.suspend(() => {
    const served = [...before.served]
    const shares = sharesOf(granted, due)
    const progress: { failed: BatchOutcome["failed"] } = { failed: undefined }
    const serveOne = ({ index, item }: DueRequest, place: number) =>
      Effect.suspend(() => {
        if (progress.failed !== undefined) return Effect.void
        return Effect.match(item.serve({ carvedFrom: request.requestId, holdAtMost: shares[place]! }), {
          onSuccess: (one) => {
            served[index] = one
          },
          onFailure: (failed) => {
            if (progress.failed === undefined || index < progress.failed.index) {
              progress.failed = { index, failure: failed }
            }
          }
        })
      })
    const all = Effect.forEach(due, serveOne, { concurrency: CONCURRENCY, discard: true })
    return Effect.map(all, () => ({ served, failed: progress.failed }))
  })

/** Serves the remaining requests within the granted hold, and closes the hold in every case. */
const carryOutBatch = (
  deps: Deps,
  restored: Restore,
  request: BatchRequest,
  [before, due, granted]: readonly [EarlierAttempts, ReadonlyArray<DueRequest>, Nano]
): Effect.Effect<BatchOutcome, Failure> =>
  Effect.gen(function* () {
    // Taking the hold has ended overdue holds.
    const work = Effect.andThen(free(deps, request, before), serveRemaining(request, before, due, granted))
    const exit = yield* Effect.exit(restored(Effect.raceFirst(work, renewHold(deps, request))))
    deps.metrics.ledger.closed()
    if (Exit.isFailure(exit)) {
      yield* Effect.ignore(close(deps, request, undefined))
      return yield* Effect.failCause(exit.cause)
    }
    const { failed, served } = exit.value
    const reason = failed === undefined ? null : failed.failure.reason
    const { posted } = yield* Effect.mapError(close(deps, request, reason), storeFailure)
    const balance = posted === undefined ? undefined : balanceWarning(posted)
    return { requestId: request.requestId, served, failed, balanceWarning: balance, replayed: false }
  })

const beginBatch = (
  deps: Deps,
  restored: Restore,
  request: BatchRequest,
  [before, due]: readonly [EarlierAttempts, ReadonlyArray<DueRequest>]
): Effect.Effect<BatchOutcome, Failure> =>
  Effect.gen(function* () {
    const held = yield* takeHold(deps, request, due)
    if (held._tag === "Granted") return yield* carryOutBatch(deps, restored, request, [before, due, held.granted])
    // Another attempt was faster, or a lapsed one has expired by now. What it stored decides.
    if (held._tag === "PriceChange") {
      const { principal } = held
      const items = yield* restored(request.itemsFor(principal))
      return yield* restored(runWith(deps)({ ...request, principal, items }))
    }
    if (held._tag === "Claimed") return yield* restored(runWith(deps)(request))
    return yield* Effect.fail(refusalOf(deps.auth, request.principal.keyId, leastOf(due), held))
  })

const runWith =
  (deps: Deps) =>
  (request: BatchRequest): Effect.Effect<BatchOutcome, Failure> =>
    Effect.gen(function* () {
      const before = yield* lookUp(deps, request)
      const { batch, served } = before
      if (batch !== undefined && !batch.lapsed) {
        yield* deps.auth.confirm(request.principal.keyId)
        yield* noteReplay(deps.requests, request, batch.id)
        // A request's answer is deleted a day after the request ended, which is before the batch's.
        if (served.includes(undefined)) {
          return yield* failure({ _tag: "IdempotencyResultUnavailable", requestId: batch.id })
        }
        const balance = warningOf(batch.answer)
        return { requestId: batch.id, served, failed: undefined, balanceWarning: balance, replayed: true }
      }
      const due = yield* Effect.fromResult(dueOf(request, before))
      yield* free(deps, request, before)
      return yield* Effect.uninterruptibleMask((restored) => beginBatch(deps, restored, request, [before, due]))
    })

/**
 * Runs many paid requests in one call, until all are served or one fails. One hold covers the sum of their maximum costs. Each request
 * takes its own hold out of it, has its own receipt and is settled separately. Served requests remain served and paid for, and the rest
 * of the hold is released. Under an idempotency key, another attempt continues where the last one ended, and holds only for the
 * remaining requests.
 */
export class Batch extends Context.Service<
  Batch,
  { readonly run: (request: BatchRequest) => Effect.Effect<BatchOutcome, Failure> }
>()("tollgate/batches/Batch") {
  static readonly layerFrom = (options: { readonly holdTtl: Duration.Duration }) =>
    Layer.effect(
      Batch,
      Effect.gen(function* () {
        const run = runWith({
          ledger: yield* Ledger,
          auth: yield* Auth,
          metrics: yield* Metrics,
          requests: yield* Requests,
          holdTtlMs: Duration.toMillis(options.holdTtl)
        })
        return Batch.of({ run })
      })
    )
}
