import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { once } from "node:events"
import { createServer } from "node:http"
import { apiRequest } from "../../../src/http/edge/ApiRequest.ts"
import { send } from "../../../src/http/edge/Send.ts"

/** A server that answers every request with this. */
const serving = (answer: HttpServerResponse.HttpServerResponse) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createServer((source, response) => {
          void Effect.runPromise(
            Effect.uninterruptible(send(apiRequest(source, response), answer, { "x-more": "yes" }))
          )
        })
        server.listen(0, "127.0.0.1")
        await once(server, "listening")
        return server
      }),
      (server) => Effect.sync(() => (server.closeAllConnections(), server.close()))
    ),
    (server) => {
      const address = server.address()
      return (method = "GET") =>
        Effect.promise(() =>
          fetch(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, {
            method,
            headers: { connection: "close" }
          })
        )
    }
  )

const pieces = Array.from({ length: 64 }, (_, index) => new Uint8Array(65_536).fill(index))

describe("a response", () => {
  it.live("is sent as text with its own headers and those of the edge", () =>
    Effect.gen(function* () {
      const ask = yield* serving(HttpServerResponse.jsonUnsafe({ a: 1 }, { status: 201 }))
      const response = yield* ask()
      assert.deepStrictEqual([response.status, response.headers.get("x-more")], [201, "yes"])
      assert.deepStrictEqual(yield* Effect.promise(() => response.json()), { a: 1 })
      const head = yield* ask("HEAD")
      assert.strictEqual(head.headers.get("content-length"), "7")
      assert.strictEqual(yield* Effect.promise(() => head.text()), "")
    }).pipe(Effect.scoped)
  )

  it.live("arrives whole when it is a stream", () =>
    Effect.gen(function* () {
      const ask = yield* serving(HttpServerResponse.stream(Stream.fromIterable(pieces)))
      const bytes = Buffer.from(
        yield* Effect.flatMap(ask(), (response) => Effect.promise(() => response.arrayBuffer()))
      )
      assert.isTrue(bytes.equals(Buffer.concat(pieces)))
    }).pipe(Effect.scoped)
  )

  it.live("is cut off when its stream fails, so that a part does not look complete", () =>
    Effect.gen(function* () {
      const broken = Stream.concat(Stream.fromIterable(pieces), Stream.fail("broken"))
      const ask = yield* serving(HttpServerResponse.stream(broken as Stream.Stream<Uint8Array, string>))
      const response = yield* ask()
      const error = yield* Effect.promise(() => response.arrayBuffer().then(() => undefined, String))
      assert.match(error ?? "", /terminated/)
    }).pipe(Effect.scoped)
  )
})
