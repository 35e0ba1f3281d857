/** The common path of all paid requests, whatever their kind. */
import { Cause, Deferred, Duration, Effect, Exit, Fiber, Option, type Scope } from "effect"
import type { Principal } from "../../schemas/Access.ts"
import { Auth } from "../auth/Auth.ts"
import type { Failure } from "../domain/Failure.ts"
import type { Attempt, Plan } from "../domain/Plan.ts"
import type { Price } from "../domain/Pricing.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import type { AnyPoolCall } from "../providers/pool/CallKind.ts"
import { ProviderSpend } from "../usage/ProviderSpend.ts"
import { Requests } from "../usage/Requests.ts"
import type { PaidAnswer } from "../domain/Answer.ts"
import { abandon } from "./Ending.ts"
import { admit, type AdmittedRequest, type AdmissionOptions } from "./Admission.ts"
import type { Bounds } from "../domain/Estimate.ts"
import { makeOwnFibers, type OwnFibers } from "./OwnFibers.ts"
import { makeRenewals } from "./Renewals.ts"
import { replay, replayUnplanned } from "./Replay.ts"
import type { PaidRequest } from "./Request.ts"

export interface PaidFlowOptions {
  readonly holdTtl: Duration.Duration
  /** How long an up-front charge may stay open before it is refunded. Absent: as long as a hold. */
  readonly chargeTtl?: Duration.Duration
  /** How long an answer is read on after the client disconnected, when stopping the provider does not stop the bill. */
  readonly drain: Duration.Duration
  /** How long running requests may take to finish when the service stops. */
  readonly shutdownGrace: Duration.Duration
}

/** Whether stopping the current attempt stops its bill; true while no attempt runs. */
export interface ActiveCall {
  stopsBillingOnAbort: boolean
  /** Set once the client has disconnected. The running attempt may finish, but no further one starts. */
  giveUp?: () => void
  /** Stops the provider's call before its next step. Undefined while none runs. */
  stop?: (() => void) | undefined
  /** Set once no client waits for an answer any more: the attempts made until then. */
  attempts?: ReadonlyArray<Attempt>
}

/** The call's callbacks that update its `ActiveCall`. */
export const followedBy = (running: ActiveCall): Required<Pick<AnyPoolCall<Price>, "onAttempt" | "onLeft">> => ({
  onAttempt: ({ beginsAlone, stopsBillingOnAbort }) => {
    running.stopsBillingOnAbort = stopsBillingOnAbort
    if (beginsAlone) running.giveUp?.()
  },
  onLeft: (attempts) => {
    running.attempts = attempts
  }
})

/** A request with its plan and the bounds of its hold. */
export interface PlannedRequest<R extends PaidRequest, P extends Price, E extends Bounds> {
  readonly request: R
  readonly plan: Plan<P>
  readonly estimate: E
}

/** The path of paid requests. All of their work runs in fibers of the service. */
export interface PaidFlow {
  readonly metered: AdmissionOptions
  readonly run: OwnFibers["run"]
  /** Waits until the service is stopping and running requests have had their time to finish. */
  readonly stopped: Effect.Effect<void>
  /** Stops a request in the background when its client has disconnected. */
  readonly hangUp: (fiber: Fiber.Fiber<unknown, unknown>, running: ActiveCall) => Effect.Effect<void>
  /** Runs work for which the client waits. When the client disconnects, the work stops. */
  readonly attended: <A>(work: Effect.Effect<A, Failure>, running: ActiveCall) => Effect.Effect<A, Failure>
  /** Runs work that continues to its end, and is paid for, whether or not the client waits for it. */
  readonly finished: <A>(work: Effect.Effect<A, Failure>) => Effect.Effect<A, Failure>
  /**
   * Takes the hold or the charge and continues with `carry`, or answers with what is stored under the idempotency key. It must be
   * called in an uninterruptible region: between the hold and its close only the provider's call may be interrupted, which `carry`
   * takes care of. All answers stored under an idempotency key of one method and path are of kind `K`. When the account's prices have
   * changed since the plan, nothing is held and `anew` plans and enters again for the caller with the current prices.
   */
  readonly enter: <R extends PaidRequest, P extends Price, E extends Bounds, A, K extends PaidAnswer, B>(
    ready: PlannedRequest<R, P, E>,
    carry: (admitted: AdmittedRequest<R, P, E>) => Effect.Effect<A, Failure>,
    again: (answer: K) => B,
    anew: (principal: Principal) => Effect.Effect<A | B, Failure>
  ) => Effect.Effect<A | B, Failure>
  /** Answers a request that cannot be planned with what is stored under its idempotency key, or fails with the planning error. */
  readonly unplanned: <K extends PaidAnswer, B>(
    request: PaidRequest,
    failed: Failure,
    again: (answer: K) => B
  ) => Effect.Effect<B, Failure>
}

