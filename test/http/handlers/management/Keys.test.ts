import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { keyOf } from "../../../../src/http/handlers/management/Keys.ts"
import { managing } from "../../../support/Management.ts"
import { get, post, type Service, startService } from "../../../support/Service.ts"

const hello = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }], max_tokens: 20 }

const asking = (service: Service, key: string) => managing(service, key, "/keys")

const customer = (service: Service) =>
  Effect.map(service.account(), (made) => ({ ...made, ask: asking(service, made.managementKey) }))

const chat = (service: Service, key: string) =>
  Effect.tap(post(`${service.api}/chat/completions`, key, hello), (response) =>
    Effect.promise(() => response.clone().text())
  )

const managementKeyWith = (service: Service, accountId: string, scopes: ReadonlyArray<string>) =>
  service.keys.create({
    accountId,
    kind: "management",
    name: "narrow",
    scopes,
    actor: { type: "operator", id: "test" }
  })

const absent = "0".repeat(24)

describe("keys of an account", () => {
  it.live("are created, shown once, used, changed, rotated and revoked", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { ask, inferenceKey } = yield* customer(service)
      const expires = Math.floor(Date.now() / 1000) + 3_600
      const made = yield* ask("POST", "", { name: "laptop", expires_at: expires, routing: { strategy: "cost" } })
      assert.strictEqual(made.status, 200)
      assert.strictEqual(made.headers.get("cache-control"), "no-store")
      assert.isNull(made.headers.get("x-audit-status"))
      const { data, key } = made.body
      assert.match(key, /^svc_sk_[A-Za-z0-9_-]{43}$/)
      assert.deepStrictEqual(
        { ...data, created_at: 0 },
        {
          id: data.id,
          object: "key",
          name: "laptop",
          prefix: key.slice(0, 11),
          last4: key.slice(-4),
          project_id: null,
          status: "active",
          budget_cents: null,
          budget_period: null,
          spent_cents: 0,
          routing: { strategy: "cost" },
          allowed_tools: null,
          created_at: 0,
          last_used_at: null,
          expires_at: expires,
          revoked_at: null
        }
      )
      assert.strictEqual((yield* chat(service, key)).status, 200)
      const used = (yield* ask("GET", `/${data.id}`)).body.data
      assert.isAbove(used.spent_cents, 0)
      assert.isAtMost(Math.abs(used.last_used_at - Date.now() / 1000), 60)
      assert.deepStrictEqual({ ...used, spent_cents: 0, last_used_at: null }, data)

      const listed = (yield* ask("GET")).body
      assert.deepStrictEqual([listed.object, listed.next_cursor], ["list", null])
      assert.deepStrictEqual(listed.data[0], used)
      assert.strictEqual(listed.data[1].last4, inferenceKey.slice(-4))
      assert.strictEqual(listed.data.length, 2)
      assert.notInclude(JSON.stringify(listed), key.slice(11, -4))

      const changed = yield* ask("PATCH", `/${data.id}`, { name: "deps", expires_at: null, routing: null })
      assert.strictEqual(changed.status, 200)
      assert.deepStrictEqual(changed.body.data, { ...used, name: "deps", expires_at: null, routing: null })

      const { budget_cents, budget_period, expires_at, name, project_id, routing: kept } = changed.body.data
      const same = { budget_cents, budget_period, expires_at, name, project_id, routing: kept }
      assert.deepStrictEqual((yield* ask("PATCH", `/${data.id}`, same)).body, changed.body)

      const rotated = yield* ask("POST", `/${data.id}/rotate`, {})
      assert.strictEqual(rotated.status, 200)
      assert.notStrictEqual(rotated.body.key, key)
      assert.deepInclude(rotated.body.data, { name: "deps", status: "active", spent_cents: 0, last_used_at: null })
      assert.strictEqual((yield* chat(service, key)).status, 401)
      assert.strictEqual((yield* chat(service, rotated.body.key)).status, 200)
      const old = (yield* ask("GET", `/${data.id}`)).body.data
      assert.deepStrictEqual([old.status, typeof old.revoked_at], ["revoked", "number"])

      const { id } = rotated.body.data
      const revoked = yield* ask("DELETE", `/${id}`)
      assert.deepStrictEqual(revoked.body, { data: { id, object: "key", status: "revoked" } })
      assert.strictEqual((yield* chat(service, rotated.body.key)).status, 401)
      const again = yield* ask("DELETE", `/${id}`)
      assert.deepStrictEqual([again.status, again.body.error.code], [409, "conflict"])
      assert.strictEqual(again.headers.get("x-should-retry"), "false")
    }).pipe(Effect.scoped)
  )

  it.live("work during the grace period beside their replacements, and do not count towards the key limit", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { ask } = yield* customer(service)
      const keys = [(yield* ask("GET")).body.data[0].id]
      for (let made = 1; made < 5; made++) keys.push((yield* ask("POST", "", { name: `key ${made}` })).body.data.id)
      const sixth = yield* ask("POST", "", { name: "sixth" })
      assert.deepStrictEqual([sixth.status, sixth.body.error.code], [409, "key_limit_reached"])
      for (const id of keys) {
        const rotated = yield* ask("POST", `/${id}/rotate`, { grace_seconds: 600 })
        assert.strictEqual(rotated.status, 200)
        const old = (yield* ask("GET", `/${id}`)).body.data
        assert.strictEqual(old.status, "active")
        assert.isAtMost(Math.abs(old.expires_at - 600 - Date.now() / 1000), 60)
      }
      const page = (yield* ask("GET")).body.data
      assert.strictEqual(page.length, 10)
      const [newest] = page
      const eleventh = yield* ask("POST", `/${newest.id}/rotate`, { grace_seconds: 1 })
      assert.deepStrictEqual([eleventh.status, eleventh.body.error.code], [409, "conflict"])
      assert.strictEqual((yield* ask("POST", `/${newest.id}/rotate`)).status, 200)
      // What was rotated is left as it is.
      const refused = [
        yield* ask("POST", `/${keys[0]}/rotate`, {}),
        yield* ask("PATCH", `/${keys[0]}`, { expires_at: null }),
        yield* ask("PATCH", `/${newest.id}`, { name: "revoked" })
      ]
      assert.deepStrictEqual(
        refused.map(({ body, status }) => [status, body.error.code]),
        [
          [409, "conflict"],
          [409, "conflict"],
          [409, "conflict"]
        ]
      )
      assert.strictEqual((yield* ask("DELETE", `/${keys[0]}`)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("are paged newest first by a cursor", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { ask } = yield* customer(service)
      for (let made = 1; made < 5; made++) yield* ask("POST", "", { name: `key ${made}` })
      const all = (yield* ask("GET")).body.data.map(({ id }: { id: string }) => id)
      assert.deepStrictEqual(all, all.toSorted().toReversed())
      const first = (yield* ask("GET", "?limit=2")).body
      assert.strictEqual(first.next_cursor, all[1])
      const second = (yield* ask("GET", `?limit=3&cursor=${first.next_cursor}`)).body
      assert.isNull(second.next_cursor)
      assert.deepStrictEqual(
        [...first.data, ...second.data].map(({ id }) => id),
        all
      )
      assert.strictEqual((yield* ask("GET", "?limit=101")).status, 400)
      assert.strictEqual((yield* ask("GET", "?cursor=x")).status, 400)
    }).pipe(Effect.scoped)
  )

  it.live("are rejected with the names of invalid fields, and change nothing", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { ask } = yield* customer(service)
      const [{ id }] = (yield* ask("GET")).body.data
      const wrong: ReadonlyArray<readonly [string, string, object]> = [
        ["name", "POST", {}],
        ["name", "POST", { name: "" }],
        ["name", "POST", { name: "a\0" }],
        ["colour", "POST", { name: "a", colour: "red" }],
        ["budget_cents", "POST", { name: "a", budget_cents: 0.5 }],
        ["budget_cents", "POST", { name: "a", budget_cents: -1 }],
        ["budget_period", "POST", { name: "a", budget_cents: 1, budget_period: "yearly" }],
        ["budget_period", "POST", { name: "a", budget_period: "daily" }],
        ["budget_period", "POST", { name: "a", budget_cents: 1, budget_period: null }],
        ["expires_at", "POST", { name: "a", expires_at: 1 }],
        ["project_id", "POST", { name: "a", project_id: "x" }],
        ["project_id", "POST", { name: "a", project_id: absent }],
        ["routing.strategy", "POST", { name: "a", routing: { strategy: "best" } }],
        ["routing.colour", "POST", { name: "a", routing: { colour: "red" } }],
        ["routing", "POST", { name: "a", routing: { providers: { only: ["\0"] } } }],
        ["body", "PATCH", {}],
        ["name", "PATCH", { name: null }],
        ["budget_period", "PATCH", { budget_period: "daily" }],
        ["budget_period", "PATCH", { budget_cents: null, budget_period: "daily" }],
        ["budget_period", "PATCH", { budget_cents: 1, budget_period: null }],
        ["budget_period", "PATCH", { budget_period: null }],
        ["expires_at", "PATCH", { expires_at: 1 }],
        ["project_id", "PATCH", { project_id: absent }],
        ["grace_seconds", "ROTATE", { grace_seconds: 86_401 }],
        ["colour", "ROTATE", { colour: "red" }]
      ]
      const before = (yield* ask("GET")).body
      for (const [param, method, body] of wrong) {
        const answered =
          method === "ROTATE"
            ? yield* ask("POST", `/${id}/rotate`, body)
            : yield* ask(method, method === "POST" ? "" : `/${id}`, body)
        const name = `${method} ${JSON.stringify(body)}: ${JSON.stringify(answered.body)}`
        assert.strictEqual(answered.status, 400, name)
        assert.deepStrictEqual([answered.body.error.code, answered.body.error.param], ["validation_error", param], name)
      }
      assert.deepStrictEqual((yield* ask("GET")).body, before)
    }).pipe(Effect.scoped)
  )

  it.live("of other accounts, and management keys, return 404", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, ask, managementKey } = yield* customer(service)
      const other = yield* customer(service)
      const [{ id: foreign }] = (yield* other.ask("GET")).body.data
      const { id: management } = yield* managementKeyWith(service, account.id, [])
      const said = (id: string) =>
        Effect.forEach(
          [
            ["GET", `/${id}`],
            ["DELETE", `/${id}`],
            ["PATCH", `/${id}`, { name: "mine" }],
            ["POST", `/${id}/rotate`, {}]
          ] as const,
          ([method, path, body]) =>
            Effect.map(ask(method, path, body), (answered) => [
              answered.status,
              JSON.stringify(answered.body).replaceAll(id, "")
            ])
        )
      const nobodys = yield* said(absent)
      assert.deepStrictEqual(
        nobodys.map(([status]) => status),
        [404, 404, 404, 404]
      )
      assert.deepStrictEqual(yield* said(foreign), nobodys)
      assert.deepStrictEqual(yield* said(management), nobodys)
      assert.strictEqual((yield* other.ask("GET", `/${foreign}`)).body.data.status, "active")
      const listed = JSON.stringify((yield* ask("GET")).body)
      assert.notInclude(listed, management)
      assert.notInclude(listed, foreign)
      assert.isTrue(yield* service.keys.isActive(management))
      assert.strictEqual((yield* get(`${service.api}/management/balance`, managementKey)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("need the key scopes, and the routing scope for routing", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, ask, inferenceKey } = yield* customer(service)
      const [{ id }] = (yield* ask("GET")).body.data
      const narrow = (scopes: ReadonlyArray<string>) =>
        Effect.map(managementKeyWith(service, account.id, scopes), ({ key }) => asking(service, key))
      const reader = yield* narrow(["keys:read"])
      assert.strictEqual((yield* reader("GET")).status, 200)
      const refused = yield* reader("POST", "", { name: "a" })
      assert.deepStrictEqual([refused.status, refused.body.error.param], [403, "keys:write"])
      const writer = yield* narrow(["keys:write"])
      const project = yield* service.project(account.id, "project")
      assert.strictEqual((yield* writer("GET", `/${id}`)).status, 200)
      for (const answered of [
        yield* writer("POST", "", { name: "a", routing: {} }),
        yield* writer("PATCH", `/${id}`, { routing: null }),
        yield* writer("PATCH", `/${id}`, { project_id: null }),
        yield* writer("PATCH", `/${id}`, { project_id: project.id })
      ]) {
        const { code, param } = answered.body.error
        assert.deepStrictEqual([answered.status, code, param], [403, "insufficient_scope", "routing:write"])
      }
      assert.strictEqual((yield* writer("PATCH", `/${id}`, { name: "b" })).status, 200)
      const made = yield* writer("POST", "", { name: "c", project_id: project.id })
      assert.strictEqual(made.status, 200)
      const out = { project_id: null }
      assert.strictEqual((yield* writer("PATCH", `/${made.body.data.id}`, out)).status, 403)
      const both = yield* narrow(["keys:write", "routing:write"])
      assert.strictEqual((yield* both("PATCH", `/${made.body.data.id}`, out)).body.data.project_id, null)
      assert.strictEqual((yield* asking(service, inferenceKey)("GET")).body.error.code, "wrong_key_kind")
    }).pipe(Effect.scoped)
  )

  it.live("are created once per idempotency key", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { ask } = yield* customer(service)
      const once = (name: string) => ask("POST", "", { name }, { "idempotency-key": "the-same" })
      const tries = yield* Effect.all([once("a"), once("a"), once("a")], { concurrency: "unbounded" })
      assert.deepStrictEqual(tries.map(({ status }) => status).toSorted(), [200, 409, 409])
      const repeated = yield* once("a")
      assert.strictEqual(repeated.body.error.code, "idempotency_result_unavailable")
      assert.strictEqual((yield* once("b")).body.error.code, "idempotency_key_reused")
      assert.strictEqual((yield* ask("GET")).body.data.length, 2)
      // Creations that come together wait for one another, and not for ever.
      const together = yield* Effect.all(
        ["b", "c", "d"].map((name) => ask("POST", "", { name }, { "idempotency-key": name })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        together.map(({ status }) => status),
        [200, 200, 200]
      )
      const [{ id }] = (yield* ask("GET")).body.data
      const rotate = () => ask("POST", `/${id}/rotate`, {}, { "idempotency-key": "rotate" })
      assert.strictEqual((yield* rotate()).status, 200)
      assert.strictEqual((yield* rotate()).body.error.code, "idempotency_result_unavailable")
      assert.strictEqual((yield* ask("GET")).body.data.length, 6)
    }).pipe(Effect.scoped)
  )
})

