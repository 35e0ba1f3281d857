import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sessionClient } from "../support/Mcp.ts"
import { get, json, post, startService } from "../support/Service.ts"

const open = Effect.gen(function* () {
  const service = yield* startService()
  const { inferenceKey } = yield* service.account(10)
  const client = yield* sessionClient(service.origin, inferenceKey)
  const call = (name: string, args: object) =>
    // oxlint-disable-next-line typescript/no-explicit-any
    Effect.promise((): Promise<any> => client.callTool({ name, arguments: { ...args } }))
  return { service, inferenceKey, call }
})

describe("list_models", () => {
  it.live("lists models in a short form, with the filters of GET /models", () =>
    Effect.gen(function* () {
      const { call, service, inferenceKey } = yield* open
      const { structuredContent } = yield* call("list_models", {
        modality: "text",
        q: "gpt-4o",
        sort: "price",
        limit: 2
      })
      const rest = yield* Effect.flatMap(
        get(`${service.api}/models?modality=text&q=gpt-4o&sort=price`, inferenceKey),
        json
      )
      assert.strictEqual(structuredContent.total, rest.data.length)
      assert.deepStrictEqual(
        structuredContent.models.map(({ id }: { readonly id: string }) => id),
        rest.data.slice(0, 2).map(({ id }: { readonly id: string }) => id)
      )
      const mini = yield* call("list_models", { q: "gpt-4o-mini" })
      assert.deepInclude(mini.structuredContent.models[0], { id: "gpt-4o-mini", modality: "text", servable: true })
      assert.deepStrictEqual(mini.structuredContent.models[0].pricing, {
        unit: "token",
        input_usd_per_million_tokens: 0.15,
        output_usd_per_million_tokens: 0.6
      })
    }).pipe(Effect.scoped)
  )

  it.live("rejects unknown arguments by name", () =>
    Effect.gen(function* () {
      const { call } = yield* open
      const { isError, _meta: failed } = yield* call("list_models", { modality: "text", colour: "red" })
      assert.isTrue(isError)
      assert.strictEqual(failed.error.code, "validation_error")
      assert.isFalse(failed.retry)
      const fields = failed.details.map(({ field }: { readonly field: string }) => field)
      assert.deepStrictEqual(fields, ["colour"])
    }).pipe(Effect.scoped)
  )
})

describe("get_model", () => {
  it.live("returns the answer of GET /models/{id}, and `not_found` for an unknown id", () =>
    Effect.gen(function* () {
      const { call, inferenceKey, service } = yield* open
      const { structuredContent } = yield* call("get_model", { id: "svc/auto" })
      assert.deepStrictEqual(
        structuredContent,
        yield* Effect.flatMap(get(`${service.api}/models/svc%2Fauto`, inferenceKey), json)
      )
      const { isError, _meta: failed } = yield* call("get_model", { id: "nope" })
      assert.isTrue(isError)
      assert.strictEqual(failed.error.code, "not_found")
    }).pipe(Effect.scoped)
  )
})

describe("estimate_cost", () => {
  it.live("returns the answer of POST /estimate", () =>
    Effect.gen(function* () {
      const { call, inferenceKey, service } = yield* open
      const chat = { model: "gpt-4o-mini", input: "Hello!", max_tokens: 100 }
      const images = { model: "flux-dev", n: 2 }
      for (const asked of [chat, images]) {
        const { structuredContent } = yield* call("estimate_cost", asked)
        const rest = yield* Effect.flatMap(post(`${service.api}/estimate`, inferenceKey, asked), json)
        assert.deepStrictEqual(structuredContent, rest)
        assert.isTrue(structuredContent.affordable)
      }
    }).pipe(Effect.scoped)
  )
})
