import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { makeOwnFibers } from "../../src/inference/OwnFibers.ts"

describe("fibers of the service", () => {
  it.effect("continue when the fiber that started them has ended", () =>
    Effect.gen(function* () {
      const fibers = yield* makeOwnFibers
      const gate = yield* Deferred.make<void>()
      const caller = yield* Effect.forkChild(fibers.run(Effect.as(Deferred.await(gate), "done")))
      const own = yield* Fiber.join(caller)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(own), "done")
      yield* fibers.empty
    }).pipe(Effect.scoped)
  )

  it.effect("return their result to a waiting fiber, and continue when it is interrupted", () =>
    Effect.gen(function* () {
      const fibers = yield* makeOwnFibers
      const gate = yield* Deferred.make<string>()
      const none = () => Effect.die("no caller was interrupted")
      assert.strictEqual(yield* fibers.join(Effect.succeed("at once"), none), "at once")
      assert.strictEqual(yield* Effect.flip(fibers.join(Effect.fail("refused"), none)), "refused")
      const left = yield* Deferred.make<Fiber.Fiber<string>>()
      const joined = fibers.join(Deferred.await(gate), (fiber) => Effect.asVoid(Deferred.succeed(left, fiber)))
      const caller = yield* Effect.forkChild(joined, { startImmediately: true })
      yield* Fiber.interrupt(caller)
      yield* Deferred.succeed(gate, "done")
      assert.strictEqual(yield* Fiber.join(yield* Deferred.await(left)), "done")
      yield* fibers.empty
    }).pipe(Effect.scoped)
  )

  it.effect("are awaited until none is left, including those started meanwhile", () =>
    Effect.gen(function* () {
      const fibers = yield* makeOwnFibers
      const [first, second] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* fibers.run(Effect.andThen(Deferred.await(first), fibers.run(Deferred.await(second))))
      const empty = yield* Effect.forkChild(fibers.empty, { startImmediately: true })
      yield* Deferred.succeed(first, undefined)
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.isUndefined(empty.pollUnsafe())
      yield* Deferred.succeed(second, undefined)
      yield* Fiber.join(empty)
    }).pipe(Effect.scoped)
  )

  it.effect("are interrupted when the service ends, and no later one starts", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const fibers = yield* Scope.provide(makeOwnFibers, scope)
      const running = yield* fibers.run(Effect.never)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(running)))
      let started = false
      const late = yield* fibers.run(Effect.sync(() => (started = true)))
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(late)))
      assert.isFalse(started)
    })
  )
})
