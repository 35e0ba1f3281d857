import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { firstRequestIdAt } from "../../src/platform/Ids.ts"
import { openRequestsOf, requestsOf, searchStatement } from "../../src/usage/RequestsSql.ts"
import { close, customer, hold, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"
import { MIXED_FROM_MS, USUAL_FROM_MS, writeMixed, writeUsual } from "../support/Receipts.ts"

/** A part of a plan that was carried out. */
interface Done {
  readonly Plans?: ReadonlyArray<Done>
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Actual Rows": number
  readonly "Rows Removed by Filter"?: number
  readonly "Actual Loops": number
}

const partsOf = (done: Done): ReadonlyArray<Done> => [done, ...(done.Plans ?? []).flatMap(partsOf)]

type Explained = ReadonlyArray<{ "QUERY PLAN": ReadonlyArray<{ Plan: Done }> }>

/** Carries out a statement by a plan of either kind; answers the indexes it went through, and how many rows it read by them. */
const readBy = (
  sql: SqlClient.SqlClient,
  plans: "force_generic_plan" | "force_custom_plan",
  statement: Effect.Effect<unknown, SqlError.SqlError>
) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const [text, parameters] = (statement as Statement.Statement<unknown>).compile()
      yield* sql.unsafe(`SET LOCAL plan_cache_mode = ${plans}`)
      yield* sql.unsafe(`PREPARE planned AS ${text}`)
      const values = parameters.map((value) => `'${String(value)}'`).join(", ")
      const [explained] = yield* sql.unsafe<Explained[number]>(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE planned${values === "" ? "" : ` (${values})`}`
      )
      yield* sql`DEALLOCATE planned`
      const scans = partsOf(explained!["QUERY PLAN"][0]!.Plan).filter((part) => part["Relation Name"] === "request")
      return {
        indexes: [...new Set(scans.map((scan) => scan["Index Name"]))].toSorted(),
        rows: scans.reduce(
          (sum, scan) => sum + scan["Actual Loops"] * (scan["Actual Rows"] + (scan["Rows Removed by Filter"] ?? 0)),
          0
        )
      }
    })
  )

const PART = 100
const LIMIT = 51

/** An account with all of the newest requests, and one whose requests are older than those. */
const scene = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [large, small] = [yield* customer(sql, 1_000n), yield* customer(sql, 1_000n)]
  yield* writeMixed(sql, small, 1_000)
  yield* writeUsual(sql, large, 20_000)
  yield* sql`ANALYZE request`
  return { sql, accounts: [large.accountId, small.accountId] }
})

describe("a page of receipts", () => {
  const starts = [undefined, firstRequestIdAt(MIXED_FROM_MS + 200_000)]
  const cursors = [null, firstRequestIdAt(MIXED_FROM_MS + 500_000), firstRequestIdAt(USUAL_FROM_MS + 500_000)]

  it.live("is read from an index in page order, without other requests, by every plan", () =>
    Effect.gen(function* () {
      const { accounts, sql } = yield* scene
      for (const accountId of accounts) {
        for (const plans of ["force_generic_plan", "force_custom_plan"] as const) {
          for (const cursor of cursors) {
            for (const [status, index] of [
              [undefined, "request_account"],
              ["failed", "request_unserved"],
              ["cancelled", "request_unserved"]
            ] as const) {
              for (const fromId of starts) {
                const statement = requestsOf(sql, accountId, { status, fromId }, cursor, LIMIT)
                const { indexes, rows } = yield* readBy(sql, plans, statement)
                assert.deepStrictEqual(indexes, [index], `${status} ${plans}`)
                assert.isAtMost(rows, LIMIT)
              }
            }
            const open = openRequestsOf(sql, accountId, { model: "asked", fromId: starts[1] }, cursor, LIMIT)
            const { indexes, rows } = yield* readBy(sql, plans, open)
            for (const index of indexes) assert.match(index!, /^request_(open|unconcluded)/)
            assert.isAtMost(rows, 150)
          }
        }
      }
    }).pipe(Effect.provide(database))
  )

  it.live("reads at most its limit of requests when it searches, by every plan", () =>
    Effect.gen(function* () {
      const { accounts, sql } = yield* scene
      for (const accountId of accounts) {
        for (const plans of ["force_generic_plan", "force_custom_plan"] as const) {
          for (const cursor of cursors) {
            for (const filters of [
              {},
              { model: "usual" },
              { model: "none" },
              { keyId: "none", operation: "none" },
              { projectId: "none", provider: "none", fromId: starts[1] }
            ]) {
              for (const [status, index] of [
                [undefined, "request_account"],
                ["succeeded", "request_account"],
                ["failed", "request_unserved"],
                ["cancelled", "request_unserved"]
              ] as const) {
                const part = { limit: LIMIT, part: PART }
                const statement = searchStatement(sql, accountId, { ...filters, status }, cursor, part)
                const { indexes, rows } = yield* readBy(sql, plans, statement)
                assert.deepStrictEqual(indexes, [index], `${status} ${JSON.stringify(filters)} ${plans}`)
                assert.isAtMost(rows, PART + 1)
              }
            }
          }
        }
      }
    }).pipe(Effect.provide(database))
  )

  it.live("costs the ledger nothing: a successful request is in no filter index", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 1_000n)
      const pages = Effect.map(
        sql<{ name: string; bytes: bigint }>`SELECT name, pg_relation_size(name::regclass) AS bytes
          FROM unnest(ARRAY['request_unserved', 'request_unconcluded_account']) AS name`,
        (rows) => Object.fromEntries(rows.map(({ bytes, name }) => [name, Number(bytes) / 8_192]))
      )
      // One page is what an empty index has.
      const empty = { request_unserved: 1, request_unconcluded_account: 1 }
      for (let number = 0; number < 5; number++) {
        const one = hold(owner, 10n)
        yield* run(sql, one)
        yield* run(sql, close(one, 5n))
      }
      assert.deepStrictEqual(yield* pages, empty)
      const refused = hold(owner, 10n)
      yield* run(sql, refused)
      yield* run(sql, close(refused, undefined))
      assert.deepStrictEqual(yield* pages, { ...empty, request_unserved: 2 })
    }).pipe(Effect.provide(database))
  )
})
