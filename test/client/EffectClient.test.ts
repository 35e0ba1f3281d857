import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option, Redacted, Stream } from "effect"
import { text } from "node:stream/consumers"
import { BadRequestError } from "../../schemas/Errors.ts"
import { makeEffectClient, Tollgate } from "../../src/client/EffectClient.ts"
import { upstream } from "../providers/upstream.ts"
import { startService } from "../support/Service.ts"

const payload = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] } as const

const clientOf = (baseUrl: string, key: string) =>
  Effect.flatMap(Layer.build(NodeHttpClient.layerUndici), (context) =>
    Effect.provideContext(makeEffectClient({ baseUrl, apiKey: Option.some(Redacted.make(key)) }), context)
  )

describe("the Effect client", () => {
  it.live("decodes answers, fails with the errors of the contract, and streams", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const client = yield* clientOf(`${service.origin}/api/v1`, inferenceKey)
      const answer = yield* client.chat.chatCompletions({ payload, headers: {} })
      if (Stream.isStream(answer)) return assert.fail("the answer is a stream")
      assert.include(String(answer.choices[0]?.message.content), "Hello!")
      const failed = yield* Effect.flip(
        client.chat.chatCompletions({ payload: { ...payload, model: "no-such-model" }, headers: {} })
      )
      if (!(failed instanceof BadRequestError)) return assert.fail(String(failed))
      assert.strictEqual(failed.error.code, "unknown_model")
      const streamed = yield* client.chat.chatCompletions({ payload: { ...payload, stream: true }, headers: {} })
      if (!Stream.isStream(streamed)) return assert.fail("the answer is not a stream")
      const events = yield* Stream.runCollect(streamed)
      assert.strictEqual(events.at(-1)?.data, "[DONE]")
      assert.isAbove(events.length, 3)
    }).pipe(Effect.scoped)
  )

  it("throws a TypeError that names a missing address", () => {
    const baseUrl = undefined as never
    assert.throws(
      () => makeEffectClient({ baseUrl, apiKey: Option.none() }),
      TypeError,
      "`baseUrl` must be the address"
    )
  })

  it.live("reads its settings, and needs no key for public operations", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const models = Effect.gen(function* () {
        const client = yield* Tollgate
        return yield* client.models.list({ query: { limit: 5 } })
      })
      const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ TOLLGATE_BASE_URL: service.origin }))
      const layer = Tollgate.layer.pipe(Layer.provide(Layer.mergeAll(NodeHttpClient.layerUndici, settings)))
      const { data } = yield* Effect.provide(models, layer)
      assert.lengthOf(data, 5)
    }).pipe(Effect.scoped)
  )

  it.live("is charged once when a connection breaks between the attempts of a paid call", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const keys: Array<unknown> = []
      // Forwards each request, and drops the answer to the first one.
      const flaky = yield* upstream(async (request, response) => {
        const key = String(request.headers["idempotency-key"])
        keys.push(key)
        const headers = { "content-type": "application/json", authorization: `Bearer ${inferenceKey}` }
        const answer = await fetch(`${service.origin}${request.url}`, {
          method: "POST",
          headers: { ...headers, "idempotency-key": key },
          body: await text(request)
        })
        const answered = await answer.text()
        if (keys.length === 1) return void response.destroy()
        response.writeHead(answer.status, { "content-type": "application/json" }).end(answered)
      })
      const client = yield* clientOf(flaky.origin, inferenceKey)
      const answer = yield* client.chat.chatCompletions({ payload, headers: {} })
      if (Stream.isStream(answer)) return assert.fail("the answer is a stream")
      assert.lengthOf(keys, 2)
      assert.strictEqual(keys[0], keys[1])
      assert.notStrictEqual(keys[0], "undefined")
      const direct = yield* clientOf(service.origin, inferenceKey)
      const { data } = yield* direct.requests.listRequests({ query: {} })
      assert.lengthOf(data, 1)
    }).pipe(Effect.scoped)
  )
})
