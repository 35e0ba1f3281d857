import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, json, startService } from "../../support/Service.ts"
import { operating } from "../handlers/operator/scene.ts"

const codeOf = (answer: { readonly status: number; readonly body: { error?: { code?: string } } }) => [
  answer.status,
  answer.body.error?.code
]

describe("operator keys", () => {
  it.live("are accepted only by the operator's operations, which accept no other key", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey, managementKey } = yield* service.account(1)
      const key = yield* service.operatorKey
      const accounts = yield* operating(service, key)("GET", "/accounts")
      assert.strictEqual(accounts.status, 200)
      assert.strictEqual(accounts.headers.get("cache-control"), "no-store")
      assert.isNull(accounts.headers.get("access-control-allow-origin"))
      assert.isTrue(accounts.headers.get("ratelimit-policy")?.startsWith('"operator_reads"'))
      for (const other of [inferenceKey, managementKey]) {
        assert.deepStrictEqual(codeOf(yield* operating(service, other)("GET", "/accounts")), [403, "wrong_key_kind"])
      }
      for (const path of ["/requests", "/management/keys", "/key"]) {
        const response = yield* get(`${service.api}${path}`, key)
        assert.deepStrictEqual([response.status, (yield* json(response)).error.code], [403, "wrong_key_kind"], path)
      }
      const unknown = `svc_ok_${"A".repeat(43)}`
      assert.deepStrictEqual(codeOf(yield* operating(service, unknown)("GET", "/accounts")), [401, "invalid_api_key"])
      const bare = yield* get(`${service.api}/operator/accounts`, "")
      assert.strictEqual(bare.status, 401)
      const basic = yield* Effect.promise(() =>
        fetch(`${service.api}/operator/accounts`, { headers: { authorization: key } })
      )
      assert.strictEqual((yield* json(basic)).error.message, "`Authorization` must be `Bearer <key>`.")
    }).pipe(Effect.scoped)
  )

  it.live("stop working on every node as soon as they are revoked or expire", () =>
    Effect.gen(function* () {
      const one = yield* startService()
      const other = yield* startService({ DATABASE_URL: one.databaseUrl })
      const { id, key } = yield* one.operatorKeys.create({ name: "a", expiresAt: null })
      assert.strictEqual((yield* operating(other, key)("GET", "/accounts")).status, 200)
      yield* one.operatorKeys.revoke(id)
      assert.strictEqual((yield* operating(other, key)("GET", "/accounts")).status, 401)
      const past = yield* one.operatorKeys.create({ name: "b", expiresAt: new Date(Date.now() - 1_000) })
      assert.strictEqual((yield* operating(one, past.key)("GET", "/accounts")).status, 401)
    }).pipe(Effect.scoped)
  )
})
