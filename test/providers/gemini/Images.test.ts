import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { ServerResponse } from "node:http"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { makeGemini } from "../../../src/providers/gemini/Gemini.ts"
import type { ImagesWork } from "../../../src/domain/Work.ts"
import { clocks } from "../calls.ts"
import { upstream } from "../upstream.ts"
import { drawWork, workCall } from "../work.ts"

const png = Buffer.from("89504e470d0a1a0a0000000d", "hex")
const path = "/v1beta/models/gemini-2.5-flash-image:generateContent"

const answer = (data: string) => ({
  candidates: [
    { content: { parts: [{ text: "Here:" }, { inlineData: { mimeType: "image/png", data } }] }, finishReason: "STOP" }
  ]
})

/** Starts a model that answers with `say`, which gets the number of the call, from 0. */
const model = (say: (response: ServerResponse, call: number) => unknown) =>
  Effect.gen(function* () {
    const seen: Array<{ readonly url: string; readonly key: unknown; readonly body: object }> = []
    const { origin } = yield* upstream((request, response) => {
      const pieces: Array<Buffer> = []
      request.on("data", (piece: Buffer) => pieces.push(piece))
      request.on("end", () => {
        const body = JSON.parse(Buffer.concat(pieces).toString())
        seen.push({ url: request.url!, key: request.headers["x-goog-api-key"], body })
        say(response, seen.length - 1)
      })
    })
    const { makeImages } = yield* makeGemini({
      id: "up",
      baseUrl: origin,
      apiKey: Redacted.make("AIza-planted"),
      stopsBillingOnAbort: false
    })
    return {
      seen,
      draw: (work: Partial<ImagesWork> = {}, totalMs = clocks.totalMs) =>
        makeImages!(workCall({ clocks: { ...clocks, totalMs } }, "gemini-2.5-flash-image"), drawWork(work))
    }
  })

const json = (response: ServerResponse, body: object, status = 200) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

layer(Outbound.layer, { excludeTestServices: true })("Gemini's images", (it) => {
  it.effect("take one call each, and leave out the failed ones", () =>
    Effect.gen(function* () {
      const { draw, seen } = yield* model((response, call) =>
        call === 1 ? json(response, { error: { code: 500 } }, 500) : json(response, answer(png.toString("base64")))
      )
      const { images } = yield* draw({ n: 3, size: { width: 1536, height: 1024 } })
      assert.deepStrictEqual(
        images.map(({ bytes, contentType }) => [contentType, Buffer.from(bytes)]),
        [
          ["image/png", png],
          ["image/png", png]
        ]
      )
      const body = {
        contents: [{ role: "user", parts: [{ text: "a red kite" }] }],
        generationConfig: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "3:2" } }
      }
      assert.deepStrictEqual(
        seen,
        Array.from({ length: 3 }, () => ({ url: path, key: "AIza-planted", body }))
      )
    }).pipe(Effect.scoped)
  )

  it.effect("share the time limit of one call", () =>
    Effect.gen(function* () {
      const { draw, seen } = yield* model(() => {})
      assert.deepStrictEqual((yield* Effect.flip(draw({ n: 10 }, 300))).fault, { _tag: "TimedOut", clock: "total" })
      assert.lengthOf(seen, 4)
    }).pipe(Effect.scoped)
  )

  it.effect("are not retried when the connection breaks after the request", () =>
    Effect.gen(function* () {
      const { draw } = yield* model((response) => response.destroy())
      assert.strictEqual((yield* Effect.flip(draw())).fault._tag, "Broken")
    }).pipe(Effect.scoped)
  )

  it.effect("are an empty list when they fail the content check", () =>
    Effect.gen(function* () {
      for (const body of [
        { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } },
        { candidates: [{ finishReason: "IMAGE_SAFETY" }] },
        { candidates: [{ content: { parts: [{ text: "I would rather not" }] } }] }
      ]) {
        const { draw } = yield* model((response) => json(response, body))
        assert.deepStrictEqual((yield* draw()).images, [])
      }
    }).pipe(Effect.scoped)
  )

  it.effect("fail with the host's error, or as malformed", () =>
    Effect.gen(function* () {
      const faultOf = (body: object, status?: number) =>
        Effect.gen(function* () {
          const { draw } = yield* model((response) => json(response, body, status))
          return (yield* Effect.flip(draw())).fault
        })
      const refused = yield* faultOf({ error: { code: 400, message: "not that", status: "INVALID_ARGUMENT" } }, 400)
      assert.deepInclude(refused, { _tag: "Refused", detail: "not that" })
      const limited = yield* faultOf({ error: { code: 429, message: "slower", status: "RESOURCE_EXHAUSTED" } })
      assert.deepStrictEqual(limited, { _tag: "RateLimited", retryAfterSeconds: undefined })
      assert.strictEqual((yield* faultOf({}))._tag, "Malformed")
      assert.strictEqual((yield* faultOf(answer("AAAA")))._tag, "Malformed")
    }).pipe(Effect.scoped)
  )

  it.effect("are rejected before a call when the model does not support the parameters", () =>
    Effect.gen(function* () {
      const { draw, seen } = yield* model((response) => json(response, answer(png.toString("base64"))))
      const lacks: ReadonlyArray<readonly [string, Partial<ImagesWork>]> = [
        ["size", { size: { width: 2048, height: 256 } }],
        ["quality", { quality: "high" }],
        ["background", { background: "transparent" }],
        ["style", { style: "vivid" }],
        ["output_format", { format: "webp" }],
        ["image", { images: [{ bytes: png, contentType: "image/png" }] }]
      ]
      for (const [param, work] of lacks) {
        assert.deepInclude((yield* Effect.flip(draw(work))).fault, { _tag: "Refused", param })
      }
      assert.lengthOf(seen, 0)
      const easy = { quality: "auto", background: "opaque", format: "png" } as const
      assert.lengthOf((yield* draw(easy)).images, 1)
    }).pipe(Effect.scoped)
  )
})
