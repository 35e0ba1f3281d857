import { assert, describe, it } from "@effect/vitest"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import { connect } from "node:net"
import { type Failure, failure } from "../../../src/domain/Failure.ts"
import { EventStream } from "../../../src/http/edge/EventStream.ts"
import { Pipe } from "../../../src/inference/Pipe.ts"
import type { StreamItem } from "../../../src/domain/Answer.ts"
import { serve } from "../serve.ts"

const piece = (text: string): StreamItem => ({ _tag: "Events", events: [{ _tag: "Text", text }] })
const last: StreamItem = { _tag: "Error", failure: failure({ _tag: "UpstreamError", detail: "broke off" }) }

const textOf = (item: StreamItem): string => {
  if (item._tag !== "Events") return item._tag
  return item.events.map((event) => ("text" in event ? event.text : "")).join("")
}

/** A route that answers with what is written to a pipe; the encoder breaks at the text `bug`. */
const scene = Effect.gen(function* () {
  const pipe = new Pipe()
  const reading = yield* Deferred.make<void>()
  const ended = yield* Deferred.make<Exit.Exit<void>>()
  const failures: Array<Failure> = []
  const encode = (item: StreamItem) => {
    const text = textOf(item)
    if (text === "bug") throw new Error("a bug")
    return `${text};`
  }
  const stream = {
    requestId: "req_1",
    created: 1,
    replayed: false,
    read: (take: Parameters<Pipe["read"]>[0]) =>
      Effect.andThen(Deferred.succeed(reading, undefined), pipe.read(take)).pipe(
        Effect.onExit((exit) => Deferred.succeed(ended, exit))
      )
  }
  const body = new EventStream(stream, { encode }, (failed) => failures.push(failed))
  const route = HttpRouter.add(
    "POST",
    "/api/v1/stream",
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
      return Effect.as(
        body.writeTo(response, 200, { "content-type": "text/event-stream" }),
        HttpServerResponse.empty({ status: 200 })
      )
    })
  )
  const { origin } = yield* serve(route)
  return { ended: Deferred.await(ended), failures, origin, pipe, reading: Deferred.await(reading) }
})

const ask = (origin: string, signal?: AbortSignal) =>
  Effect.promise(() => fetch(`${origin}/api/v1/stream`, { method: "POST", ...(signal && { signal }) }))

describe("an event stream", () => {
  it.live("is sent as it arrives, with the edge's headers, and reports its error", () =>
    Effect.gen(function* () {
      const { ended, failures, origin, pipe } = yield* scene
      pipe.push(piece("a"))
      pipe.push(piece("é"))
      const response = yield* ask(origin)
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      const reader = response.body!.getReader()
      const next = Effect.promise(async () => new TextDecoder().decode((await reader.read()).value))
      assert.strictEqual(yield* next, "a;é;")
      pipe.push(piece("b"))
      assert.strictEqual(yield* next, "b;")
      assert.deepStrictEqual(failures, [])
      pipe.end(last)
      assert.strictEqual(yield* next, "Error;")
      assert.isTrue((yield* Effect.promise(() => reader.read())).done)
      assert.isTrue(Exit.isSuccess(yield* ended))
      assert.deepStrictEqual(
        failures.map(({ reason }) => reason._tag),
        ["UpstreamError"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("is interrupted when the client disconnects", () =>
    Effect.gen(function* () {
      const { ended, origin, pipe } = yield* scene
      const controller = new AbortController()
      pipe.push(piece("a"))
      yield* ask(origin, controller.signal)
      controller.abort()
      assert.isTrue(Exit.hasInterrupts(yield* ended))
    }).pipe(Effect.scoped)
  )

  it.live("waits for a client that does not read", () =>
    Effect.gen(function* () {
      const { ended, origin, pipe, reading } = yield* scene
      const socket = connect(Number(new URL(origin).port), "127.0.0.1")
      socket.pause()
      yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
      socket.write("POST /api/v1/stream HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
      yield* reading
      const text = "x".repeat(65_536)
      let pushed = 0
      // What the client's system takes for it makes room for a while.
      for (let round = 0; round < 50; round++) {
        do pushed += 1
        while (pipe.push(piece(text)))
        yield* Effect.promise(() => new Promise<void>((resume) => void setImmediate(resume)))
      }
      const writer = yield* Effect.forkChild(pipe.room, { startImmediately: true })
      assert.isUndefined(writer.pollUnsafe())
      let length = 0
      socket.on("data", (bytes) => (length += bytes.length))
      socket.resume()
      yield* Fiber.join(writer)
      pipe.end(last)
      assert.isTrue(Exit.isSuccess(yield* ended))
      yield* Effect.callback<void>((resume) => void socket.once("end", () => resume(Effect.void)))
      assert.isAbove(length, pushed * text.length)
    }).pipe(Effect.scoped)
  )

  it.live("is an error response when it fails before its headers, and breaks off after them", () =>
    Effect.gen(function* () {
      const early = yield* scene
      early.pipe.push(piece("bug"))
      assert.strictEqual((yield* ask(early.origin)).status, 500)
      assert.isTrue(early.pipe.readerLeft)
      const late = yield* scene
      late.pipe.push(piece("a"))
      const response = yield* ask(late.origin)
      late.pipe.push(piece("bug"))
      const rest = yield* Effect.exit(Effect.tryPromise(() => response.text()))
      assert.isTrue(Exit.isFailure(rest))
      assert.isTrue(late.pipe.readerLeft)
    }).pipe(Effect.scoped)
  )
})
