import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { vi } from "vitest"
import { makeGroupCommit } from "../../src/ledger/GroupCommit.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import type { HoldOperation } from "../../src/ledger/Operation.ts"
import { statementsOf } from "../../src/platform/database/Statements.ts"
import * as Database from "../support/Database.ts"
import {
  balance,
  claim,
  close,
  credit,
  customer,
  extend,
  hold,
  lockBalance,
  lockWaiters,
  newClient,
  newLedger,
  refund,
  request,
  wrongs
} from "./Fixture.ts"
import { makeWire } from "./Wire.ts"

const all = { concurrency: "unbounded" } as const

/** A ledger whose connections go through a relay that can fail, and a client with a direct connection. */
const behindRelay = (patience = { holdMs: 20_000, closeMs: 20_000, statementMs: 20_000 }) =>
  Effect.gen(function* () {
    const url = yield* Database.freshDatabase()
    const wire = yield* makeWire(url)
    const ledger = yield* newLedger(yield* newClient(wire.url), Ledger.layerWithTimeouts(patience))
    return { wire, ledger, sql: yield* newClient(url) }
  })

describe("a ledger", () => {
  it.live("divides waiting operations into groups of about equal size, and keeps a few together", () =>
    Effect.gen(function* () {
      const sql = yield* newClient(yield* Database.freshDatabase())
      const owner = yield* customer(sql, 1_000n)
      const sizes: Array<number> = []
      const listener = { committed: (operations: number) => void sizes.push(operations), unsure: () => {} }
      const patience = { holdMs: 20_000, closeMs: 20_000, statementMs: 20_000 }
      const { commit } = yield* makeGroupCommit(statementsOf(sql), patience, listener)
      const holds = (count: number) =>
        Effect.all(
          Array.from({ length: count }, () => commit(hold(owner, 1n))),
          all
        )
      // The first is with the database until the others wait.
      const behindOne = (count: number) =>
        Effect.gen(function* () {
          const { unlock } = yield* lockBalance(sql, owner)
          const first = yield* Effect.forkChild(holds(1))
          yield* lockWaiters(sql, 1)
          const others = yield* Effect.forkChild(holds(count))
          yield* Effect.yieldNow
          yield* unlock
          const results = [...(yield* Fiber.join(first)), ...(yield* Fiber.join(others))]
          assert.isTrue(results.every(({ _tag }) => _tag === "Granted"))
          return sizes.splice(0)
        })
      assert.deepStrictEqual(yield* behindOne(40), [1, 21, 19])
      assert.deepStrictEqual(yield* behindOne(400), [1, 128, 128, 128, 16])
      assert.deepStrictEqual(yield* behindOne(16), [1, 16])
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000n, held: 459n })
    })
  )

  it.live("repeats operations that got no answer, and each happens once", () =>
    Effect.gen(function* () {
      const { ledger, sql, wire } = yield* behindRelay()
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 30n)
      const deaf = <A, E>(effect: Effect.Effect<A, E>) => Effect.andThen(wire.loseNextAnswer, effect)
      // A connection is made before its answers are lost, so that what is lost is a statement's.
      yield* ledger.commit(hold(owner, 0n))
      assert.deepStrictEqual(yield* deaf(ledger.commit(opened)), { _tag: "Granted", granted: 30n })
      yield* ledger.commit(hold(owner, 0n))
      assert.deepStrictEqual(yield* deaf(ledger.commit(extend(opened, 30n, 20n, 10n))), { _tag: "Extended" })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 50n })
      yield* ledger.commit(hold(owner, 0n))
      // Gone, because the close whose answer was lost did it: likewise below.
      assert.deepStrictEqual(yield* deaf(ledger.commit(close(opened, 40n))), { _tag: "Gone", settled: 40n })
      yield* ledger.commit(hold(owner, 0n))
      assert.deepStrictEqual(yield* deaf(ledger.commit(credit(owner, 7n, "payment"))), { _tag: "Gone" })
      yield* ledger.commit(hold(owner, 0n))
      assert.deepStrictEqual(yield* deaf(ledger.commit(refund(opened, 10n, "refund"))), { _tag: "Gone" })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 77n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.live("continues when its session ends while operations wait, and repeats none of them", () =>
    Effect.gen(function* () {
      const { ledger, sql } = yield* behindRelay()
      const owner = yield* customer(sql, 1_000n)
      const ended = hold(owner, 100n)
      yield* ledger.commit(ended)
      const { unlock } = yield* lockBalance(sql, owner)
      const waiting = yield* Effect.forkChild(
        Effect.all(
          [
            Effect.forEach(
              Array.from({ length: 150 }, () => hold(owner, 3n)),
              (op) => ledger.commit(op),
              all
            ),
            ledger.commit(close(ended, 60n)),
            ledger.commit(credit(owner, 50n, "payment"))
          ],
          all
        )
      )
      for (let round = 0; round < 3; round++) {
        const sessions = yield* lockWaiters(sql, 1)
        for (const { pid } of sessions) yield* sql`SELECT pg_terminate_backend(${pid}, 5000)`
      }
      yield* lockWaiters(sql, 1)
      yield* unlock
      const [holds, closed, moved] = yield* Fiber.join(waiting)
      assert.isTrue(holds.every((result) => result._tag === "Granted"))
      assert.deepInclude(closed, { _tag: "Closed", settled: 60n })
      assert.deepStrictEqual(moved, { _tag: "Moved" })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 990n, held: 450n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.live("fails as unavailable after its time limit, tries a settle for longer, and recovers by itself", () =>
    Effect.gen(function* () {
      const { ledger, sql, wire } = yield* behindRelay({ holdMs: 0, closeMs: 60_000, statementMs: 20_000 })
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 30n)
      yield* ledger.commit(opened)
      yield* wire.cut
      const settle = yield* Effect.forkChild(ledger.commit(close(opened, 20n)))
      const error = yield* Effect.flip(ledger.commit(hold(owner, 1n)))
      assert.strictEqual(error._tag, "Unavailable")
      assert.isString(error.cause)
      assert.isUndefined(settle.pollUnsafe())
      yield* wire.mend
      assert.deepInclude(yield* Fiber.join(settle), { _tag: "Closed", settled: 20n })
      assert.strictEqual((yield* ledger.commit(hold(owner, 1n)))._tag, "Granted")
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 80n, held: 1n })
    })
  )

  it.live("waits no longer when the machine's clock is set back", () =>
    Effect.gen(function* () {
      const { ledger, sql, wire } = yield* behindRelay({ holdMs: 300, closeMs: 60_000, statementMs: 20_000 })
      const owner = yield* customer(sql, 100n)
      const parent = hold(owner, 40n)
      yield* ledger.commit(parent)
      yield* wire.cut
      const wall = Date.now
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.restoreAllMocks()))
      for (const take of [
        (op: HoldOperation) => ledger.commit(op),
        (op: HoldOperation) => ledger.carve(parent.requestId, op)
      ]) {
        const taking = yield* Effect.forkChild(Effect.flip(Effect.timeout(take(hold(owner, 1n)), "5 seconds")))
        yield* Effect.sleep("100 millis")
        vi.spyOn(Date, "now").mockImplementation(() => wall() - 3_600_000)
        assert.strictEqual((yield* Fiber.join(taking))._tag, "Unavailable")
        vi.restoreAllMocks()
      }
    }).pipe(Effect.scoped)
  )

  it.live("ends a hold or charge that was created although its caller got a failure", () =>
    Effect.gen(function* () {
      const { ledger, sql, wire } = yield* behindRelay({ holdMs: 300, closeMs: 60_000, statementMs: 20_000 })
      const owner = yield* customer(sql, 100n)
      const parent = hold(owner, 40n)
      yield* ledger.commit(parent)
      const lost = [
        (op: HoldOperation) => ledger.commit(op),
        (op: HoldOperation) => ledger.commit({ ...op, charge: true }),
        (op: HoldOperation) => ledger.carve(parent.requestId, op),
        (op: HoldOperation) => ledger.carve(parent.requestId, { ...op, charge: true })
      ]
      for (const [index, take] of lost.entries()) {
        const op = hold(owner, 10n, { claim: claim(`lost-${index}`) })
        // A connection is made before its answers are lost, so that what is lost is a statement's.
        yield* ledger.balance(owner.accountId)
        yield* wire.loseNextAnswerAndCut
        assert.strictEqual((yield* Effect.flip(take(op)))._tag, "Unavailable")
        const before = yield* request(sql, op.requestId)
        assert.include(["open", "settled"], before?.state)
        yield* wire.mend
        const again = hold(owner, 0n, { claim: op.claim })
        yield* Effect.repeat(ledger.commit(again), {
          until: ({ _tag }) => _tag === "Granted",
          schedule: Schedule.max([Schedule.spaced("50 millis"), Schedule.recurs(40)])
        })
        assert.strictEqual((yield* request(sql, again.requestId))?.state, "open", `take ${index}`)
      }
      yield* ledger.commit(close(parent, undefined))
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.live("abandons a silent connection, and uses another", () =>
    Effect.gen(function* () {
      const { ledger, sql, wire } = yield* behindRelay({ holdMs: 60_000, closeMs: 60_000, statementMs: 500 })
      const owner = yield* customer(sql, 100n)
      yield* ledger.commit(hold(owner, 1n))
      yield* wire.freeze
      assert.strictEqual((yield* ledger.commit(hold(owner, 1n)))._tag, "Granted")
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 2n })
    })
  )

  it.live("does not delay other operations behind a silent connection", () =>
    Effect.gen(function* () {
      const url = yield* Database.freshDatabase()
      const wire = yield* makeWire(url)
      const [direct, through] = [yield* newClient(url), yield* newClient(wire.url)]
      const patience = { holdMs: 60_000, closeMs: 60_000, statementMs: 500 }
      const ledger = yield* newLedger(through, Ledger.layerWithTimeouts(patience))
      const owner = yield* customer(direct, 100n)
      const from = hold(owner, 50n)
      yield* ledger.commit(from)
      yield* wire.freeze
      assert.deepStrictEqual(yield* ledger.carve(from.requestId, hold(owner, 20n)), { _tag: "Granted", granted: 20n })
      assert.deepStrictEqual(yield* balance(direct, owner), { posted: 100n, held: 50n })
      // As many connections as there can be, so that each of those below has a silent one.
      yield* Effect.forEach([1, 2, 3, 4], () => through`SELECT pg_sleep(0.3)`, all)
      yield* wire.freeze
      const { accountId } = owner
      const sweeps = [
        ledger.expireOverdue,
        ledger.refundOverdue,
        ledger.dropClaims(0),
        ledger.freeLapsed(accountId, [])
      ]
      const causes = yield* Effect.forEach(sweeps, (sweep) => Effect.map(Effect.flip(sweep), ({ cause }) => cause), all)
      assert.deepStrictEqual(causes, Array(4).fill("the database does not answer"))
      assert.deepStrictEqual(yield* ledger.balance(accountId), { posted: 100n, held: 50n })
      assert.deepStrictEqual(yield* wrongs(direct), [])
    })
  )
})
