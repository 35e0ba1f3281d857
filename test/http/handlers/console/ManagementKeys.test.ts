import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  ManagementKeyList,
  ManagementKeyRevoked,
  ManagementKeyWithSecret,
  ManagementScope
} from "../../../../schemas/console/ManagementKeys.ts"
import { scopes } from "../../../../src/auth/Scopes.ts"
import { managementKeyOf } from "../../../../src/http/handlers/console/ManagementKeys.ts"
import { page } from "../../../support/Console.ts"
import { postbox } from "../../../support/Postbox.ts"
import { get, startService } from "../../../support/Service.ts"

const exact = { onExcessProperty: "error" } as const
const decodeMade = Schema.decodeUnknownSync(ManagementKeyWithSecret, exact)
const decodeList = Schema.decodeUnknownSync(ManagementKeyList, exact)
const decodeRevoked = Schema.decodeUnknownSync(ManagementKeyRevoked, exact)

const wanted = { name: "console", scopes: ["usage:read", "keys:write", "usage:read"] }

describe("management keys", () => {
  it.live("are created by the owner, shown once, listed and revoked", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const service = yield* startService(mail.settings)
      const [ann, bob] = [page(service.origin), page(service.origin)]
      yield* ann.signIn(mail, "ann@example.com")
      yield* bob.signIn(mail, "bob@example.com")
      const expires = Math.floor(Date.now() / 1_000) + 900
      const made = yield* ann.ask("POST", "/management-keys", { ...wanted, expires_at: expires })
      assert.strictEqual(made.status, 200, JSON.stringify(made.body))
      const { data, key } = decodeMade(made.body)
      assert.match(key, /^svc_mk_/)
      assert.deepStrictEqual(
        [data.name, data.scopes, data.status, data.expires_at, data.last4],
        ["console", ["usage:read", "keys:write"], "active", expires, key.slice(-4)]
      )
      const balance = `${service.api}/management/balance`
      assert.strictEqual((yield* get(balance, key)).status, 200)

      const second = decodeMade((yield* ann.ask("POST", "/management-keys", wanted)).body)
      assert.isNull(second.data.expires_at)
      const page1 = decodeList((yield* ann.ask("GET", "/management-keys?limit=1")).body)
      assert.deepStrictEqual(page1.data, [second.data])
      const page2 = decodeList((yield* ann.ask("GET", `/management-keys?limit=1&cursor=${page1.next_cursor}`)).body)
      assert.deepStrictEqual([page2.data, page2.next_cursor], [[data], null])
      assert.deepStrictEqual(decodeList((yield* bob.ask("GET", "/management-keys")).body).data, [])

      const foreign = yield* bob.ask("DELETE", `/management-keys/${data.id}`)
      const absent = yield* bob.ask("DELETE", `/management-keys/${"0".repeat(24)}`)
      assert.deepStrictEqual([foreign.status, absent.status], [404, 404])
      assert.strictEqual(
        foreign.body.error.message.replace(data.id, ""),
        absent.body.error.message.replace("0".repeat(24), "")
      )
      assert.strictEqual((yield* get(balance, key)).status, 200)
      const revoked = decodeRevoked((yield* ann.ask("DELETE", `/management-keys/${data.id}`)).body)
      assert.strictEqual(revoked.data.status, "revoked")
      assert.strictEqual((yield* get(balance, key)).status, 401)
      assert.strictEqual((yield* ann.ask("DELETE", `/management-keys/${data.id}`)).status, 409)
    }).pipe(Effect.scoped)
  )

  it.live("are created once per idempotency key, with known scopes and an expiry in the future", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const service = yield* startService(mail.settings)
      const ann = page(service.origin)
      yield* ann.signIn(mail, "ann@example.com")
      const once = () => ann.ask("POST", "/management-keys", wanted, { "idempotency-key": "the-same" })
      assert.strictEqual((yield* once()).status, 200)
      const again = yield* once()
      assert.deepStrictEqual([again.status, again.body.error.code], [409, "idempotency_result_unavailable"])
      assert.lengthOf(decodeList((yield* ann.ask("GET", "/management-keys")).body).data, 1)
      for (const [body, param] of [
        [{ ...wanted, scopes: [] }, "scopes"],
        [{ ...wanted, scopes: ["all"] }, "scopes[0]"],
        [{ ...wanted, expires_at: 1 }, "expires_at"],
        [{ ...wanted, kind: "inference" }, "kind"],
        [{ scopes: wanted.scopes }, "name"]
      ] as const) {
        const { body: answer, status } = yield* ann.ask("POST", "/management-keys", body)
        assert.deepStrictEqual([status, answer.error.param], [400, param], JSON.stringify(answer))
      }
    }).pipe(Effect.scoped)
  )

  it("have the scopes that keys can have", () => assert.deepStrictEqual([...ManagementScope.literals], [...scopes]))

  it("are shown without their secret", () => {
    const row = {
      id: "0".repeat(24),
      name: "n",
      prefix: "svc_mk_abcd",
      last4: "wxyz",
      scopes: ["usage:read"],
      active: false,
      project_id: null,
      replaced_by: null,
      routing: null,
      allowed_tools: null,
      budget_id: null,
      budget_limit: null,
      budget_period: null,
      budget_spent: null,
      created_at: new Date(1_000),
      expires_at: null,
      revoked_at: new Date(2_999)
    }
    assert.deepStrictEqual(managementKeyOf(row), {
      id: row.id,
      object: "management_key",
      name: "n",
      prefix: "svc_mk_abcd",
      last4: "wxyz",
      scopes: ["usage:read"],
      status: "revoked",
      created_at: 1,
      expires_at: null,
      revoked_at: 2
    })
  })
})
