import { Cause, Context, type Duration, Effect, Exit, Layer, Result, type Scope } from "effect"
import { type Failure, failure, type Reason } from "../domain/Failure.ts"
import type { Modality } from "../domain/Model.ts"
import { maxNano } from "../domain/Money.ts"
import { isSimulated, type Plan } from "../domain/Plan.ts"
import { maximumCost, type Price, unitCost } from "../domain/Pricing.ts"
import type { TokenBound } from "../domain/TokenBound.ts"
import { quantityOf, type Used } from "../domain/Usage.ts"
import { operationOf } from "../providers/AttemptRecord.ts"
import type { WorkPoolCall } from "../providers/Course.ts"
import { PoolError } from "../providers/PoolError.ts"
import type { ProviderError } from "../providers/Provider.ts"
import { ProviderPool, type Served, type WorkAttempt } from "../providers/ProviderPool.ts"
import { Router } from "../router/Router.ts"
import { balanceWarning, keepAnswer, type PaidAnswer } from "./Answer.ts"
import { type Admitted, type Bounds, type Carried, close, routingOf } from "./Metered.ts"
import {
  brokenOff,
  failureOfPool,
  followedBy,
  keepsNothing,
  keptRefusal,
  makePaidFlow,
  type PaidFlow,
  type PaidFlowOptions,
  type Running,
  unserved
} from "./PaidFlow.ts"
import type { PaidRequest } from "./Request.ts"
import { workSettlementOf, type WorkOutcome } from "./Settlement.ts"

export interface WorkOptions extends PaidFlowOptions {
  /** The longest that an answer may take to be delivered. */
  readonly delivery: Duration.Duration
}

/** What is still to come of an answer when its beginning is there. */
export interface WorkRest {
  /** Waits for its end. */
  readonly ended: Effect.Effect<unknown, ProviderError>
  /** What was used for as much as was given on, by our own count, where it breaks off; absent where nothing is given on before. */
  readonly part?: () => number
}

/** A paid request for work other than chat, and all that the flow of it has to know of that work. */
export interface WorkRequest<A> extends PaidRequest {
  readonly modality: Exclude<Modality, "text" | "video">
  /** The most that can be used, which is what is held for: prompt tokens, or units of the model's price. */
  readonly bound:
    | { readonly kind: "tokens"; readonly prompt: TokenBound }
    | { readonly kind: "units"; readonly units: number }
  /** Whether what is asked fits a context window of so many tokens; absent where it is cut to fit, or nothing can be too long. */
  readonly fits?: ((contextWindow: number) => boolean) | undefined
  /** Pixels of each image; absent where there are none, or it is left to the model. */
  readonly pixels?: number | undefined
  /** The likely tokens of what has to fit, and the member it stands in, for the message when it fits nowhere. */
  readonly promptTokens?: (() => number) | undefined
  readonly param?: string | undefined
  /**
   * Asks a provider; undefined where that provider does not do such work. As an effect, what it needs is got first, once the
   * request is admitted, and is let go when all is done, `deliver` too; a failure of it is no provider's.
   */
  readonly ask: WorkAttempt<A> | Effect.Effect<WorkAttempt<A>, PoolError, Scope.Scope>
  /** Prompt tokens or units as the provider reported them; undefined has them counted. */
  readonly used: (answer: A) => number | undefined
  /** The same by our own count. */
  readonly counted: () => number
  /** Of an answer that is still arriving; undefined of one that is whole. */
  readonly rest?: ((answer: A) => WorkRest | undefined) | undefined
  /**
   * What remains to be done with an answer before it is paid for and given out, such as storing files of it. Where it fails, or
   * takes longer than it may, nothing is charged. Of an answer with a rest it waits for the end of that, and fails only where it
   * breaks off.
   */
  readonly deliver?: ((answer: A) => Effect.Effect<A, Failure>) | undefined
  /** The JSON kept for a repeat under the idempotency key; undefined where it is not to be kept. */
  readonly keep: (answer: A) => object | undefined
  /** The answer again, of what `keep` made of it; without it, what was kept is the answer. */
  readonly restore?: ((kept: unknown) => A) | undefined
  /** Why an answer is none, and so is not charged; undefined for one that is. */
  readonly empty?: ((answer: A) => Reason | undefined) | undefined
  /** What the failure of whoever was asked is called. */
  readonly failed?: ((reason: Reason) => Reason) | undefined
}

/** What of a request decides its plan and what is held for it; that of a video is charged elsewhere, by the same rule. */
export interface WorkPreparation extends Pick<
  WorkRequest<never>,
  "model" | "policy" | "bound" | "fits" | "pixels" | "promptTokens" | "param"
> {
  readonly modality: Exclude<Modality, "text">
}

/** Whom work would go to, and what is to be held for it. */
export interface PreparedWork {
  readonly plan: Plan<Price>
  readonly estimate: Bounds
}

