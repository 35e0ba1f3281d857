import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import type { ServerResponse } from "node:http"
import { type AddressInfo, createServer } from "node:net"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { upstream } from "../../providers/upstream.ts"
import { post, reasonOf, text, watched } from "./OutboundFixture.ts"

const single = Outbound.layerWith({ connectionsPerOrigin: 1, keepAliveMs: 30_000 })

layer(single, { excludeTestServices: true })("Outbound with one connection", (it) => {
  it.effect("shares its connection between consecutive calls", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const host = yield* upstream((_, response) => response.end("pong"))
      for (let n = 0; n < 5; n++) yield* outbound.send(post(host.origin))
      assert.strictEqual(host.connections(), 1)
    })
  )

  it.effect("makes a call wait for its connection within its connect limit, without disturbing others", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const open: Array<ServerResponse> = []
      const host = yield* upstream((_, response) => {
        response.write("a")
        open.push(response)
      })
      const stream = yield* outbound.open(post(host.origin))
      yield* stream.read
      const reason = yield* reasonOf(outbound.send(post(host.origin, { connectMs: 20 })))
      assert.deepStrictEqual(reason, { _tag: "TimedOut", clock: "connect" })
      open[0]?.end("b")
      assert.strictEqual(text(yield* stream.read), "b")
      assert.isUndefined(yield* stream.read)
      const next = yield* Effect.forkChild(outbound.open(post(host.origin)))
      yield* Fiber.join(next)
      assert.deepStrictEqual([open.length, host.connections()], [2, 1])
    }).pipe(Effect.scoped)
  )

  for (const [finished, connections] of [
    [true, 1],
    [false, 2]
  ] as const) {
    it.effect(
      `${finished ? "keeps the connection of a finished reader" : "drops the connection of a reader that stops early"}`,
      () =>
        Effect.gen(function* () {
          const outbound = yield* Outbound
          const open: Array<ServerResponse> = []
          const host = yield* upstream((request, response) => {
            if (request.url === "/next") return void response.end()
            response.write("all there is to say")
            return void open.push(response)
          })
          yield* Effect.scoped(
            Effect.gen(function* () {
              const stream = yield* outbound.open(post(host.origin))
              yield* stream.read
              if (finished) stream.finished()
            })
          )
          open[0]?.end()
          yield* outbound.send(post(host.origin, {}, { path: "/next" }))
          assert.strictEqual(host.connections(), connections)
        })
    )
  }
})

/** Accepts connections but sends nothing, so that no TLS handshake completes. */
const mute = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((socket) => socket.on("error", () => undefined))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return server
  }),
  (server) => Effect.sync(() => server.close())
)

layer(Layer.empty, { excludeTestServices: true })("Outbound to a slow host", (it) => {
  it.effect("waits for a connection up to its connect limit", () =>
    Effect.gen(function* () {
      const { port } = (yield* mute).address() as AddressInfo
      const context = yield* Layer.build(Outbound.layerPatient(13_000))
      const outbound = yield* Effect.provideContext(Outbound, context)
      const call = outbound.send(post(`https://127.0.0.1:${port}`, { connectMs: 12_500 }))
      assert.deepStrictEqual(yield* reasonOf(call), { _tag: "TimedOut", clock: "connect" })
    }).pipe(Effect.scoped)
  )
})

layer(Layer.empty, { excludeTestServices: true })("Outbound at the end of its scope", (it) => {
  it.effect("closes open connections", () =>
    Effect.gen(function* () {
      const host = yield* watched((_, response) => response.write("word"))
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Outbound.layer, scope)
      const stream = yield* Effect.flatMap(Outbound, (outbound) => outbound.open(post(host.origin))).pipe(
        Effect.provideContext(context)
      )
      yield* stream.read
      yield* Scope.close(scope, Exit.void)
      yield* host.closed
      assert.include(yield* reasonOf(stream.read), { _tag: "Broken" })
    }).pipe(Effect.scoped)
  )
})
