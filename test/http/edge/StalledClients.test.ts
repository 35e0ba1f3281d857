import { assert, describe, it } from "@effect/vitest"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Deferred, Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { connect } from "node:net"
import { endSlow, type Pace } from "../../../src/http/edge/StalledClients.ts"
import { serve } from "../serve.ts"

/** More than the buffers of both ends of a connection hold. */
const large = Buffer.alloc(64 * 1_048_576, "x")
const piece = large.subarray(0, 65_536)

/** A connection that has asked for this, and reads nothing until it is told to. */
const asking = (origin: string, path: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { hostname, port } = new URL(origin)
      const socket = connect({ host: hostname, port: Number(port) })
      socket.on("error", () => undefined)
      await once(socket, "connect")
      socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`)
      return socket.pause()
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** Reads to the end, and gives the number of bytes that came. */
const bytesOf = (socket: Effect.Success<ReturnType<typeof asking>>) =>
  Effect.promise(async () => {
    let bytes = 0
    socket.on("data", (one: Buffer) => (bytes += one.length))
    socket.resume()
    await once(socket, "close")
    return bytes
  })

describe("a client that reads nothing", () => {
  it.live("is disconnected; a client that reads or waits for a silent response is not", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const endless = Stream.forever(Stream.succeed(piece))
      const routes = Layer.mergeAll(
        HttpRouter.add("GET", "/large", HttpServerResponse.uint8Array(large)),
        HttpRouter.add(
          "GET",
          "/endless",
          HttpServerResponse.stream(Stream.ensuring(endless, Deferred.succeed(ended, undefined)))
        ),
        HttpRouter.add("GET", "/silent", Effect.as(Deferred.await(ended), HttpServerResponse.text("at last")))
      )
      const { origin } = yield* serve(routes, { patience: { checkMs: 20, stalledMs: 1_000 } })
      const silent = yield* asking(origin, "/silent")
      const read = yield* asking(origin, "/large")
      assert.isAtLeast(yield* bytesOf(read), large.length)
      yield* asking(origin, "/endless")
      yield* Deferred.await(ended)
      assert.isAbove(yield* bytesOf(silent), 0)
    }).pipe(Effect.scoped)
  )
})

describe("a client that reads too slowly", () => {
  it.live("is disconnected; one that is fast, waits for more data or is in its grace period is not", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const paced = (pace: Pace, body: Stream.Stream<Uint8Array>) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          yield* endSlow(NodeHttpServerRequest.toServerResponse(request) as ServerResponse, pace)
          return HttpServerResponse.stream(body)
        })
      const strict = { bytesPerSecond: 1e12, graceMs: 100, checkMs: 20 }
      const mild = { bytesPerSecond: 1, graceMs: 100, checkMs: 20 }
      const patient = { ...strict, graceMs: 60_000 }
      const endless = Stream.ensuring(Stream.forever(Stream.succeed(piece)), Deferred.succeed(ended, undefined))
      const silent = Stream.fromEffect(Effect.as(Deferred.await(ended), piece))
      const whole = Stream.concat(Stream.fromIterable(Array.from({ length: 256 }, () => piece)), silent)
      const routes = Layer.mergeAll(
        HttpRouter.add("GET", "/endless", paced(strict, endless)),
        HttpRouter.add("GET", "/silent", paced(strict, silent)),
        HttpRouter.add("GET", "/mild", paced(mild, whole)),
        HttpRouter.add("GET", "/patient", paced(patient, whole))
      )
      const { origin } = yield* serve(routes)
      const [waiting, fast, graced] = [
        yield* asking(origin, "/silent"),
        yield* asking(origin, "/mild"),
        yield* asking(origin, "/patient")
      ]
      yield* asking(origin, "/endless")
      yield* Deferred.await(ended)
      for (const [socket, least] of [
        [waiting, piece.length],
        [fast, 257 * piece.length],
        [graced, 257 * piece.length]
      ] as const) {
        assert.isAtLeast(yield* bytesOf(socket), least)
      }
    }).pipe(Effect.scoped)
  )
})
