import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bearer, type Credential, send } from "../../../support/Calls.ts"
import { json, type Service, startService } from "../../../support/Service.ts"

const PATH = "/operator/session"

/** Signs in with a key, as a page of this service or as another client. */
const signIn = ({ api }: Service, key: string, headers: Credential = {}) =>
  Effect.gen(function* () {
    const response = yield* send(api, { method: "POST", path: PATH }, { ...bearer(key), ...headers })
    const body = yield* json(response)
    const cookie = response.headers.getSetCookie()[0] ?? ""
    const by: Credential = { cookie: cookie.split(";", 1)[0] ?? "", "x-csrf-token": body.csrf_token ?? "" }
    return { status: response.status, body, cookie, by }
  })

const statusOf = (service: Service, path: string, by: Credential, method = "GET", body?: object) =>
  Effect.map(send(service.api, { method, path, ...(body === undefined ? {} : { body }) }, by), ({ status }) => status)

describe("/operator/session", () => {
  it.live(
    "exchanges an operator key for a cookie that is valid for the operator's operations only, until sign-out",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account } = yield* service.account(1)
        const { id, key } = yield* service.operatorKeys.create({ name: "support", expiresAt: null })
        const { body, by, cookie, status } = yield* signIn(service, key)
        assert.strictEqual(status, 200)
        assert.match(
          cookie,
          /^svc_operator=[\w-]{43}; Max-Age=43200; Path=\/api\/v1\/operator; HttpOnly; SameSite=Strict$/
        )
        assert.deepStrictEqual(body.key, { id, name: "support" })
        assert.closeTo(body.ends_at, Date.now() / 1_000 + 12 * 3_600, 5)
        const got = yield* Effect.flatMap(send(service.api, { method: "GET", path: PATH }, by), json)
        assert.deepStrictEqual(got, body)
        assert.strictEqual(yield* statusOf(service, "/operator/accounts", by), 200)
        // The audit log names the key, however its holder came in.
        const suspend = { method: "POST", path: `/operator/accounts/${account.id}/suspend`, body: { reason: "test" } }
        assert.strictEqual((yield* send(service.api, suspend, by)).status, 200)
        assert.deepInclude((yield* service.audit(account.id))[0], { actor_type: "operator", actor_id: id })
        const { "x-csrf-token": _, ...bare } = by
        assert.strictEqual((yield* send(service.api, suspend, bare)).status, 403)
        for (const path of ["/console/session", "/management/keys", "/requests"]) {
          assert.strictEqual(yield* statusOf(service, path, by), 401, path)
        }
        const out = yield* send(service.api, { method: "DELETE", path: PATH }, by)
        assert.deepStrictEqual([out.status, yield* json(out)], [200, { object: "operator_session", ended: true }])
        assert.match(out.headers.getSetCookie()[0] ?? "", /^svc_operator=; Max-Age=0;/)
        const after = yield* send(service.api, { method: "GET", path: "/operator/accounts" }, by)
        assert.strictEqual(after.status, 401)
        assert.match(after.headers.getSetCookie()[0] ?? "", /^svc_operator=; Max-Age=0;/)
      }).pipe(Effect.scoped)
  )

  it.live("ends on every node when its key is revoked, and gives no access to an owner's operations", () =>
    Effect.gen(function* () {
      const one = yield* startService()
      const other = yield* startService({ DATABASE_URL: one.databaseUrl })
      const { account } = yield* one.account(1)
      const owner = yield* one.signedIn(account.id)
      assert.strictEqual(yield* statusOf(one, "/operator/accounts", owner), 401)
      assert.strictEqual(yield* statusOf(one, PATH, owner), 401)
      const { id, key } = yield* one.operatorKeys.create({ name: "a", expiresAt: null })
      const { by } = yield* signIn(one, key)
      assert.strictEqual(yield* statusOf(other, "/operator/accounts", by), 200)
      yield* one.operatorKeys.revoke(id)
      assert.strictEqual(yield* statusOf(other, "/operator/accounts", by), 401)
      assert.strictEqual(yield* statusOf(one, PATH, by), 401)
      assert.strictEqual((yield* signIn(one, key)).status, 401)
    }).pipe(Effect.scoped)
  )

  it.live("begins only from pages of this service, and sets an https-only cookie over https", () =>
    Effect.gen(function* () {
      const service = yield* startService({ PUBLIC_URL: "https://gateway.example/svc" })
      const key = yield* service.operatorKey
      const foreign: ReadonlyArray<Credential> = [{ "sec-fetch-site": "same-site" }, { origin: "https://evil.example" }]
      for (const headers of foreign) {
        const { body, cookie, status } = yield* signIn(service, key, headers)
        assert.deepStrictEqual([status, body.error.code, cookie], [403, "cross_site_request", ""])
      }
      const { by, cookie } = yield* signIn(service, key, { origin: "https://gateway.example" })
      assert.match(
        cookie,
        /^__Secure-svc_operator=[\w-]{43}; Max-Age=43200; Path=\/svc\/api\/v1\/operator; Secure; HttpOnly;/
      )
      assert.strictEqual(yield* statusOf(service, "/operator/accounts", by), 200)
      // A second cookie of the name may be another site's.
      const two = { ...by, cookie: `${by["cookie"]}; __Secure-svc_operator=${"A".repeat(43)}` }
      assert.strictEqual(yield* statusOf(service, "/operator/accounts", two), 401)
    }).pipe(Effect.scoped)
  )
})
