import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { idsOf, Transactions, type TransactionsPage } from "../../src/billing/Transactions.ts"
import { transactionsOf } from "../../src/billing/TransactionsSql.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { adjust, close, credit, customer, hold, refund, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"
import { genericPlan, nodesOf, planOf } from "../support/Plans.ts"

const secrets = Secrets.layerFrom(Redacted.make("k".repeat(32)))

const rooms = Transactions.layer.pipe(Layer.provideMerge(Layer.merge(database, secrets)))

describe("the transactions of an account", () => {
  it.live("are its credits, adjustments and refunds, without its charges, page by page from the newest", () =>
    Effect.gen(function* () {
      const [sql, transactions] = [yield* SqlClient.SqlClient, yield* Transactions]
      const [owner, other] = [yield* customer(sql, 1_000n), yield* customer(sql, 5n)]
      const paid = hold(owner, 100n)
      yield* run(sql, paid)
      yield* run(sql, close(paid, 60n))
      yield* run(sql, credit(other, 7n))
      yield* run(sql, adjust(owner, -40n))
      yield* run(sql, refund(paid, 25n, "video 1"))
      yield* run(sql, adjust(owner, 3n))
      yield* run(sql, credit(owner, 500n, "operator:invoice 1"))
      const seen: Array<TransactionsPage["rows"][number]> = []
      let cursor: string | undefined
      do {
        const page: TransactionsPage = yield* transactions.page(owner.accountId, { limit: 2, cursor })
        assert.isAtMost(page.rows.length, 2)
        seen.push(...page.rows)
        cursor = page.next ?? undefined
      } while (cursor !== undefined)
      assert.deepStrictEqual(
        seen.map(({ amount, kind, reference, request_id }) => [kind, amount, request_id, reference]),
        [
          ["credit", 500n, null, "operator:invoice 1"],
          ["adjust", 3n, null, null],
          ["refund", 25n, paid.requestId, "video 1"],
          ["adjust", -40n, null, null],
          ["credit", 1_000n, null, null]
        ]
      )
      assert.strictEqual(new Set(seen.map(({ id }) => id)).size, 5)
      const whole = yield* transactions.page(owner.accountId, { limit: 5, cursor: undefined })
      assert.deepStrictEqual([whole.rows.map(({ id }) => id), whole.next], [seen.map(({ id }) => id), null])
    }).pipe(Effect.provide(rooms))
  )

  it.live("are read without charges, by every plan", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [large, small] = [yield* customer(sql, 1_000n), yield* customer(sql, 1_000n)]
      for (const { accountId } of [large, small]) {
        yield* sql`INSERT INTO transfer (debit, credit, amount, kind, request_id)
          SELECT ${accountId}, 'house:revenue', 1, 'settle', ${accountId} || n FROM generate_series(1, 5000) AS n`
      }
      yield* sql`INSERT INTO transfer (debit, credit, amount, kind, request_id, reference)
        SELECT 'house:revenue', ${large.accountId}, 1, 'refund', 'r' || n, 'r' || n FROM generate_series(1, 5000) AS n`
      yield* sql`ANALYZE transfer`
      for (const { accountId } of [large, small]) {
        for (const before of [null, 12_000n]) {
          for (const plan of [planOf, genericPlan]) {
            const nodes = nodesOf(yield* plan(sql, transactionsOf(sql, accountId, before, 51)))
            const scans = nodes.filter((node) => node["Relation Name"] === "transfer")
            assert.deepStrictEqual(
              scans.map((scan) => scan["Index Name"]),
              ["transfer_credit", "transfer_adjusted"]
            )
            for (const scan of scans) {
              assert.strictEqual(scan["Node Type"], "Index Scan")
              assert.match(scan["Index Cond"] ?? "", /ROW\(\w+, id\) >= .*ROW\(\w+, id\) <=? /)
            }
            assert.notInclude(
              nodes.map((node) => node["Node Type"]),
              "Incremental Sort"
            )
          }
        }
      }
    }).pipe(Effect.provide(database))
  )

  it.live("have ids that do not reveal how many others there are, and decode to their numbers", () =>
    Effect.gen(function* () {
      const { numberOf, textOf } = idsOf(yield* Secrets)
      const numbers = [1n, 2n, 3n, 4_294_967_295n, 4_294_967_296n, 9_007_199_254_740_991n]
      const texts = numbers.map(textOf)
      for (const text of texts) assert.match(text, /^txn_[0-9a-f]{16}$/)
      assert.deepStrictEqual(texts.map(numberOf), numbers)
      // Neighbours differ in about half of 64 bits.
      const [one = 0n, two = 0n] = texts.map((text) => BigInt(`0x${text.slice(4)}`))
      const differing = (one ^ two).toString(2).replaceAll("0", "").length
      assert.isAbove(differing, 12)
      const other = idsOf(yield* Effect.provide(Secrets, Secrets.layerFrom(Redacted.make("o".repeat(32)))))
      assert.notStrictEqual(other.textOf(1n), texts[0])
    }).pipe(Effect.provide(secrets))
  )

  it.live("refuse a cursor that they did not return", () =>
    Effect.gen(function* () {
      const transactions = yield* Transactions
      // One in 2,048 texts is the form of some number.
      const cursors = Array.from({ length: 20 }, (_, n) => `txn_${n.toString(16).padStart(16, "0")}`)
      const exits = yield* Effect.forEach(cursors, (cursor) =>
        Effect.exit(transactions.page("a".repeat(24), { limit: 1, cursor }))
      )
      assert.isAbove(exits.filter(({ _tag }) => _tag === "Failure").length, 15)
    }).pipe(Effect.provide(rooms))
  )
})
