import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { UsageReads } from "../../src/usage/UsageReads.ts"
import { timeOfRequestId } from "../../src/platform/Ids.ts"
import { Receipts } from "../../src/usage/Receipts.ts"
import type { ReceiptsPage } from "../../src/usage/ReceiptSearch.ts"
import type { ReceiptFilters } from "../../src/usage/RequestsSql.ts"
import { MIXED_FROM_MS, OTHER_KEY, SOME_PROJECT, writeMixed } from "../support/Receipts.ts"
import { close, customer, hold, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"

const rooms = Receipts.layer.pipe(Layer.provideMerge(UsageReads.layerOf({ waitMs: 20 })), Layer.provideMerge(database))

/** Forty requests a page, in two parts. */
const bounded = Receipts.layerOf({ part: 20, page: 40, forMs: Infinity }).pipe(
  Layer.provideMerge(UsageReads.layerOf()),
  Layer.provideMerge(database)
)

const all = { limit: 2, cursor: undefined, model: undefined, status: undefined }

describe("receipts of an account", () => {
  it.live("are listed newest first, in pages, filtered by model or status on request", () =>
    Effect.gen(function* () {
      const [sql, receipts] = [yield* SqlClient.SqlClient, yield* Receipts]
      const owner = yield* customer(sql, 1_000n)
      const made = Array.from({ length: 5 }, () => hold(owner, 10n))
      for (const one of made) yield* run(sql, one)
      yield* run(sql, close(made[1]!, 5n))
      const ids = made
        .map(({ requestId }) => requestId)
        .toSorted()
        .toReversed()
      const page = (more: object) => receipts.page(owner.accountId, { ...all, ...more })
      const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)
      const first = yield* page({})
      assert.deepStrictEqual([idsOf(first.rows), first.next], [ids.slice(0, 2), ids[1]!])
      const rest = yield* page({ cursor: first.next!, limit: 3 })
      assert.deepStrictEqual([idsOf(rest.rows), rest.next], [ids.slice(2), null])
      const open = yield* page({ status: "open", limit: 10 })
      assert.deepStrictEqual(
        idsOf(open.rows),
        ids.filter((id) => id !== made[1]!.requestId)
      )
      const { model } = first.rows[0]!
      assert.deepStrictEqual(idsOf((yield* page({ model, limit: 10 })).rows), ids)
      assert.deepStrictEqual((yield* page({ model: "no-such-model" })).rows, [])
    }).pipe(Effect.provide(rooms))
  )

  it.live("wait for their turn only when they may have to search all requests", () =>
    Effect.gen(function* () {
      const [receipts, turns] = [yield* Receipts, yield* UsageReads]
      const [begun, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const reading = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(over))
      const other = yield* Effect.forkChild(turns.read("one", reading))
      yield* Deferred.await(begun)
      for (const chosen of [
        { model: "gpt-4o-mini" },
        { status: "succeeded" },
        { status: "open" },
        { keyId: "k" },
        { projectId: "p" },
        { provider: "openai" },
        { operation: "search" },
        { status: "failed", provider: "openai" }
      ]) {
        const refused = yield* Effect.flip(receipts.page("one", { ...all, ...chosen }))
        assert.strictEqual(refused._tag === "Failure" && refused.reason._tag, "RateLimitExceeded")
      }
      for (const served of [{}, { status: "failed" }, { status: "cancelled" }, { fromMs: 0, untilMs: 1_000 }]) {
        assert.deepStrictEqual((yield* receipts.page("one", { ...all, ...served })).rows, [])
      }
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(other)
      assert.deepStrictEqual((yield* receipts.page("one", { ...all, status: "succeeded" })).rows, [])
    }).pipe(Effect.provide(rooms))
  )

  it.live(
    "are found by every filter, alone and combined, on pages that look through a bounded number of requests",
    () =>
      Effect.gen(function* () {
        const [sql, receipts] = [yield* SqlClient.SqlClient, yield* Receipts]
        const owner = yield* customer(sql, 1_000n)
        yield* writeMixed(sql, owner, 300)
        yield* writeMixed(sql, yield* customer(sql, 1_000n), 300)
        const everything = yield* receipts.page(owner.accountId, { ...all, limit: 300 })
        assert.lengthOf(everything.rows, 300)
        for (const model of [undefined, "asked", "served", "none"]) {
          for (const status of [undefined, "open", "succeeded", "failed", "cancelled"]) {
            const matching = everything.rows.filter(
              (row) =>
                (status === undefined || row.status === status) &&
                (model === undefined || row.model === model || row.resolved_model === model)
            )
            const seen: Array<string> = []
            let [cursor, earliest]: [string | undefined, number] = [undefined, Infinity]
            for (let page = 0; page < 400; page++) {
              const { next, rows, searchedToMs }: ReceiptsPage = yield* receipts.page(owner.accountId, {
                limit: 7,
                cursor,
                model,
                status
              })
              assert.isAtMost(rows.length, 7)
              seen.push(...rows.map(({ id }) => id))
              assert.strictEqual(searchedToMs, next === null ? null : timeOfRequestId(next))
              if (next === null) break
              assert.isBelow(timeOfRequestId(next), earliest)
              ;[cursor, earliest] = [next, timeOfRequestId(next)]
            }
            assert.deepStrictEqual(
              seen,
              matching.map(({ id }) => id),
              `${status} ${model}`
            )
          }
        }
      }).pipe(Effect.provide(bounded))
  )

  it.live("are found by key, project, provider, operation and time, combined with every status", () =>
    Effect.gen(function* () {
      const [sql, receipts] = [yield* SqlClient.SqlClient, yield* Receipts]
      const owner = yield* customer(sql, 1_000n)
      yield* writeMixed(sql, owner, 300)
      const everything = (yield* receipts.page(owner.accountId, { ...all, limit: 300 })).rows
      const at = (second: number) => MIXED_FROM_MS + second * 1_000
      const times = [{}, { fromMs: at(101) }, { untilMs: at(250) }, { fromMs: at(90), untilMs: at(160) }]
      const filters = [
        {},
        { keyId: OTHER_KEY },
        { keyId: owner.keyId, model: "asked" },
        { projectId: SOME_PROJECT },
        { provider: "one" },
        { operation: "embeddings" },
        { keyId: "none" },
        { keyId: OTHER_KEY, projectId: SOME_PROJECT, provider: "two", operation: "chat.completions" }
      ]
      for (const { fromMs, untilMs } of times as ReadonlyArray<{ fromMs?: number; untilMs?: number }>) {
        for (const wanted of filters as ReadonlyArray<ReceiptFilters>) {
          for (const status of [undefined, "open", "succeeded", "failed", "cancelled"] as const) {
            const matching = everything.filter(
              (row) =>
                timeOfRequestId(row.id) >= (fromMs ?? 0) &&
                timeOfRequestId(row.id) < (untilMs ?? Infinity) &&
                [undefined, row.status].includes(status) &&
                [undefined, row.key_id].includes(wanted.keyId) &&
                [undefined, row.project_id].includes(wanted.projectId) &&
                [undefined, row.provider].includes(wanted.provider) &&
                [undefined, row.operation].includes(wanted.operation) &&
                [undefined, row.model, row.resolved_model].includes(wanted.model)
            )
            const seen: Array<string> = []
            let cursor: string | undefined
            do {
              const query = { limit: 7, cursor, status, fromMs, untilMs, ...wanted }
              const { next, rows }: ReceiptsPage = yield* receipts.page(owner.accountId, query)
              seen.push(...rows.map(({ id }) => id))
              cursor = next ?? undefined
            } while (cursor !== undefined)
            const expected = matching.map(({ id }) => id)
            assert.deepStrictEqual(seen, expected, JSON.stringify({ fromMs, untilMs, status, ...wanted }))
          }
        }
      }
      assert.lengthOf(
        (yield* receipts.page(owner.accountId, { limit: 100, fromMs: at(90), untilMs: at(160) })).rows,
        70
      )
    }).pipe(Effect.provide(bounded))
  )

  it.live("report how far they searched when a page is not full", () =>
    Effect.gen(function* () {
      const [sql, receipts] = [yield* SqlClient.SqlClient, yield* Receipts]
      const owner = yield* customer(sql, 1_000n)
      yield* writeMixed(sql, owner, 300)
      const ids = (yield* receipts.page(owner.accountId, { ...all, limit: 300 })).rows.map(({ id }) => id)
      const page = (cursor?: string) => receipts.page(owner.accountId, { ...all, cursor, model: "none" })
      assert.deepStrictEqual(yield* page(), { rows: [], next: ids[39]!, searchedToMs: timeOfRequestId(ids[39]!) })
      assert.deepStrictEqual(yield* page(ids[279]), { rows: [], next: null, searchedToMs: null })
    }).pipe(Effect.provide(bounded))
  )
})
