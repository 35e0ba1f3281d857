import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import type { ServerResponse } from "node:http"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { upstream } from "../../providers/upstream.ts"
import { post, reasonOf, rest, text, watched } from "./OutboundFixture.ts"

layer(Outbound.layer, { excludeTestServices: true })("a call for a streamed answer", (it) => {
  it.effect("returns a body as it arrives, and its end on every later read", () =>
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

  it.effect("joins the chunks that have arrived, up to a limit", () =>
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

  it.effect("passes each chunk on as it arrives, and leaves the rest to the next reader", () =>
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

  it.effect("keeps the bytes of an interrupted read for the next one", () =>
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

  it.effect("returns the bytes before a broken connection, then the error", () =>
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
    ["no headers", () => {}],
    ["headers only", (response) => response.flushHeaders()],
    ["bytes without content", (response) => response.write(": wait\n\n")]
  ]
  for (const [name, handle] of firsts) {
    it.effect(`runs the first clock until the reader has started: ${name}`, () =>
      Effect.gen(function* () {
        const outbound = yield* Outbound
        const host = yield* watched((_, response) => handle(response))
        const all = Effect.flatMap(outbound.open(post(host.origin, { firstMs: 300, idleMs: 60_000 })), rest)
        assert.deepStrictEqual(yield* reasonOf(all), { _tag: "TimedOut", clock: "first" })
        yield* host.closed
      }).pipe(Effect.scoped)
    )
  }

  it.effect("runs the idle clock after the reader has started", () =>
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

  it.effect("ends a stream that never falls silent by the total clock", () =>
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

  it.effect("reports with a timeout that a slow reader delayed the stream", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const block = Buffer.alloc(256 * 1024)
      const host = yield* watched((_, response) => {
        const more = (): void => void (response.write(block) ? setImmediate(more) : response.once("drain", more))
        more()
      })
      const silent = yield* upstream(() => {})
      const slow = yield* outbound.open(post(host.origin, { totalMs: 150 }))
      slow.started()
      yield* reasonOf(outbound.send(post(silent.origin, { totalMs: 200 })))
      assert.deepStrictEqual(yield* reasonOf(rest(slow)), { _tag: "TimedOut", clock: "total", held: true })
    }).pipe(Effect.scoped)
  )

  it.effect("closes the connection when its scope closes, even while it waits for the headers", () =>
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

  it.effect("makes the sender wait for a slow reader without an idle timeout", () =>
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
})