/** The paid answer of such work. A replayed one was paid for before. */
export interface WorkAnswer<A> extends PaidAnswer {
  readonly value: A
  /** Prompt tokens or units that were charged for. */
  readonly used: number
  readonly replayed: boolean
}

/** What is kept of an answer. Its cost and the balance after it stand beside it. */
export interface KeptWork extends PaidAnswer {
  readonly value: unknown
  readonly used: number
}

type Flow = Pick<PaidFlow, "metered" | "stopped">

type Asks = Pick<ProviderPool["Service"], "ask">

type AdmittedWork<A> = Admitted<WorkRequest<A>, Price, Bounds>

/** The most a request can cost at any of its candidates: the hold, so that no fallback exceeds it. */
const holdOf = ({ bound }: WorkPreparation, plan: Plan<Price>): Bounds => {
  // Whether a model is priced per token is a matter of its modality.
  const hold = plan.candidates
    .map(({ model, price }) => {
      const most = bound.kind === "tokens" ? bound.prompt.at(model) : bound.units
      return price.unit === "token" ? maximumCost(price, most, 0) : unitCost(price, most)
    })
    .reduce(maxNano, 0n)
  return { atLeast: hold, upTo: hold, simulated: isSimulated(plan) }
}

const answerOf = <A>(admitted: AdmittedWork<A>, carried: Carried, usage: Used) => {
  const { provider, resolvedModel } = routingOf(admitted, carried)
  const { created, request } = admitted
  return { requestId: request.requestId, created, resolvedModel, provider: provider ?? "", used: quantityOf(usage) }
}

/** What a repeat is answered with, where it may be kept. */
const keptWork = <A>(admitted: AdmittedWork<A>, carried: Carried, usage: Used, value: A): object | null => {
  if (keepsNothing(admitted)) return null
  const kept = admitted.request.keep(value)
  return kept === undefined ? null : keepAnswer({ ...answerOf(admitted, carried, usage), value: kept })
}

/** The call of an admitted request, its failure named as the request wants it. */
const asked = <A>(
  pool: Asks,
  admitted: AdmittedWork<A>,
  running: Running
): Effect.Effect<Served<A, Price>, PoolError, Scope.Scope> => {
  const { plan, request } = admitted
  const { ask, failed, rest } = request
  const call: WorkPoolCall = {
    requestId: request.requestId,
    plan,
    operation: operationOf[request.modality],
    steering: request.steering,
    trace: request.trace,
    ...followedBy(running)
  }
  const served = (attempt: WorkAttempt<A>) => {
    const answer = pool.ask(call, attempt, (given) => rest?.(given)?.ended)
    if (failed === undefined) return answer
    return Effect.mapError(answer, (error) => new PoolError({ ...error, reason: failed(error.reason) }))
  }
  return Effect.isEffect(ask) ? Effect.flatMap(ask, served) : served(ask)
}

/** The request with an end to its delivery, where that is more than waiting for the rest of an answer. */
const timely = <A>(request: WorkRequest<A>, delivery: Duration.Duration): WorkRequest<A> => {
  const { deliver, rest } = request
  if (deliver === undefined || rest !== undefined) return request
  const orElse = () => Effect.fail(failure({ _tag: "StoreUnavailable" }))
  return { ...request, deliver: (answer) => Effect.timeoutOrElse(deliver(answer), { duration: delivery, orElse }) }
}

/** What is there to be paid for: an answer, or why there is none. */
const delivered = <A>({ deliver, empty }: WorkRequest<A>, output: A): Effect.Effect<Result.Result<A, Failure>> => {
  const reason = empty?.(output)
  if (reason !== undefined) return Effect.succeed(Result.fail(failure(reason)))
  return deliver === undefined ? Effect.succeed(Result.succeed(output)) : Effect.result(deliver(output))
}

const failedOutcome = (error: Reason | undefined, rest: WorkRest | undefined): WorkOutcome =>
  rest?.part === undefined ? { _tag: "Nothing", error } : { _tag: "Partial", counted: rest.part, error }

