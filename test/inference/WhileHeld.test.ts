import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import type { AdmittedRequest } from "../../src/inference/Admission.ts"
import { whileHeld } from "../../src/inference/WhileHeld.ts"
import type { PoolError } from "../../src/providers/pool/PoolError.ts"

const running = { stopsBillingOnAbort: true }

const admitted = (leftMs: number) => ({ heldUntil: performance.now() + leftMs, lapse: undefined }) as AdmittedRequest

const reasonOf = (exit: Exit.Exit<unknown, PoolError>) =>
  Exit.isFailure(exit) ? exit.cause.reasons.map((one) => (one._tag === "Fail" ? one.error.reason : one._tag)) : []

/** Much longer than any of these tests takes. */
const options = { timeout: 10_000 }

describe("a provider call under a hold", () => {
  it.live(
    "is not made after the hold has expired",
    () =>
      Effect.gen(function* () {
        let calls = 0
        const exit = yield* whileHeld(
          admitted(-1),
          running,
          Effect.sync(() => void calls++)
        )
        assert.deepStrictEqual([reasonOf(exit), calls], [[{ _tag: "HoldExpired" }], 0])
      }),
    options
  )

  it.live(
    "is cancelled when the hold lapses, and its caller continues",
    () =>
      Effect.gen(function* () {
        const one = admitted(60_000)
        const begun = yield* Deferred.make<void>()
        const stopped = yield* Deferred.make<void>()
        const call = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
        )
        const fiber = yield* Effect.forkChild(Effect.uninterruptible(whileHeld(one, running, call)))
        yield* Deferred.await(begun)
        one.lapse?.()
        yield* Deferred.await(stopped)
        assert.deepStrictEqual(reasonOf(yield* Fiber.join(fiber)), [{ _tag: "HoldExpired" }])
        assert.isUndefined(one.lapse)
      }),
    options
  )

  it.live(
    "ends with its caller, as interrupted",
    () =>
      Effect.gen(function* () {
        const begun = yield* Deferred.make<void>()
        const call = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
        let exit: Exit.Exit<unknown, PoolError> | undefined
        const ended = Effect.map(whileHeld(admitted(60_000), running, call), (one) => (exit = one))
        const fiber = yield* Effect.forkChild(Effect.uninterruptible(ended))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(exit === undefined ? [] : reasonOf(exit), ["Interrupt"])
      }),
    options
  )

  it.live(
    "returns the provider's answer",
    () =>
      Effect.gen(function* () {
        const exit = yield* whileHeld(admitted(60_000), running, Effect.succeed("whole"))
        assert.deepStrictEqual(exit, Exit.succeed("whole"))
      }),
    options
  )
})
