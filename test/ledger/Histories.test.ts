import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { functions, install } from "../../src/ledger/FunctionsSql.ts"
import {
  carveOne,
  commitGroup,
  concludeOne,
  commitJudged,
  expireOverdue,
  refundOverdue
} from "../../src/ledger/LedgerSql.ts"
import type { Operation } from "../../src/ledger/Operation.ts"
import { isPlain } from "../../src/ledger/PlainSql.ts"
import { migrate } from "../../src/platform/database/Migrations.ts"
import { migrations } from "../../src/platform/database/MigrationsSql.ts"
import { debianPostgres, startDebianPostgres } from "../platform/database/DebianPostgres.ts"
import * as Database from "../support/Database.ts"
import { newClient, wrongs } from "./Fixture.ts"
import { Random, seeds } from "./Random.ts"
import { makeScenario, randomOperation, randomPart, type Scenario } from "./Scenario.ts"

const subjects = (op: Operation) => [
  "requestId" in op ? op.requestId : "",
  "reference" in op && op.reference !== null ? `${op._tag} ${op.reference}` : "",
  "claim" in op && op.claim !== undefined ? `${op.accountId} ${op.claim.claim}` : ""
]

/** Operations that may stand in one group, as many as this at the most. */
const randomGroup = (scenario: Scenario, random: Random, past: ReadonlyArray<Operation>, most: number) => {
  const group: Array<Operation> = []
  const taken = new Set<string>()
  // Those of one account that nothing is to be known of are carried out by a statement of their own.
  const plainOf = random.chance(0.4) ? random.pick(scenario.customers).accountId : undefined
  for (let tries = 0; tries < (plainOf === undefined ? most : 4 * most); tries++) {
    const op = randomOperation(scenario, random, past)
    if (plainOf !== undefined && !isPlain(op, plainOf)) continue
    const names = subjects(op).filter((name) => name !== "")
    if (names.some((name) => taken.has(name))) continue
    for (const name of names) taken.add(name)
    group.push(op)
  }
  return group
}

const sorted = <A>(entries: Iterable<readonly [string, A]>) => [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1))

const booksOf = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const balances = yield* sql<{ id: string; posted: bigint; held: bigint }>`
      SELECT account_id AS id, posted, held FROM balance`
    const plays = yield* sql<{ id: string; posted: bigint; held: bigint }>`
      SELECT account_id AS id, posted, held FROM play_balance`
    const periods = yield* sql<{ id: string; spent: bigint; held: bigint }>`
      SELECT budget_id || ':' || period_start AS id, spent, held FROM budget_period`
    const requests = yield* sql<{ id: string; [column: string]: unknown }>`
      SELECT id, state, held, progress, settled, absorbed, refunded, expired, claim, play,
        state = 'settled' AND closed IS NULL AS standing FROM request`
    const byId = <A extends { id: string }>(rows: ReadonlyArray<A>) =>
      sorted(rows.map(({ id, ...rest }) => [id, rest] as const))
    return { balances: byId(balances), plays: byId(plays), periods: byId(periods), requests: byId(requests) }
  })

const booksOfModel = ({ model }: Scenario) => ({
  balances: sorted(model.balances),
  plays: sorted(model.plays),
  periods: sorted(model.periods),
  requests: sorted(
    [...model.requests].map(([id, { accountId: _account, budgets: _budgets, overdue: _overdue, ...row }]) => [id, row])
  )
})

/** The ways a group can take, of which each must do what the model does. */
const ways: Readonly<Record<string, typeof commitGroup>> = {
  "by the cheapest statement": commitGroup,
  judged: commitJudged,
  "one by one": (sql, operations) =>
    Effect.map(
      Effect.forEach(operations, (op) => commitGroup(sql, [op])),
      (results) => results.flat()
    )
}

