import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { timeOfRequestId } from "../../src/platform/Ids.ts"
import { UsageReads } from "../../src/usage/UsageReads.ts"
import { type PageQuery, Receipts } from "../../src/usage/Receipts.ts"
import type { ReceiptsPage } from "../../src/usage/ReceiptSearch.ts"
import type { RequestRow } from "../../src/usage/RequestsSql.ts"
import { Rollups } from "../../src/usage/Rollups.ts"
import { customer } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"
import { MIXED_FROM_MS, OTHER_KEY, rollUpAll, SOME_PROJECT, writeMixed } from "../support/Receipts.ts"

/** Rollups show what to skip. `forMs` of 0 ends a page after the first place that it looks at. */
const skipping = (forMs: number) =>
  Layer.mergeAll(Receipts.layerOf({ part: 20, page: 40, forMs }), Rollups.layer).pipe(
    Layer.provideMerge(UsageReads.layerOf()),
    Layer.provideMerge(database)
  )

const HOUR_MS = 3_600_000

const costOf = ({ refunded, settled }: RequestRow): bigint => settled - refunded

const msOf = ({ closed }: RequestRow): number | undefined => (closed as { totalMs?: number } | null)?.totalMs

/** Whether a receipt must be on the pages of a query. */
const fits = (row: RequestRow, wanted: Omit<PageQuery, "limit">): boolean =>
  timeOfRequestId(row.id) >= (wanted.fromMs ?? 0) &&
  timeOfRequestId(row.id) < (wanted.untilMs ?? Infinity) &&
  [undefined, row.status].includes(wanted.status as RequestRow["status"] | undefined) &&
  [undefined, row.key_id].includes(wanted.keyId) &&
  [undefined, row.project_id].includes(wanted.projectId) &&
  [undefined, row.provider].includes(wanted.provider) &&
  [undefined, row.operation].includes(wanted.operation) &&
  [undefined, row.model, row.resolved_model].includes(wanted.model) &&
  costOf(row) >= (wanted.minCost ?? 0n) &&
  costOf(row) <= (wanted.maxCost ?? 1_000_000n) &&
  (wanted.minLatencyMs === undefined || (msOf(row) ?? -1) >= wanted.minLatencyMs) &&
  (wanted.maxLatencyMs === undefined || (msOf(row) ?? Infinity) <= wanted.maxLatencyMs)

/** The IDs of all pages. */
const walk = Effect.fnUntraced(function* (accountId: string, query: PageQuery) {
  const receipts = yield* Receipts
  const seen: Array<string> = []
  let cursor: string | undefined
  do {
    const page: ReceiptsPage = yield* receipts.page(accountId, { ...query, cursor })
    assert.isAtMost(page.rows.length, query.limit)
    if (cursor !== undefined && page.next !== null) assert.isBelow(page.next < cursor ? 0 : 1, 1)
    seen.push(...page.rows.map(({ id }) => id))
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return seen
})

describe("receipts that are rolled up", () => {
  for (const forMs of [Infinity, 0]) {
    it.live(`are found through rollups by every filter, ${forMs === 0 ? "a place at a time" : "in full pages"}`, () =>
      Effect.gen(function* () {
        const [sql, receipts] = [yield* SqlClient.SqlClient, yield* Receipts]
        const owner = yield* customer(sql, 1_000n)
        yield* writeMixed(sql, owner, 300, 5 * HOUR_MS)
        yield* writeMixed(sql, yield* customer(sql, 1_000n), 300)
        yield* sql`UPDATE request SET held = 1000, settled = ('x' || right(id, 1))::bit(8)::int % 7 * 10,
          closed = jsonb_build_object('totalMs', length(model) * 10 + right(id, 2)::int) WHERE closed IS NOT NULL AND state = 'settled'`
        // These were written late: their hour is not that of their ID.
        yield* sql`UPDATE request SET created_at = created_at + interval '7 hours' WHERE right(id, 2) IN ('11', '47')`
        yield* rollUpAll
        const everything = (yield* receipts.page(owner.accountId, { limit: 300 })).rows
        assert.lengthOf(everything, 300)
        const at = (number: number) => MIXED_FROM_MS + number * 5 * HOUR_MS
        const queries: ReadonlyArray<Omit<PageQuery, "limit">> = [
          { model: "asked" },
          { model: "served" },
          { model: "none" },
          { status: "succeeded" },
          { provider: "one" },
          { operation: "embeddings", keyId: OTHER_KEY },
          { projectId: SOME_PROJECT, status: "failed" },
          { minCost: 50n },
          { minCost: 20n, maxCost: 30n, model: "asked" },
          { maxCost: 10n, status: "succeeded" },
          { minLatencyMs: 149 },
          { minLatencyMs: 120.5, maxLatencyMs: 130 },
          { status: "cancelled", model: "asked" },
          { model: "asked", fromMs: at(101), untilMs: at(250) },
          { model: "served", untilMs: at(40) }
        ]
        for (const query of queries) {
          const expected = everything.filter((row) => fits(row, query)).map(({ id }) => id)
          const words = JSON.stringify(query, (_, value) => (typeof value === "bigint" ? String(value) : value))
          assert.deepStrictEqual(yield* walk(owner.accountId, { limit: 7, ...query }), expected, words)
          if (!words.includes("none")) assert.isNotEmpty(expected, words)
        }
      }).pipe(Effect.provide(skipping(forMs)))
    )
  }
})
