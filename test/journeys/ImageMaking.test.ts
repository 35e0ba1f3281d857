/** Image generation through OpenAI's client, the sandbox and fake hosts on real sockets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import OpenAI from "openai"
import { drawPng } from "../../src/providers/sandbox/Drawing.ts"
import { upstream } from "../providers/upstream.ts"
import { decodedImage, decoderMissing } from "../support/Media.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, type Service, startService } from "../support/Service.ts"

const kite = { model: "flux-dev", prompt: "a red kite over the sea", size: "256x192" } as const
/** $0.025 an image. */
const FLUX_DEV = 25_000_000n

const make = (service: Service, key: string, body: object = kite, headers: Record<string, string> = {}) =>
  post(`${service.api}/images/generations`, key, body, headers)

const spent = (service: Service, accountId: string, usd: number) =>
  Effect.map(service.balance(accountId), ({ held, posted }) => {
    assert.strictEqual(held, 0n)
    return BigInt(usd) * 1_000_000_000n - posted
  })

const errorOf = (response: Response) =>
  Effect.map(json(response), (body) => [response.status, body.error.code, body.error.param])

const fileAt = (url: string) =>
  Effect.gen(function* () {
    const response = yield* Effect.promise(() => fetch(url))
    assert.strictEqual(response.status, 200, url)
    assert.strictEqual(response.headers.get("content-type"), "image/png")
    return new Uint8Array(yield* Effect.promise(() => response.arrayBuffer()))
  })

const sizeOf = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return [view.getUint32(16), view.getUint32(20)]
}

const png = Effect.promise(() => drawPng({ width: 64, height: 48, lines: ["source"], seed: 5 }))