describe("a key in the API", () => {
  const row = {
    id: absent,
    name: "k",
    prefix: "svc_sk_abcd",
    last4: "wxyz",
    scopes: [],
    project_id: null,
    active: false,
    replaced_by: null,
    routing: null,
    allowed_tools: null,
    budget_id: null,
    budget_limit: null,
    budget_period: null,
    budget_spent: null,
    created_at: new Date(1_500),
    expires_at: new Date(2_500),
    revoked_at: null
  }
  const total = { key_id: absent, cost: 15_000_000n, used_at: new Date(2_000) }

  it("is shown as revoked once it has expired", () => {
    const { created_at, expires_at, revoked_at, status } = keyOf(row, undefined)
    assert.deepStrictEqual([status, created_at, expires_at, revoked_at], ["revoked", 1, 2, null])
  })

  it("shows its total spending, or that of its budget's current period", () => {
    assert.deepStrictEqual([keyOf(row, total).spent_cents, keyOf(row, total).last_used_at], [1.5, 2])
    const limited = { ...row, budget_limit: 20_000_000n, budget_period: "daily" as const, budget_spent: 5_000_000n }
    const { budget_cents, budget_period, spent_cents } = keyOf(limited, total)
    assert.deepStrictEqual([budget_cents, budget_period, spent_cents], [2, "daily", 0.5])
    assert.strictEqual(keyOf(row, undefined).spent_cents, 0)
  })
})
