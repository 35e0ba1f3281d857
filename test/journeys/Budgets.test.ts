/** Budgets of keys and projects over two nodes, and the event when a budget is almost spent. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NANO_PER_CENT } from "../../src/domain/Money.ts"
import { nano } from "../support/Amounts.ts"
import { freshDatabase } from "../support/Database.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"
import { eventually } from "../support/Eventually.ts"

/** A request of which a budget of one cent covers 37, and not 38. */
const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello, who pays?" }], max_tokens: 431 }
const FITTING = 37

/** Two nodes on one database, and an account with money and a management key. */
const scene = Effect.gen(function* () {
  const databaseUrl = yield* freshDatabase("budgets")
  const first = yield* startService({ DATABASE_URL: databaseUrl })
  const second = yield* startService({ DATABASE_URL: databaseUrl })
  const opened = yield* first.account(100)
  const manage = (method: string, path: string, body?: object) =>
    Effect.flatMap(
      Effect.promise(() =>
        fetch(`${first.api}/management${path}`, {
          method,
          headers: { authorization: `Bearer ${opened.managementKey}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
      ),
      (response) =>
        Effect.tap(json(response), (answer) =>
          Effect.sync(() => assert.strictEqual(response.status, 200, JSON.stringify(answer)))
        )
    )
  const { hold_usd } = yield* Effect.flatMap(post(`${first.api}/estimate`, opened.inferenceKey, chat), json)
  const price = nano(hold_usd)
  assert.strictEqual(NANO_PER_CENT / price, BigInt(FITTING))
  const ask = (service: Service, key: string) =>
    post(`${service.api}/chat/completions`, key, chat, { "x-svc-sandbox": "usage=held" })
  /** Sends many requests at once, spread over the nodes. Returns how many were served; a budget must have refused the others. */
  const served = (count: number, nodes: ReadonlyArray<Service>, keys: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const responses = yield* Effect.forEach(
        Array.from({ length: count }, (_, index) => index),
        (index) => ask(nodes[index % nodes.length]!, keys[(index >> 1) % keys.length]!),
        { concurrency: "unbounded" }
      )
      for (const response of responses.filter(({ status }) => status !== 200)) {
        const { limit_source } = yield* json(response)
        assert.deepStrictEqual([response.status, limit_source.replace(/^(key|project)_/, "")], [402, "budget"])
      }
      return responses.filter(({ status }) => status === 200).length
    })
  const make = (path: string, body: object) => manage("POST", path, { name: "n", ...body })
  return { first, second, nodes: [first, second], opened, manage, make, ask, served, price }
})

describe("a budget", () => {
  it.live("of a key and of its project accepts exactly as many concurrent requests as it covers, over two nodes", () =>
    Effect.gen(function* () {
      const { ask, first, make, nodes, second, served } = yield* scene
      const { data: project } = yield* make("/projects", { budget_cents: 1, budget_period: "monthly" })
      const of = { project_id: project.id }
      const { key } = yield* make("/keys", { ...of, budget_cents: 1, budget_period: "daily" })
      assert.strictEqual(yield* served(200, nodes, [key]), FITTING)

      const { budget, project_budget } = yield* Effect.flatMap(get(`${first.api}/key`, key), json)
      assert.deepStrictEqual([budget.period, project_budget.period], ["daily", "monthly"])
      assert.deepStrictEqual([budget.budget_cents, project_budget.budget_cents], [1, 1])
      assert.isAbove(budget.spent_cents, 0.97)
      assert.strictEqual(project_budget.spent_cents, budget.spent_cents)
      const refused = yield* Effect.flatMap(ask(second, key), json)
      assert.strictEqual(refused.limit_source, "key_budget")
      assert.match(
        refused.error.message,
        /^This request may cost \$0\.0002\d+, and \$0\.000\d+ is left in the budget of this key\.$/
      )

      // Another key shares the project's budget, of which too little is left.
      const { key: sibling } = yield* make("/keys", of)
      const shared = yield* Effect.flatMap(ask(second, sibling), json)
      assert.strictEqual(shared.limit_source, "project_budget")
      assert.deepStrictEqual(yield* first.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("makes `affordable` false in the estimate of a request that it refuses", () =>
    Effect.gen(function* () {
      const { ask, first, make, manage, price, second } = yield* scene
      const { data: project } = yield* make("/projects", { budget_cents: 1 })
      const { data, key } = yield* make("/keys", { project_id: project.id, budget_cents: 1 })
      const affordable = (body: object = chat) =>
        Effect.map(Effect.flatMap(post(`${second.api}/estimate`, key, body), json), (said) => said.affordable)
      const status = Effect.map(ask(second, key), (response) => response.status)
      assert.isTrue(yield* affordable())
      assert.isFalse(yield* affordable({ model: "tts-1", characters: 4_096 }))
      // Exactly as much as one more request may cost is left, then a nano-USD less.
      const leave = (left: bigint) => first.sql`UPDATE budget_period SET spent = ${NANO_PER_CENT - left}
        WHERE budget_id = (SELECT budget_id FROM api_key WHERE id = ${data.id})`
      assert.strictEqual(yield* status, 200)
      yield* leave(price)
      assert.isTrue(yield* affordable())
      yield* leave(price - 1n)
      assert.deepStrictEqual([yield* affordable(), yield* status], [false, 402])

      yield* manage("PATCH", `/keys/${data.id}`, { budget_cents: null })
      assert.deepStrictEqual([yield* affordable(), yield* status], [true, 200])
      yield* manage("PATCH", `/projects/${project.id}`, { budget_cents: 0 })
      assert.deepStrictEqual([yield* affordable(), yield* status], [false, 402])
    }).pipe(Effect.scoped)
  )

  it.live("applies at once on a node that has cached the key without it", () =>
    Effect.gen(function* () {
      const { ask, first, make, manage, second, served } = yield* scene
      const { data, key } = yield* make("/keys", {})
      const remembered = Effect.map(ask(second, key), ({ status }) => status)
      assert.strictEqual(yield* remembered, 200)
      yield* manage("PATCH", `/keys/${data.id}`, { budget_cents: 1, budget_period: "weekly" })
      assert.strictEqual(yield* served(60, [second], [key]), FITTING)

      // Another kind of period is another budget. A removed budget refuses nothing.
      yield* manage("PATCH", `/keys/${data.id}`, { budget_cents: 1, budget_period: "daily" })
      assert.strictEqual(yield* served(60, [second], [key]), FITTING)
      yield* manage("PATCH", `/keys/${data.id}`, { budget_cents: null })
      assert.strictEqual(yield* remembered, 200)

      const { data: project } = yield* make("/projects", {})
      yield* manage("PATCH", `/keys/${data.id}`, { project_id: project.id })
      assert.strictEqual(yield* remembered, 200)
      yield* manage("PATCH", `/projects/${project.id}`, { budget_cents: 1 })
      assert.strictEqual(yield* served(60, [second], [key]), FITTING)
      const { data: other } = yield* make("/projects", { budget_cents: 1 })
      yield* manage("PATCH", `/keys/${data.id}`, { project_id: other.id })
      assert.strictEqual(yield* served(60, [second], [key]), FITTING)
      // Every hold reads the limit.
      yield* manage("PATCH", `/projects/${other.id}`, { budget_cents: 2 })
      assert.strictEqual(yield* served(60, [second], [key]), FITTING + 1)
      assert.deepStrictEqual(yield* first.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("keeps its spending when its key is rotated", () =>
    Effect.gen(function* () {
      const { first, make, manage, nodes, price, served } = yield* scene
      const { data, key } = yield* make("/keys", { budget_cents: 1, budget_period: "lifetime" })
      assert.strictEqual(yield* served(20, nodes, [key]), 20)
      const rotated = yield* manage("POST", `/keys/${data.id}/rotate`, { grace_seconds: 600 })
      assert.closeTo(rotated.data.spent_cents, (20 * Number(price)) / Number(NANO_PER_CENT), 1e-9)
      // Both keys share one budget, also after its period has changed.
      assert.strictEqual(yield* served(60, nodes, [key, rotated.key]), FITTING - 20)
      yield* manage("PATCH", `/keys/${rotated.data.id}`, { budget_cents: 1, budget_period: "monthly" })
      assert.strictEqual(yield* served(80, nodes, [key, rotated.key]), FITTING)
      assert.deepStrictEqual(yield* first.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("sends one webhook event when 80% of it is spent", () =>
    Effect.gen(function* () {
      const { first, make, nodes, opened, served } = yield* scene
      const { data: project } = yield* make("/projects", { name: "shop", budget_cents: 1, budget_period: "daily" })
      const { key } = yield* make("/keys", { project_id: project.id })
      assert.strictEqual(yield* served(60, nodes, [key]), FITTING)
      const events = first.sql<{ body: string }>`SELECT body FROM webhook_event WHERE account_id = ${opened.account.id}`
      const [event, ...more] = yield* eventually(events, (rows) => rows.length > 0)
      assert.deepStrictEqual(more, [])
      const { data, type } = JSON.parse(event!.body)
      assert.strictEqual(type, "budget.threshold")
      const { period_start, spent_cents, ...rest } = data
      assert.deepStrictEqual(rest, {
        object: "budget_threshold",
        scope: "project",
        project_id: project.id,
        name: "shop",
        threshold_percent: 80,
        budget_cents: 1,
        period: "daily"
      })
      assert.match(period_start, /^\d{4}-\d\d-\d\d$/)
      // Requests that end at the same time are settled together.
      assert.isTrue(spent_cents >= 0.8 && spent_cents < 1, `${spent_cents}`)
    }).pipe(Effect.scoped)
  )
})
