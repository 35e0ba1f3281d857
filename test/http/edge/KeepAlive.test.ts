import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Ref, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { withKeepAlive, MAX_SILENCE } from "../../../src/http/edge/KeepAlive.ts"
import { nano } from "../../support/Amounts.ts"
import { callOf, openSession, send } from "../../support/Mcp.ts"
import { startService } from "../../support/Service.ts"

const answer = HttpServerResponse.jsonUnsafe({ jsonrpc: "2.0", id: 1, result: {} })
const after = (seconds: number) => Effect.as(Effect.sleep(Duration.seconds(seconds)), answer)

/** The chunks of a streamed answer, collected as they come. */
const chunksOf = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.gen(function* () {
    const chunks: Array<string> = []
    if (response.body._tag !== "Stream") return assert.fail(`a body of the kind ${response.body._tag}`)
    const decoder = new TextDecoder()
    const reader = yield* Effect.forkChild(
      Stream.runForEach(response.body.stream, (chunk) => Effect.sync(() => void chunks.push(decoder.decode(chunk)))),
      { startImmediately: true }
    )
    return { chunks, reader }
  })

const COMMENT = ": keep-alive\n\n"
const EVENT = 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'

describe("an answer with keep-alive comments", () => {
  it.effect("is the plain answer when it is ready before the first interval", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* withKeepAlive(Effect.succeed(answer)), answer)
      const waiting = yield* Effect.forkChild(withKeepAlive(after(9)), { startImmediately: true })
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(yield* Fiber.join(waiting), answer)
    })
  )

  it.effect("is a stream that sends a comment in every interval and then the answer as an event", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(withKeepAlive(after(35)), { startImmediately: true })
      yield* TestClock.adjust(MAX_SILENCE)
      const response = yield* Fiber.join(waiting)
      assert.strictEqual(response.headers["content-type"], "text/event-stream")
      const { chunks, reader } = (yield* chunksOf(response))!
      yield* TestClock.adjust("24 seconds")
      assert.deepStrictEqual(chunks, [COMMENT, COMMENT, COMMENT])
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(reader)
      assert.deepStrictEqual(chunks, [COMMENT, COMMENT, COMMENT, EVENT])
    })
  )

  it.effect("has comments between the events of a stream that falls silent", () =>
    Effect.gen(function* () {
      const frames = ["data: 1\n\n", "data: 2\n\n"].map((text) => new TextEncoder().encode(text))
      const events = Stream.concat(
        Stream.make(frames[0]!),
        Stream.fromEffect(Effect.as(Effect.sleep("15 seconds"), frames[1]!))
      )
      const response = yield* withKeepAlive(
        Effect.succeed(HttpServerResponse.stream(events, { contentType: "text/event-stream" }))
      )
      const { chunks, reader } = (yield* chunksOf(response))!
      yield* TestClock.adjust("15 seconds")
      yield* Fiber.join(reader)
      assert.deepStrictEqual(chunks, ["data: 1\n\n", COMMENT, "data: 2\n\n"])
    })
  )

  it.effect("stops the work when the client disconnects, before the stream begins or later", () =>
    Effect.gen(function* () {
      for (const patience of ["5 seconds", "15 seconds"] as const) {
        const stopped = yield* Ref.make(false)
        const begun = yield* Deferred.make<void>()
        const work = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Ref.set(stopped, true))
        )
        const client = yield* Effect.forkChild(
          Effect.flatMap(withKeepAlive(work), ({ body }) =>
            body._tag === "Stream" ? Stream.runDrain(body.stream) : Effect.void
          ),
          { startImmediately: true }
        )
        yield* Deferred.await(begun)
        yield* TestClock.adjust(patience)
        assert.isFalse(yield* Ref.get(stopped))
        yield* Fiber.interrupt(client)
        assert.isTrue(yield* Ref.get(stopped), patience)
      }
    })
  )

  it.live("is delivered and charged once when the provider is slow", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const session = yield* openSession(service.origin, inferenceKey)
      const call = callOf("embed", { model: "text-embedding-3-small", input: ["a"] })
      const headers = { "mcp-session-id": session, "x-svc-sandbox": "latency_ms=11000" }
      const response = yield* send(service.origin, inferenceKey, call, headers)
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      const text = yield* Effect.promise(() => response.text())
      assert.isTrue(text.startsWith(COMMENT), text)
      const message = JSON.parse(text.slice(text.indexOf("data: ") + 6))
      assert.strictEqual(message.id, call.id)
      const { cost_usd: cost } = message.result.structuredContent
      assert.isAbove(cost, 0)
      const balance = yield* service.ledger.balance(account.id)
      assert.strictEqual(balance?.held, 0n)
      assert.strictEqual(balance?.posted, 10_000_000_000n - nano(cost))
    }).pipe(Effect.scoped)
  )
})