describe("image generation in the sandbox", () => {
  it.live("returns images to the OpenAI client, as URLs or bytes, and charges for each", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const client = new OpenAI({ apiKey: inferenceKey, baseURL: service.api, maxRetries: 0 })
      const hosted = yield* Effect.promise(() => client.images.generate({ ...kite, n: 2 }))
      assert.lengthOf(hosted.data!, 2)
      const files = yield* Effect.forEach(hosted.data!, ({ url }) => fileAt(url!))
      assert.notDeepEqual(files[0], files[1])
      for (const file of files) assert.deepStrictEqual(sizeOf(file), [256, 192])
      assert.strictEqual(yield* spent(service, account.id, 10), 2n * FLUX_DEV)
      const inline = yield* Effect.promise(() => client.images.generate({ ...kite, response_format: "b64_json" }))
      const bytes = Buffer.from(inline.data![0]!.b64_json!, "base64")
      assert.deepStrictEqual(bytes, Buffer.from(files[0]!))
      assert.strictEqual(yield* spent(service, account.id, 10), 3n * FLUX_DEV)
      if (decoderMissing === undefined) {
        const { codec, height, rgb, width } = yield* decodedImage(bytes)
        assert.deepStrictEqual([codec, width, height], ["png", 256, 192])
        assert.isAbove(new Set(rgb).size, 20)
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("returns gpt-image's images with URL and bytes unless response_format names one, also in a replay", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const ask = (more: object, headers = {}) =>
        Effect.map(
          Effect.flatMap(
            make(service, inferenceKey, { model: "gpt-image-1", prompt: "a kite", ...more }, headers),
            json
          ),
          ({ data }) => data[0]
        )
      const once = { "idempotency-key": "kite" }
      const first = yield* ask({}, once)
      assert.deepStrictEqual(Buffer.from(first.b64_json, "base64"), Buffer.from(yield* fileAt(first.url)))
      assert.deepStrictEqual(yield* ask({}, once), first)
      assert.deepStrictEqual(Object.keys(yield* ask({ response_format: "url" })), ["url"])
      assert.deepStrictEqual(Object.keys(yield* ask({ response_format: "b64_json" })), ["b64_json"])
      assert.strictEqual(yield* spent(service, account.id, 10), 750_000_000n)
    }).pipe(Effect.scoped)
  )

  it.live("shows the cost and a low-balance warning in the answer, and the number of images on the receipt", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(4)
      const answer = yield* Effect.flatMap(make(service, inferenceKey, { ...kite, n: 2 }), json)
      assert.deepInclude(answer, { model: "flux-dev", provider: "fal", cost_usd: 0.05 })
      assert.strictEqual(answer.balance_warning.warning, "low_balance")
      const receipt = yield* receiptOf(service, inferenceKey, answer.request_id)
      assert.deepInclude(receipt, {
        operation: "images.generations",
        status: "succeeded",
        cost_usd: 0.05,
        usage: { units: 2, unit: "image" }
      })
    }).pipe(Effect.scoped)
  )

  it.live("refunds the charge for images that were not made", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const steered = (steering: string, body: object = kite) =>
        make(service, inferenceKey, body, { "x-svc-sandbox": steering })
      for (const steering of ["fault=empty", "images=0"]) {
        const none = yield* steered(steering)
        assert.strictEqual(none.headers.get("x-should-retry"), "true")
        assert.deepStrictEqual(yield* errorOf(none), [502, "empty_generation", null], steering)
      }
      for (const fault of ["error", "malformed", "break"]) {
        const response = yield* steered(`fault=${fault}`)
        assert.deepStrictEqual(yield* errorOf(response), [502, "generation_failed", null], fault)
      }
      assert.strictEqual(yield* spent(service, account.id, 1), 0n)
      const fewer = yield* Effect.flatMap(steered("images=2", { ...kite, n: 5 }), json)
      assert.lengthOf(fewer.data, 2)
      assert.strictEqual(fewer.cost_usd, 0.05)
      assert.strictEqual(yield* spent(service, account.id, 1), 2n * FLUX_DEV)
      const receipt = yield* receiptOf(service, inferenceKey, fewer.request_id)
      assert.deepInclude(receipt, { cost_usd: 0.05, refunded_usd: 0.075 })
      const all = yield* make(service, inferenceKey, { ...kite, model: "flux-kontext-max", image: "https://x.test/" })
      assert.deepStrictEqual(yield* errorOf(all), [400, "validation_error", "image"])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "charges once under an idempotency key, and a replay has the same URLs",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account(10)
        const once = (body: object, key: string) => make(service, inferenceKey, body, { "idempotency-key": key })
        const first = yield* Effect.flatMap(once(kite, "a"), json)
        const again = yield* once(kite, "a")
        assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
        assert.deepStrictEqual(yield* json(again), first)
        assert.deepStrictEqual(yield* errorOf(yield* once({ ...kite, n: 2 }, "a")), [
          422,
          "idempotency_key_reused",
          "Idempotency-Key"
        ])
        const small = { ...kite, response_format: "b64_json" }
        const inline = yield* Effect.flatMap(once(small, "b"), json)
        assert.deepStrictEqual(yield* Effect.flatMap(once(small, "b"), json), inline)
        const large = { ...small, prompt: "a red kite ".repeat(1000), size: "1024x1024", n: 10 }
        assert.lengthOf((yield* Effect.flatMap(once(large, "c"), json)).data, 10)
        const unkept = yield* once(large, "c")
        assert.deepStrictEqual((yield* errorOf(unkept)).slice(0, 2), [409, "idempotency_result_unavailable"])
        assert.strictEqual(yield* spent(service, account.id, 10), 12n * FLUX_DEV)
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("refuses an invalid request with the name of the field, and too low a balance with 402", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const wrong: ReadonlyArray<readonly [object, string, string]> = [
        [{ n: 11 }, "validation_error", "n"],
        [{ prompt: "" }, "validation_error", "prompt"],
        [{ size: "1x1" }, "validation_error", "size"],
        [{ stream: true }, "validation_error", "stream"],
        [{ image: "http://example.com/a.png" }, "validation_error", "image"],
        [{ image: "https://example.com/a.png" }, "validation_error", "image"],
        [{ model: "flux-kontext-pro" }, "validation_error", "image"],
        [{ model: "gpt-4o-mini" }, "unknown_model", "model"],
        [{ model: "nobody-knows" }, "unknown_model", "model"]
      ]
      for (const [body, code, param] of wrong) {
        const response = yield* make(service, inferenceKey, { ...kite, ...body })
        assert.deepStrictEqual(yield* errorOf(response), [400, code, param], JSON.stringify(body))
      }
      const format = yield* Effect.flatMap(make(service, inferenceKey, { ...kite, output_format: "webp" }), errorOf)
      assert.deepStrictEqual(format.slice(0, 1).concat(format.slice(2)), [400, "output_format"])
      const poor = yield* service.account(0.01)
      assert.deepStrictEqual((yield* Effect.flatMap(make(service, poor.inferenceKey), errorOf)).slice(0, 2), [
        402,
        "insufficient_credits"
      ])
      assert.strictEqual(yield* spent(service, account.id, 1), 0n)
    }).pipe(Effect.scoped)
  )

  it.live("has a legacy route with legacy errors and a rate limit of its own", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const legacy = (body: object) => post(`${service.api}/images`, inferenceKey, body)
      const answer = yield* legacy(kite)
      assert.match(answer.headers.get("ratelimit-policy") ?? "", /^"images";q=30000;w=60/)
      const { data, request_id } = yield* json(answer)
      yield* fileAt(data[0].url)
      const receipt = yield* receiptOf(service, inferenceKey, request_id)
      assert.strictEqual(receipt.operation, "images")
      assert.strictEqual(yield* spent(service, account.id, 1), FLUX_DEV)
      const wrong = yield* Effect.flatMap(legacy({ ...kite, n: 0 }), json)
      assert.deepStrictEqual([wrong.code, wrong.message], ["validation_error", wrong.error.message])
    }).pipe(Effect.scoped)
  )
})

