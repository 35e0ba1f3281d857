import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { RequestListener } from "node:http"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { makeOpenAi } from "../../../src/providers/openai/OpenAi.ts"
import type { SpeakWork } from "../../../src/domain/Work.ts"
import { closedOrigin, upstream } from "../upstream.ts"
import { workCall } from "../work.ts"

const work: SpeakWork = { input: "Grüße 😀", voice: "sage", format: "flac", speed: 0.5 }

const speakAt = (origin: string) =>
  Effect.flatMap(
    makeOpenAi({
      id: "up",
      baseUrl: `${origin}/v1/`,
      apiKey: Redacted.make("sk-planted"),
      flavour: "openai",
      stopsBillingOnAbort: true,
      headers: { "x-organisation": "ours" }
    }),
    ({ speak }) => speak!(workCall({ traceHeaders: { traceparent: "00-1-2-01" } }, "tts-1"), work)
  )

const answered = (handler: RequestListener) => Effect.flatMap(upstream(handler), ({ origin }) => speakAt(origin))

const faultOf = (handler: RequestListener) => Effect.map(Effect.flip(answered(handler)), ({ fault }) => fault)

layer(Outbound.layer, { excludeTestServices: true })("OpenAI's speech", (it) => {
  it.effect("is requested in the host's format, and its audio returned unchanged", () =>
    Effect.gen(function* () {
      let seen: unknown
      const audio = Buffer.from("{not really an object, but bytes that begin like one")
      const spoken = yield* answered((request, response) => {
        const pieces: Array<Buffer> = []
        request.on("data", (piece: Buffer) => pieces.push(piece))
        request.on("end", () => {
          const { authorization, traceparent, "x-organisation": organisation } = request.headers
          const body = JSON.parse(Buffer.concat(pieces).toString())
          seen = { url: request.url, authorization, traceparent, organisation, body }
          response.writeHead(200, { "content-type": "audio/flac" }).end(audio)
        })
      })
      assert.deepStrictEqual(Buffer.from(spoken.audio), audio)
      assert.deepStrictEqual(seen, {
        url: "/v1/audio/speech",
        authorization: "Bearer sk-planted",
        traceparent: "00-1-2-01",
        organisation: "ours",
        body: { model: "tts-1", input: "Grüße 😀", voice: "sage", response_format: "flac", speed: 0.5 }
      })
    }).pipe(Effect.scoped)
  )

  it.effect("fails with the host's error, without the credential", () =>
    Effect.gen(function* () {
      const json = (status: number, body: object, headers = {}) =>
        faultOf((_, response) =>
          response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
        )
      assert.deepStrictEqual(yield* json(400, { error: { message: "sk-planted may not say that" } }), {
        _tag: "Refused",
        status: 400,
        detail: "[secret] may not say that"
      })
      assert.deepStrictEqual(yield* json(429, { error: { message: "slower" } }, { "retry-after": "3" }), {
        _tag: "RateLimited",
        retryAfterSeconds: 3
      })
      assert.strictEqual((yield* json(401, {}))._tag, "Unauthorized")
      assert.strictEqual((yield* json(500, {}))._tag, "ServerError")
      const limited = { error: { message: "slower", code: "rate_limit_exceeded" } }
      assert.deepStrictEqual(yield* json(200, limited), { _tag: "RateLimited", retryAfterSeconds: undefined })
      assert.strictEqual((yield* json(200, { audio: "" }))._tag, "Malformed")
      for (const page of ["<html><body>sign in</body></html>", "\n<!DOCTYPE html><title>sign in</title>"]) {
        const fault = yield* faultOf((_, response) => {
          response.writeHead(200, { "content-type": "text/html" }).end(page)
        })
        assert.strictEqual(fault._tag, "Malformed")
      }
      const broken = yield* faultOf((_, response) => {
        response.writeHead(200, { "content-length": "100" }).write("part")
        setImmediate(() => response.destroy())
      })
      assert.strictEqual(broken._tag, "Broken")
      const unreachable = yield* Effect.flip(Effect.flatMap(closedOrigin, speakAt))
      assert.strictEqual(unreachable.fault._tag, "Unreachable")
    }).pipe(Effect.scoped)
  )

  it.effect("is rejected when it is too long", () =>
    Effect.gen(function* () {
      const fault = yield* faultOf((_, response) => {
        response.writeHead(200, { "content-length": String(64 * 1024 * 1024 + 1) }).write("RIFF")
      })
      assert.strictEqual(fault._tag, "Malformed")
    }).pipe(Effect.scoped)
  )
})
