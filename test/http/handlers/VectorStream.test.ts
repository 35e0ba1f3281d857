import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { get, type IncomingMessage } from "node:http"
import { type Failure, failure } from "../../../src/domain/Failure.ts"
import { pace, VectorStream } from "../../../src/http/handlers/VectorStream.ts"
import { ArrivingList } from "../../../src/providers/wire/ArrivingList.ts"
import { upstream } from "../../providers/upstream.ts"

/** A server that answers with a list in the making, and a client that has its head. */
const scene = Effect.gen(function* () {
  const arriving = new ArrivingList([Buffer.from("[1")], 1_000_000)
  const settled = Deferred.makeUnsafe<string, Failure>()
  const failures: Array<Failure> = []
  const ends: Array<string> = []
  const body = new VectorStream({
    before: `{"data":`,
    arriving,
    after: Deferred.await(settled),
    onError: (failed) => failures.push(failed),
    over: () => ends.push("over")
  })
  const run = Effect.runForkWith(yield* Effect.context())
  const written: Array<Fiber.Fiber<void>> = []
  const { origin } = yield* upstream((_, response) => {
    written.push(run(body.writeTo(response, 200, { "content-type": "application/json" })))
  })
  const response = yield* Effect.callback<IncomingMessage>((resume) => {
    get(origin, (head) => resume(Effect.succeed(head)))
  })
  const text = Effect.tryPromise(async () => {
    const pieces: Array<Uint8Array> = []
    for await (const piece of response) pieces.push(piece)
    return Buffer.concat(pieces).toString()
  })
  return { arriving, settled, failures, ends, response, text, written: written[0] ?? assert.fail("nothing is written") }
})

describe("a list of vectors that is still arriving", () => {
  it.live("is written as it arrives, and ends when the request is settled", () =>
    Effect.gen(function* () {
      const { arriving, ends, response, settled, text, written } = yield* scene
      assert.strictEqual(response.headers["content-type"], "application/json")
      arriving.push([Buffer.from(",2"), Buffer.from(",3")])
      arriving.push([Buffer.from("]")])
      arriving.end(Exit.succeed(3))
      assert.isUndefined(written.pollUnsafe())
      Deferred.doneUnsafe(settled, Exit.succeed("}"))
      assert.strictEqual(yield* text, `{"data":[1,2,3]}`)
      yield* Fiber.join(written)
      assert.deepStrictEqual(ends, ["over"])
    }).pipe(Effect.scoped)
  )

  it.live("waits for a slow client and delivers everything", () =>
    Effect.gen(function* () {
      const { arriving, settled, text } = yield* scene
      const pieces = Array.from({ length: 200 }, () => Buffer.alloc(65_536, ",1"))
      arriving.push(pieces)
      arriving.end(Exit.succeed(3))
      Deferred.doneUnsafe(settled, Exit.succeed("]}"))
      assert.lengthOf(yield* text, `{"data":[1]}`.length + 200 * 65_536)
    }).pipe(Effect.scoped)
  )

  it.live("is cut off when the request fails, which is reported", () =>
    Effect.gen(function* () {
      const { arriving, failures, settled, text } = yield* scene
      const broken = failure({ _tag: "UpstreamError", detail: "broke off" })
      arriving.end(Exit.succeed(undefined))
      Deferred.doneUnsafe(settled, Exit.fail(broken))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(text)))
      assert.deepStrictEqual(failures, [broken])
    }).pipe(Effect.scoped)
  )

  it.effect("is cut off when a client is too slow", () =>
    Effect.gen(function* () {
      const { arriving, ends, settled, response, text, written } = yield* scene
      const pieces = 800
      arriving.push(Array.from({ length: pieces }, () => Buffer.alloc(65_536, ",1")))
      arriving.end(Exit.succeed(3))
      Deferred.doneUnsafe(settled, Exit.succeed("]}"))
      // More than the system keeps for a client that reads nothing, written by the wall clock.
      const slowest = pace.graceMs + ((pieces * 65_536) / pace.bytesPerSecond) * 1_000
      while (written.pollUnsafe() === undefined) {
        yield* Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
        yield* TestClock.adjust(slowest / 20)
      }
      assert.deepStrictEqual(ends, ["over"])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(text)))
      assert.isTrue(response.destroyed)
    }).pipe(Effect.scoped)
  )

  it.live("is cut off when its writer is interrupted", () =>
    Effect.gen(function* () {
      const { text, written } = yield* scene
      yield* Fiber.interrupt(written)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(text)))
    }).pipe(Effect.scoped)
  )
})