/** When its scope closes, running requests get their time to finish. */
export const makePaidFlow = (
  options: PaidFlowOptions
): Effect.Effect<PaidFlow, never, Auth | Ledger | Requests | Scope.Scope> =>
  Effect.gen(function* () {
    const requests = yield* Requests
    const metered: AdmissionOptions = {
      ledger: yield* Ledger,
      auth: yield* Auth,
      holdTtlMs: Duration.toMillis(options.holdTtl),
      chargeTtlMs: Duration.toMillis(options.chargeTtl ?? options.holdTtl),
      metrics: yield* Metrics,
      // Absent in tests of the flow alone.
      spend: Option.getOrUndefined(yield* Effect.serviceOption(ProviderSpend))
    }
    const renewals = yield* makeRenewals(metered)
    const fibers = yield* makeOwnFibers
    const stopped = yield* Deferred.make<void>()
    yield* Effect.addFinalizer(() =>
      Effect.andThen(Effect.timeoutOption(fibers.empty, options.shutdownGrace), Deferred.succeed(stopped, undefined))
    )

    const hangUp: PaidFlow["hangUp"] = (fiber, running) => {
      const giveUp = () => (running.stop === undefined ? fiber.interruptUnsafe() : running.stop())
      running.giveUp = giveUp
      const wait = running.stopsBillingOnAbort ? Effect.void : Effect.timeoutOption(Fiber.await(fiber), options.drain)
      return Effect.asVoid(fibers.run(Effect.andThen(wait, Fiber.interrupt(fiber))))
    }

    const carried = <R extends PaidRequest, P extends Price, E extends Bounds, A>(
      admitted: AdmittedRequest<R, P, E>,
      carry: (admitted: AdmittedRequest<R, P, E>) => Effect.Effect<A, Failure>
    ): Effect.Effect<A, Failure> => {
      const { watch } = admitted.request
      watch?.opened()
      const renewed = admitted.request.charge ? undefined : renewals.add(admitted)
      return Effect.onExit(
        Effect.suspend(() => carry(admitted)),
        (exit) => {
          if (renewed !== undefined) renewals.drop(renewed)
          admitted.reservation?.end()
          metered.metrics.ledger.closed()
          watch?.ended()
          return Exit.isFailure(exit) && Cause.hasDies(exit.cause) ? abandon(metered, admitted) : Effect.void
        }
      )
    }

    const enter: PaidFlow["enter"] = (ready, carry, again, anew) =>
      Effect.flatMap(admit(metered, ready.request, ready.plan, ready.estimate), (admitted) => {
        if ("_tag" in admitted) return anew(admitted.principal)
        if (!("claimedBy" in admitted)) return carried(admitted, carry)
        return Effect.flatMap(
          Effect.interruptible(replay<Parameters<typeof again>[0]>(requests, ready.request, admitted.claimedBy)),
          (answer) => (answer === undefined ? enter(ready, carry, again, anew) : Effect.succeed(again(answer)))
        )
      })

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
