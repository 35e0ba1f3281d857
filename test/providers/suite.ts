/** Tests that every adapter of an HTTP host passes, whatever the host's format is. */
import { assert, type Vitest } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import { type OutputEvent, OutputFold } from "../../src/domain/Output.ts"
import { Outbound } from "../../src/platform/outbound/Outbound.ts"
import type { ChatCall, Provider } from "../../src/providers/Provider.ts"
import type { ProviderError, ProviderFault } from "../../src/providers/ProviderError.ts"
import { chatCall, clocks, drain, nextOf } from "./calls.ts"
import { closedOrigin, upstream } from "./upstream.ts"

/** How a host encodes its answers. */
export interface Wire {
  /** The adapter of a host at this origin, with the key `sk-planted`. */
  readonly adapter: (origin: string) => Effect.Effect<Provider, never, Outbound>
  /** What a stream contains before its first content. */
  readonly head: string
  /** The events of the head, if any. */
  readonly opening?: ReadonlyArray<OutputEvent>
  /** A piece of a stream's text. */
  readonly delta: (text: string) => string
  /** The finish reason stop, without usage. */
  readonly stop: string
  /** The end marker of a stream. */
  readonly end: string
  /** A complete answer of this text with the finish reason stop, without usage. */
  readonly whole: (text: string) => object
  /** An error in the middle of a stream, and what it means. */
  readonly error: readonly [frame: string, fault: ProviderFault]
  /** The body of a refusal with this message. */
  readonly refusal: (message: string) => object
  /** Reads the credential from the headers in which the adapter sends it. */
  readonly credentialOf: (headers: IncomingHttpHeaders) => unknown
}

/** Begins a streamed answer. */
export const sse = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" })

/** Starts a host that gives every request the same answer, and an adapter of it. */
export const speaking = (wire: Pick<Wire, "adapter">, say: (response: ServerResponse) => void) =>
  Effect.gen(function* () {
    const disconnected = yield* Deferred.make<void>()
    const host = yield* upstream((_, response) => {
      response.on("close", () => Deferred.doneUnsafe(disconnected, Exit.void))
      say(response)
    })
    return { host, disconnected: Deferred.await(disconnected), provider: yield* wire.adapter(host.origin) }
  })

/** All events of a streamed answer. */
export const streamed = (provider: Provider, call: ChatCall) =>
  Effect.scoped(Effect.flatMap(provider.chatStream(call), drain)).pipe(Effect.map((batches) => batches.flat()))

/** The complete answer, and the streamed answer folded, which must be equal. */
export const both = (provider: Provider, call: ChatCall) =>
  [
    provider.chat(call),
    Effect.map(streamed(provider, call), (events) => {
      const fold = new OutputFold()
      for (const event of events) fold.push(event)
      return fold.output()
    })
  ] as const

/** The fault of a call that fails. */
export const faultOf = <A, R>(effect: Effect.Effect<A, ProviderError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.fault)

