import { type Context, Effect, Exit, Fiber } from "effect"
import { PoolError } from "../providers/pool/PoolError.ts"
import type { AdmittedRequest } from "./Admission.ts"
import type { ActiveCall } from "./PaidFlow.ts"

/**
 * Runs the provider's call until the call ends or its hold does, because no account would pay for what comes after that. Calls no
 * provider when the hold is over before the call begins: a process that was suspended may read the answer to its hold too late. The
 * call has a fiber of its own, which a lapse interrupts; a race would cost two.
 */
export const whileHeld = <A, E, R>(
  admitted: AdmittedRequest,
  running: ActiveCall,
  call: Effect.Effect<A, E, R>
): Effect.Effect<Exit.Exit<A, E | PoolError>, never, R> => {
  const expired = () =>
    Exit.fail(new PoolError({ reason: { _tag: "HoldExpired" }, attempts: running.attempts ?? [], failures: [] }))
  return Effect.withFiber((caller: Fiber.Fiber<unknown, unknown>) => {
    if (performance.now() > admitted.heldUntil) return Effect.succeed(expired())
    let isOver = false
    // It knows its fiber before it begins, because it runs at once until it first waits.
    const stoppable = Effect.withFiber<A, E, R>((self) => {
      const stop = () => self.interruptUnsafe()
      const lapse = () => {
        isOver = true
        stop()
      }
      running.stop = stop
      admitted.lapse = lapse
      return call
    })
    const called = Effect.callback<A, E>((resume) => {
      const fiber = Effect.runForkWith(caller.context as Context.Context<R>)(stoppable)
      fiber.addObserver(resume)
      return Fiber.interrupt(fiber)
    })
    return Effect.map(Effect.exit(Effect.interruptible(called)), (exit) => {
      admitted.lapse = undefined
      running.stop = undefined
      return Exit.isSuccess(exit) || !isOver ? exit : expired()
    })
  })
}
