import { Context, type Duration, Effect, Exit, Layer, Result, type Scope } from "effect"
import type { Principal } from "../../schemas/Access.ts"
import type { PaidAnswer } from "../domain/Answer.ts"
import { balanceWarning } from "../domain/Balance.ts"
import { withinCost, type Bounds, type PricedWork } from "../domain/Estimate.ts"
import { type Failure, failure, type Reason } from "../domain/Failure.ts"
import type { Modality } from "../domain/Model.ts"
import { maxNano, type Nano } from "../domain/Money.ts"
import { type Candidate, isSimulated, type Plan } from "../domain/Plan.ts"
import { maximumCost, type Price, unitCost } from "../domain/Pricing.ts"
import { quantityOf, type CallUsage } from "../domain/Usage.ts"
import type { WorkPreparation } from "../domain/WorkSize.ts"
import type { ProviderError } from "../providers/ProviderError.ts"
import { operationOf } from "../providers/pool/AttemptRecord.ts"
import type { WorkPoolCall } from "../providers/pool/CallKind.ts"
import { PoolError } from "../providers/pool/PoolError.ts"
import { ProviderPool, type ServedAnswer, type WorkAttempt } from "../providers/pool/ProviderPool.ts"
import { Router } from "../router/Router.ts"
import { keepAnswer } from "./Answer.ts"
import { closeServed, closeUnserved, type ServedEnd } from "./Ending.ts"
import { type AdmittedRequest, affords, type RequestResult, routingOf } from "./Admission.ts"
import { type ActiveCall, followedBy, makePaidFlow, type PaidFlow, type PaidFlowOptions } from "./PaidFlow.ts"
import type { WorkSize } from "../domain/WorkSize.ts"
import { withCurrentPrices } from "./Holding.ts"
import type { PaidRequest } from "./Request.ts"
import { type Outcome, usedAt } from "./Settlement.ts"
import { whileHeld } from "./WhileHeld.ts"

export interface WorkOptions extends PaidFlowOptions {
  /** How long delivering an answer may take. */
  readonly delivery: Duration.Duration
}

/** The rest of an answer after its beginning has arrived. */
export interface WorkRest {
  /** Waits for its end. */
  readonly ended: Effect.Effect<unknown, ProviderError>
  /** Our own count of the usage of what was passed on, for an answer that breaks off. Absent: nothing is passed on before the end. */
  readonly part?: () => number
}

/** A paid request for work other than chat, with everything that its flow needs to know. */
export interface WorkRequest<A> extends PaidRequest, WorkSize {
  readonly modality: Exclude<Modality, "text" | "video">
  /**
   * Calls a provider; undefined when that provider does not do such work. When it is an effect, its resources are acquired after the
   * request is admitted and released after `deliver`. A failure of the effect does not count as a provider's.
   */
  readonly ask: WorkAttempt<A> | Effect.Effect<WorkAttempt<A>, PoolError, Scope.Scope>
  /** The usage that the provider reported, in prompt tokens or units. Undefined: use our own count. */
  readonly used: (answer: A) => number | undefined
  /** Our own count of the usage. */
  readonly counted: () => number
  /** The rest of an answer that is still arriving; undefined for a complete one. */
  readonly rest?: ((answer: A) => WorkRest | undefined) | undefined
  /**
   * The work that remains before an answer is paid for and returned, such as storing files. When it fails or takes too long, nothing is
   * charged. For an answer with a rest, it waits for the end of the rest, and fails only when that breaks off.
   */
  readonly deliver?: ((answer: A) => Effect.Effect<A, Failure>) | undefined
  /** The JSON to store for a replay; undefined when the answer must not be stored. */
  readonly keep: (answer: A) => object | undefined
  /** Restores an answer from the result of `keep`. Absent: the stored JSON is the answer. */
  readonly restore?: ((kept: unknown) => A) | undefined
  /** Why an answer counts as empty and is not charged; undefined for a valid one. */
  readonly empty?: ((answer: A) => Reason | undefined) | undefined
  /** Maps the failure of the providers for the caller. */
  readonly failed?: ((reason: Reason) => Reason) | undefined
}

/** The paid answer of such work. A replayed one was paid for before. */
export interface WorkAnswer<A> extends PaidAnswer {
  readonly value: A
  /** The prompt tokens or units that were charged. */
  readonly used: number
  readonly replayed: boolean
}

/** The stored form of an answer. Its cost and the resulting balance are stored beside it. */
export interface StoredWork extends PaidAnswer {
  readonly value: unknown
  readonly used: number
}

type Flow = Pick<PaidFlow, "metered" | "stopped">

type ProviderCalls = Pick<ProviderPool["Service"], "ask">

type AdmittedWork<A> = AdmittedRequest<WorkRequest<A>, Price, Bounds>

/** The maximum cost of a request at a candidate. */
const costAt = ({ bound }: WorkPreparation, { model, price }: Candidate<Price>): Nano => {
  // The model's modality determines whether it is priced per token.
  const most = bound.kind === "tokens" ? bound.prompt.at(model) : bound.units
  return price.unit === "token" ? maximumCost(price, most, 0) : unitCost(price, most)
}