const endings = (it: Vitest.MethodsNonLive<Outbound>, wire: Wire) => {
  const { delta, end, head, opening = [], stop } = wire

  it.effect("ends a stream normally after a finish reason, without usage and end marker", () =>
    Effect.gen(function* () {
      const { provider } = yield* speaking(wire, (response) => sse(response).end(head + delta("a") + stop))
      assert.deepStrictEqual(yield* streamed(provider, chatCall()), [
        ...opening,
        { _tag: "Text", text: "a" },
        { _tag: "Finish", reason: "stop" }
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("reports a stream without a finish reason and end marker as broken, after its content", () =>
    Effect.gen(function* () {
      const { provider } = yield* speaking(wire, (response) => sse(response).end(head + delta("a")))
      const source = yield* provider.chatStream(chatCall())
      assert.deepStrictEqual(yield* nextOf(source), [...opening, { _tag: "Text", text: "a" }])
      assert.strictEqual((yield* faultOf(nextOf(source)))._tag, "Broken")
    }).pipe(Effect.scoped)
  )

  it.effect("loses only the usage when the connection breaks after the finish reason", () =>
    Effect.gen(function* () {
      const { provider } = yield* speaking(wire, (response) => {
        sse(response).write(head + delta("a") + stop, () => response.destroy())
      })
      const events = yield* streamed(provider, chatCall())
      assert.deepStrictEqual(events.at(-1), { _tag: "Finish", reason: "stop" })
    }).pipe(Effect.scoped)
  )

  it.effect("fails with an error in the stream after the content before it", () =>
    Effect.gen(function* () {
      const [frame, fault] = wire.error
      const { provider } = yield* speaking(wire, (response) => sse(response).end(head + delta("a") + frame))
      const source = yield* provider.chatStream(chatCall())
      assert.deepStrictEqual(yield* nextOf(source), [...opening, { _tag: "Text", text: "a" }])
      assert.deepStrictEqual(yield* faultOf(nextOf(source)), fault)
      assert.deepStrictEqual(yield* faultOf(nextOf(source)), fault)
    }).pipe(Effect.scoped)
  )

  it.effect("reads a complete answer to a streaming request", () =>
    Effect.gen(function* () {
      const { provider } = yield* speaking(wire, (response) => {
        response
          .writeHead(200, { "content-type": "application/json; charset=utf-8" })
          .end(JSON.stringify(wire.whole("whole")))
      })
      assert.deepStrictEqual(yield* streamed(provider, chatCall()), [
        { _tag: "Text", text: "whole" },
        { _tag: "Finish", reason: "stop" }
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("reports an HTML page as malformed, complete and streamed", () =>
    Effect.gen(function* () {
      const { provider } = yield* speaking(wire, (response) => {
        response.writeHead(200, { "content-type": "text/html" }).end("<html>")
      })
      for (const answer of both(provider, chatCall())) {
        assert.strictEqual((yield* faultOf(answer))._tag, "Malformed")
      }
    }).pipe(Effect.scoped)
  )

  it.effect("reuses the connection of a stream that was read to its end", () =>
    Effect.gen(function* () {
      let last: (() => void) | undefined
      const outbound = Outbound.layerWith({ connectionsPerOrigin: 1, keepAliveMs: 30_000 })
      const host = yield* upstream((_, response) => {
        sse(response).write(head + delta("a") + stop + end)
        last = () => response.end()
      })
      yield* Effect.gen(function* () {
        const provider = yield* wire.adapter(host.origin)
        for (let n = 0; n < 3; n++) {
          yield* streamed(provider, chatCall())
          last?.()
        }
      }).pipe(Effect.provide(outbound))
      assert.strictEqual(host.connections(), 1)
    }).pipe(Effect.scoped)
  )
}

/** A limit long enough for a request to reach the host even on a busy machine: only then can the test see the disconnect. */
export const RUNNING_MS = 300

const connections = (it: Vitest.MethodsNonLive<Outbound>, wire: Wire) => {
  const { delta, head } = wire

  it.effect("times out on the clock that runs when the host is silent, and closes the connection", () =>
    Effect.gen(function* () {
      const begin = (response: ServerResponse) => sse(response).write(head + delta("a"))
      const cases = [
        [() => {}, { ...clocks, firstTokenMs: RUNNING_MS }, "first_token"],
        [
          (response: ServerResponse) => sse(response).write(`: wait\n\n${head}`),
          { ...clocks, firstTokenMs: RUNNING_MS },
          "first_token"
        ],
        [begin, { ...clocks, idleMs: RUNNING_MS }, "idle"],
        [begin, { ...clocks, totalMs: RUNNING_MS }, "total"]
      ] as const
      for (const [say, given, clock] of cases) {
        const { provider, disconnected } = yield* speaking(wire, say)
        const fault = yield* faultOf(streamed(provider, chatCall({ clocks: given })))
        assert.deepStrictEqual(fault, { _tag: "TimedOut", clock })
        yield* disconnected
      }
      const { provider, disconnected } = yield* speaking(wire, () => {})
      const fault = yield* faultOf(provider.chat(chatCall({ clocks: { ...clocks, totalMs: RUNNING_MS } })))
      assert.deepStrictEqual(fault, { _tag: "TimedOut", clock: "total" })
      yield* disconnected
    }).pipe(Effect.scoped)
  )

  it.effect("closes the connection when the caller is interrupted", () =>
    Effect.gen(function* () {
      const { provider, disconnected } = yield* speaking(wire, (response) => sse(response).write(head + delta("a")))
      const scope = yield* Scope.make()
      const source = yield* Scope.provide(provider.chatStream(chatCall()), scope)
      yield* nextOf(source)
      yield* Scope.close(scope, Exit.void)
      yield* disconnected
      const arrived = yield* Deferred.make<void>()
      const silent = yield* speaking(wire, () => Deferred.doneUnsafe(arrived, Exit.void))
      const fiber = yield* Effect.forkChild(silent.provider.chat(chatCall()))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      yield* silent.disconnected
    }).pipe(Effect.scoped)
  )

  it.effect("reports a host that does not listen as unreachable", () =>
    Effect.gen(function* () {
      const provider = yield* wire.adapter(yield* closedOrigin)
      for (const answer of both(provider, chatCall())) {
        assert.deepStrictEqual(yield* faultOf(answer), { _tag: "Unreachable", detail: "ECONNREFUSED" })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("removes its credential from a host's error", () =>
    Effect.gen(function* () {
      let credential: unknown
      const host = yield* upstream((request, response) => {
        credential = wire.credentialOf(request.headers)
        response.writeHead(400).end(JSON.stringify(wire.refusal("bad: sk-planted")))
      })
      const provider = yield* wire.adapter(host.origin)
      for (const answer of both(provider, chatCall())) {
        const fault = { _tag: "Refused", status: 400, detail: "bad: [secret]" } as const
        assert.deepInclude(yield* faultOf(answer), fault)
      }
      assert.strictEqual(credential, "sk-planted")
    }).pipe(Effect.scoped)
  )
}

/** Runs the tests against scripted hosts on real sockets. */
export const hostSuite = (it: Vitest.MethodsNonLive<Outbound>, wire: Wire) => {
  endings(it, wire)
  connections(it, wire)
}
