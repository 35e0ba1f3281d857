import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { availableTo } from "../../src/domain/Balance.ts"
import { balanceOf, carveOne, commitGroup, concludeOne } from "../../src/ledger/LedgerSql.ts"
import { commitPlain } from "../../src/ledger/PlainSql.ts"
import * as Database from "../support/Database.ts"
import {
  addBudget,
  adjust,
  claim,
  close,
  conclusion,
  credit,
  customer,
  extend,
  hold,
  makeOverdue,
  onDay,
  refund,
  run,
  wrongs
} from "./Fixture.ts"

/** An account with so much real and so much simulated money. */
const account = (real: bigint, play: bigint) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const owner = yield* customer(sql, real)
    yield* run(sql, { ...credit(owner, play), source: "play" })
    return { sql, owner, balance: balanceOf(sql, owner.accountId) }
  })

const simulated = { simulated: true } as const

layer(Database.layer, { excludeTestServices: true })("simulated money", (it) => {
  it.effect("never pays for a request that a real provider may serve, and the refusal names the available amount", () =>
    Effect.gen(function* () {
      const { balance, owner, sql } = yield* account(5n, 100n)
      const refused = { _tag: "Refused", limitSource: "balance", available: 5n, posted: 5n, play: 100n } as const
      assert.deepStrictEqual(yield* run(sql, hold(owner, 6n)), refused)
      assert.deepStrictEqual(yield* run(sql, hold(owner, 6n, { charge: true })), refused)
      assert.deepStrictEqual(yield* commitGroup(sql, [hold(owner, 4n), hold(owner, 4n)]), [
        { _tag: "Granted", granted: 4n },
        { ...refused, limitSource: "in_flight", available: 1n }
      ])
      assert.deepStrictEqual(yield* balance, { posted: 105n, held: 4n, play: { posted: 100n, held: 0n } })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect(
    "pays first for requests that the simulated providers serve: hold, extension, settle, charge and refund",
    () =>
      Effect.gen(function* () {
        const { balance, owner, sql } = yield* account(50n, 100n)
        const [held, sold] = [
          hold(owner, 10n, { upTo: 20n, ...simulated }),
          hold(owner, 30n, { charge: true, ...simulated })
        ]
        assert.deepStrictEqual(yield* commitGroup(sql, [held, sold]), [
          { _tag: "Granted", granted: 20n },
          { _tag: "Granted", granted: 30n }
        ])
        assert.deepStrictEqual(yield* balance, { posted: 120n, held: 20n, play: { posted: 70n, held: 20n } })
        assert.deepStrictEqual(yield* run(sql, extend(held, 20n, 51n)), { _tag: "Refused" })
        assert.deepStrictEqual(yield* run(sql, extend(held, 20n, 50n)), { _tag: "Extended" })
        assert.deepStrictEqual(yield* run(sql, close(held, 60n)), {
          _tag: "Closed",
          settled: 60n,
          absorbed: 0n,
          posted: 60n,
          held: 0n
        })
        assert.deepStrictEqual(yield* concludeOne(sql, conclusion(sold, 12n)), {
          _tag: "Concluded",
          cost: 18n,
          posted: 72n
        })
        assert.deepStrictEqual(yield* run(sql, refund(held, 5n)), { _tag: "Moved" })
        assert.deepStrictEqual(yield* balance, { posted: 77n, held: 0n, play: { posted: 27n, held: 0n } })
        const house = yield* sql`SELECT sum(CASE WHEN debit = 'house:play' THEN amount ELSE -amount END)::int8 AS out,
        count(*) FILTER (WHERE 'house:revenue' IN (debit, credit)) AS revenue
        FROM transfer WHERE ${owner.accountId} IN (debit, credit) AND 'house:funding' <> debit`
        assert.deepStrictEqual(house, [{ out: 27n, revenue: 0n }])
        assert.deepStrictEqual(yield* wrongs(sql), [])
      })
  )

  it.effect("is not used when it covers less than the maximum and real money covers it", () =>
    Effect.gen(function* () {
      const { balance, owner, sql } = yield* account(50n, 10n)
      const real = hold(owner, 5n, { upTo: 11n, ...simulated })
      assert.deepStrictEqual(yield* run(sql, real), { _tag: "Granted", granted: 11n })
      assert.deepStrictEqual(yield* balance, { posted: 60n, held: 11n, play: { posted: 10n, held: 0n } })
      const little = hold(owner, 9n, { upTo: 60n, ...simulated })
      yield* run(sql, hold(owner, 35n))
      assert.deepStrictEqual(yield* run(sql, little), { _tag: "Granted", granted: 10n })
      assert.deepStrictEqual((yield* balance)?.play, { posted: 10n, held: 10n })
      // The kinds are not added up: one request is paid with one of them.
      assert.deepStrictEqual(yield* run(sql, hold(owner, 5n, simulated)), {
        _tag: "Refused",
        limitSource: "in_flight",
        available: 4n,
        posted: 50n
      })
      const now = yield* balance
      assert.deepStrictEqual(
        [true, false].map((one) => availableTo(now!, one)),
        [4n, 4n]
      )
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("counts towards budgets, and stays with its idempotency key and its expiry", () =>
    Effect.gen(function* () {
      const { balance, owner, sql } = yield* account(0n, 100n)
      const budgets = [onDay(yield* addBudget(sql, owner, "key", 30n))]
      const first = hold(owner, 20n, { budgets, claim: claim("play"), ...simulated })
      assert.strictEqual((yield* run(sql, first))._tag, "Granted")
      assert.deepInclude(yield* run(sql, hold(owner, 11n, { budgets, ...simulated })), {
        _tag: "Refused",
        limitSource: "key_budget"
      })
      assert.deepStrictEqual(yield* run(sql, first), { _tag: "Granted", granted: 20n })
      const rival = hold(owner, 1n, { claim: claim("play"), ...simulated })
      assert.deepStrictEqual(yield* run(sql, rival), { _tag: "Claimed", byRequestId: first.requestId })
      yield* run(sql, extend(first, 20n, 0n, 7n))
      yield* makeOverdue(sql, first.requestId)
      assert.strictEqual((yield* run(sql, hold(owner, 1n, simulated)))._tag, "Granted")
      assert.deepStrictEqual(yield* balance, { posted: 93n, held: 1n, play: { posted: 93n, held: 1n } })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("is taken from its holds only for simulated providers, and a hold of real money gives real money", () =>
    Effect.gen(function* () {
      const { balance, owner, sql } = yield* account(50n, 100n)
      const [play, real] = [hold(owner, 40n, simulated), hold(owner, 40n)]
      yield* commitGroup(sql, [play, real])
      const child = hold(owner, 15n, simulated)
      assert.deepStrictEqual(yield* carveOne(sql, play.requestId, child), { _tag: "Granted", granted: 15n })
      assert.deepInclude(yield* carveOne(sql, play.requestId, hold(owner, 15n)), { _tag: "Refused", available: 10n })
      const other = hold(owner, 15n, simulated)
      assert.deepStrictEqual(yield* carveOne(sql, real.requestId, other), { _tag: "Granted", granted: 15n })
      const kinds =
        yield* sql`SELECT play FROM request WHERE id IN (${child.requestId}, ${other.requestId}) ORDER BY play`
      assert.deepStrictEqual(kinds, [{ play: true }, { play: null }])
      assert.deepStrictEqual(yield* balance, { posted: 150n, held: 80n, play: { posted: 100n, held: 40n } })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("is judged, and leaves real holds and closes of the same account to the plain statements", () =>
    Effect.gen(function* () {
      const { owner, sql } = yield* account(50n, 100n)
      const [play, real, another] = [hold(owner, 10n, simulated), hold(owner, 10n), hold(owner, 10n)]
      assert.isUndefined(yield* commitPlain(sql, [play]))
      yield* run(sql, play)
      assert.isUndefined(yield* commitPlain(sql, [close(play, 1n)]))
      assert.isUndefined(yield* commitPlain(sql, [close(play, 1n), real]))
      assert.strictEqual((yield* commitPlain(sql, [real]))?.length, 1)
      assert.isUndefined(yield* commitPlain(sql, [hold(owner, 41n)]))
      const [closed] = (yield* commitPlain(sql, [close(real, 4n), another])) ?? []
      assert.deepStrictEqual(closed, { _tag: "Closed", settled: 4n, absorbed: 0n, posted: 46n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )
})

layer(Database.layer, { excludeTestServices: true })("an adjustment", (it) => {
  it.effect("credits or debits once per reference, and never touches held money", () =>
    Effect.gen(function* () {
      const { balance, owner, sql } = yield* account(50n, 100n)
      yield* commitGroup(sql, [hold(owner, 20n), hold(owner, 30n, simulated)])
      assert.deepStrictEqual(yield* run(sql, adjust(owner, -31n)), { _tag: "Refused", available: 30n })
      assert.deepStrictEqual(yield* run(sql, adjust(owner, -30n, "once")), { _tag: "Moved" })
      assert.deepStrictEqual(yield* run(sql, adjust(owner, -30n, "once")), { _tag: "Gone" })
      assert.deepStrictEqual(yield* run(sql, adjust(owner, 7n)), { _tag: "Moved" })
      assert.deepStrictEqual(yield* run(sql, adjust(owner, -71n, null, true)), { _tag: "Refused", available: 70n })
      assert.deepStrictEqual(yield* run(sql, adjust(owner, -70n, null, true)), { _tag: "Moved" })
      assert.deepStrictEqual(yield* balance, { posted: 57n, held: 50n, play: { posted: 30n, held: 30n } })
      const booked = yield* sql`SELECT debit = ${owner.accountId} AS from_account, amount, kind,
          CASE WHEN debit = ${owner.accountId} THEN credit ELSE debit END AS house
        FROM transfer WHERE kind = 'adjust' AND ${owner.accountId} IN (debit, credit) ORDER BY id`
      assert.deepStrictEqual(booked, [
        { from_account: true, amount: 30n, kind: "adjust", house: "house:adjustments" },
        { from_account: false, amount: 7n, kind: "adjust", house: "house:adjustments" },
        { from_account: true, amount: 70n, kind: "adjust", house: "house:play" }
      ])
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )
})
