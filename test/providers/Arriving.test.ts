import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { Arriving } from "../../src/providers/Arriving.ts"
import { ProviderError } from "../../src/providers/Provider.ts"

const piece = (text: string) => [Buffer.from(text)]

const textOf = (pieces: ReadonlyArray<Uint8Array> | undefined) =>
  pieces === undefined ? undefined : Buffer.concat(pieces).toString()

it.effect("gives what has come together, wakes a reader who waits, and tells of its end", () =>
  Effect.gen(function* () {
    const arriving = new Arriving(piece("a"))
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

it.effect("gives what came before it broke, and says why it did", () =>
  Effect.gen(function* () {
    const arriving = new Arriving(piece("a"))
    const fault = new ProviderError({ provider: "p", fault: { _tag: "Broken", detail: "ECONNRESET" } })
    arriving.end(Exit.fail(fault))
    assert.strictEqual(textOf(yield* arriving.next), "a")
    assert.isUndefined(yield* arriving.next)
    assert.strictEqual(yield* Effect.flip(arriving.whole), fault)
  })
)