/** The maximum cost of a request at any of its candidates. This is the hold, so no fallback exceeds it. */
const holdOf = (request: WorkPreparation, plan: Plan<Price>): Bounds => {
  const hold = plan.candidates.map((candidate) => costAt(request, candidate)).reduce(maxNano, 0n)
  return { atLeast: hold, upTo: hold, simulated: isSimulated(plan) }
}

const answerOf = <A>(admitted: AdmittedWork<A>, carried: RequestResult, usage: CallUsage) => {
  const { provider, resolvedModel } = routingOf(admitted, carried)
  const { created, request } = admitted
  return { requestId: request.requestId, created, resolvedModel, provider: provider ?? "", used: quantityOf(usage) }
}

/** The pool call of an admitted request, with its failure mapped for the caller. */
const attemptWork = <A>(
  pool: ProviderCalls,
  admitted: AdmittedWork<A>,
  running: ActiveCall
): Effect.Effect<ServedAnswer<A, Price>, PoolError, Scope.Scope> => {
  const { plan, request } = admitted
  const { ask, failed, rest } = request
  const call: WorkPoolCall = {
    requestId: request.requestId,
    plan,
    operation: operationOf[request.modality],
    steering: request.steering,
    trace: request.trace,
    affords: (candidate) => affords(admitted, candidate, (cost) => costAt(request, { ...candidate, price: cost })),
    estimateUse: ({ price }) => usedAt(price, request.counted()),
    ...followedBy(running)
  }
  const served = (attempt: WorkAttempt<A>) => {
    const answer = pool.ask(call, attempt, (provided) => rest?.(provided)?.ended)
    if (failed === undefined) return answer
    return Effect.mapError(answer, (error) => new PoolError({ ...error, reason: failed(error.reason) }))
  }
  return Effect.isEffect(ask) ? Effect.flatMap(ask, served) : served(ask)
}

/** The request with a time limit for its delivery, when delivery is more than waiting for the rest. */
const timely = <A>(request: WorkRequest<A>, delivery: Duration.Duration): WorkRequest<A> => {
  const { deliver, rest } = request
  if (deliver === undefined || rest !== undefined) return request
  const orElse = () => Effect.fail(failure({ _tag: "StoreUnavailable" }))
  return { ...request, deliver: (answer) => Effect.timeoutOrElse(deliver(answer), { duration: delivery, orElse }) }
}

/** The result to pay for: an answer, or the reason why there is none. */
const deliverOutput = <A>({ deliver, empty }: WorkRequest<A>, output: A): Effect.Effect<Result.Result<A, Failure>> => {
  const reason = empty?.(output)
  if (reason !== undefined) return Effect.succeed(Result.fail(failure(reason)))
  return deliver === undefined ? Effect.succeed(Result.succeed(output)) : Effect.result(deliver(output))
}

/** What a provider's answer came to: the value to return, or what is left of it when it cannot be returned. */
const outcomeOf = <A>(
  { counted, used }: WorkRequest<A>,
  result: Result.Result<A, Failure> | undefined,
  rest: WorkRest | undefined
): Outcome<number> => {
  if (result !== undefined && Result.isSuccess(result)) {
    return { _tag: "Whole", delivered: { reported: used(result.success), counted } }
  }
  const error = result?.failure.reason
  if (rest?.part === undefined) return { _tag: "NoOutput", error }
  return { _tag: "Partial", delivered: { reported: undefined, counted: rest.part }, error }
}

/** What the provider used for an answer that could not be delivered. It made nothing for an empty one. */
const wastedUsage = <A>({ counted, empty, used }: WorkRequest<A>, { price }: Candidate<Price>, output: A) => {
  if (empty?.(output) !== undefined) return undefined
  const reported = used(output)
  return {
    usage: usedAt(price, reported ?? counted()),
    basis: reported === undefined ? ("estimated" as const) : ("reported" as const)
  }
}

/** Waits until the hold of a request is over while it could not be renewed. */
const untilLapse = <A>(admitted: AdmittedWork<A>): Effect.Effect<Result.Result<never, Failure>> =>
  Effect.callback((resume) => {
    const lapse = () => resume(Effect.succeed(Result.fail(failure({ _tag: "HoldExpired" }))))
    admitted.lapse = lapse
  })

