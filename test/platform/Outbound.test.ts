import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { inspect } from "node:util"
import {
  Outbound,
  type OutboundClocks,
  type OutboundError,
  type OutboundRequest,
  type OutboundStream,
  readUpTo,
  targetOf
} from "../../src/platform/Outbound.ts"
import { nobody, upstream } from "../providers/upstream.ts"

const post = (origin: string, clocks: OutboundClocks = {}, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: "POST",
  origin,
  path: "/v1/thing?x=1",
  headers: { authorization: "Bearer planted-secret", "content-type": "text/plain" },
  body: "ping",
  clocks,
  ...more
})

const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : Buffer.from(bytes).toString())

const reasonOf = <A, R>(effect: Effect.Effect<A, OutboundError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason)

const rest = Effect.fnUntraced(function* (stream: OutboundStream) {
  let length = 0
  for (let bytes = yield* stream.read; bytes !== undefined; bytes = yield* stream.read) length += bytes.length
  return length
})

/** A handler that tells when its request's connection was closed. */
const watched = Effect.fnUntraced(function* (handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const arrived = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<void>()
  const host = yield* upstream((request, response) => {
    response.on("close", () => Deferred.doneUnsafe(closed, Exit.void))
    handle(request, response)
    Deferred.doneUnsafe(arrived, Exit.void)
  })
  return { origin: host.origin, arrived: Deferred.await(arrived), closed: Deferred.await(closed) }
})

