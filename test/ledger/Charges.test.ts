import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../src/ledger/Ledger.ts"
import * as Database from "../support/Database.ts"
import {
  addBudget,
  balance,
  claim,
  close,
  conclusion,
  customer,
  extend,
  hold,
  lockBalance,
  lockWaiters,
  makeOverdue,
  newClient,
  newLedger,
  onDay,
  refund,
  request,
  rowCounts,
  twoNodes,
  wrongs
} from "./Fixture.ts"
import { makeWire } from "./Wire.ts"

const DAY_MS = 24 * 3_600_000

const scene = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* newLedger(sql)
  const owner = yield* customer(sql, 1_000n)
  return { sql, ledger, owner }
})

/** What stands in a row of what only a conclusion writes. */
const endOf = (sql: SqlClient.SqlClient, id: string) =>
  Effect.map(
    sql<{
      status: string
      expired: boolean
      claim: string | null
      closed: unknown
      answer: unknown
      provider: string | null
    }>`SELECT status, expired, claim, closed, answer, provider FROM request WHERE id = ${id}`,
    ([row]) => row!
  )

layer(Database.layer, { excludeTestServices: true })("a charge", (it) => {
  it.effect("is concluded once, and its unused part is refunded", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const sold = hold(owner, 100n, { charge: true, claim: claim("once") })
      assert.deepStrictEqual(yield* ledger.commit(sold), { _tag: "Granted", granted: 100n })
      assert.isNull((yield* endOf(sql, sold.requestId)).closed)
      const end = conclusion(sold, 30n, { answer: { _tag: "Answer", answer: "kept" } })
      assert.deepStrictEqual(yield* ledger.concludeAlone(end), { _tag: "Concluded", cost: 70n, posted: 930n })
      assert.deepStrictEqual(yield* ledger.concludeAlone(end), { _tag: "Gone", cost: 70n })
      assert.strictEqual(yield* ledger.conclude(sql, end), "Gone")
      assert.deepInclude(yield* request(sql, sold.requestId), { state: "settled", settled: 100n, refunded: 30n })
      assert.deepStrictEqual(yield* endOf(sql, sold.requestId), {
        status: "succeeded",
        expired: false,
        claim: sold.claim!.claim,
        closed: { finish: "stop" },
        answer: { _tag: "Answer", answer: "kept", posted: "930" },
        provider: "test"
      })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 930n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("may be kept whole, or refunded whole, which frees its idempotency key", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const kept = hold(owner, 40n, { charge: true })
      const back = hold(owner, 50n, { charge: true, claim: claim("back") })
      yield* ledger.commit(kept)
      yield* ledger.commit(back)
      assert.deepStrictEqual(yield* ledger.concludeAlone(conclusion(kept, 0n)), {
        _tag: "Concluded",
        cost: 40n,
        posted: 910n
      })
      const failed = conclusion(back, 50n, { status: "failed", keepClaim: false })
      assert.deepStrictEqual(yield* ledger.concludeAlone(failed), { _tag: "Concluded", cost: 0n, posted: 960n })
      assert.deepInclude(yield* endOf(sql, back.requestId), { status: "failed", claim: null })
      assert.strictEqual((yield* ledger.commit({ ...hold(owner, 1n), claim: back.claim }))._tag, "Granted")
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("is also refunded to its budgets", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const budgetId = yield* addBudget(sql, owner, "key", 100n)
      const sold = hold(owner, 90n, { charge: true, budgets: [onDay(budgetId)] })
      yield* ledger.commit(sold)
      const another = hold(owner, 60n, { budgets: [onDay(budgetId)] })
      assert.strictEqual((yield* ledger.commit(another))._tag, "Refused")
      yield* ledger.concludeAlone(conclusion(sold, 50n))
      assert.strictEqual((yield* ledger.commit(another))._tag, "Granted")
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("is refunded at most the rest of it", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const sold = hold(owner, 100n, { charge: true })
      yield* ledger.commit(sold)
      yield* ledger.commit(refund(sold, 60n))
      const result = yield* ledger.concludeAlone(conclusion(sold, 100n))
      assert.deepStrictEqual(result, { _tag: "Concluded", cost: 0n, posted: 1_000n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("keeps its state when the transaction that concludes it rolls back", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const sold = hold(owner, 100n, { charge: true })
      yield* ledger.commit(sold)
      const undone = ledger
        .conclude(sql, conclusion(sold, 100n))
        .pipe(Effect.andThen(Effect.fail("undone")), sql.withTransaction, Effect.exit)
      assert.isTrue(Exit.isFailure(yield* undone))
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 900n, held: 0n })
      assert.strictEqual(yield* sql.withTransaction(ledger.conclude(sql, conclusion(sold, 100n))), "Concluded")
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000n, held: 0n })
    })
  )

  it.effect("belongs only to its account, and no open hold is concluded", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const other = yield* customer(sql, 10n)
      const sold = hold(owner, 100n, { charge: true })
      const open = hold(owner, 10n)
      yield* ledger.commit(sold)
      yield* ledger.commit(open)
      const foreign = { ...conclusion(sold, 100n), accountId: other.accountId }
      assert.deepStrictEqual(yield* ledger.concludeAlone(foreign), { _tag: "Gone", cost: 0n })
      assert.deepStrictEqual(yield* ledger.concludeAlone(conclusion(open, 10n)), { _tag: "Gone", cost: 0n })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 900n, held: 10n })
    })
  )

  it.effect("is refunded whole, once, when it is overdue", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const left = hold(owner, 100n, { charge: true, claim: claim("left") })
      const running = hold(owner, 50n, { charge: true })
      const done = hold(owner, 25n, { charge: true })
      for (const sold of [left, running, done]) yield* ledger.commit(sold)
      yield* ledger.concludeAlone(conclusion(done, 0n))
      for (const { requestId } of [left, done]) yield* makeOverdue(sql, requestId)
      assert.strictEqual(yield* ledger.refundOverdue, 1)
      assert.strictEqual(yield* ledger.refundOverdue, 0)
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 925n, held: 0n })
      assert.deepInclude(yield* request(sql, left.requestId), { settled: 100n, refunded: 100n, absorbed: 0n })
      assert.deepInclude(yield* endOf(sql, left.requestId), {
        status: "failed",
        expired: true,
        claim: left.claim!.claim,
        closed: { error: { _tag: "HoldExpired" } }
      })
      // Its work was done in the end: the house bears what that costs, noted once.
      const late = conclusion(left, 30n)
      assert.deepStrictEqual(yield* ledger.concludeAlone(late), { _tag: "Gone", cost: 0n })
      assert.strictEqual(yield* ledger.conclude(sql, conclusion(left, 0n)), "Gone")
      assert.deepInclude(yield* request(sql, left.requestId), { refunded: 100n, absorbed: 70n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("keeps its idempotency key until it is concluded, however long that takes", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const sold = hold(owner, 100n, { charge: true, claim: claim("long") })
      yield* ledger.commit(sold)
      yield* sql`UPDATE request SET closed_at = now() - interval '2 days' WHERE id = ${sold.requestId}`
      yield* ledger.dropClaims(DAY_MS)
      assert.strictEqual((yield* endOf(sql, sold.requestId)).claim, sold.claim!.claim)
      yield* ledger.concludeAlone(conclusion(sold, 0n))
      // Counted from its end.
      yield* ledger.dropClaims(DAY_MS)
      assert.strictEqual((yield* endOf(sql, sold.requestId)).claim, sold.claim!.claim)
      yield* sql`UPDATE request SET closed_at = now() - interval '2 days' WHERE id = ${sold.requestId}`
      assert.isAbove(yield* ledger.dropClaims(DAY_MS), 0)
      assert.isNull((yield* endOf(sql, sold.requestId)).claim)
    })
  )
})

