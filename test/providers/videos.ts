/** Tests that every adapter of a video host passes, whatever the host's format is. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Outbound } from "../../src/platform/outbound/Outbound.ts"
import { PublicFetch } from "../../src/platform/outbound/PublicFetch.ts"
import type { Provider } from "../../src/providers/Provider.ts"
import type { ProviderError } from "../../src/providers/ProviderError.ts"
import { clocks } from "./calls.ts"
import { closedOrigin, upstream } from "./upstream.ts"
import { videoWork, workCall } from "./work.ts"

export const withVideoHost = Layer.merge(Outbound.layer, PublicFetch.layerFrom({ allowLoopback: true }))

type Filming = Outbound | PublicFetch
export type FilmProvider = Pick<Required<Provider>, "makeVideo" | "videoState" | "videoClip">

export interface VideoWire {
  /** The adapter of a host at this origin, with the key `sk-planted`. */
  readonly adapter: (origin: string) => Effect.Effect<Pick<Provider, keyof FilmProvider>, never, Filming>
  /** The model's id at the host. */
  readonly upstreamId: string
  /** The ticket of a job at the host. */
  readonly ticket: string
  /** The body of a refusal with this message. */
  readonly refusal: (message: string) => object
}

/** A request that a host received. */
export interface Heard {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage["headers"]
  readonly body: unknown
}

/** Starts a host that records its requests, which have a JSON body or none. */
export const hearing = (say: (heard: Heard, response: ServerResponse) => void) =>
  Effect.gen(function* () {
    const requests: Array<Heard> = []
    const { origin } = yield* upstream((request, response) => {
      const pieces: Array<Buffer> = []
      request.on("data", (piece: Buffer) => pieces.push(piece))
      request.on("end", () => {
        const { headers, method, url } = request
        const text = Buffer.concat(pieces).toString()
        const one = { method, url, headers, body: text === "" ? undefined : JSON.parse(text) }
        requests.push(one)
        say(one, response)
      })
    })
    return { heard: requests, origin }
  })

/** Starts such a host, and makes an adapter of it. */
export const videoHost = (wire: VideoWire, say: (heard: Heard, response: ServerResponse) => void) =>
  Effect.gen(function* () {
    const { heard, origin } = yield* hearing(say)
    return { heard, origin, provider: (yield* wire.adapter(origin)) as FilmProvider }
  })

/** Answers with JSON. */
export const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(typeof body === "string" ? body : JSON.stringify(body))

export const faultOf = <A, R>(effect: Effect.Effect<A, ProviderError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.fault)

/** The faults of a submission and of a state request at a host that answers every request the same. */
const bothWays = (wire: VideoWire, say: (response: ServerResponse) => void, totalMs = clocks.totalMs) =>
  Effect.gen(function* () {
    const { provider } = yield* videoHost(wire, (_, response) => say(response))
    const call = workCall({ clocks: { ...clocks, totalMs } }, wire.upstreamId)
    return [
      yield* faultOf(provider.makeVideo(call, videoWork())),
      yield* faultOf(provider.videoState(call, wire.ticket))
    ] as const
  }).pipe(Effect.scoped)

/** Runs the tests against scripted hosts on real sockets, for submissions and state requests. */
export const videoSuite = (it: Vitest.MethodsNonLive<Filming>, wire: VideoWire) => {
  it.effect("fails as the host does, without the credential in the detail", () =>
    Effect.gen(function* () {
      const said = (status: number, headers = {}) =>
        bothWays(wire, (response) => json(response, status, wire.refusal("bad: sk-planted"), headers))
      for (const fault of yield* said(404)) {
        assert.deepStrictEqual(fault, { _tag: "Refused", status: 404, detail: "bad: [secret]" })
      }
      for (const fault of yield* said(401)) assert.deepStrictEqual(fault, { _tag: "Unauthorized", status: 401 })
      for (const fault of yield* said(429, { "retry-after": "7" })) {
        assert.deepStrictEqual(fault, { _tag: "RateLimited", retryAfterSeconds: 7 })
      }
      for (const fault of yield* said(500)) {
        assert.deepStrictEqual(fault, { _tag: "ServerError", status: 500, detail: "bad: [secret]" })
      }
      for (const fault of yield* bothWays(wire, (response) => response.writeHead(503).end("<html>"))) {
        assert.deepStrictEqual(fault, { _tag: "ServerError", status: 503, detail: "status 503" })
      }
    })
  )

  it.effect("reports a body that is not an answer as malformed", () =>
    Effect.gen(function* () {
      for (const body of ["{", "", "[]", "null", "<html>", "{}", { request_id: "../../etc", status: "DONE" }]) {
        for (const fault of yield* bothWays(wire, (response) => json(response, 200, body))) {
          assert.strictEqual(fault._tag, "Malformed", JSON.stringify(body))
        }
      }
    })
  )

  it.effect("distinguishes a broken connection, a silent host and an unreachable host", () =>
    Effect.gen(function* () {
      const cut = (response: ServerResponse) => {
        response.writeHead(200, { "content-length": "1000" })
        response.write("{", () => response.destroy())
      }
      for (const fault of yield* bothWays(wire, cut)) assert.strictEqual(fault._tag, "Broken")
      // The host may be making the video when the connection breaks before the answer; a state request can be repeated.
      const lost = yield* bothWays(wire, (response) => response.destroy())
      assert.deepStrictEqual(
        lost.map(({ _tag }) => _tag),
        ["Broken", "Unreachable"]
      )
      for (const fault of yield* bothWays(wire, () => {}, 50)) {
        assert.deepStrictEqual(fault, { _tag: "TimedOut", clock: "total" })
      }
      const provider = (yield* wire.adapter(yield* closedOrigin)) as FilmProvider
      const call = workCall({}, wire.upstreamId)
      assert.strictEqual((yield* faultOf(provider.makeVideo(call, videoWork())))._tag, "Unreachable")
      assert.strictEqual((yield* faultOf(provider.videoState(call, wire.ticket)))._tag, "Unreachable")
    })
  )
}
