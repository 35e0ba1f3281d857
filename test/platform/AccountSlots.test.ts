import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { makeAccountSlots } from "../../src/platform/AccountSlots.ts"

describe("account slots", () => {
  it.effect("are granted at once or refused, and no account gets all of them", () =>
    Effect.gen(function* () {
      const slots = makeAccountSlots({ slots: 3, perAccount: 2 })
      const end = yield* Deferred.make<void>()
      const one = (account: string) =>
        slots.within(account, Effect.as(Deferred.await(end), "done"), Effect.succeed("none"))
      const now = (account: string) => slots.within(account, Effect.succeed("done"), Effect.succeed("none"))
      const held = yield* Effect.forEach(["a", "a"], (account) =>
        Effect.forkChild(one(account), { startImmediately: true })
      )
      assert.strictEqual(yield* now("a"), "none")
      assert.strictEqual(yield* now("b"), "done")
      const other = yield* Effect.forkChild(one("b"), { startImmediately: true })
      assert.strictEqual(yield* now("c"), "none")
      yield* Fiber.interrupt(other)
      assert.strictEqual(yield* now("c"), "done")
      yield* Deferred.succeed(end, undefined)
      assert.deepStrictEqual(yield* Fiber.joinAll(held), ["done", "done"])
      assert.strictEqual(yield* now("a"), "done")
    })
  )

  it.effect("are freed after work that fails", () =>
    Effect.gen(function* () {
      const slots = makeAccountSlots({ slots: 1, perAccount: 1 })
      yield* Effect.exit(slots.within("a", Effect.fail("broken"), Effect.fail("full")))
      assert.strictEqual(yield* Effect.flip(slots.within("a", Effect.fail("broken"), Effect.fail("full"))), "broken")
    })
  )
})