const finishServed = Effect.fnUntraced(function* <A>(
  { metered, stopped }: Flow,
  admitted: AdmittedWork<A>,
  { attempts, candidate, output }: Served<A, Price>
): Effect.fn.Return<WorkAnswer<A>, Failure> {
  const { request } = admitted
  const answeredAt = performance.now()
  const rest = request.rest?.(output)
  const deliver = delivered(request, output)
  // A host may take as long for the rest as the call may last, which a service that stops has not.
  const result = yield* rest === undefined ? deliver : Effect.raceFirst(deliver, Effect.as(stopped, undefined))
  const carriedBy = (outcome: WorkOutcome): Carried<Price, WorkOutcome> => ({
    ...{ outcome, served: candidate, firstTokenMs: null },
    attempts: outcome._tag === "Whole" ? attempts : brokenOff(attempts),
    endedAt: rest === undefined ? answeredAt : performance.now()
  })
  if (result === undefined || Result.isFailure(result)) {
    const reason = result?.failure.reason
    const carried = carriedBy(failedOutcome(reason, rest))
    const settlement = workSettlementOf(carried.outcome, candidate.price)
    // A part that is paid for is no refusal: whoever repeats it is to see its receipt, and not to try again.
    const kept = () => (carried.outcome._tag === "Partial" ? null : keptRefusal(admitted, reason))
    yield* close(metered, admitted, carried, settlement, kept)
    return yield* result === undefined ? Effect.interrupt : Effect.fail(result.failure)
  }
  const value = result.success
  const carried = carriedBy({ _tag: "Whole", reported: request.used(value), counted: request.counted })
  const settlement = workSettlementOf(carried.outcome, candidate.price)
  const kept = () => keptWork(admitted, carried, settlement.usage, value)
  const { cost, posted } = yield* close(metered, admitted, carried, settlement, kept)
  const balance = posted === undefined ? undefined : balanceWarning(posted)
  return {
    ...answerOf(admitted, carried, settlement.usage),
    ...{ value, cost, balanceWarning: balance, replayed: false }
  }
})

const carrying = Effect.fnUntraced(function* <A>(
  flow: Flow,
  pool: Asks,
  admitted: AdmittedWork<A>,
  running: Running
): Effect.fn.Return<WorkAnswer<A>, Failure, Scope.Scope> {
  const exit = yield* Effect.exit(Effect.interruptible(asked(pool, admitted, running)))
  if (Exit.isSuccess(exit)) return yield* finishServed(flow, admitted, exit.value)
  const { failures, outcome } = unserved(exit, running)
  const endedAt = performance.now()
  const carried: Carried = { outcome, served: undefined, attempts: failures, firstTokenMs: null, endedAt }
  const settlement = workSettlementOf(outcome, admitted.plan.candidates[0].price)
  yield* close(flow.metered, admitted, carried, settlement, () => keptRefusal(admitted, outcome.error))
  return yield* Effect.failCause(Cause.map(exit.cause, (error) => failureOfPool(admitted, error)))
})

/** Carries out an admitted request and ends it, whatever happens. Only the provider's call can be interrupted. */
const carryOut = <A>(
  flow: Flow,
  pool: Asks,
  admitted: AdmittedWork<A>,
  running: Running
): Effect.Effect<WorkAnswer<A>, Failure> =>
  Effect.uninterruptible(Effect.scoped(carrying(flow, pool, admitted, running)))

/** A kept answer given out again. */
const replayed = <A>({ restore }: WorkRequest<A>, kept: KeptWork): WorkAnswer<A> => ({
  ...kept,
  value: restore === undefined ? (kept.value as A) : restore(kept.value),
  replayed: true
})

/**
 * Paid work other than chat, end to end: plan, hold, provider, settle. As with chat, it runs in fibers of this service, so a
 * caller who hangs up can neither leave a hold open nor take an answer unpaid, and an answer is settled before it is given out.
 * What is charged is what was used, never more than was held: prompt tokens or units, as the model is priced. What is charged up
 * front is taken whole before a provider is asked, and given back as far as it was not used; it goes on when its caller hangs up,
 * since what was made so far would be billed to the house.
 */
export class Work extends Context.Service<
  Work,
  {
    readonly run: <A>(request: WorkRequest<A>) => Effect.Effect<WorkAnswer<A>, Failure>
    /** What is held for a request of this kind; fails where nobody can serve it. */
    readonly bounds: <A>(request: WorkRequest<A>) => Result.Result<Bounds, Failure>
    /** The same plan and bounds that a request is admitted by. */
    readonly prepare: (request: WorkPreparation) => Result.Result<PreparedWork, Failure>
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
            ...{ modality, policy, promptBound, fits, pixels, promptTokens, param }
          })
          return Result.map(planned, (plan) => ({ request, plan, estimate: holdOf(request, plan) }))
        }
        const run = <A>(asked: WorkRequest<A>): Effect.Effect<WorkAnswer<A>, Failure> => {
          const request = timely(asked, options.delivery)
          const running: Running = { stopsBillingOnAbort: true }
          const again = (kept: KeptWork) => replayed(request, kept)
          const work = Effect.suspend(() => {
            const ready = prepare(request)
            return Result.isFailure(ready)
              ? flow.unplanned(request, ready.failure, again)
              : flow.enter(ready.success, (admitted) => carryOut(flow, pool, admitted, running), again)
          })
          return request.charge
            ? flow.finished(Effect.uninterruptible(work))
            : flow.attended(Effect.uninterruptible(work), running)
        }
        return Work.of({ run, prepare, bounds: (request) => Result.map(prepare(request), ({ estimate }) => estimate) })
      })
    )
}
