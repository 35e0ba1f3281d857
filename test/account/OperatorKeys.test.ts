import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OperatorEvents } from "../../src/account/OperatorEvents.ts"
import { isOperatorKey, OperatorKeys } from "../../src/account/OperatorKeys.ts"
import { withoutSecrets } from "../../src/account/SecretForms.ts"
import { layer as database } from "../support/Database.ts"

const rooms = OperatorKeys.layer.pipe(Layer.provideMerge(OperatorEvents.layer), Layer.provideMerge(database))

describe("OperatorKeys", () => {
  it.effect("creates a key of which the database keeps only a digest, finds it, lists it and revokes it once", () =>
    Effect.gen(function* () {
      const keys = yield* OperatorKeys
      const sql = yield* SqlClient.SqlClient
      const { id, key } = yield* keys.create({ name: "support", expiresAt: null })
      assert.isTrue(isOperatorKey(key))
      assert.strictEqual(yield* keys.find(key), id)
      const rows = yield* sql<{ text: string }>`SELECT to_jsonb(k)::text AS text FROM operator_key k`
      assert.notInclude(JSON.stringify(rows), key.slice(7, -4))
      assert.deepInclude((yield* keys.list)[0], { id, name: "support", last4: key.slice(-4), state: "active" })
      assert.isTrue(yield* keys.revoke(id))
      assert.isFalse(yield* keys.revoke(id))
      assert.isUndefined(yield* keys.find(key))
      assert.deepInclude((yield* keys.list)[0], { id, state: "revoked" })
    }).pipe(Effect.provide(rooms))
  )

  it.effect("finds nothing for expired keys and for other texts", () =>
    Effect.gen(function* () {
      const keys = yield* OperatorKeys
      const { key } = yield* keys.create({ name: "past", expiresAt: new Date(0) })
      for (const text of [key, `${key}x`, key.replace("ok", "sk"), ""]) assert.isUndefined(yield* keys.find(text))
      assert.strictEqual((yield* keys.list)[0]?.state, "expired")
    }).pipe(Effect.provide(rooms))
  )

  it("have a form that logs redact", () => {
    assert.strictEqual(withoutSecrets(`key svc_ok_${"a".repeat(43)}`), "key svc_ok_[redacted]")
  })
})
