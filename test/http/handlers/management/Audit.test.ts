import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLogList } from "../../../../schemas/management/Audit.ts"
import { auditLogOf } from "../../../../src/http/handlers/management/Audit.ts"
import { layerUrl } from "../../../support/Database.ts"
import { managing, refusal } from "../../../support/Management.ts"
import { type Service, startService } from "../../../support/Service.ts"

const decode = Schema.decodeUnknownSync(AuditLogList, { onExcessProperty: "error" })

const actor = { type: "operator", id: "test" } as const

const customer = (service: Service) =>
  Effect.map(service.account(), ({ account, managementKey }) => {
    const ask = managing(service, managementKey)
    const log = (query = "") => Effect.map(ask("GET", `/audit${query}`), ({ body }) => decode(body))
    return { account, ask, log, managementKey }
  })

/** While `body` runs, what is written into this table finds a disk that is full. */
const full = <A>(service: Service, table: string, body: Effect.Effect<A>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'planted' USING ERRCODE = '53100'; END $$`
    yield* sql`CREATE TRIGGER planted BEFORE INSERT ON ${sql(table)} FOR EACH ROW EXECUTE FUNCTION planted()`
    const made = yield* body
    yield* sql`DROP FUNCTION planted CASCADE`
    return made
  }).pipe(Effect.provide(layerUrl(service.databaseUrl, 1)))

const nothing = "0".repeat(24)

describe("GET /management/audit", () => {
  it.live("shows the action, actor, request and outcome of each change of a key", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { ask, log } = yield* customer(service)
      const made = yield* ask("POST", "/keys", { name: "laptop" })
      const { id } = made.body.data
      yield* ask("PATCH", `/keys/${id}`, { name: "deps" })
      const failed = yield* ask("DELETE", `/keys/${nothing}`)
      const { data, next_cursor } = yield* log("?limit=3")
      assert.deepStrictEqual(
        data.map(({ type }) => type),
        ["key.revoked", "key.updated", "key.created"]
      )
      assert.strictEqual(next_cursor, data[2]!.id)
      const [gone, changed, created] = data
      assert.deepInclude(gone, { status: "completed", outcome: "failed", code: "not_found", changes: {} })
      assert.deepStrictEqual(gone!.resource, { type: "key", id: nothing })
      assert.strictEqual(gone!.request_id, failed.headers.get("x-request-id"))
      assert.deepInclude(changed, { object: "audit_log", status: "completed", outcome: "succeeded", code: null })
      assert.include(JSON.stringify(changed!.changes), "deps")
      assert.deepStrictEqual(created!.resource, { type: "key", id })
      assert.strictEqual(created!.request_id, made.headers.get("x-request-id"))
      assert.strictEqual(created!.actor.type, "key")
      assert.isAtMost(Math.abs(created!.effective_at - Date.now() / 1_000), 60)
      const all = JSON.stringify(yield* log())
      assert.notInclude(all, made.body.key.slice(11, -4))
      const rest = yield* log(`?cursor=${next_cursor}`)
      assert.isTrue(rest.data.every((line) => line.id < next_cursor!))
      assert.strictEqual(rest.next_cursor, null)
    }).pipe(Effect.scoped)
  )

  it.live("filters by time, type, actor and resource, each given once or several times", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { ask, log, account } = yield* customer(service)
      const { id: key } = (yield* ask("POST", "/keys", { name: "laptop" })).body.data
      yield* ask("POST", "/projects", { name: "app" })
      yield* ask("DELETE", `/keys/${key}`)
      const types = (query: string) => Effect.map(log(query), ({ data }) => data.map(({ type }) => type))
      assert.deepStrictEqual(yield* types("?event_types[]=project.created"), ["project.created"])
      const both = "?event_types[]=project.created&event_types[]=key.revoked"
      assert.deepStrictEqual(yield* types(both), ["key.revoked", "project.created"])
      assert.deepStrictEqual(yield* types(`?resource_ids[]=${key}`), ["key.revoked", "key.created"])
      assert.deepStrictEqual(yield* types(`${both}&resource_ids[]=${key}&resource_ids[]=x`), ["key.revoked"])
      assert.deepStrictEqual(yield* types(`?actor_ids[]=${actor.id}&resource_ids[]=${key}`), [])
      assert.include(yield* types(`?actor_ids[]=${actor.id}&resource_ids[]=${account.id}`), "account.created")
      const { data } = yield* log()
      const at = data[0]!.effective_at
      const than = (operator: string, seconds: number) =>
        Effect.map(log(`?effective_at[${operator}]=${seconds}`), (page) => page.data)
      const ids = data.map(({ id }) => id)
      const when = (keep: (seconds: number) => boolean) => data.filter((line) => keep(line.effective_at))
      assert.deepStrictEqual(
        yield* than("gte", at),
        when((seconds) => seconds >= at)
      )
      assert.deepStrictEqual(
        yield* than("gt", at - 1),
        when((seconds) => seconds > at - 1)
      )
      assert.deepStrictEqual(yield* than("gt", at), [])
      assert.deepStrictEqual(yield* than("lte", at), data)
      assert.deepStrictEqual(
        yield* than("lt", at),
        when((seconds) => seconds < at)
      )
      assert.strictEqual(new Set(ids).size, data.length)
    }).pipe(Effect.scoped)
  )

  it.live("rejects unknown parameters and too many filter combinations", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { ask } = yield* customer(service)
      const refused = (query: string) => Effect.map(ask("GET", `/audit?${query}`), refusal)
      const values = (name: string, count: number) =>
        Array.from({ length: count }, (_, index) => `${name}=v${index}`).join("&")
      const wrong = (param: string) => [400, "validation_error", param]
      assert.deepStrictEqual(yield* refused("types=a"), wrong("types"))
      assert.deepStrictEqual(yield* refused("effective_at[gte]=yesterday"), wrong("effective_at[gte]"))
      assert.deepStrictEqual((yield* refused("event_types[]=%00"))[0], 400)
      assert.deepStrictEqual(yield* refused(values("event_types[]", 33)), wrong("event_types[]"))
      const many = `${values("event_types[]", 11)}&${values("actor_ids[]", 3)}`
      assert.deepStrictEqual(yield* refused(many), wrong("event_types[]"))
      const just = `${values("event_types[]", 8)}&${values("actor_ids[]", 2)}&${values("resource_ids[]", 2)}`
      assert.strictEqual((yield* ask("GET", `/audit?${just}`)).status, 200)
      // The same value twice is one.
      assert.strictEqual((yield* ask("GET", `/audit?${just}&event_types[]=v0`)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("requires the audit scope and shows only the key's own account", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [mine, other] = [yield* customer(service), yield* customer(service)]
      const narrow = yield* service.keys.create({
        accountId: mine.account.id,
        kind: "management",
        name: "narrow",
        scopes: ["keys:write"],
        actor
      })
      const refused = yield* managing(service, narrow.key)("GET", "/audit")
      assert.deepStrictEqual(refusal(refused), [403, "insufficient_scope", "audit:read"])
      const { id } = (yield* mine.ask("POST", "/keys", { name: "laptop" })).body.data
      for (const query of [
        `?resource_ids[]=${id}`,
        `?resource_ids[]=${mine.account.id}`,
        `?event_types[]=key.created`
      ]) {
        const found = JSON.stringify(yield* other.log(query))
        assert.notInclude(found, id)
        assert.notInclude(found, mine.account.id)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a change whose audit log line", () => {
  it.live("cannot be completed takes effect, and its line stays pending", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { ask, log } = yield* customer(service)
      const made = yield* full(service, "audit_completion", ask("POST", "/projects", { name: "app" }))
      assert.deepStrictEqual([made.status, made.headers.get("x-audit-status")], [200, "pending"])
      assert.strictEqual((yield* ask("GET", `/projects/${made.body.data.id}`)).status, 200)
      const { data } = yield* log(`?resource_ids[]=${made.body.data.id}`)
      assert.strictEqual(data.length, 1)
      assert.deepInclude(data[0], { type: "project.created", status: "pending", outcome: null, code: null })
      assert.strictEqual(data[0]!.request_id, made.headers.get("x-request-id"))
      assert.isNull((yield* ask("POST", "/projects", { name: "another" })).headers.get("x-audit-status"))
    }).pipe(Effect.scoped)
  )

  it.live("cannot be written does not take effect", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { ask, log } = yield* customer(service)
      const key = { "idempotency-key": "once" }
      const before = yield* log()
      const refused = yield* full(service, "audit_open", ask("POST", "/projects", { name: "app" }, key))
      assert.deepStrictEqual(refusal(refused), [503, "store_unavailable", null])
      assert.strictEqual(refused.headers.get("x-should-retry"), "false")
      assert.deepStrictEqual((yield* ask("GET", "/projects")).body.data, [])
      assert.deepStrictEqual(yield* log(), before)
      const made = yield* ask("POST", "/projects", { name: "app" }, key)
      assert.deepStrictEqual([made.status, made.headers.get("idempotency-replayed")], [200, null])
    }).pipe(Effect.scoped)
  )
})

describe("a line", () => {
  it("shows its time in seconds and null for absent values", () => {
    const row = {
      id: nothing,
      type: "key.revoked",
      actor_type: "service",
      actor_id: "x",
      resource_type: "key",
      resource_id: "y",
      request_id: null,
      effective_at: new Date(1_999),
      code: null,
      changes: {},
      status: "completed",
      outcome: "succeeded"
    } as const
    assert.deepInclude(auditLogOf(row), { effective_at: 1, request_id: null, actor: { type: "service", id: "x" } })
  })
})
