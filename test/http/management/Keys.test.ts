import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, json, startService } from "../../support/Service.ts"

describe("keys of an account", () => {
  it.live("are revoked, with a line of the audit log opened before and completed after", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey, managementKey } = yield* service.account()
      const { id } = yield* Effect.flatMap(get(`${service.api}/key`, inferenceKey), json)
      const revoke = Effect.promise(() =>
        fetch(`${service.api}/management/keys/${id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${managementKey}` }
        })
      )
      const revoked = yield* revoke
      assert.strictEqual(revoked.status, 200)
      assert.deepStrictEqual(yield* json(revoked), { data: { id, object: "key", status: "revoked" } })
      assert.strictEqual(revoked.headers.get("cache-control"), "no-store")
      assert.isNull(revoked.headers.get("x-audit-status"))
      assert.strictEqual((yield* get(`${service.api}/key`, inferenceKey)).status, 401)
      const again = yield* revoke
      assert.strictEqual(again.status, 404)
      assert.strictEqual(again.headers.get("x-should-retry"), "false")
    }).pipe(Effect.scoped)
  )
})
