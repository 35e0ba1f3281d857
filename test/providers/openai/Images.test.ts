import { LLMock } from "@copilotkit/aimock"
import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import type { RequestListener } from "node:http"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { encodeImages } from "../../../src/providers/openai/Images.ts"
import { makeOpenAi } from "../../../src/providers/openai/OpenAi.ts"
import type { ImagesWork } from "../../../src/domain/Work.ts"
import { upstream } from "../upstream.ts"
import { drawWork, workCall } from "../work.ts"

const png = Buffer.from("89504e470d0a1a0a0000000d", "hex")
const source = { bytes: png, contentType: "image/png" }

const drawAt = (baseUrl: string, work: Partial<ImagesWork> = {}, flavour: "openai" | "compatible" = "openai") =>
  Effect.flatMap(
    makeOpenAi({ id: "up", baseUrl, apiKey: Redacted.make("sk-planted"), flavour, stopsBillingOnAbort: true }),
    ({ makeImages }) => makeImages!(workCall({}, "gpt-image-1"), drawWork(work))
  )

const drawn = (handler: RequestListener, work: Partial<ImagesWork> = {}) =>
  Effect.flatMap(upstream(handler), ({ origin }) => drawAt(`${origin}/v1/`, work))

const faultOf = (handler: RequestListener, work?: Partial<ImagesWork>) =>
  Effect.map(Effect.flip(drawn(handler, work)), ({ fault }) => fault)

describe("OpenAI's image requests", () => {
  const asked = (work: Partial<ImagesWork>, flavour: "openai" | "compatible" = "openai") =>
    encodeImages("m", drawWork(work), { flavour })

  plain("encodes the work in the vocabulary of OpenAI's models", () => {
    const all = {
      size: { width: 1536, height: 1024 },
      quality: "high",
      format: "webp",
      background: "transparent",
      user: "u"
    } as const
    assert.deepStrictEqual(Result.getOrThrow(asked({ n: 3, ...all })), {
      model: "m",
      prompt: "a red kite",
      n: 3,
      size: "1536x1024",
      quality: "high",
      output_format: "webp",
      background: "transparent",
      user: "u"
    })
    assert.match(String(Result.getOrThrow(asked({ user: "u".repeat(65) }))["user"]), /^[0-9a-f]{64}$/)
    const quality = (value: string) => Result.getOrThrow(asked({ quality: value }))["quality"]
    assert.deepStrictEqual(["standard", "hd", "auto"].map(quality), ["medium", "high", "auto"])
  })

  plain("rejects a style for OpenAI's models, and requests base64 images and sends styles to compatible hosts", () => {
    const refused = Result.getOrThrow(Result.flip(asked({ style: "vivid" })))
    assert.deepInclude(refused, { _tag: "Refused", param: "style" })
    assert.deepStrictEqual(Result.getOrThrow(asked({ style: "vivid", quality: "hd" }, "compatible")), {
      model: "m",
      prompt: "a red kite",
      n: 1,
      quality: "hd",
      style: "vivid",
      response_format: "b64_json"
    })
  })
})

layer(Outbound.layer, { excludeTestServices: true })("OpenAI's images", (it) => {
  it.effect(
    "come from generations without source images and from edits with them, against an independent simulation of the API",
    () =>
      Effect.gen(function* () {
        const mock = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const made = new LLMock({ port: 0 })
            const item = { b64Json: png.toString("base64") }
            made.onImage("a red kite", { images: [{ ...item, revisedPrompt: "a kite, red" }, item, item] })
            await made.start()
            return made
          }),
          (made) => Effect.promise(() => made.stop())
        )
        const image = { bytes: png, contentType: "image/png" }
        for (const images of [[], [source]]) {
          const answer = yield* drawAt(`${mock.url}/v1`, { n: 2, images })
          assert.deepStrictEqual(
            answer.images.map((one) => ({ ...one, bytes: Buffer.from(one.bytes) })),
            [{ ...image, revisedPrompt: "a kite, red" }, image]
          )
        }
        assert.deepStrictEqual(
          mock.getRequests().map(({ path }) => path),
          ["/v1/images/generations", "/v1/images/edits"]
        )
      }).pipe(Effect.scoped)
  )

  it.effect("are edited from the uploaded images", () =>
    Effect.gen(function* () {
      let seen: FormData | undefined
      yield* drawn(
        (request, response) => {
          const pieces: Array<Buffer> = []
          request.on("data", (piece: Buffer) => pieces.push(piece))
          request.on("end", async () => {
            const headers = { "content-type": request.headers["content-type"]! }
            seen = await new Response(Buffer.concat(pieces), { headers }).formData()
            response.end(JSON.stringify({ data: [{ b64_json: png.toString("base64") }] }))
          })
        },
        { images: [source], size: { width: 1024, height: 1024 } }
      )
      const { image, ...fields } = Object.fromEntries(seen!.entries())
      assert.deepStrictEqual(fields, { model: "gpt-image-1", prompt: "a red kite", n: "1", size: "1024x1024" })
      assert.deepStrictEqual(Buffer.from(yield* Effect.promise(() => (image as File).arrayBuffer())), png)
      assert.strictEqual((image as File).name, "image-0.png")
    }).pipe(Effect.scoped)
  )

  it.effect("are not retried when the connection breaks after the request", () =>
    Effect.gen(function* () {
      for (const images of [[], [source]]) {
        const fault = yield* faultOf((_, response) => response.destroy(), { images })
        assert.strictEqual(fault._tag, "Broken")
      }
    }).pipe(Effect.scoped)
  )

  it.effect("are an empty list when the host made none, and fail with the host's error", () =>
    Effect.gen(function* () {
      const empty = yield* drawn((_, response) => response.end('{"created":1,"data":[]}'))
      assert.deepStrictEqual(empty.images, [])
      const json = (status: number, body: object) =>
        faultOf((_, response) => response.writeHead(status).end(JSON.stringify(body)))
      assert.deepStrictEqual(yield* json(400, { error: { message: "rejected by the safety system" } }), {
        _tag: "Refused",
        status: 400,
        detail: "rejected by the safety system"
      })
      assert.strictEqual((yield* json(401, {}))._tag, "Unauthorized")
      assert.strictEqual((yield* json(200, {}))._tag, "Malformed")
      const limited = { error: { message: "slower", code: "rate_limit_exceeded" } }
      assert.deepStrictEqual(yield* json(200, limited), { _tag: "RateLimited", retryAfterSeconds: undefined })
      for (const one of [{ url: "https://example.com/a.png" }, { b64_json: "AAAA" }, 7]) {
        assert.strictEqual((yield* json(200, { data: [one] }))._tag, "Malformed")
      }
    }).pipe(Effect.scoped)
  )
})
