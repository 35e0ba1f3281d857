import { type Context, Effect, Fiber, type Scope } from "effect"
import { ActiveSet } from "../platform/ActiveSet.ts"

/** Fibers that belong to the service, not to the request that started them. They continue when the client disconnects. */
export interface OwnFibers {
  /** Starts a fiber at once. When the service has ended, the fiber is interrupted at its first step. */
  readonly run: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<Fiber.Fiber<A, E>>
  /**
   * Starts a fiber and waits for its result. If the waiting fiber is interrupted, `left` receives the started fiber, which continues.
   */
  readonly join: <A, E>(
    work: Effect.Effect<A, E>,
    left: (fiber: Fiber.Fiber<A, E>) => Effect.Effect<void>
  ) => Effect.Effect<A, E>
  /** Waits until no fiber is left. */
  readonly empty: Effect.Effect<void>
}

/** Closing the scope interrupts the fibers that are left. */
export const makeOwnFibers: Effect.Effect<OwnFibers, never, Scope.Scope> = Effect.gen(function* () {
  const fibers = new ActiveSet<Fiber.Fiber<unknown, unknown>>()
  let closed = false
  yield* Effect.addFinalizer(() => {
    closed = true
    return Fiber.interruptAll(fibers.members)
  })
  const start = <A, E>(work: Effect.Effect<A, E>, context: Context.Context<never>): Fiber.Fiber<A, E> => {
    const fiber = Effect.runForkWith(context)(closed ? Effect.interrupt : work)
    const entry = fibers.add(fiber)
    fiber.addObserver(() => fibers.remove(entry))
    return fiber
  }
  return {
    run: (work) => Effect.withFiberSucceed((caller) => start(work, caller.context)),
    join: <A, E>(work: Effect.Effect<A, E>, left: (fiber: Fiber.Fiber<A, E>) => Effect.Effect<void>) =>
      Effect.withFiber<A, E>((caller) =>
        Effect.callback<A, E>((resume) => {
          const fiber = start(work, caller.context)
          fiber.addObserver(resume)
          return Effect.suspend(() => left(fiber))
        })
      ),
    empty: Effect.whileLoop({
      while: () => fibers.size > 0,
      body: () => Fiber.awaitAll(fibers.members),
      step: () => {}
    })
  }
})
