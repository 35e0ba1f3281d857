import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { Auth } from "../../src/auth/Auth.ts"
import { type ActiveCall, followedBy, makePaidFlow } from "../../src/inference/PaidFlow.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { Requests } from "../../src/usage/Requests.ts"

/** Fibers need no store before a request is admitted. */
const stores = Layer.mergeAll(
  Layer.succeed(Ledger, {} as Ledger["Service"]),
  Layer.succeed(Auth, {} as Auth["Service"]),
  Layer.succeed(Requests, {} as Requests["Service"])
)

const flow = Effect.provide(
  makePaidFlow({
    holdTtl: Duration.minutes(5),
    drain: Duration.minutes(1),
    shutdownGrace: Duration.millis(1)
  }),
  stores
)

/** Work that ends when `end` is completed, and reports how it ended. */
const makeWork = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const end = yield* Deferred.make<string>()
  const exit = yield* Deferred.make<Exit.Exit<string>>()
  const work = Effect.onExit(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end)), (how) =>
    Deferred.succeed(exit, how)
  )
  return { begun, end, exit, work }
})

describe("the flow of a paid request", () => {
  it.effect("stops work at once when the client disconnects and an abort stops billing", () =>
    Effect.gen(function* () {
      const { attended } = yield* flow
      const { begun, exit, work } = yield* makeWork
      const client = yield* Effect.forkChild(attended(work, { stopsBillingOnAbort: true }))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(client)
      assert.isTrue(Exit.hasInterrupts(yield* Deferred.await(exit)))
    })
  )

  it.effect("reads on after a disconnect when an abort would not stop billing, until another attempt begins", () =>
    Effect.gen(function* () {
      const { attended } = yield* flow
      const [first, second] = [yield* makeWork, yield* makeWork]
      const running: ActiveCall = { stopsBillingOnAbort: false }
      for (const { begun, work } of [first, second]) {
        const client = yield* Effect.forkChild(attended(work, running))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(client)
      }
      yield* Deferred.succeed(first.end, "whole")
      assert.deepStrictEqual(yield* Deferred.await(first.exit), Exit.succeed("whole"))
      followedBy(running).onAttempt({ provider: "p", stopsBillingOnAbort: true, beginsAlone: true })
      assert.isTrue(Exit.hasInterrupts(yield* Deferred.await(second.exit)))
    })
  )

  it.effect("finishes work that was charged up front, even when the client disconnects", () =>
    Effect.gen(function* () {
      const { finished } = yield* flow
      const { begun, end, exit, work } = yield* makeWork
      const client = yield* Effect.forkChild(finished(work))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(client)
      yield* Deferred.succeed(end, "whole")
      assert.deepStrictEqual(yield* Deferred.await(exit), Exit.succeed("whole"))
    })
  )
})
