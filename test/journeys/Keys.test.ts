/** Keys through the management API: on every node at once, with budgets and in projects. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { lockBalance, lockWaiters, newClient } from "../ledger/Fixture.ts"
import { freshDatabase } from "../support/Database.ts"
import { managing } from "../support/Management.ts"
import { json, post, startService } from "../support/Service.ts"
import { eventually } from "../support/Eventually.ts"

const hello = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }], max_tokens: 20 }

/** Sends a chat request. Returns its status with its error code or "served". */
const chat = (service: { readonly api: string }, key: string, body: object = {}) =>
  Effect.gen(function* () {
    const response = yield* post(`${service.api}/chat/completions`, key, { ...hello, ...body })
    const { error, limit_source: source } = yield* json(response)
    return `${response.status} ${error?.code ?? "served"}${source === undefined ? "" : ` ${source}`}`
  })

const served = "200 served"
const refused = "401 invalid_api_key"

describe("a key", () => {
  it.live("stops at once on every node when it is rotated, also for holds that wait", () =>
    Effect.gen(function* () {
      const DATABASE_URL = yield* freshDatabase("keys")
      const one = yield* startService({ DATABASE_URL })
      const two = yield* startService({ DATABASE_URL })
      const { account, inferenceKey: key, managementKey } = yield* one.account()
      const ask = managing(one, managementKey, "/keys")
      // Both nodes cache the key from now on.
      for (const node of [one, two]) assert.strictEqual(yield* chat(node, key), served)
      const before = yield* one.balance(account.id)
      const sql = yield* newClient(DATABASE_URL)
      const lock = yield* lockBalance(sql, { accountId: account.id, keyId: "" })
      const waiting = yield* Effect.forEach([one, two, one, two], (node) => Effect.forkChild(chat(node, key)))
      yield* lockWaiters(sql, 2)
      const [{ id }] = (yield* ask("GET")).body.data
      const rotated = yield* ask("POST", `/${id}/rotate`, {})
      assert.strictEqual(rotated.status, 200)
      yield* lock.unlock
      for (const fiber of waiting) assert.strictEqual(yield* Fiber.join(fiber), refused)
      assert.deepStrictEqual(yield* one.balance(account.id), before)
      for (const node of [two, one]) {
        assert.strictEqual(yield* chat(node, key), refused)
        assert.strictEqual(yield* chat(node, rotated.body.key), served)
      }
      const last = rotated.body.data.id
      const grace = yield* ask("POST", `/${last}/rotate`, { grace_seconds: 1 })
      for (const node of [one, two]) {
        assert.strictEqual(yield* chat(node, grace.body.key), served)
        yield* eventually(chat(node, rotated.body.key), (answer) => answer === refused)
      }
      assert.strictEqual((yield* ask("GET", `/${last}`)).body.data.status, "revoked")
      assert.deepStrictEqual(yield* one.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("spends no more than its budget, and keeps budget and spending when it is rotated", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account()
      const ask = managing(service, managementKey, "/keys")
      const made = (yield* ask("POST", "", { name: "thrifty", budget_cents: 100 })).body
      assert.deepInclude(made.data, { budget_cents: 100, budget_period: "lifetime", spent_cents: 0 })
      assert.strictEqual(yield* chat(service, made.key), served)
      const used = (yield* ask("GET", `/${made.data.id}`)).body.data
      assert.isAbove(used.spent_cents, 0)
      const rotated = (yield* ask("POST", `/${made.data.id}/rotate`)).body
      const { id } = rotated.data
      assert.deepInclude(rotated.data, { budget_cents: 100, budget_period: "lifetime", spent_cents: used.spent_cents })
      const change = (body: object) => Effect.map(ask("PATCH", `/${id}`, body), ({ body: { data } }) => data)
      assert.deepInclude(yield* change({ budget_cents: 0 }), { budget_cents: 0, spent_cents: used.spent_cents })
      assert.strictEqual(yield* chat(service, rotated.key), "402 insufficient_credits key_budget")
      const daily = yield* change({ budget_cents: 50, budget_period: "daily" })
      assert.deepInclude(daily, { budget_cents: 50, budget_period: "daily", spent_cents: 0 })
      assert.strictEqual(yield* chat(service, rotated.key), served)
      const weekly = yield* change({ budget_period: "weekly" })
      assert.deepInclude(weekly, { budget_cents: 50, budget_period: "weekly" })
      yield* change({ budget_cents: 0 })
      const unlimited = yield* change({ budget_cents: null })
      assert.deepInclude(unlimited, { budget_cents: null, budget_period: null })
      // The lifetime spending of the key, not only the spending within a budget of its own.
      assert.isAbove(unlimited.spent_cents, 0)
      assert.strictEqual(yield* chat(service, rotated.key), served)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("in its grace period gets the project, routing and archiving of its successor", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account()
      const keys = managing(service, managementKey, "/keys")
      const projects = managing(service, managementKey, "/projects")
      const old = (yield* keys("POST", "", { name: "old" })).body
      const next = (yield* keys("POST", `/${old.data.id}/rotate`, { grace_seconds: 600 })).body
      // A revoked key between them does not separate them.
      const newest = (yield* keys("POST", `/${next.data.id}/rotate`)).body
      assert.strictEqual(yield* chat(service, old.key), served)
      const made = yield* projects("POST", "", { name: "p", budget_cents: 0, data_policy: "no_training" })
      const project = made.body.data.id
      const moved = yield* keys("PATCH", `/${newest.data.id}`, { project_id: project, routing: { strategy: "cost" } })
      assert.strictEqual(moved.status, 200)
      const before = (yield* keys("GET", `/${old.data.id}`)).body.data
      assert.deepInclude(before, { status: "active", project_id: project, routing: { strategy: "cost" } })
      // The first request shows the node that its cached key is stale.
      const first = yield* chat(service, old.key)
      for (const { key } of [old, newest]) {
        assert.strictEqual(yield* chat(service, key), "402 insufficient_credits project_budget")
      }
      assert.notStrictEqual(first, served)
      yield* projects("PATCH", `/${project}`, { budget_cents: null })
      const { routing } = yield* Effect.flatMap(post(`${service.api}/chat/completions`, old.key, hello), json)
      assert.strictEqual(routing.data_policy, "no_training")
      assert.strictEqual((yield* projects("POST", `/${project}/archive`)).status, 200)
      for (const { key } of [old, newest]) assert.strictEqual(yield* chat(service, key), refused)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("in its grace period is routed at once as its successor is", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account()
      const keys = managing(service, managementKey, "/keys")
      const old = (yield* keys("POST", "", { name: "old" })).body
      const next = (yield* keys("POST", `/${old.data.id}/rotate`, { grace_seconds: 600 })).body
      // The node caches both keys from now on.
      for (const { key } of [old, next]) assert.strictEqual(yield* chat(service, key), served)
      yield* keys("PATCH", `/${next.data.id}`, { routing: { data_policy: "zero_retention" } })
      for (const { key } of [old, next]) {
        assert.strictEqual(yield* chat(service, key), "503 no_provider_available")
      }
      yield* keys("PATCH", `/${next.data.id}`, { routing: null })
      for (const { key } of [old, next]) assert.strictEqual(yield* chat(service, key), served)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("joins only a project of its own account, and stops when the project is archived", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [mine, other] = [yield* service.account(), yield* service.account()]
      const keys = managing(service, mine.managementKey, "/keys")
      const projects = managing(service, mine.managementKey, "/projects")
      const others = managing(service, other.managementKey, "/projects")
      const project: string = (yield* projects("POST", "", { name: "mine" })).body.data.id
      const foreign: string = (yield* others("POST", "", { name: "theirs" })).body.data.id
      const made = (yield* keys("POST", "", { name: "k", project_id: project })).body
      assert.strictEqual(made.data.project_id, project)
      assert.strictEqual(yield* chat(service, made.key), served)
      const path = `/${made.data.id}`
      const said = (id: string) =>
        Effect.forEach(
          [
            ["POST", "", { name: "k", project_id: id }],
            ["PATCH", path, { project_id: id }]
          ] as const,
          ([method, at, body]) =>
            Effect.map(keys(method, at, body), (answer) => [
              answer.status,
              JSON.stringify(answer.body).replaceAll(id, "")
            ])
        )
      const absent = yield* said("0".repeat(24))
      assert.deepStrictEqual(
        absent.map(([status]) => status),
        [400, 400]
      )
      assert.deepStrictEqual(yield* said(foreign), absent)
      assert.isNull((yield* keys("PATCH", path, { project_id: null })).body.data.project_id)
      assert.strictEqual((yield* keys("PATCH", path, { project_id: project })).body.data.project_id, project)
      assert.strictEqual((yield* projects("POST", `/${project}/archive`)).status, 200)
      assert.strictEqual(yield* chat(service, made.key), refused)
      assert.strictEqual((yield* keys("GET", path)).body.data.status, "revoked")
      // An archived project is like an absent one, and a revoked key cannot be changed.
      const [created, moved] = yield* said(project)
      assert.deepStrictEqual(created, absent[0])
      assert.strictEqual(moved?.[0], 409)
    }).pipe(Effect.scoped)
  )
})
