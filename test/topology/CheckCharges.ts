/** The check that callers paid for exactly what they received, whatever happened to nodes and the database. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Account, Topology } from "../support/Topology.ts"
import type { Outcome } from "./Callers.ts"

interface Receipt {
  readonly id: string
  readonly key: string | null
  readonly status: string
  readonly settled: bigint
}

const violations = (
  outcomes: ReadonlyArray<Outcome>,
  receipts: ReadonlyArray<Receipt>,
  wasLost: (receipt: Receipt) => boolean
): ReadonlyArray<string> => {
  const byId = new Map(receipts.map((one) => [one.id, one]))
  const answers = outcomes.filter(({ isComplete }) => isComplete)
  const delivered = new Set(answers.map(({ requestId }) => requestId))
  const charges = new Map<string, number>()
  for (const { key, settled } of receipts) {
    if (key !== null && settled > 0n) charges.set(key, (charges.get(key) ?? 0) + 1)
  }
  return [
    ...answers
      .filter(({ cost, requestId }) => byId.get(requestId ?? "")?.settled !== cost)
      .map(({ cost, requestId }) => `${requestId}: the answer shows a cost of ${cost}, its receipt does not`),
    ...receipts
      .filter((one) => one.settled > 0n && !delivered.has(one.id) && !wasLost(one))
      .map(({ id, settled, status }) => `${id}: ${status} and charged ${settled}, but no caller received it`),
    ...[...charges].filter(([, count]) => count > 1).map(([key, count]) => `${key}: charged ${count} times`)
  ]
}

/**
 * Waits until no hold is open. Then compares every answer with its receipt and the receipts with the balance, and verifies the books.
 * `wasLost` tells whether a kill kept the answer of a charged receipt from its caller.
 */
export const checkCharges = (
  topology: Topology,
  account: Account,
  outcomes: ReadonlyArray<Outcome>,
  wasLost: (receipt: Receipt) => boolean = () => false
) =>
  Effect.gen(function* () {
    yield* topology.untilNoHold
    const receipts = yield* Effect.orDie(topology.sql<Receipt>`SELECT id, idempotency_key AS key, status, settled
      FROM request WHERE account_id = ${account.id}`)
    assert.deepStrictEqual(violations(outcomes, receipts, wasLost), [])
    const charged = receipts.reduce((sum, { settled }) => sum + settled, 0n)
    assert.deepStrictEqual(yield* topology.accountState(account), {
      posted: account.credited - charged,
      held: 0n,
      running: 0
    })
    assert.deepStrictEqual(yield* topology.failedChecks, [])
  })
