import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  isShort,
  type MemoryReservation,
  ReservableMemory,
  reservedBytes
} from "../../../src/providers/pool/AnswerMemory.ts"

const MEBIBYTE = 1_048_576

/** An answer that reserves this many mebibytes. */
const ask = (accountId: string, mebibytes: number, waitMs = 1_000) => ({
  accountId,
  maxBodyBytes: mebibytes * 4 * MEBIBYTE,
  waitMs
})

/** Takes memory in its own scope. */
const taking = (memory: ReservableMemory, asked: ReturnType<typeof ask>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const fiber = yield* Effect.forkChild(Scope.provide(memory.take(asked), scope), { startImmediately: true })
    const leave = Scope.close(scope, Exit.void)
    return { fiber, leave, waits: () => fiber.pollUnsafe() === undefined }
  })

describe("the memory for long answers", () => {
  it.effect("is reserved in order, up to a limit per answer, and released", () =>
    Effect.gen(function* () {
      const memory = new ReservableMemory({ mebibytes: 100, shareMebibytes: 100 })
      const first = yield* taking(memory, ask("a", 10_000))
      assert.deepStrictEqual([first.waits(), memory.free], [false, 36])
      const second = yield* taking(memory, ask("b", 60))
      const third = yield* taking(memory, ask("c", 1))
      assert.deepStrictEqual([second.waits(), third.waits()], [true, true])
      yield* first.leave
      assert.deepStrictEqual([second.waits(), third.waits(), memory.free], [false, false, 39])
      yield* Effect.andThen(second.leave, third.leave)
      assert.strictEqual(memory.free, 100)
    })
  )

  it.effect("makes an account at its share wait only for its own reservations", () =>
    Effect.gen(function* () {
      const memory = new ReservableMemory({ mebibytes: 100, shareMebibytes: 25 })
      const own = yield* taking(memory, ask("a", 20))
      const more = yield* taking(memory, ask("a", 20))
      const other = yield* taking(memory, ask("b", 20))
      assert.deepStrictEqual([own.waits(), more.waits(), other.waits(), memory.free], [false, true, false, 60])
      yield* own.leave
      assert.isFalse(more.waits())
    })
  )

  it.effect("fails as overloaded after the wait limit", () =>
    Effect.gen(function* () {
      const memory = new ReservableMemory({ mebibytes: 10, shareMebibytes: 10 })
      const first = yield* taking(memory, ask("a", 10))
      const late = yield* taking(memory, ask("b", 10, 5_000))
      yield* TestClock.adjust(4_999)
      assert.isTrue(late.waits())
      yield* TestClock.adjust(1)
      assert.deepStrictEqual((yield* Effect.flip(Fiber.join(late.fiber))).reason, { _tag: "Overloaded" })
      yield* late.leave
      yield* first.leave
      assert.strictEqual(memory.free, 10)
    })
  )

  it.effect("is released after an interruption, and granted to the next", () =>
    Effect.gen(function* () {
      const memory = new ReservableMemory({ mebibytes: 10, shareMebibytes: 10 })
      const first = yield* taking(memory, ask("a", 5))
      const large = yield* taking(memory, ask("b", 10))
      const small = yield* taking(memory, ask("c", 5))
      assert.isTrue(small.waits())
      yield* Fiber.interrupt(large.fiber)
      yield* large.leave
      assert.isFalse(small.waits())
      yield* Effect.andThen(first.leave, small.leave)
      assert.strictEqual(memory.free, 10)
    })
  )

  it.effect("is kept until the last holder releases it, each once", () =>
    Effect.gen(function* () {
      const memory = new ReservableMemory({ mebibytes: 10, shareMebibytes: 10 })
      const { fiber, leave } = yield* taking(memory, ask("a", 10))
      const reservation: MemoryReservation = yield* Fiber.join(fiber)
      const letGo = [reservation.hold(), reservation.hold()] as const
      yield* leave
      letGo[0]()
      letGo[0]()
      assert.strictEqual(memory.free, 0)
      letGo[1]()
      assert.strictEqual(memory.free, 10)
    })
  )

  it("is not reserved for short answers, and is a quarter of a long one's maximum", () => {
    assert.deepStrictEqual([MEBIBYTE, 4 * MEBIBYTE, 4 * MEBIBYTE + 1].map(isShort), [true, true, false])
    assert.deepStrictEqual([8 * MEBIBYTE, 1_000 * MEBIBYTE].map(reservedBytes), [2 * MEBIBYTE, 64 * MEBIBYTE])
  })
})
