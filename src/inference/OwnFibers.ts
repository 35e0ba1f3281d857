import { Effect, Fiber, type Scope } from "effect"
import { Roster } from "../platform/Roster.ts"

/** Fibers that belong to the service, not to the request that started them: they go on when its caller has gone. */
export interface OwnFibers {
  /** Starts at once; when the service has ended, the fiber is interrupted at its first step. */
  readonly run: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<Fiber.Fiber<A, E>>
  /** Waits until none is left. */
  readonly empty: Effect.Effect<void>
}

/** Those that are left when the scope closes are interrupted. */
export const makeOwnFibers: Effect.Effect<OwnFibers, never, Scope.Scope> = Effect.gen(function* () {
  const fibers = new Roster<Fiber.Fiber<unknown, unknown>>()
  let closed = false
  yield* Effect.addFinalizer(() => {
    closed = true
    return Fiber.interruptAll(fibers.members)
  })
  return {
    run: (work) =>
      Effect.withFiberSucceed((caller) => {
        const fiber = Effect.runForkWith(caller.context)(closed ? Effect.interrupt : work)
        const place = fibers.join(fiber)
        fiber.addObserver(() => fibers.leave(place))
        return fiber
      }),
    empty: Effect.whileLoop({
      while: () => fibers.size > 0,
      body: () => Fiber.awaitAll(fibers.members),
      step: () => {}
    })
  }
})
