/** What must hold of an account's receipts and money, whatever happened to nodes and database while callers used them. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Account, Topology } from "../support/Topology.ts"
import type { Seen } from "./Callers.ts"

interface Receipt {
  readonly id: string
  readonly key: string | null
  readonly status: string
  readonly settled: bigint
}

/** What broke a promise, in words; nothing when all were kept. */
export const breaches = (
  seen: ReadonlyArray<Seen>,
  receipts: ReadonlyArray<Receipt>,
  wasLost: (receipt: Receipt) => boolean
): ReadonlyArray<string> => {
  const byId = new Map(receipts.map((one) => [one.id, one]))
  const answers = seen.filter(({ isWhole }) => isWhole)
  const delivered = new Set(answers.map(({ requestId }) => requestId))
  const charges = new Map<string, number>()
  for (const { key, settled } of receipts) {
    if (key !== null && settled > 0n) charges.set(key, (charges.get(key) ?? 0) + 1)
  }
  return [
    ...answers
      .filter(({ cost, requestId }) => byId.get(requestId ?? "")?.settled !== cost)
      .map(({ cost, requestId }) => `${requestId}: answered at a cost of ${cost}, and no receipt says so`),
    ...receipts
      .filter((one) => one.settled > 0n && !delivered.has(one.id) && !wasLost(one))
      .map(({ id, settled, status }) => `${id}: ${status} and charged ${settled}, and no caller got it`),
    ...[...charges].filter(([, count]) => count > 1).map(([key, count]) => `${key}: charged ${count} times`)
  ]
}

/**
 * Waits until no hold is left and holds every answer against its receipt, the receipts against the balance, and the books against
 * themselves. `wasLost` names charged receipts whose answer could not arrive because its node had died.
 */
export const prove = (
  topology: Topology,
  account: Account,
  seen: ReadonlyArray<Seen>,
  wasLost: (receipt: Receipt) => boolean = () => false
) =>
  Effect.gen(function* () {
    yield* topology.settled
    const receipts = yield* Effect.orDie(topology.sql<Receipt>`SELECT id, idempotency_key AS key, status, settled
      FROM request WHERE account_id = ${account.id}`)
    assert.deepStrictEqual(breaches(seen, receipts, wasLost), [])
    const charged = receipts.reduce((sum, { settled }) => sum + settled, 0n)
    assert.deepStrictEqual(yield* topology.books(account), {
      posted: account.credited - charged,
      held: 0n,
      running: 0
    })
    assert.deepStrictEqual(yield* topology.faults, [])
    return receipts
  })
