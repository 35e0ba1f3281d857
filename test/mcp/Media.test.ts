import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { imageTypeOf } from "../../src/domain/ImageType.ts"
import { sessionClient } from "../support/Mcp.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"
import { eventually } from "../support/Eventually.ts"

const open = Effect.gen(function* () {
  const service = yield* startService()
  const { account, inferenceKey } = yield* service.account(10)
  const client = yield* sessionClient(service.origin, inferenceKey)
  const call = (name: string, args: object) =>
    // oxlint-disable-next-line typescript/no-explicit-any
    Effect.promise((): Promise<any> => client.callTool({ name, arguments: { ...args } }))
  return { account, call, inferenceKey, service }
})

const spent = (service: Service, accountId: string) =>
  Effect.map(service.balance(accountId), ({ held, posted }) => {
    assert.strictEqual(held, 0n)
    return Number(10_000_000_000n - posted) / 1e9
  })

const bytesAt = (url: string) =>
  Effect.promise(async () => Buffer.from(await (await fetch(url)).arrayBuffer()).toString("base64"))

describe("generate_image", () => {
  it.live("returns images and their URLs, at the price of POST /images/generations", () =>
    Effect.gen(function* () {
      const { account, call, inferenceKey, service } = yield* open
      const asked = { model: "flux-dev", prompt: "a kite", size: "64x64", n: 2 }
      const { _meta, content, structuredContent } = yield* call("generate_image", asked)
      assert.deepStrictEqual(
        content.map(({ type }: { readonly type: string }) => type),
        ["image", "text", "image", "text"]
      )
      const [image, address] = content
      assert.strictEqual(image.mimeType, imageTypeOf(Buffer.from(image.data, "base64")))
      assert.strictEqual(address.text, structuredContent.images[0].url)
      assert.strictEqual(yield* bytesAt(address.text), image.data)
      const rest = yield* Effect.flatMap(post(`${service.api}/images/generations`, inferenceKey, asked), json)
      assert.strictEqual(structuredContent.cost_usd, rest.cost_usd)
      assert.approximately(yield* spent(service, account.id), 2 * rest.cost_usd, 1e-9)
      const receipt = yield* Effect.flatMap(get(`${service.api}/requests/${_meta.request_id}`, inferenceKey), json)
      assert.deepInclude(receipt, { operation: "mcp.generate_image", usage: { units: 2, unit: "image" } })
    }).pipe(Effect.scoped)
  )

  it.live("rejects a price above `max_cost_usd`, and more images than a client can take", () =>
    Effect.gen(function* () {
      const { account, call, service } = yield* open
      const dear = yield* call("generate_image", { model: "flux-dev", prompt: "a kite", n: 2, max_cost_usd: 0.03 })
      assert.strictEqual(dear._meta.error.code, "no_model_in_budget")
      const many = yield* call("generate_image", { model: "flux-dev", prompt: "a kite", n: 5 })
      assert.deepInclude(many._meta.error, { code: "validation_error", param: "n" })
      assert.strictEqual(yield* spent(service, account.id), 0)
    }).pipe(Effect.scoped)
  )
})

describe("create_video and get_video", () => {
  it.live("create a video in the background, charge once for one idempotency key, and link to the video", () =>
    Effect.gen(function* () {
      const { account, call, inferenceKey, service } = yield* open
      const asked = {
        model: "veo-3",
        prompt: "a kite",
        duration: 4,
        aspect_ratio: "16:9",
        idempotency_key: "a-video"
      }
      const made = yield* call("create_video", asked)
      const again = yield* call("create_video", asked)
      const { cost_usd, id, request_id } = made.structuredContent
      assert.strictEqual(again.structuredContent.id, id)
      assert.isTrue(again._meta.idempotency_replayed)
      assert.approximately(yield* spent(service, account.id), cost_usd, 1e-9)
      const done = yield* eventually(
        call("get_video", { id }),
        ({ structuredContent: { status } }) => status === "completed"
      )
      const link = done.content.find(({ type }: { readonly type: string }) => type === "resource_link")
      assert.deepInclude(link, { uri: done.structuredContent.video_url, mimeType: "video/mp4" })
      assert.deepStrictEqual(
        done.structuredContent,
        yield* Effect.flatMap(get(`${service.api}/videos/${id}`, inferenceKey), json)
      )
      const receipt = yield* Effect.flatMap(get(`${service.api}/requests/${request_id}`, inferenceKey), json)
      assert.deepInclude(receipt, { operation: "mcp.create_video", cost_usd })
    }).pipe(Effect.scoped)
  )

  it.live("reject a price above `max_cost_usd`", () =>
    Effect.gen(function* () {
      const { account, call, service } = yield* open
      const asked = { model: "veo-3", prompt: "a kite", duration: 4, aspect_ratio: "16:9", max_cost_usd: 0.5 }
      const { _meta } = yield* call("create_video", asked)
      assert.deepInclude(_meta.error, { code: "no_model_in_budget", param: "max_cost_usd" })
      assert.strictEqual(yield* spent(service, account.id), 0)
    }).pipe(Effect.scoped)
  )
})

describe("speak", () => {
  it.live("returns the audio of POST /audio/speech at the same price", () =>
    Effect.gen(function* () {
      const { account, call, inferenceKey, service } = yield* open
      const asked = { model: "tts-1", input: "Hello there", voice: "nova", response_format: "wav" }
      const { _meta, content, structuredContent } = yield* call("speak", asked)
      const rest = yield* post(`${service.api}/audio/speech`, inferenceKey, asked)
      assert.strictEqual(content[0].type, "audio")
      assert.strictEqual(content[0].mimeType, "audio/wav")
      const audio = yield* Effect.promise(async () => Buffer.from(await rest.arrayBuffer()).toString("base64"))
      assert.strictEqual(content[0].data, audio)
      assert.deepInclude(structuredContent, { characters: 11, format: "wav" })
      assert.strictEqual(structuredContent.cost_usd, Number(rest.headers.get("x-cost-usd")))
      assert.approximately(yield* spent(service, account.id), 2 * structuredContent.cost_usd, 1e-9)
      const receipt = yield* Effect.flatMap(get(`${service.api}/requests/${_meta.request_id}`, inferenceKey), json)
      assert.strictEqual(receipt.operation, "mcp.speak")
    }).pipe(Effect.scoped)
  )
})