/** Hundreds of operations on a database and on the model, which must agree on every answer and on all that is left. */
const sequentialHistory = (sql: SqlClient.SqlClient, seed: number, groups: number, way = "by the cheapest statement") =>
  Effect.gen(function* () {
    const random = new Random(seed)
    const scenario = yield* makeScenario(sql, random)
    const past: Array<Operation> = []
    const seen = new Set<string>()
    for (let step = 0; step < groups; step++) {
      if (random.chance(0.03)) {
        const { keyId } = random.pick(scenario.customers)
        const key = scenario.model.keys.get(keyId)!
        key.active = !key.active
        yield* sql`UPDATE api_key SET revoked_at = CASE WHEN ${key.active} THEN NULL ELSE now() END WHERE id = ${keyId}`
      }
      if (random.chance(0.03)) {
        const { keyId } = random.pick(scenario.customers)
        scenario.model.keys.get(keyId)!.epoch++
        yield* sql`UPDATE api_key SET budgets_epoch = budgets_epoch + 1 WHERE id = ${keyId}`
      }
      if (random.chance(0.03)) {
        const [id, budget] = random.pick([...scenario.model.budgets])
        budget.limit = 40n + random.amount(300)
        yield* sql`UPDATE budget SET limit_nano = ${budget.limit} WHERE id = ${id}`
      }
      if (random.chance(0.03)) {
        assert.strictEqual(yield* expireOverdue(sql, 1_000), scenario.model.expireOverdue())
      }
      if (random.chance(0.02)) {
        assert.strictEqual(yield* refundOverdue(sql, 1_000), scenario.model.refundOverdue(), `step ${step}`)
      }
      if (random.chance(0.2)) {
        const { carve, conclude } = randomPart(scenario, random, past)
        if (carve !== undefined) {
          const result = yield* carveOne(sql, carve.from, carve.hold)
          assert.deepStrictEqual(result, scenario.model.carve(carve.from, carve.hold), `step ${step}`)
          seen.add(`Carve ${result._tag}`)
          if (result._tag === "Granted") {
            const [parent, child] = [carve.from, carve.hold.requestId].map((id) => scenario.model.requests.get(id))
            if (child?.play === true) seen.add("Carve Granted play")
            else if (carve.hold.simulated === true && parent?.play === null)
              seen.add("Carve Granted, real money out of a hold of it for doubles")
          }
          past.push(carve.hold)
        }
        if (conclude !== undefined) {
          const result = yield* concludeOne(sql, conclude)
          assert.deepStrictEqual(result, scenario.model.conclude(conclude), `step ${step}`)
          seen.add(`Conclude ${result._tag}`)
        }
      }
      const group = randomGroup(scenario, random, past, 1 + random.below(6))
      const results = yield* ways[way]!(sql, group)
      const expected =
        way === "one by one" ? group.flatMap((op) => scenario.model.applyGroup([op])) : scenario.model.applyGroup(group)
      assert.deepStrictEqual(results, expected, `step ${step}`)
      for (const [index, result] of results.entries()) {
        seen.add(`${group[index]!._tag} ${result._tag}`)
        if ("limitSource" in result) seen.add(`Hold Refused ${result.limitSource}`)
        if ("play" in result) seen.add("Hold Refused, and told of simulated money")
        const op = group[index]!
        if (op._tag === "Credit" && op.source === "play" && result._tag === "Moved") seen.add("Credit play")
        if (op._tag === "Hold" && op.simulated === true && result._tag === "Granted") {
          const { play } = scenario.model.requests.get(op.requestId)!
          seen.add(play === true ? "Hold Granted play" : "Hold Granted real, though doubles serve it")
        }
      }
      past.push(...group)
      if (step % 25 === 0) assert.deepStrictEqual(yield* booksOf(sql), booksOfModel(scenario), `step ${step}`)
    }
    assert.deepStrictEqual(yield* booksOf(sql), booksOfModel(scenario))
    assert.deepStrictEqual(yield* wrongs(sql), [])
    return seen
  })

/** Histories in which one of these never happened would prove nothing about it. */
const everything = [
  "Hold Granted",
  "Hold Claimed",
  "Hold KeyInactive",
  "Hold KeyChanged",
  "Hold Refused",
  "Hold Refused in_flight",
  "Hold Refused key_budget",
  "Hold Refused project_budget",
  "Extend Extended",
  "Extend Refused",
  "Extend Gone",
  "Close Closed",
  "Close Gone",
  "Credit Moved",
  "Credit Gone",
  "Credit play",
  "Adjust Moved",
  "Adjust Gone",
  "Adjust Refused",
  "Hold Granted play",
  "Hold Granted real, though doubles serve it",
  "Hold Refused, and told of simulated money",
  "Carve Granted play",
  "Carve Granted, real money out of a hold of it for doubles",
  "Refund Moved",
  "Refund Gone",
  "Carve Granted",
  "Carve Claimed",
  "Carve KeyInactive",
  "Carve KeyChanged",
  "Carve Refused",
  "Conclude Concluded",
  "Conclude Gone"
]

describe("a history", () => {
  const seen = new Set<string>()
  for (const seed of seeds(2)) {
    for (const way of Object.keys(ways)) {
      it.live(`matches the model, ${way} (LEDGER_SEED=${seed})`, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          for (const name of yield* sequentialHistory(sql, seed, 300, way)) seen.add(name)
        }).pipe(Effect.provide(Database.layer))
      )
    }
  }

  it("contains every answer of every operation", () => {
    assert.deepStrictEqual(
      everything.filter((name) => !seen.has(name)),
      []
    )
  })
})

if (!debianPostgres)
  console.log("not run: the ledger on PostgreSQL 15, which is not installed in /usr/lib/postgresql/15")

describe.runIf(debianPostgres)("PostgreSQL 15", () => {
  const [seed = 0] = seeds(1)
  it.live(`has the same history (LEDGER_SEED=${seed})`, () =>
    Effect.gen(function* () {
      const sql = yield* newClient(yield* startDebianPostgres)
      const prepared = Effect.andThen(migrate(migrations), install(functions))
      yield* Effect.provideService(prepared, SqlClient.SqlClient, sql)
      yield* sequentialHistory(sql, seed, 150)
    })
  )
})