layer(Database.layer, { excludeTestServices: true })("a hold taken from another hold", (it) => {
  it.effect("takes only from that hold, even when the account has nothing left", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const parent = hold(owner, 1_000n)
      yield* ledger.commit(parent)
      const child = hold(owner, 20n, { upTo: 300n })
      assert.deepStrictEqual(yield* ledger.carve(parent.requestId, child), { _tag: "Granted", granted: 300n })
      // A repeat of what was committed though nobody heard.
      assert.deepStrictEqual(yield* ledger.carve(parent.requestId, child), { _tag: "Granted", granted: 300n })
      assert.strictEqual((yield* request(sql, parent.requestId))?.held, 700n)
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000n, held: 1_000n })
      yield* ledger.commit(close(child, 120n))
      yield* ledger.commit(close(parent, undefined))
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 880n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("may be a charge, which is refunded to the account", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const parent = hold(owner, 1_000n)
      yield* ledger.commit(parent)
      const child = hold(owner, 40n, { charge: true, upTo: 90n })
      assert.deepStrictEqual(yield* ledger.carve(parent.requestId, child), { _tag: "Granted", granted: 40n })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 960n, held: 960n })
      yield* ledger.concludeAlone(conclusion(child, 10n))
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 970n, held: 960n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("counts towards the other hold's budgets, which it cannot exceed", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const budgetId = yield* addBudget(sql, owner, "key", 100n)
      const parent = hold(owner, 100n, { budgets: [onDay(budgetId, "2026-01-02")] })
      yield* ledger.commit(parent)
      // A day later: the period it would be of has room too, but was not promised to the other.
      const child = hold(owner, 60n, { budgets: [onDay(budgetId, "2026-01-03")] })
      assert.strictEqual((yield* ledger.carve(parent.requestId, child))._tag, "Granted")
      yield* ledger.commit(close(child, 60n))
      const periods =
        yield* sql`SELECT period_start::text, spent, held FROM budget_period WHERE budget_id = ${budgetId}`
      assert.deepStrictEqual(periods, [{ period_start: "2026-01-02", spent: 60n, held: 40n }])
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect(
    "takes the remainder from the account when the other hold has too little, unless the budgets have changed",
    () =>
      Effect.gen(function* () {
        const { ledger, owner, sql } = yield* scene
        const old = onDay(yield* addBudget(sql, owner, "key", 200n))
        const now = onDay(yield* addBudget(sql, owner, "key", 50n))
        const parent = hold(owner, 100n, { budgets: [old] })
        yield* ledger.commit(parent)
        // What is held already is given whatever the budgets; what is not obeys those that there are.
        const within = hold(owner, 60n, { budgets: [now] })
        assert.strictEqual((yield* ledger.carve(parent.requestId, within))._tag, "Granted")
        const beyond = hold(owner, 60n, { budgets: [now] })
        assert.deepInclude(yield* ledger.carve(parent.requestId, beyond), { limitSource: "key_budget", available: 50n })
        const same = hold(owner, 60n, { budgets: [{ ...old, periodStart: "2026-01-03" }] })
        assert.strictEqual((yield* ledger.carve(parent.requestId, same))._tag, "Granted")
        const periods = yield* sql`SELECT budget_id, held FROM budget_period
        WHERE budget_id IN (${old.budgetId}, ${now.budgetId})`
        assert.deepStrictEqual(periods, [{ budget_id: old.budgetId, held: 120n }])
        const stale = hold(owner, 1n, { budgetsEpoch: 7 })
        assert.strictEqual((yield* ledger.carve(parent.requestId, stale))._tag, "KeyChanged")
        assert.strictEqual((yield* ledger.commit(stale))._tag, "KeyChanged")
        assert.deepStrictEqual(yield* wrongs(sql), [])
      })
  )

  it.effect("keeps the other hold's recorded progress", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const parent = hold(owner, 1_000n)
      yield* ledger.commit(parent)
      yield* ledger.commit(extend(parent, 1_000n, 0n, 400n))
      const child = hold(owner, 10n, { upTo: 900n })
      assert.deepStrictEqual(yield* ledger.carve(parent.requestId, child), { _tag: "Granted", granted: 600n })
      const before = yield* rowCounts(sql)
      const refused = yield* ledger.carve(parent.requestId, hold(owner, 1n))
      assert.deepStrictEqual(refused, { _tag: "Refused", limitSource: "in_flight", available: 0n, posted: 1_000n })
      assert.deepStrictEqual(yield* rowCounts(sql), before)
      assert.strictEqual((yield* request(sql, parent.requestId))?.held, 400n)
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("takes nothing when it is refused", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const parent = hold(owner, 100n, { claim: claim("parent") })
      yield* ledger.commit(parent)
      const standing = { posted: 1_000n, held: 100n }
      const claimed = yield* ledger.carve(parent.requestId, hold(owner, 10n, { claim: parent.claim }))
      assert.deepStrictEqual(claimed, { _tag: "Claimed", byRequestId: parent.requestId })
      assert.strictEqual((yield* ledger.carve(parent.requestId, hold(owner, 1_001n)))._tag, "Refused")
      const keyless = hold({ ...owner, keyId: "0".repeat(24) }, 10n)
      assert.deepStrictEqual(yield* ledger.carve(parent.requestId, keyless), { _tag: "KeyInactive" })
      assert.strictEqual((yield* request(sql, parent.requestId))?.held, 100n)
      assert.deepStrictEqual(yield* balance(sql, owner), standing)
      // What the other lacks, the account has.
      assert.strictEqual((yield* ledger.carve(parent.requestId, hold(owner, 1_000n)))._tag, "Granted")
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000n, held: 1_000n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("is an ordinary hold when the other is closed or belongs to another account", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const stranger = yield* customer(sql, 500n)
      const [ended, overdue, foreign] = [hold(owner, 100n), hold(owner, 100n), hold(stranger, 100n)]
      for (const parent of [ended, overdue, foreign]) yield* ledger.commit(parent)
      yield* ledger.commit(close(ended, undefined))
      yield* makeOverdue(sql, overdue.requestId)
      for (const [index, parent] of [ended, overdue, foreign].entries()) {
        assert.strictEqual((yield* ledger.carve(parent.requestId, hold(owner, 50n)))._tag, "Granted")
        assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000n, held: 50n * BigInt(index + 1) })
      }
      assert.strictEqual((yield* request(sql, foreign.requestId))?.held, 100n)
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("is not undone by a renewal of the other hold with nothing held", () =>
    Effect.gen(function* () {
      const { ledger, owner, sql } = yield* scene
      const parent = hold(owner, 600n)
      yield* ledger.commit(parent)
      yield* ledger.carve(parent.requestId, hold(owner, 200n))
      assert.deepStrictEqual(yield* ledger.commit(extend(parent, 0n, 0n)), { _tag: "Extended" })
      assert.strictEqual((yield* request(sql, parent.requestId))?.held, 400n)
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000n, held: 600n })
    })
  )
})