layer(Outbound.layer, { excludeTestServices: true })("Outbound", (it) => {
  describe("send", () => {
    it.effect("gives status, headers and body whatever the status, and sends what it was given and no trace", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const host = yield* upstream((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk))
          request.on("end", () => {
            response.writeHead(503, { "x-one": "1", "set-cookie": ["a=1", "b=2"] })
            response.write(JSON.stringify(request.headers))
            response.end(`|${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
          })
        })
        const answer = yield* outbound.send(post(host.origin)).pipe(Effect.withSpan("parent"))
        const [headers = "", line] = (text(answer.body) ?? "").split("|")
        assert.strictEqual(answer.status, 503)
        assert.strictEqual(answer.headers["x-one"], "1")
        assert.deepStrictEqual(answer.headers["set-cookie"], ["a=1", "b=2"])
        assert.strictEqual(line, "POST /v1/thing?x=1 ping")
        assert.deepStrictEqual(Object.keys(JSON.parse(headers)).toSorted(), [
          "authorization",
          "connection",
          "content-length",
          "content-type",
          "host"
        ])
      })
    )

    it.effect("bounds the body, announced or not", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const host = yield* upstream((request, response) => {
          if (request.url === "/announced") return response.end("x".repeat(11))
          response.write("x".repeat(6))
          return response.end("x".repeat(request.url === "/fits" ? 4 : 5))
        })
        const get = (path: string) => outbound.send(post(host.origin, {}, { path, maxBodyBytes: 10 }))
        assert.deepStrictEqual(yield* reasonOf(get("/announced")), { _tag: "TooLarge", limitBytes: 10 })
        assert.deepStrictEqual(yield* reasonOf(get("/chunked")), { _tag: "TooLarge", limitBytes: 10 })
        assert.strictEqual((yield* get("/fits")).body.length, 10)
      })
    )

    it.effect("names a host that refuses connections", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const origin = yield* nobody
        assert.deepStrictEqual(yield* reasonOf(outbound.send(post(origin))), {
          _tag: "Connect",
          detail: "ECONNREFUSED"
        })
      })
    )

    it.effect("tells a connection lost before the answer from one lost within it", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const host = yield* upstream((request, response) => {
          if (request.url === "/before") return request.socket.destroy()
          response.writeHead(200, { "content-length": "10" })
          return response.write("half", () => request.socket.destroy())
        })
        const lost = (path: string) => reasonOf(outbound.send(post(host.origin, {}, { path })))
        assert.include(yield* lost("/before"), { _tag: "Broken", answered: false })
        assert.include(yield* lost("/within"), { _tag: "Broken", answered: true })
      })
    )

    it.effect("keeps its total clock and hangs up when it strikes", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const host = yield* watched(() => {})
        const reason = yield* reasonOf(outbound.send(post(host.origin, { totalMs: 20 })))
        assert.deepStrictEqual(reason, { _tag: "TimedOut", clock: "total" })
        yield* host.closed
      })
    )

    it.effect("hangs up when interrupted", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const host = yield* watched(() => {})
        const fiber = yield* Effect.forkChild(outbound.send(post(host.origin)))
        yield* host.arrived
        yield* Fiber.interrupt(fiber)
        yield* host.closed
      })
    )

    it.effect("shows nothing of the request in its errors", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const origin = yield* nobody
        const host = yield* upstream((request) => request.socket.destroy())
        const headers = { authorization: "Bearer planted-secret\n" }
        for (const request of [post(origin), post(host.origin), post(host.origin, {}, { headers })]) {
          const error = yield* Effect.flip(outbound.send(request))
          assert.notInclude(inspect(error, { depth: 10 }) + JSON.stringify(error) + error.message, "planted-secret")
        }
      })
    )
  })

  describe("open", () => {
    it.effect("gives a body as it comes, and its end as often as asked", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        let more: (() => void) | undefined
        const host = yield* upstream((_, response) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write("one")
          more = () => response.end("two")
        })
        const stream = yield* outbound.open(post(host.origin))
        assert.strictEqual(stream.status, 200)
        assert.strictEqual(text(yield* stream.read), "one")
        more?.()
        assert.strictEqual(text(yield* stream.read), "two")
        assert.isUndefined(yield* stream.read)
        assert.isUndefined(yield* stream.read)
      }).pipe(Effect.scoped)
    )

    it.effect("gives what has arrived together, but not all of much", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const answers: Readonly<Record<string, ReadonlyArray<string>>> = {
          "/few": ["one", "two", "three"],
          "/much": ["a", "b", "c"].map((letter) => letter.repeat(3_000))
        }
        const host = yield* upstream((request, response) => {
          response.socket?.cork()
          response.writeHead(200, { "content-type": "text/event-stream" })
          for (const piece of answers[request.url ?? ""] ?? []) response.write(piece)
          response.end()
          response.socket?.uncork()
        })
        const lengths = Effect.fnUntraced(function* (path: string) {
          const stream = yield* outbound.open({ ...post(host.origin), path })
          const given: Array<number> = []
          for (let bytes = yield* stream.read; bytes !== undefined; bytes = yield* stream.read) given.push(bytes.length)
          return given
        })
        assert.deepStrictEqual(yield* lengths("/few"), [11])
        assert.deepStrictEqual(yield* lengths("/much"), [6_000, 3_000])
      }).pipe(Effect.scoped)
    )

    it.effect("gives each piece as it comes, to whoever wants more, and leaves the rest for the next", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        let more: ((bytes: string) => void) | undefined
        let end: (() => void) | undefined
        const host = yield* upstream((_, response) => {
          response.write("one")
          more = (bytes) => void response.write(bytes)
          end = () => response.end("last")
        })
        const stream = yield* outbound.open(post(host.origin))
        const given: Array<string | undefined> = []
        const each = (enough: string) =>
          stream.each((bytes) => {
            given.push(text(bytes))
            return text(bytes) !== enough
          })
        assert.isTrue(yield* each("one"))
        const reader = yield* Effect.forkChild(each(""), { startImmediately: true })
        yield* Fiber.interrupt(reader)
        more?.("two")
        assert.isTrue(yield* each("two"))
        const broken = yield* Effect.forkChild(
          stream.each(() => {
            throw new Error("a reader's own fault")
          }),
          { startImmediately: true }
        )
        more?.("three")
        assert.isTrue(Exit.hasDies(yield* Fiber.await(broken)))
        end?.()
        assert.isFalse(yield* each(""))
        assert.isFalse(yield* each(""))
        assert.deepStrictEqual(given, ["one", "two", "last"])
      }).pipe(Effect.scoped)
    )

    it.effect("leaves the bytes of an interrupted read for the next", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        let more: (() => void) | undefined
        const host = yield* upstream((_, response) => {
          response.flushHeaders()
          more = () => response.end("late")
        })
        const stream = yield* outbound.open(post(host.origin))
        const reader = yield* Effect.forkChild(stream.read, { startImmediately: true })
        yield* Fiber.interrupt(reader)
        more?.()
        assert.strictEqual(text(yield* stream.read), "late")
      }).pipe(Effect.scoped)
    )

    it.effect("gives what came before a break, then the break", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const host = yield* upstream((request, response) => {
          response.write("half", () => request.socket.destroy())
        })
        const stream = yield* outbound.open(post(host.origin))
        assert.strictEqual(text(yield* stream.read), "half")
        assert.include(yield* reasonOf(stream.read), { _tag: "Broken", answered: true })
        assert.include(yield* reasonOf(stream.read), { _tag: "Broken", answered: true })
      }).pipe(Effect.scoped)
    )

    const firsts: ReadonlyArray<readonly [string, (response: ServerResponse) => void]> = [
      ["no head", () => {}],
      ["a head alone", (response) => response.flushHeaders()],
      ["bytes that are no content", (response) => response.write(": wait\n\n")]
    ]
    for (const [name, handle] of firsts) {
      it.effect(`the first clock runs until the reader has started: ${name}`, () =>
        Effect.gen(function* () {
          const outbound = yield* Outbound
          const host = yield* watched((_, response) => handle(response))
          const all = Effect.flatMap(outbound.open(post(host.origin, { firstMs: 20, idleMs: 60_000 })), rest)
          assert.deepStrictEqual(yield* reasonOf(all), { _tag: "TimedOut", clock: "first" })
          yield* host.closed
        }).pipe(Effect.scoped)
      )
    }

    it.effect("after the start the idle clock runs", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const host = yield* watched((_, response) => response.write("word"))
        const stream = yield* outbound.open(post(host.origin, { firstMs: 60_000, idleMs: 20 }))
        yield* stream.read
        stream.started()
        assert.deepStrictEqual(yield* reasonOf(stream.read), { _tag: "TimedOut", clock: "idle" })
        yield* host.closed
      }).pipe(Effect.scoped)
    )

    it.effect("the total clock ends a stream that never falls silent", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const host = yield* watched((_, response) => {
          const timer = setInterval(() => response.write("word"), 1)
          response.on("close", () => clearInterval(timer))
        })
        const stream = yield* outbound.open(post(host.origin, { idleMs: 60_000, totalMs: 40 }))
        stream.started()
        assert.deepStrictEqual(yield* reasonOf(rest(stream)), { _tag: "TimedOut", clock: "total" })
      }).pipe(Effect.scoped)
    )

    it.effect("hangs up when its scope closes, and while it waits for the head", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const streaming = yield* watched((_, response) => response.write("word"))
        const scope = yield* Scope.make()
        const stream = yield* Scope.provide(outbound.open(post(streaming.origin)), scope)
        yield* stream.read
        yield* Scope.close(scope, Exit.void)
        yield* streaming.closed
        const silent = yield* watched(() => {})
        const fiber = yield* Effect.forkChild(Effect.scoped(outbound.open(post(silent.origin))))
        yield* silent.arrived
        yield* Fiber.interrupt(fiber)
        yield* silent.closed
      }).pipe(Effect.scoped)
    )

    it.effect("makes the sender wait for a slow reader, whose slowness strikes no idle clock", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const block = Buffer.alloc(1024 * 1024)
        const blocks = 96
        let flushed = false
        const host = yield* upstream((request, response) => {
          if (request.url === "/turn") return response.end()
          response.on("finish", () => (flushed = true))
          let left = blocks
          const more = () => {
            while (left > 0) {
              left -= 1
              if (!response.write(block)) return void response.once("drain", more)
            }
            response.end()
          }
          return more()
        })
        const silent = yield* upstream(() => {})
        const stream = yield* outbound.open(post(host.origin, { idleMs: 100 }))
        const first = yield* stream.read
        stream.started()
        for (let turn = 0; turn < 200; turn++) yield* outbound.send(post(host.origin, {}, { path: "/turn" }))
        yield* reasonOf(outbound.send(post(silent.origin, { totalMs: 200 })))
        assert.isFalse(flushed)
        assert.strictEqual((first?.length ?? 0) + (yield* rest(stream)), blocks * block.length)
      }).pipe(Effect.scoped)
    )

    it.effect("reads no more of a body than asked", () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const host = yield* upstream((_, response) => response.end("x".repeat(100_000)))
        const stream = yield* outbound.open(post(host.origin))
        assert.strictEqual((yield* readUpTo(stream, 1_000)).length, 1_000)
      }).pipe(Effect.scoped)
    )
  })
})

const single = Outbound.layerWith({ connectionsPerOrigin: 1, keepAliveMs: 30_000 })

layer(single, { excludeTestServices: true })("Outbound with one connection", (it) => {
  it.effect("calls one after another share it", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const host = yield* upstream((_, response) => response.end("pong"))
      for (let n = 0; n < 5; n++) yield* outbound.send(post(host.origin))
      assert.strictEqual(host.connections(), 1)
    })
  )

  it.effect("a call that finds none free waits on its connect clock and costs nobody theirs", () =>
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
    it.effect(`a reader that ${finished ? "has finished keeps" : "turns away drops"} the connection`, () =>
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

describe("targetOf", () => {
  it("parts a URL", () => {
    assert.deepStrictEqual(targetOf("https://api.example.com:8443/v1/x?y=1"), {
      origin: "https://api.example.com:8443",
      path: "/v1/x?y=1"
    })
  })
})

layer(Layer.empty, { excludeTestServices: true })("Outbound's end", (it) => {
  it.effect("closes what is open", () =>
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
