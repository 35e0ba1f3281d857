import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { deliveryOf, endpointOf } from "../../../src/http/handlers/WebhookOperations.ts"
import { newResourceId } from "../../../src/platform/Ids.ts"
import { managing } from "../../support/Management.ts"
import { get, json, post, startService } from "../../support/Service.ts"

const hook = { url: "http://127.0.0.1:9/", events: ["video.failed"] }

describe("webhooks", () => {
  it.live("are registered once under an idempotency key", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { inferenceKey: key } = yield* service.account(1)
      const url = `${service.api}/webhooks`
      const once = (body: object) => post(url, key, body, { "idempotency-key": "the-same" })
      const tries = yield* Effect.all([once(hook), once(hook), once(hook)], { concurrency: "unbounded" })
      assert.deepStrictEqual(tries.map(({ status }) => status).toSorted(), [200, 409, 409])
      const codes = yield* Effect.forEach([hook, { ...hook, events: ["video.completed"] }], (body) =>
        Effect.map(Effect.flatMap(once(body), json), ({ error }) => error.code)
      )
      assert.deepStrictEqual(codes, ["idempotency_result_unavailable", "idempotency_key_reused"])
      const { data } = yield* Effect.flatMap(get(url, key), json)
      assert.strictEqual(data.length, 1)
      const rotate = () => post(`${url}/${data[0].id}/rotate-secret`, key, {}, { "idempotency-key": "rotate" })
      assert.strictEqual((yield* rotate()).status, 200)
      assert.strictEqual((yield* rotate()).status, 409)
    }).pipe(Effect.scoped)
  )

  it.live("write an audit log line for each change, with either kind of key", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { account, inferenceKey, managementKey } = yield* service.account(1)
      for (const [path, key] of [
        ["", inferenceKey],
        ["/management", managementKey]
      ] as const) {
        const ask = managing(service, key)
        const at = path === "" ? "/../webhooks" : "/webhooks"
        const made = (yield* ask("POST", at, hook)).body
        const { id } = path === "" ? made : made.data
        yield* ask("PATCH", `${at}/${id}`, { status: "disabled" })
        yield* ask("POST", `${at}/${id}/rotate-secret`)
        yield* ask("POST", `${at}/${id}/test`)
        yield* ask("POST", `${at}/${id}/deliveries/${id}/redeliver`)
        yield* ask("DELETE", `${at}/${id}`)
        const lines = yield* service.audit(account.id)
        assert.deepStrictEqual(
          lines.filter((line) => line.resource_id === id).map((line) => [line.type, line.actor_type, line.code]),
          [
            ["webhook.removed", "key", null],
            ["webhook.redelivered", "key", "conflict"],
            ["webhook.tested", "key", null],
            ["webhook.secret_rotated", "key", null],
            ["webhook.updated", "key", null],
            ["webhook.created", "key", null]
          ],
          path
        )
      }
    }).pipe(Effect.scoped)
  )
})

describe("a webhook in the API", () => {
  it("shows times in seconds, and omits internal fields", () => {
    const row = {
      id: newResourceId(),
      url: "u",
      events: ["video.failed"],
      status: "disabled",
      created_at: new Date(1_999)
    }
    assert.deepStrictEqual(endpointOf(row as Parameters<typeof endpointOf>[0]), {
      id: row.id,
      object: "webhook_endpoint",
      url: "u",
      events: ["video.failed"],
      status: "disabled",
      created_at: 1
    })
    const shown = deliveryOf({
      id: row.id,
      event_id: "evt_1",
      type: "video.failed",
      status: "failed",
      attempts: 1,
      log: [],
      next_at: null,
      created_at: new Date(1_000),
      ended_at: new Date(2_999)
    })
    assert.deepInclude(shown, { created_at: 1, ended_at: 2, next_attempt_at: null, attempts: [] })
  })
})
