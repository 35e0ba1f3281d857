/** What all paid requests go through alike, whatever they are for. */
import { Cause, Deferred, Duration, Effect, Exit, Fiber, type Scope } from "effect"
import { Auth } from "../auth/Auth.ts"
import { type Failure, failure, type Reason } from "../domain/Failure.ts"
import type { Attempt, Plan } from "../domain/Plan.ts"
import type { Price } from "../domain/Pricing.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { Metrics } from "../platform/Metrics.ts"
import type { CourseCall } from "../providers/Course.ts"
import type { PoolError } from "../providers/PoolError.ts"
import { Requests } from "../usage/Requests.ts"
import { keepRefusal, type PaidAnswer } from "./Answer.ts"
import { abandon, admit, type Admitted, type Bounds, type Carried, type MeteredOptions } from "./Metered.ts"
import { makeOwnFibers, type OwnFibers } from "./OwnFibers.ts"
import { makeRenewals } from "./Renewals.ts"
import { replay, replayUnplanned } from "./Replay.ts"
import type { PaidRequest } from "./Request.ts"
import type { Nothing } from "./Settlement.ts"

export interface PaidFlowOptions {
  readonly holdTtl: Duration.Duration
  /** How long what is charged up front may take to be concluded, before it is given back; as long as a hold unless told. */
  readonly chargeTtl?: Duration.Duration
  /** How long an answer is still read for a caller who is gone, where hanging up does not stop the bill. */
  readonly drain: Duration.Duration
  /** How long running requests may take to finish when the service stops. */
  readonly shutdownGrace: Duration.Duration
}

/** Whether hanging up on the attempt now running stops its bill. Nothing runs at first. */
export interface Running {
  stopsBillingOnAbort: boolean
  /** There once the caller has hung up: whoever is asked then may end, but nobody is asked anew. */
  giveUp?: () => void
  /** There once nobody waits for an answer any more: whom was asked until then. */
  attempts?: ReadonlyArray<Attempt>
}

/** What of a call tells how it runs. */
export const followedBy = (running: Running): Required<Pick<CourseCall<Price>, "onAttempt" | "onLeft">> => ({
  onAttempt: ({ beginsAlone, stopsBillingOnAbort }) => {
    running.stopsBillingOnAbort = stopsBillingOnAbort
    if (beginsAlone) running.giveUp?.()
  },
  onLeft: (attempts) => {
    running.attempts = attempts
  }
})

/** A request, whom it would go to, and what is to be held for it. */
export interface Ready<R extends PaidRequest, P extends Price, E extends Bounds> {
  readonly request: R
  readonly plan: Plan<P>
  readonly estimate: E
}

/** The way of paid requests, all of whose work is done in fibers of the service. */
export interface PaidFlow {
  readonly metered: MeteredOptions
  readonly run: OwnFibers["run"]
  /** Waits until the service stops, and running requests have had their time to finish. */
  readonly stopped: Effect.Effect<void>
  /** Hangs up in the background when a caller has gone. */
  readonly hangUp: (fiber: Fiber.Fiber<unknown, unknown>, running: Running) => Effect.Effect<void>
  /** Does work that its caller waits for; one who leaves hangs up. */
  readonly attended: <A>(work: Effect.Effect<A, Failure>, running: Running) => Effect.Effect<A, Failure>
  /** Does work that goes on to its end, and is paid for, whether or not its caller waits for it. */
  readonly finished: <A>(work: Effect.Effect<A, Failure>) => Effect.Effect<A, Failure>
  /**
   * Takes the hold, or the charge, and goes on with `carry`, or answers from what stands under the idempotency key. To be called where nothing can be
   * interrupted: between the hold and its close nothing may be but the provider's call, which `carry` sees to. The kept answers
   * of an idempotency key's method and path are all of kind `K`.
   */
  readonly enter: <R extends PaidRequest, P extends Price, E extends Bounds, A, K extends PaidAnswer, B>(
    ready: Ready<R, P, E>,
    carry: (admitted: Admitted<R, P, E>) => Effect.Effect<A, Failure>,
    again: (answer: K) => B
  ) => Effect.Effect<A | B, Failure>
  /** Answers a request that cannot be planned from what stands under its idempotency key, or fails as planning did. */
  readonly unplanned: <K extends PaidAnswer, B>(
    request: PaidRequest,
    failed: Failure,
    again: (answer: K) => B
  ) => Effect.Effect<B, Failure>
}

