import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { ArrivingList } from "../../../src/providers/wire/ArrivingList.ts"
import { ProviderError } from "../../../src/providers/ProviderError.ts"

const piece = (text: string) => [Buffer.from(text)]

const textOf = (pieces: ReadonlyArray<Uint8Array> | undefined) =>
  pieces === undefined ? undefined : Buffer.concat(pieces).toString()

it.effect("ArrivingList joins the pieces that have arrived, wakes a waiting reader, and reports its end", () =>
  Effect.gen(function* () {
    const arriving = new ArrivingList(piece("a"), 10)
    arriving.push(piece("b"))
    assert.strictEqual(textOf(yield* arriving.next), "ab")
    const waiting = yield* Effect.forkChild(arriving.next, { startImmediately: true })
    arriving.push([])
    assert.isUndefined(waiting.pollUnsafe())
    arriving.push(piece("c"))
    assert.strictEqual(textOf(yield* Fiber.join(waiting)), "c")
    const last = yield* Effect.forkChild(arriving.next, { startImmediately: true })
    arriving.end(Exit.succeed(7))
    assert.isUndefined(yield* Fiber.join(last))
    assert.deepStrictEqual([yield* arriving.next, yield* arriving.whole], [undefined, 7])
  })
)

it.effect("ArrivingList delivers the pieces before a failure, and then reports the failure", () =>
  Effect.gen(function* () {
    const arriving = new ArrivingList(piece("a"), 10)
    const fault = new ProviderError({ provider: "p", fault: { _tag: "Broken", detail: "ECONNRESET" } })
    arriving.end(Exit.fail(fault))
    assert.strictEqual(textOf(yield* arriving.next), "a")
    assert.isUndefined(yield* arriving.next)
    assert.strictEqual(yield* Effect.flip(arriving.whole), fault)
  })
)

it.effect("ArrivingList makes its writer wait while too much is unread", () =>
  Effect.gen(function* () {
    const arriving = new ArrivingList([Buffer.alloc(200_000), Buffer.alloc(200_000), Buffer.alloc(200_000)], 300_000)
    const writer = yield* Effect.forkChild(arriving.taken, { startImmediately: true })
    assert.isUndefined(writer.pollUnsafe())
    assert.lengthOf((yield* arriving.next) ?? [], 2)
    yield* Fiber.join(writer)
    yield* arriving.taken
    assert.lengthOf((yield* arriving.next) ?? [], 1)
  })
)

it.effect("ArrivingList buffers nothing after its reader has left, and still ends", () =>
  Effect.gen(function* () {
    const arriving = new ArrivingList([Buffer.alloc(11)], 10)
    const writer = yield* Effect.forkChild(arriving.taken, { startImmediately: true })
    arriving.leave()
    yield* Fiber.join(writer)
    arriving.push([Buffer.alloc(11)])
    yield* arriving.taken
    assert.isTrue(Exit.hasInterrupts(yield* Effect.exit(arriving.next)))
    arriving.end(Exit.succeed(7))
    assert.strictEqual(yield* arriving.whole, 7)
  })
)
