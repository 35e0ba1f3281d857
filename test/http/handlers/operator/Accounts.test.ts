import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { refusal } from "../../../support/Management.ts"
import { operatorScene } from "./scene.ts"

const unknown = "0".repeat(24)

describe("/operator/accounts", () => {
  it.live("lists, searches and shows accounts with their money", () =>
    Effect.gen(function* () {
      const { account, chat, operate, service } = yield* operatorScene()
      const other = yield* service.account(2)
      const { body: spent } = yield* chat
      const { body: first } = yield* operate("GET", "/accounts?limit=1")
      assert.deepStrictEqual(
        [first.data.map(({ id }: { id: string }) => id), first.next_cursor],
        [[other.account.id], other.account.id]
      )
      const { body: second } = yield* operate("GET", `/accounts?limit=1&cursor=${first.next_cursor}`)
      assert.deepStrictEqual([second.data[0].id, second.next_cursor], [account.id, null])
      const { body: found } = yield* operate("GET", `/accounts?search=${account.email.toUpperCase()}`)
      assert.deepStrictEqual(found.data, second.data)
      assert.deepStrictEqual((yield* operate("GET", "/accounts?state=closed")).body.data, [])
      const { body: shown } = yield* operate("GET", `/accounts/${account.id}`)
      assert.deepInclude(shown.data, { ...second.data[0], spent_30d_usd: spent.cost_usd, open_requests: 0 })
      assert.deepStrictEqual(shown.data.keys, { active: 2, inactive: 0 })
      assert.deepStrictEqual(refusal(yield* operate("GET", `/accounts/${unknown}`)), [404, "not_found", null])
      assert.deepStrictEqual(refusal(yield* operate("GET", "/accounts?state=lost")), [400, "validation_error", "state"])
    }).pipe(Effect.scoped)
  )

  it.live(
    "suspends an account at once, lets it work again, and closes it for good, each with a line in its audit log",
    () =>
      Effect.gen(function* () {
        const { account, chat, key, operate, service } = yield* operatorScene()
        const change = (to: string, reason: string) => operate("POST", `/accounts/${account.id}/${to}`, { reason })
        assert.strictEqual((yield* chat).status, 200)
        assert.deepStrictEqual((yield* change("suspend", "chargeback")).body.data, {
          id: account.id,
          object: "account",
          state: "suspended",
          reason: "chargeback"
        })
        const refused = yield* chat
        assert.deepStrictEqual([refused.status, refused.body.error.code], [403, "account_suspended"])
        assert.include(refused.body.error.message, "chargeback")
        assert.deepStrictEqual(refusal(yield* change("suspend", "again")), [409, "conflict", null])
        assert.strictEqual((yield* change("resume", "settled")).status, 200)
        assert.strictEqual((yield* chat).status, 200)
        assert.strictEqual((yield* change("close", "requested")).status, 200)
        assert.strictEqual((yield* chat).status, 401)
        assert.deepStrictEqual(refusal(yield* change("resume", "mistake")), [409, "conflict", null])
        const lines = (yield* service.audit(account.id)).filter(({ actor_type: type }) => type === "operator")
        assert.deepStrictEqual(
          lines.slice(0, 5).map(({ actor_id, code, outcome, type }) => [type, outcome, code, actor_id]),
          [
            ["account.resumed", "failed", "conflict", key.id],
            ["account.closed", "succeeded", null, key.id],
            ["account.resumed", "succeeded", null, key.id],
            ["account.suspended", "failed", "conflict", key.id],
            ["account.suspended", "succeeded", null, key.id]
          ]
        )
        assert.deepInclude(lines[1]?.changes, { reason: "requested", keys_revoked: 2 })
      }).pipe(Effect.scoped)
  )

  it.live("requires a reason, and replays the first answer under its idempotency key", () =>
    Effect.gen(function* () {
      const { account, operate } = yield* operatorScene()
      const path = `/accounts/${account.id}/suspend`
      assert.deepStrictEqual(refusal(yield* operate("POST", path, {})), [400, "validation_error", "reason"])
      const once = { "idempotency-key": "once" }
      const first = yield* operate("POST", path, { reason: "chargeback" }, once)
      const second = yield* operate("POST", path, { reason: "chargeback" }, once)
      assert.deepStrictEqual(second.body, first.body)
      assert.strictEqual(second.headers.get("idempotency-replayed"), "true")
    }).pipe(Effect.scoped)
  )

  it.live("lists keys of both kinds without secrets, and revokes one at once", () =>
    Effect.gen(function* () {
      const { account, chat, inferenceKey, operate, service } = yield* operatorScene()
      assert.strictEqual((yield* chat).status, 200)
      const { body } = yield* operate("GET", `/accounts/${account.id}/keys`)
      assert.deepStrictEqual(body.data.map(({ kind }: { kind: string }) => kind).toSorted(), [
        "inference",
        "management"
      ])
      assert.notInclude(JSON.stringify(body), inferenceKey)
      const { id } = body.data.find(({ kind }: { kind: string }) => kind === "inference")
      const other = yield* service.account(1)
      assert.strictEqual((yield* operate("DELETE", `/accounts/${other.account.id}/keys/${id}`)).status, 404)
      const revoked = yield* operate("DELETE", `/accounts/${account.id}/keys/${id}`)
      assert.deepStrictEqual(revoked.body.data, { id, object: "key", status: "revoked" })
      assert.strictEqual((yield* chat).status, 401)
      const again = yield* operate("DELETE", `/accounts/${account.id}/keys/${id}`)
      assert.deepStrictEqual(refusal(again), [409, "conflict", null])
    }).pipe(Effect.scoped)
  )
})