/** When its scope closes, running requests have their time to finish. */
export const makePaidFlow = (
  options: PaidFlowOptions
): Effect.Effect<PaidFlow, never, Auth | Ledger | Requests | Scope.Scope> =>
  Effect.gen(function* () {
    const requests = yield* Requests
    const metered: MeteredOptions = {
      ledger: yield* Ledger,
      auth: yield* Auth,
      holdTtlMs: Duration.toMillis(options.holdTtl),
      chargeTtlMs: Duration.toMillis(options.chargeTtl ?? options.holdTtl),
      metrics: yield* Metrics
    }
    const renewals = yield* makeRenewals(metered)
    const fibers = yield* makeOwnFibers
    const stopped = yield* Deferred.make<void>()
    yield* Effect.addFinalizer(() =>
      Effect.andThen(Effect.timeoutOption(fibers.empty, options.shutdownGrace), Deferred.succeed(stopped, undefined))
    )

    const hangUp: PaidFlow["hangUp"] = (fiber, running) => {
      const giveUp = () => fiber.interruptUnsafe()
      running.giveUp = giveUp
      const wait = running.stopsBillingOnAbort ? Effect.void : Effect.timeoutOption(Fiber.await(fiber), options.drain)
      return Effect.asVoid(fibers.run(Effect.andThen(wait, Fiber.interrupt(fiber))))
    }

    const carried = <R extends PaidRequest, P extends Price, E extends Bounds, A>(
      admitted: Admitted<R, P, E>,
      carry: (admitted: Admitted<R, P, E>) => Effect.Effect<A, Failure>
    ): Effect.Effect<A, Failure> => {
      const { watch } = admitted.request
      watch?.opened()
      const renewed = admitted.request.charge ? undefined : renewals.add(admitted)
      return Effect.onExit(
        Effect.suspend(() => carry(admitted)),
        (exit) => {
          if (renewed !== undefined) renewals.drop(renewed)
          metered.metrics.ledger.closed()
          watch?.ended()
          return Exit.isFailure(exit) && Cause.hasDies(exit.cause) ? abandon(metered, admitted) : Effect.void
        }
      )
    }

    const enter: PaidFlow["enter"] = (ready, carry, again) =>
      Effect.flatMap(admit(metered, ready.request, ready.plan, ready.estimate), (admitted) =>
        "claimedBy" in admitted
          ? Effect.flatMap(
              Effect.interruptible(replay<Parameters<typeof again>[0]>(requests, ready.request, admitted.claimedBy)),
              (answer) => (answer === undefined ? enter(ready, carry, again) : Effect.succeed(again(answer)))
            )
          : carried(admitted, carry)
      )

    return {
      metered,
      run: fibers.run,
      stopped: Deferred.await(stopped),
      hangUp,
      attended: (work, running) => fibers.join(work, (fiber) => hangUp(fiber, running)),
      finished: (work) => fibers.join(work, () => Effect.void),
      enter,
      unplanned: (request, failed, again) =>
        Effect.map(
          Effect.interruptible(replayUnplanned<Parameters<typeof again>[0]>(requests, metered.auth, request, failed)),
          again
        )
    }
  })

/** Content is kept only where the caller's data policy lets it be. */
export const keepsNothing = ({ plan }: Pick<Admitted, "plan">): boolean => plan.policy.dataPolicy === "zero_retention"

/** What a repeat of a final refusal is answered with; it may quote what it refuses. */
export const keptRefusal = (admitted: Pick<Admitted, "plan">, error: Reason | undefined): object | null =>
  error === undefined || keepsNothing(admitted) ? null : keepRefusal(error)

/** The failure of a request nobody served. What providers said goes to the log alone, and nowhere where nothing may be kept. */
export const failureOfPool = (admitted: Pick<Admitted, "plan">, error: PoolError): Failure =>
  keepsNothing(admitted) ? failure(error.reason) : failure(error.reason, error.failures)

/** The last attempt gave nothing that could be given out, or a part, and failed then. */
export const brokenOff = (attempts: ReadonlyArray<Attempt>): ReadonlyArray<Attempt> =>
  attempts.map((attempt) => (attempt.outcome === "served" ? { ...attempt, outcome: "failed" } : attempt))

/** What is known of a request nobody served. */
export const unserved = (
  exit: Exit.Failure<unknown, PoolError>,
  { attempts = [] }: Running
): { outcome: Nothing; failures: Carried["attempts"] } => {
  const error = exit.cause.reasons.find(Cause.isFailReason)?.error
  if (error !== undefined) return { outcome: { _tag: "Nothing", error: error.reason }, failures: error.attempts }
  const bug = exit.cause.reasons.some(Cause.isDieReason)
  return { outcome: { _tag: "Nothing", error: bug ? { _tag: "InternalError" } : undefined }, failures: attempts }
}
