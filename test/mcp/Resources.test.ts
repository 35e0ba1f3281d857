import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { modernClient, sessionClient } from "../support/Mcp.ts"
import { get, json, post, startService } from "../support/Service.ts"

const open = Effect.gen(function* () {
  const service = yield* startService()
  const { inferenceKey } = yield* service.account(10)
  const client = yield* sessionClient(service.origin, inferenceKey)
  const read = (uri: string) =>
    Effect.map(
      Effect.promise(() => client.readResource({ uri })),
      ({ contents }) => contents[0] as { readonly text: string; readonly mimeType?: string; readonly uri: string }
    )
  return { client, inferenceKey, read, service }
})

describe("resources", () => {
  it.live("include the callable models", () =>
    Effect.gen(function* () {
      const { inferenceKey, read, service } = yield* open
      const { mimeType, text } = yield* read("tollgate://models")
      assert.strictEqual(mimeType, "application/json")
      const { data } = yield* Effect.flatMap(get(`${service.api}/models`, inferenceKey), json)
      const servable = data.filter((model: { readonly servable: boolean }) => model.servable)
      assert.deepStrictEqual(
        JSON.parse(text).models.map(({ id }: { readonly id: string }) => id),
        servable.map(({ id }: { readonly id: string }) => id)
      )
    }).pipe(Effect.scoped)
  )

  it.live("include receipts by request id, only of the client's own account", () =>
    Effect.gen(function* () {
      const { client, inferenceKey, read, service } = yield* open
      const { resourceTemplates } = yield* Effect.promise(() => client.listResourceTemplates())
      assert.deepStrictEqual(
        resourceTemplates.map(({ uriTemplate }) => uriTemplate),
        ["tollgate://requests/{request_id}"]
      )
      const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }
      const paid = yield* Effect.flatMap(post(`${service.api}/chat/completions`, inferenceKey, body), json)
      const uri = `tollgate://requests/${paid.request_id}`
      const receipt = yield* Effect.flatMap(get(`${service.api}/requests/${paid.request_id}`, inferenceKey), json)
      assert.deepStrictEqual(JSON.parse((yield* read(uri)).text), receipt)
      const other = yield* service.account(1)
      const stranger = yield* sessionClient(service.origin, other.inferenceKey)
      const refused = yield* Effect.promise(() =>
        stranger.readResource({ uri }).then(
          () => "read",
          (error: Error) => error.message
        )
      )
      assert.include(refused, `There is no request ${paid.request_id}.`)
    }).pipe(Effect.scoped)
  )

  it.live("name the `uri` that is not one of a receipt, with the envelope", () =>
    Effect.gen(function* () {
      const { client } = yield* open
      const refused = yield* Effect.promise(() =>
        client.readResource({ uri: "tollgate://requests/x" }).then(
          () => undefined,
          (error: { readonly code: number; readonly data: { readonly error: object } }) => error
        )
      )
      assert.strictEqual(refused?.code, -32_602)
      assert.deepInclude(refused?.data.error ?? {}, {
        message:
          "`uri` must be tollgate://requests/ followed by req_ and 26 digits or capital letters, without I, L, O and U.",
        code: "validation_error",
        param: "uri"
      })
    }).pipe(Effect.scoped)
  )

  it.live("include the pages of the documentation as Markdown", () =>
    Effect.gen(function* () {
      const { client, inferenceKey, read, service } = yield* open
      const { resources } = yield* Effect.promise(() => client.listResources())
      for (const { description, name, uri } of resources) assert.isNotEmpty(`${name}${description}`, uri)
      const page = resources.find(({ uri }) => uri === "tollgate://docs/guide/mcp")
      assert.isDefined(page)
      const { mimeType, text } = yield* read(page!.uri)
      assert.strictEqual(mimeType, "text/markdown")
      const served = yield* Effect.promise(async () => (await fetch(`${service.origin}/docs/guide/mcp.md`)).text())
      assert.strictEqual(text, served)
      const modern = yield* modernClient(service.origin, inferenceKey)
      const listed = yield* Effect.promise(() => modern.listResources())
      assert.strictEqual(listed.resources.length, resources.length)
    }).pipe(Effect.scoped)
  )
})
