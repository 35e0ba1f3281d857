import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import type { HoldOperation } from "../../src/ledger/Operation.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { close, conclusion, credit, type Customer, extend, refund, twoNodes, wrongs } from "./Fixture.ts"
import { Random, seeds } from "./Random.ts"
import { makeScenario, randomHold, type Scenario } from "./Scenario.ts"

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
const oneRequest = (nodes: ReadonlyArray<Ledger["Service"]>, scenario: Scenario, random: Random, tally: Tally) =>
  Effect.gen(function* () {
    const node = random.pick(nodes)
    const opened: HoldOperation = randomHold(scenario, random, 0.05)
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
    if (random.chance(0.3)) yield* carved(nodes, scenario, opened, random, tally)
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
  scenario: Scenario,
  parent: HoldOperation,
  random: Random,
  tally: Tally
) =>
  Effect.gen(function* () {
    const child = randomHold(scenario, random, 0.05, parent)
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
    it.live(`keep correct books under load (LEDGER_SEED=${seed})`, () =>
      Effect.gen(function* () {
        const { nodes, sql } = yield* twoNodes
        const random = new Random(seed)
        const scenario = yield* makeScenario(sql, random)
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
                  yield* oneRequest(nodes, scenario, own, tally)
                  if (own.chance(0.05)) yield* own.pick(nodes).refundOverdue
                  if (own.chance(0.2)) {
                    const to: Customer = own.pick(scenario.customers)
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
        const owner = scenario.customers[0]!
        for (const { id, account_id } of left) {
          const opened = { ...randomHold(scenario, random), ...owner, accountId: account_id, requestId: id }
          const end = yield* nodes[0].commit(close(opened, undefined))
          assert.strictEqual(end._tag, "Closed")
        }
        yield* nodes[0].refundOverdue
        const expired = yield* sql<{ id: string; settled: bigint }>`
          SELECT account_id AS id, sum(settled - refunded)::int8 AS settled FROM request WHERE expired GROUP BY account_id`
        for (const { id, settled } of expired) add(tally.charged, id, settled)
        for (const [id, { posted }] of scenario.model.balances) {
          const now = yield* nodes[1].balance(id)
          const play = scenario.model.plays.get(id)?.posted ?? 0n
          const expected = posted + play + (tally.credited.get(id) ?? 0n) - (tally.charged.get(id) ?? 0n)
          assert.deepStrictEqual([now?.posted, now?.held, now?.play?.held ?? 0n], [expected, 0n, 0n])
        }
        assert.deepStrictEqual(yield* wrongs(sql), [])
      })
    )
  }
})
