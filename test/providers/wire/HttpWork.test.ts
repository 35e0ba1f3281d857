import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { RequestListener, ServerResponse } from "node:http"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { targetOf } from "../../../src/platform/outbound/OutboundCall.ts"
import { faultOf } from "../../../src/providers/Failure.ts"
import { makeHttpWork, withoutChat } from "../../../src/providers/wire/HttpWork.ts"
import { chatCall, clocks } from "../calls.ts"
import { upstream } from "../upstream.ts"
import { workCall } from "../work.ts"

const posted = (handler: RequestListener, more: Parameters<typeof workCall>[0] = {}, makes: { makes?: true } = {}) =>
  Effect.gen(function* () {
    const { origin } = yield* upstream(handler)
    const { post } = yield* makeHttpWork({
      id: "up",
      apiKey: Redacted.make("planted"),
      headers: { "x-key": "planted" },
      faultOfStatus: ({ body, status }) => faultOf(status, Buffer.from(body).toString(), undefined)
    })
    const request = { target: targetOf(`${origin}/work`), accept: "audio/*", body: "{}", maxBodyBytes: 1_000, ...makes }
    return yield* post(workCall(more), request)
  })

layer(Outbound.layer, { excludeTestServices: true })("HttpWork", (it) => {
  it.effect("returns the body of a successful response", () =>
    Effect.gen(function* () {
      const answer = yield* posted((request, response) => {
        const { accept, "content-type": type, "x-key": key } = request.headers
        response.writeHead(201).end(JSON.stringify([request.method, request.url, accept, type, key]))
      })
      const said = JSON.parse(Buffer.from(answer).toString())
      assert.deepStrictEqual(said, ["POST", "/work", "audio/*", "application/json", "planted"])
    }).pipe(Effect.scoped)
  )

  it.effect("fails with the host's message, without the credential", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(posted((_, response) => response.writeHead(400).end("not with planted")))
      assert.deepStrictEqual(error.fault, { _tag: "Refused", status: 400, detail: "not with [secret]" })
      const long = yield* Effect.flip(posted((_, response) => response.writeHead(200).end("x".repeat(1_001))))
      assert.strictEqual(long.fault._tag, "Malformed")
    }).pipe(Effect.scoped)
  )

  it.effect("fails with the status of a rejection that is longer than the largest accepted answer", () =>
    Effect.gen(function* () {
      const told = "x".repeat(100_000)
      for (const answer of [
        (response: ServerResponse) => response.writeHead(422, { "content-length": told.length }).end(told),
        (response: ServerResponse) => void response.writeHead(422).write(told)
      ]) {
        const { fault } = yield* Effect.flip(posted((_, response) => answer(response)))
        assert.deepStrictEqual(fault, { _tag: "Refused", status: 422, detail: "x".repeat(500) })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("fails with the status of a rejection that cannot be decompressed", () =>
    Effect.gen(function* () {
      const packed = Buffer.from("1f8b08000000", "hex")
      const error = yield* Effect.flip(posted((_, response) => response.writeHead(429).end(packed)))
      assert.strictEqual(error.fault._tag, "RateLimited")
      const answer = yield* Effect.flip(posted((_, response) => response.writeHead(200).end(packed)))
      assert.strictEqual(answer.fault._tag, "Broken")
    }).pipe(Effect.scoped)
  )

  it.effect("sends GET requests, and returns the response of any status", () =>
    Effect.gen(function* () {
      const { origin } = yield* upstream((request, response) => {
        const { accept, "content-type": type, "x-key": key } = request.headers
        response.writeHead(202, { "x-more": "1" }).end(JSON.stringify([request.method, accept, type ?? null, key]))
      })
      const work = yield* makeHttpWork({
        id: "up",
        apiKey: Redacted.make("planted"),
        headers: { "x-key": "planted" },
        faultOfStatus: ({ status }) => faultOf(status, "no: planted", undefined)
      })
      const request = { target: targetOf(`${origin}/work`), accept: "text/plain", maxBodyBytes: 1_000 }
      const answer = yield* work.get(workCall(), request)
      assert.deepStrictEqual([answer.status, answer.headers["x-more"]], [202, "1"])
      assert.deepStrictEqual(JSON.parse(Buffer.from(answer.body).toString()), ["GET", "text/plain", null, "planted"])
      assert.strictEqual(yield* work.accepted(answer), answer.body)
      const refused = yield* Effect.flip(work.accepted({ ...answer, status: 404 }))
      assert.deepStrictEqual(refused.fault, { _tag: "Refused", status: 404, detail: "no: [secret]" })
    }).pipe(Effect.scoped)
  )

  it.effect("times out on the total clock", () =>
    Effect.gen(function* () {
      const call = { clocks: { ...clocks, totalMs: 50 } }
      const error = yield* Effect.flip(posted(() => {}, call))
      assert.deepStrictEqual(error.fault, { _tag: "TimedOut", clock: "total" })
    }).pipe(Effect.scoped)
  )

  it.effect("does not report a host as unreachable when it may have received a billed request", () =>
    Effect.gen(function* () {
      const disconnects: RequestListener = (_, response) => response.destroy()
      assert.strictEqual((yield* Effect.flip(posted(disconnects))).fault._tag, "Unreachable")
      const { fault } = yield* Effect.flip(posted(disconnects, {}, { makes: true }))
      assert.strictEqual(fault._tag, "Broken")
    }).pipe(Effect.scoped)
  )

  it.effect("reads a response as it arrives, and times out on silence before or within it", () =>
    Effect.gen(function* () {
      const silent: ReadonlyArray<RequestListener> = [
        () => {},
        (_, response) => void response.writeHead(200).write("{")
      ]
      for (const handler of silent) {
        const { origin } = yield* upstream(handler)
        const { open } = yield* makeHttpWork({
          id: "up",
          apiKey: undefined,
          headers: {},
          faultOfStatus: ({ status }) => faultOf(status, "", undefined)
        })
        const request = { target: targetOf(`${origin}/work`), accept: "*/*", body: "{}", maxBodyBytes: 1_000 }
        const call = workCall({ clocks: { ...clocks, idleMs: 50 } })
        const error = yield* open(call, request).pipe(
          Effect.flatMap(({ read }) => Effect.forever(read)),
          Effect.flip
        )
        const reason = error._tag === "OutboundError" ? error.reason : error.fault
        assert.deepStrictEqual<unknown>(reason, { _tag: "TimedOut", clock: "idle" })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("fails with the status of a streamed rejection whose body breaks off", () =>
    Effect.gen(function* () {
      const { origin } = yield* upstream((_, response) => {
        response.writeHead(429, { "content-length": "100" }).write("{")
        setImmediate(() => response.destroy())
      })
      const { open } = yield* makeHttpWork({
        id: "up",
        apiKey: undefined,
        headers: {},
        faultOfStatus: ({ status }) => faultOf(status, "", 7)
      })
      const request = { target: targetOf(`${origin}/work`), accept: "*/*", body: "{}", maxBodyBytes: 1_000 }
      const error = yield* Effect.flip(open(workCall(), request))
      assert.deepStrictEqual(error.fault, { _tag: "RateLimited", retryAfterSeconds: 7 })
    }).pipe(Effect.scoped)
  )

  it.effect("refuses chat for a provider without chat", () =>
    Effect.gen(function* () {
      const { chat, chatStream } = withoutChat("up")
      assert.strictEqual((yield* Effect.flip(chat(chatCall()))).fault._tag, "Refused")
      assert.strictEqual((yield* Effect.flip(Effect.scoped(chatStream(chatCall())))).fault._tag, "Refused")
    })
  )
})
