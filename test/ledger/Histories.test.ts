import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import { functions, install } from "../../src/ledger/FunctionsSql.ts"
import { carveOne, commitGroup, concludeOne, expireOverdue, judged, refundOverdue } from "../../src/ledger/LedgerSql.ts"
import type { HoldOperation, Operation } from "../../src/ledger/Operation.ts"
import { isPlain } from "../../src/ledger/PlainSql.ts"
import { migrate } from "../../src/platform/database/Migrations.ts"
import { migrations } from "../../src/platform/database/MigrationsSql.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { debianPostgres, startDebianPostgres } from "../platform/database/DebianPostgres.ts"
import * as Database from "../support/Database.ts"
import { close, conclusion, credit, type Customer, extend, newClient, refund, twoNodes, wrongs } from "./Fixture.ts"
import { Random, seeds } from "./Random.ts"
import { makeWorld, randomHold, randomOperation, randomPart, type World } from "./World.ts"

const subjects = (op: Operation) => [
  "requestId" in op ? op.requestId : "",
  "reference" in op && op.reference !== null ? `${op._tag} ${op.reference}` : "",
  "claim" in op && op.claim !== undefined ? `${op.accountId} ${op.claim.claim}` : ""
]

/** Operations that may stand in one group, as many as this at the most. */
const randomGroup = (world: World, random: Random, past: ReadonlyArray<Operation>, most: number) => {
  const group: Array<Operation> = []
  const taken = new Set<string>()
  // Those of one account that nothing is to be known of are carried out by a statement of their own.
  const plainOf = random.chance(0.4) ? random.pick(world.customers).accountId : undefined
  for (let tries = 0; tries < (plainOf === undefined ? most : 4 * most); tries++) {
    const op = randomOperation(world, random, past)
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

const booksOfModel = ({ model }: World) => ({
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
  judged: judged,
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
    const world = yield* makeWorld(sql, random)
    const past: Array<Operation> = []
    const seen = new Set<string>()
    for (let step = 0; step < groups; step++) {
      if (random.chance(0.03)) {
        const { keyId } = random.pick(world.customers)
        const key = world.model.keys.get(keyId)!
        key.active = !key.active
        yield* sql`UPDATE api_key SET revoked_at = CASE WHEN ${key.active} THEN NULL ELSE now() END WHERE id = ${keyId}`
      }
      if (random.chance(0.03)) {
        const { keyId } = random.pick(world.customers)
        world.model.keys.get(keyId)!.epoch++
        yield* sql`UPDATE api_key SET budgets_epoch = budgets_epoch + 1 WHERE id = ${keyId}`
      }
      if (random.chance(0.03)) {
        const [id, budget] = random.pick([...world.model.budgets])
        budget.limit = 40n + random.amount(300)
        yield* sql`UPDATE budget SET limit_nano = ${budget.limit} WHERE id = ${id}`
      }
      if (random.chance(0.03)) {
        assert.strictEqual(yield* expireOverdue(sql, 1_000), world.model.expireOverdue())
      }
      if (random.chance(0.02)) {
        assert.strictEqual(yield* refundOverdue(sql, 1_000), world.model.refundOverdue(), `step ${step}`)
      }
      if (random.chance(0.2)) {
        const { carve, conclude } = randomPart(world, random, past)
        if (carve !== undefined) {
          const result = yield* carveOne(sql, carve.from, carve.hold)
          assert.deepStrictEqual(result, world.model.carve(carve.from, carve.hold), `step ${step}`)
          seen.add(`Carve ${result._tag}`)
          if (result._tag === "Granted") {
            const [parent, child] = [carve.from, carve.hold.requestId].map((id) => world.model.requests.get(id))
            if (child?.play === true) seen.add("Carve Granted play")
            else if (carve.hold.simulated === true && parent?.play === null)
              seen.add("Carve Granted, real money out of a hold of it for doubles")
          }
          past.push(carve.hold)
        }
        if (conclude !== undefined) {
          const result = yield* concludeOne(sql, conclude)
          assert.deepStrictEqual(result, world.model.conclude(conclude), `step ${step}`)
          seen.add(`Conclude ${result._tag}`)
        }
      }
      const group = randomGroup(world, random, past, 1 + random.below(6))
      const results = yield* ways[way]!(sql, group)
      const expected =
        way === "one by one" ? group.flatMap((op) => world.model.applyGroup([op])) : world.model.applyGroup(group)
      assert.deepStrictEqual(results, expected, `step ${step}`)
      for (const [index, result] of results.entries()) {
        seen.add(`${group[index]!._tag} ${result._tag}`)
        if ("limitSource" in result) seen.add(`Hold Refused ${result.limitSource}`)
        if ("play" in result) seen.add("Hold Refused, and told of play money")
        const op = group[index]!
        if (op._tag === "Credit" && op.source === "play" && result._tag === "Moved") seen.add("Credit play")
        if (op._tag === "Hold" && op.simulated === true && result._tag === "Granted") {
          const { play } = world.model.requests.get(op.requestId)!
          seen.add(play === true ? "Hold Granted play" : "Hold Granted real, though doubles serve it")
        }
      }
      past.push(...group)
      if (step % 25 === 0) assert.deepStrictEqual(yield* booksOf(sql), booksOfModel(world), `step ${step}`)
    }
    assert.deepStrictEqual(yield* booksOf(sql), booksOfModel(world))
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
  "Hold Refused, and told of play money",
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
      it.live(`is that of the model, ${way} (LEDGER_SEED=${seed})`, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          for (const name of yield* sequentialHistory(sql, seed, 300, way)) seen.add(name)
        }).pipe(Effect.provide(Database.layer))
      )
    }
  }

  it("has every answer of every operation in it", () => {
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

interface Tally {
  readonly charged: Map<string, bigint>
  readonly credited: Map<string, bigint>
  /** Requests that were ended, holds carved out of others, and proofs of the books made meanwhile. */
  ended: number
  carved: number
  proofs: number
}

const add = (sums: Map<string, bigint>, id: string, amount: bigint) => sums.set(id, (sums.get(id) ?? 0n) + amount)

/** One caller: opens a request at one node and ends it at both at once, of which one must win. */
const oneRequest = (nodes: ReadonlyArray<Ledger["Service"]>, world: World, random: Random, tally: Tally) =>
  Effect.gen(function* () {
    const node = random.pick(nodes)
    const opened: HoldOperation = randomHold(world, random, 0.05)
    const result = yield* node.commit(opened)
    if (result._tag !== "Granted") return
    assert.isTrue(result.granted >= opened.atLeast && result.granted <= opened.upTo)
    if (opened.claim !== undefined) {
      const rival = { ...opened, requestId: newRequestId() }
      assert.deepStrictEqual(yield* random.pick(nodes).commit(rival), {
        _tag: "Claimed",
        byRequestId: opened.requestId
      })
    }
    if (opened.charge && (opened.ttlMs < 0 || random.chance(0.6)))
      return yield* concluded(nodes, opened, result.granted, random, tally)
    if (opened.charge) {
      add(tally.charged, opened.accountId, result.granted)
      if (result.granted > 0n && random.chance(0.5)) {
        const back = yield* Effect.forEach(nodes, (one) => one.commit(refund(opened, result.granted)), {
          concurrency: 2
        })
        assert.isAtMost(back.filter((move) => move._tag === "Moved").length, 1)
        if (back.some((move) => move._tag === "Moved")) add(tally.charged, opened.accountId, -result.granted)
      }
      return
    }
    if (random.chance(0.3)) yield* carved(nodes, world, opened, random, tally)
    yield* finish(nodes, opened, result.granted, random, tally)
  })

/** One try that may be cut off by the death of whoever makes it: what came of it is not heard. */
const maybeKilled = <A, E>(effect: Effect.Effect<A, E>, random: Random) =>
  Effect.suspend(() => (random.chance(0.2) ? Effect.timeoutOption(effect, random.below(8)) : Effect.void))

/** A charge that is concluded at both nodes at once, or left to the sweep, whichever comes first. */
const concluded = (
  nodes: ReadonlyArray<Ledger["Service"]>,
  opened: HoldOperation,
  granted: bigint,
  random: Random,
  tally: Tally
) =>
  Effect.gen(function* () {
    if (opened.ttlMs < 0 && random.chance(0.5)) return
    const end = conclusion(opened, random.amount(Number(granted) + 1))
    yield* maybeKilled(nodes[0]!.concludeAlone(end), random)
    const ends = yield* Effect.forEach(nodes, (one) => one.concludeAlone(end), { concurrency: 2 })
    assert.isAtMost(ends.filter(({ _tag }) => _tag === "Concluded").length, 1)
    const [cost, ...others] = new Set(ends.map((one) => one.cost))
    assert.deepStrictEqual(others, [])
    assert.isTrue(cost === granted - end.refund || (cost === 0n && opened.ttlMs < 0))
    tally.ended++
    add(tally.charged, opened.accountId, cost!)
  })

/** The same hold carved out of another at both nodes at once: one hold. */
const carved = (
  nodes: ReadonlyArray<Ledger["Service"]>,
  world: World,
  parent: HoldOperation,
  random: Random,
  tally: Tally
) =>
  Effect.gen(function* () {
    const child = randomHold(world, random, 0.05, parent)
    yield* maybeKilled(nodes[1]!.carve(parent.requestId, child), random)
    const both = yield* Effect.forEach(nodes, (one) => one.carve(parent.requestId, child), { concurrency: 2 })
    const [first, second] = both.filter((one) => one._tag === "Granted")
    if (first === undefined) return
    if (second !== undefined) assert.deepStrictEqual(first, second)
    tally.carved++
    if (child.charge) yield* concluded(nodes, child, first.granted, random, tally)
    else yield* finish(nodes, child, first.granted, random, tally)
  })

const finish = (
  nodes: ReadonlyArray<Ledger["Service"]>,
  opened: HoldOperation,
  granted: bigint,
  random: Random,
  tally: Tally
) =>
  Effect.gen(function* () {
    let held = granted
    const more = random.amount(20)
    if (random.chance(0.4)) {
      const extension = extend(opened, held, more, random.amount(30))
      // The same extension at both nodes is one extension.
      const twice = yield* Effect.forEach(nodes, (one) => one.commit(extension), { concurrency: 2 })
      if (twice.some((one) => one._tag === "Extended")) held += more
    }
    if (random.chance(0.1)) return
    const closing = close(opened, random.chance(0.3) ? undefined : random.amount(80))
    const ends = yield* Effect.forEach(nodes, (one) => one.commit(closing), { concurrency: 2 })
    const won = ends.filter((end) => end._tag === "Closed")
    assert.isAtMost(won.length, 1)
    for (const end of won) {
      assert.isTrue(end.settled <= held)
      tally.ended++
      add(tally.charged, opened.accountId, end.settled)
    }
  })

describe("two ledgers on one database", () => {
  for (const seed of seeds(2)) {
    it.live(`keep the books under load (LEDGER_SEED=${seed})`, () =>
      Effect.gen(function* () {
        const { nodes, sql } = yield* twoNodes
        const random = new Random(seed)
        const world = yield* makeWorld(sql, random)
        const tally: Tally = { charged: new Map(), credited: new Map(), ended: 0, carved: 0, proofs: 0 }
        const watcher = yield* Effect.forkChild(
          Effect.forever(
            Effect.map(wrongs(sql), (found) => {
              assert.deepStrictEqual(found, [])
              tally.proofs++
            })
          )
        )
        yield* Effect.forEach(
          Array.from({ length: 60 }, (_, index) => new Random(seed + index)),
          (own) =>
            Effect.forEach(
              Array.from({ length: 25 }),
              () =>
                Effect.gen(function* () {
                  yield* oneRequest(nodes, world, own, tally)
                  if (own.chance(0.05)) yield* own.pick(nodes).refundOverdue
                  if (own.chance(0.2)) {
                    const to: Customer = own.pick(world.customers)
                    yield* own.pick(nodes).commit(credit(to, 40n))
                    add(tally.credited, to.accountId, 40n)
                  }
                }),
              { discard: true }
            ),
          { concurrency: "unbounded", discard: true }
        )
        assert.isUndefined(watcher.pollUnsafe(), "the books were wrong in between")
        yield* Fiber.interrupt(watcher)
        assert.isAbove(tally.proofs, 0)
        assert.isAbove(tally.ended, 100)
        assert.isAbove(tally.carved, 20)

        // What is still open is released, whoever left it; then nothing is held, and every account has what its calls say.
        const left = yield* sql<{
          id: string
          account_id: string
        }>`SELECT id, account_id FROM request WHERE state = 'open'`
        const owner = world.customers[0]!
        for (const { id, account_id } of left) {
          const opened = { ...randomHold(world, random), ...owner, accountId: account_id, requestId: id }
          const end = yield* nodes[0].commit(close(opened, undefined))
          assert.strictEqual(end._tag, "Closed")
        }
        yield* nodes[0].refundOverdue
        const expired = yield* sql<{ id: string; settled: bigint }>`
          SELECT account_id AS id, sum(settled - refunded)::int8 AS settled FROM request WHERE expired GROUP BY account_id`
        for (const { id, settled } of expired) add(tally.charged, id, settled)
        for (const [id, { posted }] of world.model.balances) {
          const now = yield* nodes[1].balance(id)
          const play = world.model.plays.get(id)?.posted ?? 0n
          const expected = posted + play + (tally.credited.get(id) ?? 0n) - (tally.charged.get(id) ?? 0n)
          assert.deepStrictEqual([now?.posted, now?.held, now?.play?.held ?? 0n], [expected, 0n, 0n])
        }
        assert.deepStrictEqual(yield* wrongs(sql), [])
      })
    )
  }
})