const finishServed = Effect.fnUntraced(function* <A>(
  { metered, stopped }: Flow,
  admitted: AdmittedWork<A>,
  { attempts, candidate, output }: ServedAnswer<A, Price>
): Effect.fn.Return<WorkAnswer<A>, Failure> {
  const { request } = admitted
  const answeredAt = performance.now()
  const rest = request.rest?.(output)
  const deliver = deliverOutput(request, output)
  // A host may take as long for the rest as the call may last, but a stopping service or an unrenewed hold does not have that time.
  const result = yield* rest === undefined
    ? deliver
    : Effect.raceFirst(deliver, Effect.raceFirst(Effect.as(stopped, undefined), untilLapse(admitted)))
  admitted.lapse = undefined
  const outcome = outcomeOf(request, result, rest)
  const endedAt = rest === undefined ? answeredAt : performance.now()
  const isGiven = rest?.part !== undefined
  const end: ServedEnd<Price> = {
    candidate,
    attempts,
    outcome,
    firstTokenMs: null,
    endedAt,
    isGiven,
    wasted: () => wastedUsage(request, candidate, output)
  }
  const { carried, cost, posted, usage } = yield* closeServed(metered, admitted, end, (carried, usage) => {
    const value = result !== undefined && Result.isSuccess(result) ? request.keep(result.success) : undefined
    return value === undefined ? null : keepAnswer({ ...answerOf(admitted, carried, usage), value })
  })
  if (result === undefined) return yield* Effect.interrupt
  const value = yield* Effect.fromResult(result)
  const balance = posted === undefined ? undefined : balanceWarning(posted)
  return { ...answerOf(admitted, carried, usage), value, cost, balanceWarning: balance, replayed: false }
})

const carryOutWork = Effect.fnUntraced(function* <A>(
  flow: Flow,
  pool: ProviderCalls,
  admitted: AdmittedWork<A>,
  running: ActiveCall
): Effect.fn.Return<WorkAnswer<A>, Failure, Scope.Scope> {
  const exit = yield* whileHeld(admitted, running, attemptWork(pool, admitted, running))
  return yield* Exit.isSuccess(exit)
    ? finishServed(flow, admitted, exit.value)
    : closeUnserved(flow.metered, admitted, exit, running.attempts)
})

/** Carries out an admitted request and ends it in every case. Only the provider's call can be interrupted. */
const carryOut = <A>(
  flow: Flow,
  pool: ProviderCalls,
  admitted: AdmittedWork<A>,
  running: ActiveCall
): Effect.Effect<WorkAnswer<A>, Failure> =>
  Effect.uninterruptible(Effect.scoped(carryOutWork(flow, pool, admitted, running)))

/** Returns a stored answer again. */
const replayAnswer = <A>({ restore }: WorkRequest<A>, kept: StoredWork): WorkAnswer<A> => ({
  ...kept,
  value: restore === undefined ? (kept.value as A) : restore(kept.value),
  replayed: true
})

/**
 * Paid work other than chat from end to end: plan, hold, provider, settle. As with chat, it runs in fibers of this service, so a client
 * that disconnects can neither leave a hold open nor get an answer without paying. An answer is settled before it is returned. The
 * charge is the usage in prompt tokens or units, never more than the hold. Work that is charged up front is charged in full before the
 * provider call, and the unused part is refunded. It continues when the client disconnects, because the provider would bill the operator
 * for what was made so far.
 */
export class Work extends Context.Service<
  Work,
  {
    readonly run: <A>(request: WorkRequest<A>) => Effect.Effect<WorkAnswer<A>, Failure>
    /** The bounds of the hold for a request of this kind. Fails when no provider can serve it. */
    readonly bounds: <A>(request: WorkRequest<A>) => Result.Result<Bounds, Failure>
    /** The plan and the bounds with which a request is admitted. */
    readonly prepare: (request: WorkPreparation) => Result.Result<PricedWork, Failure>
  }
>()("tollgate/inference/Work") {
  static readonly layerFrom = (options: WorkOptions) =>
    Layer.effect(
      Work,
      Effect.gen(function* () {
        const router = yield* Router
        const pool = yield* ProviderPool
        const flow = yield* makePaidFlow(options)
        const prepare = <R extends WorkPreparation>(request: R) => {
          const { bound, fits, modality, param, pixels, policy, promptTokens } = request
          const promptBound = bound.kind === "tokens" ? bound.prompt.most : undefined
          const planned = router.planWork({
            models: [request.model],
            modality,
            policy,
            promptBound,
            fits,
            pixels,
            promptTokens,
            param
          })
          return Result.map(
            Result.flatMap(planned, (plan) =>
              withinCost(plan, request.maxCost, (candidate) => costAt(request, candidate))
            ),
            (plan) => ({ request, plan, estimate: holdOf(request, plan) })
          )
        }
        const run = <A>(untimed: WorkRequest<A>): Effect.Effect<WorkAnswer<A>, Failure> => {
          const request = timely(untimed, options.delivery)
          const running: ActiveCall = { stopsBillingOnAbort: true }
          const again = (kept: StoredWork) => replayAnswer(request, kept)
          const entered = (entering: WorkRequest<A>): Effect.Effect<WorkAnswer<A>, Failure> => {
            const ready = prepare(entering)
            const anew = (principal: Principal) => entered(withCurrentPrices(entering, principal))
            return Result.isFailure(ready)
              ? flow.unplanned(entering, ready.failure, again)
              : flow.enter(ready.success, (admitted) => carryOut(flow, pool, admitted, running), again, anew)
          }
          const work = Effect.suspend(() => entered(request))
          return request.charge
            ? flow.finished(Effect.uninterruptible(work))
            : flow.attended(Effect.uninterruptible(work), running)
        }
        return Work.of({ run, prepare, bounds: (request) => Result.map(prepare(request), ({ estimate }) => estimate) })
      })
    )
}
