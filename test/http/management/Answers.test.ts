/** What all reads and writes of the management API have in common, at one resource of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bearer, callsOf, send } from "../../support/Calls.ts"
import { json, startService } from "../../support/Service.ts"

const call = (operation: string) => callsOf().get(operation)!

describe("writes of the management API", () => {
  it.live("are done once under an idempotency key, and answered again with the same", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account()
      const headers = { ...bearer(managementKey), "idempotency-key": "the-same" }
      const create = send(service.api, call("management.projects.create"), headers)
      const first = yield* create
      assert.isNull(first.headers.get("idempotency-replayed"))
      const again = yield* create
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.deepStrictEqual(yield* json(again), yield* json(first))
      const listed = yield* send(service.api, call("management.projects.list"), bearer(managementKey))
      assert.lengthOf((yield* json(listed)).data, 1)
    }).pipe(Effect.scoped)
  )

  it.live("show a secret once: a repeat is told that its answer was not kept", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account()
      const headers = { ...bearer(managementKey), "idempotency-key": "the-same" }
      const create = send(service.api, call("management.keys.create"), headers)
      const { data, key } = yield* Effect.flatMap(create, json)
      assert.match(key, /^svc_sk_/)
      const again = yield* create
      assert.strictEqual(again.status, 409)
      const { error, request_id } = yield* json(again)
      assert.strictEqual(error.code, "idempotency_result_unavailable")
      assert.match(error.message, /audit log/)
      const logged = yield* send(service.api, call("management.audit.list"), bearer(managementKey))
      assert.strictEqual((yield* json(logged)).data[0].request_id, request_id)
      const listed = yield* send(service.api, call("management.keys.list"), bearer(managementKey))
      const ids = (yield* json(listed)).data.map(({ id }: { readonly id: string }) => id)
      assert.lengthOf(ids, 2)
      assert.include(ids, data.id)
    }).pipe(Effect.scoped)
  )

  it.live(
    "say on every answer, also of the edge, that no cache may keep it, and on a failed one that it is not repeated",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { inferenceKey, managementKey } = yield* service.account()
        const write = call("management.projects.create")
        const good = bearer(managementKey)
        const answers = yield* Effect.all([
          send(service.api, write, good),
          send(service.api, { ...write, body: {} }, good),
          send(service.api, write, bearer(inferenceKey)),
          send(service.api, write),
          send(service.api, { method: "PUT", path: "/management/projects" }, good),
          send(service.api, { method: "POST", path: "/management/nothing" }, good),
          send(service.api, call("management.projects.get"), good)
        ])
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [200, 400, 403, 401, 405, 404, 404]
        )
        for (const answer of answers) {
          assert.strictEqual(answer.headers.get("cache-control"), "no-store", String(answer.status))
          if (answer.status >= 400) assert.strictEqual(answer.headers.get("x-should-retry"), "false")
        }
      }).pipe(Effect.scoped)
  )
})
