import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ProjectList, ProjectResult } from "../../../../schemas/management/Projects.ts"
import { managing, refusal } from "../../../support/Management.ts"
import { get, startService } from "../../../support/Service.ts"

const decodeResult = Schema.decodeUnknownSync(ProjectResult, { onExcessProperty: "error" })
const decodeList = Schema.decodeUnknownSync(ProjectList, { onExcessProperty: "error" })
const actor = { type: "operator", id: "test" } as const
const absent = "0".repeat(24)

const opened = Effect.gen(function* () {
  const service = yield* startService()
  const { account, managementKey } = yield* service.account()
  const keyWith = (scopes: ReadonlyArray<string>) =>
    Effect.map(
      service.keys.create({ accountId: account.id, kind: "management", name: "some", scopes, actor }),
      ({ key }) => managing(service, key)
    )
  return { service, account, ask: managing(service, managementKey), keyWith }
})

describe("projects of an account", () => {
  it.live("are created, read, changed and listed", () =>
    Effect.gen(function* () {
      const { ask } = yield* opened
      const routing = { strategy: "cost", providers: { ignore: ["azure"] } } as const
      const wanted = { name: "Größe & Co", budget_cents: 500, budget_period: "monthly", routing } as const
      const made = yield* ask("POST", "/projects", { ...wanted, data_policy: "no_training" })
      assert.strictEqual(made.status, 200, JSON.stringify(made.body))
      const { data } = decodeResult(made.body)
      assert.deepInclude(data, {
        ...wanted,
        slug: "gro-e-co",
        status: "active",
        spent_cents: 0,
        data_policy: "no_training",
        archived_at: null
      })
      assert.strictEqual(made.headers.get("cache-control"), "no-store")
      assert.deepStrictEqual((yield* ask("GET", `/projects/${data.id}`)).body, made.body)
      const changed = yield* ask("PATCH", `/projects/${data.id}`, { name: "Other", budget_cents: null, routing: null })
      assert.deepInclude(decodeResult(changed.body).data, {
        name: "Other",
        slug: "gro-e-co",
        budget_cents: null,
        budget_period: null,
        spent_cents: null,
        routing: null,
        data_policy: "no_training"
      })
      const { budget_cents, budget_period, data_policy, name: kept, routing: none, slug } = changed.body.data
      const same = { budget_cents, budget_period, data_policy, name: kept, routing: none, slug }
      const sent = yield* ask("PATCH", `/projects/${data.id}`, same)
      assert.deepStrictEqual({ ...sent.body.data, updated_at: 0 }, { ...changed.body.data, updated_at: 0 })
      const unlimited = { name: "b", budget_cents: null, budget_period: null }
      const more = yield* Effect.forEach([unlimited, { name: "c" }], (project) => ask("POST", "/projects", project))
      const newest = more.map(({ body }) => body.data.id).toReversed()
      const page = decodeList((yield* ask("GET", "/projects?limit=2")).body)
      assert.deepStrictEqual([page.data.map(({ id }) => id), page.next_cursor], [newest, newest[1]])
      const last = decodeList((yield* ask("GET", `/projects?limit=2&cursor=${page.next_cursor}`)).body)
      assert.deepStrictEqual([last.data.map(({ id }) => id), last.next_cursor], [[data.id], null])
    }).pipe(Effect.scoped)
  )

  it.live("have unique slugs, derived from their names by default", () =>
    Effect.gen(function* () {
      const { ask, service } = yield* opened
      const slugOf = (name: string, more: object = {}) =>
        Effect.map(ask("POST", "/projects", { name, ...more }), ({ body }) => body.data?.slug ?? body.error.code)
      assert.strictEqual(yield* slugOf("  My App! "), "my-app")
      assert.strictEqual(yield* slugOf("my app"), "my-app-2")
      assert.strictEqual(yield* slugOf("My-App-2"), "my-app-2-2")
      assert.strictEqual(yield* slugOf("日本"), "project")
      assert.strictEqual(yield* slugOf("日本"), "project-2")
      assert.strictEqual(yield* slugOf(`${"a".repeat(57)} b`), `${"a".repeat(57)}`)
      assert.strictEqual(yield* slugOf("x", { slug: "my-app" }), "conflict")
      assert.strictEqual(yield* slugOf("x", { slug: "x" }), "x")
      const other = managing(service, (yield* service.account()).managementKey)
      assert.strictEqual((yield* other("POST", "/projects", { name: "x", slug: "x" })).status, 200)
      const { id } = (yield* ask("POST", "/projects", { name: "y" })).body.data
      assert.deepStrictEqual(refusal(yield* ask("PATCH", `/projects/${id}`, { slug: "x" })), [409, "conflict", null])
      assert.strictEqual((yield* ask("PATCH", `/projects/${id}`, { slug: "y" })).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("are archived for good, and their keys stop working immediately", () =>
    Effect.gen(function* () {
      const { account, ask, service } = yield* opened
      const { id } = (yield* ask("POST", "/projects", { name: "p" })).body.data
      const of = { accountId: account.id, kind: "inference", scopes: [], actor } as const
      const inside = yield* Effect.forEach(["a", "b"], (name) => service.keys.create({ ...of, name, projectId: id }))
      const outside = yield* service.keys.create({ ...of, name: "c" })
      for (const { key } of inside) assert.strictEqual((yield* get(`${service.api}/key`, key)).status, 200)
      const archived = yield* ask("POST", `/projects/${id}/archive`)
      assert.strictEqual(archived.status, 200)
      assert.strictEqual(decodeResult(archived.body).data.status, "archived")
      for (const { key } of inside) assert.strictEqual((yield* get(`${service.api}/key`, key)).status, 401)
      assert.strictEqual((yield* get(`${service.api}/key`, outside.key)).status, 200)
      assert.deepStrictEqual((yield* ask("POST", `/projects/${id}/archive`)).body, archived.body)
      assert.deepStrictEqual((yield* ask("GET", `/projects/${id}`)).body, archived.body)
      assert.deepStrictEqual(refusal(yield* ask("PATCH", `/projects/${id}`, { name: "q" })), [409, "conflict", null])
      const late = yield* Effect.flip(service.keys.create({ ...of, name: "d", projectId: id }))
      assert.strictEqual(late._tag === "Failure" ? late.reason._tag : "", "ValidationError")
      const [, entry] = (yield* service.audit(account.id)).filter(({ type }) => type === "project.archived")
      assert.deepStrictEqual(entry?.changes, { keys: inside.map((one) => one.id) })
    }).pipe(Effect.scoped)
  )

  it.live("need the routing scope for routing changes, and change nothing without it", () =>
    Effect.gen(function* () {
      const { account, ask, keyWith, service } = yield* opened
      const { id } = (yield* ask("POST", "/projects", { name: "p" })).body.data
      const reads = yield* keyWith(["projects:read"])
      assert.strictEqual((yield* reads("GET", "/projects")).status, 200)
      assert.deepStrictEqual(refusal(yield* reads("POST", "/projects", { name: "q" })), [
        403,
        "insufficient_scope",
        "projects:write"
      ])
      const writes = yield* keyWith(["projects:write"])
      assert.strictEqual((yield* writes("GET", `/projects/${id}`)).status, 200)
      assert.strictEqual((yield* writes("PATCH", `/projects/${id}`, { name: "r" })).status, 200)
      const before = (yield* service.audit(account.id)).length
      for (const more of [{ routing: {} }, { routing: null }, { data_policy: "default" }]) {
        const lacking = [403, "insufficient_scope", "routing:write"]
        assert.deepStrictEqual(refusal(yield* writes("POST", "/projects", { name: "q", ...more })), lacking)
        assert.deepStrictEqual(refusal(yield* writes("PATCH", `/projects/${id}`, { name: "q", ...more })), lacking)
      }
      assert.strictEqual((yield* service.audit(account.id)).length, before)
      const both = yield* keyWith(["projects:write", "routing:write"])
      assert.strictEqual((yield* both("PATCH", `/projects/${id}`, { routing: {} })).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("of other accounts return 404 like unknown ones", () =>
    Effect.gen(function* () {
      const { ask, service } = yield* opened
      const { id } = (yield* ask("POST", "/projects", { name: "p" })).body.data
      const other = managing(service, (yield* service.account()).managementKey)
      for (const [method, path, body] of [
        ["GET", "", undefined],
        ["PATCH", "", { name: "q" }],
        ["POST", "/archive", undefined]
      ] as const) {
        const [foreign, none] = yield* Effect.forEach([id, absent], (one) =>
          other(method, `/projects/${one}${path}`, body)
        )
        assert.deepStrictEqual(refusal(foreign!), [404, "not_found", null])
        assert.strictEqual(JSON.stringify(foreign!.body), JSON.stringify(none!.body).replace(absent, id))
      }
      assert.deepStrictEqual((yield* other("GET", "/projects")).body.data, [])
      assert.strictEqual((yield* ask("GET", `/projects/${id}`)).body.data.name, "p")
    }).pipe(Effect.scoped)
  )

  it.live("are rejected with the names of all invalid fields", () =>
    Effect.gen(function* () {
      const { ask } = yield* opened
      const { id } = (yield* ask("POST", "/projects", { name: "p" })).body.data
      for (const [body, param] of [
        [{}, "name"],
        [{ name: "" }, "name"],
        [{ name: "a\0" }, "name"],
        [{ name: "a", colour: 1 }, "colour"],
        [{ name: "a", slug: "A" }, "slug"],
        [{ name: "a", budget_cents: 1.5 }, "budget_cents"],
        [{ name: "a", budget_period: "daily" }, "budget_period"],
        [{ name: "a", budget_cents: 1, budget_period: "yearly" }, "budget_period"],
        [{ name: "a", budget_cents: 1, budget_period: null }, "budget_period"],
        [{ name: "a", routing: { strategy: "fast" } }, "routing.strategy"],
        [{ name: "a", routing: { colour: 1 } }, "routing.colour"],
        [{ name: "a", routing: { providers: { only: ["\ud800"] } } }, "routing"],
        [{ name: "a", data_policy: "lax" }, "data_policy"]
      ] as const) {
        const refused = yield* ask("POST", "/projects", body)
        assert.deepStrictEqual(refusal(refused), [400, "validation_error", param], JSON.stringify(body))
        assert.strictEqual(refused.headers.get("x-should-retry"), "false")
      }
      assert.deepStrictEqual(refusal(yield* ask("PATCH", `/projects/${id}`, {})), [400, "validation_error", "body"])
      for (const change of [{ budget_period: "daily" }, { budget_cents: 1, budget_period: null }]) {
        const refused = refusal(yield* ask("PATCH", `/projects/${id}`, change))
        assert.deepStrictEqual(refused, [400, "validation_error", "budget_period"])
      }
    }).pipe(Effect.scoped)
  )

  it.live("are created once per idempotency key", () =>
    Effect.gen(function* () {
      const { ask } = yield* opened
      const once = () => ask("POST", "/projects", { name: "p" }, { "idempotency-key": "k" })
      const first = yield* once()
      const again = yield* once()
      assert.deepStrictEqual(again.body, first.body)
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.lengthOf((yield* ask("GET", "/projects")).body.data, 1)
    }).pipe(Effect.scoped)
  )
})
