import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { managing } from "../support/Management.ts"
import { get, json, post, startService } from "../support/Service.ts"

describe("a key that moves to another project", () => {
  it.live("gets no cached answer of its old project, and leaves no content under the new one's zero_retention", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const made = yield* service.account()
      const ask = managing(service, made.managementKey)
      const open = (yield* ask("POST", "/projects", { name: "open" })).body.data.id
      const closed = (yield* ask("POST", "/projects", { name: "closed", data_policy: "zero_retention" })).body.data.id
      const { data, key } = (yield* ask("POST", "/keys", { name: "k", project_id: open })).body
      const question = { model: "gpt-4o-mini", messages: [{ role: "user", content: "A secret?" }], max_tokens: 20 }
      const chat = (session?: string) =>
        Effect.flatMap(
          post(`${service.api}/chat`, key, {
            ...question,
            ...(session === undefined ? {} : { session_id: session })
          }),
          (response) =>
            Effect.map(json(response), (body) => [
              response.status,
              response.headers.get("x-svc-cache-status"),
              body.routing?.data_policy ?? body.error?.code
            ])
        )
      const { id: session } = yield* json(yield* post(`${service.api}/sessions`, made.inferenceKey, {}))
      assert.deepStrictEqual(yield* chat(), [200, "MISS", "default"])
      assert.deepStrictEqual(yield* chat(), [200, "HIT", "default"])

      const successor = (yield* ask("POST", `/keys/${data.id}/rotate`, { grace_seconds: 600 })).body.data.id
      // The node caches the key, as a node other than that of the change may.
      assert.deepStrictEqual(yield* chat(), [200, "HIT", "default"])
      const actor = { type: "operator", id: "test" } as const
      yield* service.keys.update({ accountId: made.account.id, id: successor, actor, change: { projectId: closed } })
      assert.strictEqual((yield* ask("GET", `/keys/${data.id}`)).body.data.project_id, closed)

      const after = yield* chat(session)
      const kept = yield* json(yield* get(`${service.api}/sessions/${session}/export`, made.inferenceKey))
      const paid = yield* post(`${service.api}/chat/completions`, key, question)
      assert.deepStrictEqual(after, [503, null, "store_unavailable"])
      assert.strictEqual((yield* json(paid)).error.code, "no_provider_available")
      assert.deepStrictEqual(kept.messages, [])
    }).pipe(Effect.scoped)
  )

  it.live("leaves no answer of its new project in the cache of its old one", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, managementKey } = yield* service.account()
      const ask = managing(service, managementKey)
      const one = (yield* ask("POST", "/projects", { name: "one" })).body.data.id
      const other = (yield* ask("POST", "/projects", { name: "other" })).body.data.id
      const moving = (yield* ask("POST", "/keys", { name: "moving", project_id: one })).body
      const staying = (yield* ask("POST", "/keys", { name: "staying", project_id: one })).body
      const chat = (key: string, content: string) =>
        Effect.map(
          post(`${service.api}/chat`, key, { model: "gpt-4o-mini", messages: [{ role: "user", content }] }),
          (response) => [response.status, response.headers.get("x-svc-cache-status")]
        )
      assert.deepStrictEqual(yield* chat(moving.key, "Good morning"), [200, "MISS"])
      // As another node would change it.
      const actor = { type: "operator", id: "test" } as const
      yield* service.keys.update({ accountId: account.id, id: moving.data.id, actor, change: { projectId: other } })
      const [met] = yield* chat(moving.key, "What is new?")
      // A request that meets the move may get 503, and is then sent again.
      if (met === 503) assert.deepStrictEqual(yield* chat(moving.key, "What is new?"), [200, "MISS"])
      const [receipt] = (yield* json(yield* get(`${service.api}/requests`, moving.key))).data
      assert.strictEqual(receipt.project_id, other)
      assert.deepStrictEqual(yield* chat(staying.key, "What is new?"), [200, "MISS"])
    }).pipe(Effect.scoped)
  )
})