layer(Database.layer, { excludeTestServices: true })("charges and holds taken from holds, on two nodes", (it) => {
  it.effect("never exceed the other hold, alone or together, and wait for its account", () =>
    Effect.gen(function* () {
      const { nodes, sql, url } = yield* twoNodes
      const owner = yield* customer(sql, 100n)
      const parent = hold(owner, 100n)
      yield* nodes[0].commit(parent)
      const lock = yield* lockBalance(yield* newClient(url), owner)
      const all = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 4 }),
          (_, index) => nodes[index % 2]!.carve(parent.requestId, hold(owner, 40n)),
          { concurrency: "unbounded" }
        )
      )
      yield* lockWaiters(sql, 4)
      yield* lock.unlock
      const results = yield* Fiber.join(all)
      assert.deepStrictEqual(results.map(({ _tag }) => _tag).toSorted(), ["Granted", "Granted", "Refused", "Refused"])
      assert.strictEqual((yield* request(sql, parent.requestId))?.held, 20n)
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("are concluded once even if the answer is lost", () =>
    Effect.gen(function* () {
      const { nodes, sql, url } = yield* twoNodes
      const wire = yield* makeWire(url)
      const far = yield* newLedger(yield* newClient(wire.url))
      const owner = yield* customer(sql, 100n)
      const sold = hold(owner, 60n, { charge: true })
      yield* nodes[0].commit(sold)
      yield* wire.loseNextAnswer
      // Tried again, it finds that it happened.
      assert.deepStrictEqual(yield* far.concludeAlone(conclusion(sold, 10n)), { _tag: "Gone", cost: 50n })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 50n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("are not concluded during a long outage of the database", () =>
    Effect.gen(function* () {
      const { sql, url } = yield* twoNodes
      const wire = yield* makeWire(url)
      const far = yield* newLedger(
        yield* newClient(wire.url),
        Ledger.layerWithTimeouts({ holdMs: 1, closeMs: 200, statementMs: 10_000 })
      )
      const owner = yield* customer(sql, 100n)
      const sold = hold(owner, 60n, { charge: true })
      yield* far.commit(sold)
      yield* wire.cut
      assert.strictEqual((yield* Effect.flip(far.concludeAlone(conclusion(sold, 10n))))._tag, "Unavailable")
      assert.strictEqual((yield* Effect.flip(far.carve("none", hold(owner, 1n))))._tag, "Unavailable")
      yield* wire.mend
      assert.deepStrictEqual(yield* far.concludeAlone(conclusion(sold, 10n)), {
        _tag: "Concluded",
        cost: 50n,
        posted: 50n
      })
    })
  )

  it.effect("are concluded or refunded at expiry, and never both", () =>
    Effect.gen(function* () {
      const { nodes, sql, url } = yield* twoNodes
      const owner = yield* customer(sql, 100n)
      const sold = hold(owner, 60n, { charge: true })
      yield* nodes[0].commit(sold)
      yield* makeOverdue(sql, sold.requestId)
      const lock = yield* lockBalance(yield* newClient(url), owner)
      const race = yield* Effect.forkChild(
        Effect.all([nodes[0].concludeAlone(conclusion(sold, 10n)), nodes[1].refundOverdue, nodes[0].refundOverdue], {
          concurrency: "unbounded"
        })
      )
      yield* lockWaiters(sql, 3)
      yield* lock.unlock
      const [ended, ...swept] = yield* Fiber.join(race)
      const paidBack = swept.reduce((sum, count) => sum + count, 0)
      assert.strictEqual(paidBack, ended._tag === "Concluded" ? 0 : 1)
      assert.strictEqual((yield* balance(sql, owner)).posted, ended._tag === "Concluded" ? 50n : 100n)
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )
})