describe("the source image of an edit", () => {
  it.live("is fetched once from its URL or read from its data URL, and costs nothing when it is refused", () =>
    Effect.gen(function* () {
      const source = Buffer.from(yield* png)
      const seen: Array<string> = []
      const host = yield* upstream(({ url }, response) => {
        seen.push(url!)
        if (url === "/source.png") return void response.end(source)
        if (url === "/huge") return void response.writeHead(200, { "content-length": String(2 ** 30) }).write("x")
        if (url === "/text") return void response.end("not an image at all")
        return void response.writeHead(404).end()
      })
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { account, inferenceKey } = yield* service.account(1)
      const edit = (image: string, model = "flux-kontext-pro") => make(service, inferenceKey, { ...kite, model, image })
      const fetched = yield* Effect.flatMap(edit(`${host.origin}/source.png`), json)
      const edited = yield* fileAt(fetched.data[0].url)
      const inline = yield* Effect.flatMap(edit(`data:image/png;base64,${source.toString("base64")}`), json)
      assert.deepStrictEqual(yield* fileAt(inline.data[0].url), edited)
      assert.deepStrictEqual(seen, ["/source.png"])
      const charged = yield* spent(service, account.id, 1)
      assert.strictEqual(charged, 80_000_000n)
      assert.deepStrictEqual(yield* Effect.flatMap(edit(`${host.origin}/huge`), errorOf), [
        413,
        "image_too_large",
        "image"
      ])
      for (const path of ["text", "gone"]) {
        const response = yield* edit(`${host.origin}/${path}`)
        assert.deepStrictEqual(yield* errorOf(response), [400, "validation_error", "image"], path)
      }
      assert.strictEqual(yield* spent(service, account.id, 1), charged)
      assert.lengthOf(seen, 4)
    }).pipe(Effect.scoped)
  )
})

describe("image generation by real hosts", () => {
  it.live("gets images in OpenAI's wire format, edits through its form, and downloads fal's from their URLs", () =>
    Effect.gen(function* () {
      const drawn = Buffer.from(yield* png)
      const asked: Array<readonly [string | undefined, string, string | undefined]> = []
      const host = yield* upstream((request, response) => {
        const pieces: Array<Buffer> = []
        request.on("data", (piece: Buffer) => pieces.push(piece))
        request.on("end", () => {
          const { authorization, "content-type": type = "" } = request.headers
          asked.push([request.url, type.split(";")[0]!, authorization])
          if (request.url === "/files/1.png") return void response.end(drawn)
          response.setHeader("content-type", "application/json")
          if (request.url!.startsWith("/fal/")) {
            const url = `http://${request.headers.host}/files/1.png`
            return void response.end(JSON.stringify({ images: [{ url }], has_nsfw_concepts: [false] }))
          }
          response.end(JSON.stringify({ created: 1, data: [{ b64_json: drawn.toString("base64") }] }))
        })
      })
      const service = yield* startService({
        OUTBOUND_ALLOW_LOOPBACK: "1",
        OPENAI_API_KEY: "sk-planted",
        OPENAI_BASE_URL: `${host.origin}/v1`,
        FAL_API_KEY: "fal-planted",
        FAL_BASE_URL: `${host.origin}/fal`
      })
      const { inferenceKey } = yield* service.account(10)
      const answer = (body: object) => Effect.flatMap(make(service, inferenceKey, body), json)
      const image = `data:image/png;base64,${drawn.toString("base64")}`
      const plain = yield* answer({ model: "gpt-image-1", prompt: "a kite" })
      const edited = yield* answer({ model: "gpt-image-1", prompt: "a kite", image })
      const fal = yield* answer({ model: "flux-dev", prompt: "a kite" })
      // Clients of OpenAI's models read nothing but the bytes.
      for (const { data } of [plain, edited]) assert.strictEqual(data[0].b64_json, drawn.toString("base64"))
      assert.notProperty(fal.data[0], "b64_json")
      for (const { data, provider } of [plain, edited, fal]) {
        assert.deepStrictEqual(Buffer.from(yield* fileAt(data[0].url)), drawn, provider)
      }
      assert.deepStrictEqual(asked, [
        ["/v1/images/generations", "application/json", "Bearer sk-planted"],
        ["/v1/images/edits", "multipart/form-data", "Bearer sk-planted"],
        ["/fal/fal-ai/flux/dev", "application/json", "Key fal-planted"],
        ["/files/1.png", "", undefined]
      ])
    }).pipe(Effect.scoped)
  )
})
