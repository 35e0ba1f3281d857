/** What keeps the schema fit to be distributed by account: see docs/operate/scale.md, which lists the exceptions too. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { carveOne, commitGroup } from "../../src/ledger/LedgerSql.ts"
import { textOf } from "../support/Sources.ts"
import * as Database from "../support/Database.ts"
import {
  addBudget,
  adjust,
  claim,
  close,
  concludeAll,
  conclusion,
  credit,
  customer,
  extend,
  hold,
  onDay,
  refund,
  run
} from "./Fixture.ts"

/** Tables of money, receipts, budgets, claims and sums. */
const tables = [
  "balance",
  "play_balance",
  "request",
  "transfer",
  "replay",
  "unpaid_claim",
  "budget",
  "budget_period",
  "top_up",
  "top_up_decision",
  "usage_rollup",
  "model_usage",
  "key_usage",
  "attempt_cost",
  "margin_day",
  "usage_pending",
  "usage_refund",
  "ledger_checkpoint_sum",
  "session_total"
]

/**
 * Unique indexes without the account: a distributed table cannot have them. This list may only get shorter; the page about scale says
 * what each would take.
 */
const withoutAccount = [
  "budget.budget_pkey",
  "budget_period.budget_period_pkey",
  "key_usage.key_usage_pkey",
  "replay.replay_pkey",
  "request.request_pkey",
  "top_up.top_up_pkey",
  "top_up.top_up_session_id_key",
  "transfer.transfer_once",
  "transfer.transfer_pkey",
  "transfer.transfer_reference",
  "usage_refund.usage_refund_pkey"
]

/** Rows written by the transaction, with their account. */
const written = (sql: SqlClient.SqlClient, since: string) => sql<{ table: string; account: string }>`
  SELECT 'balance' AS table, account_id AS account FROM balance WHERE xmin::text::bigint >= ${since}::bigint
  UNION ALL SELECT 'play_balance', account_id FROM play_balance WHERE xmin::text::bigint >= ${since}::bigint
  UNION ALL SELECT 'request', account_id FROM request WHERE xmin::text::bigint >= ${since}::bigint
  UNION ALL SELECT 'usage_pending', account_id FROM usage_pending WHERE xmin::text::bigint >= ${since}::bigint
  UNION ALL SELECT 'usage_refund', account_id FROM usage_refund WHERE xmin::text::bigint >= ${since}::bigint
  UNION ALL SELECT 'attempt_cost', account_id FROM attempt_cost WHERE xmin::text::bigint >= ${since}::bigint
  UNION ALL SELECT 'budget_period', b.account_id FROM budget_period p JOIN budget b ON b.id = p.budget_id
    WHERE p.xmin::text::bigint >= ${since}::bigint
  UNION ALL SELECT 'transfer', side FROM transfer CROSS JOIN LATERAL (VALUES (debit), (credit)) AS s(side)
    WHERE left(side, 6) <> 'house:' AND transfer.xmin::text::bigint >= ${since}::bigint`

layer(Database.layer, { excludeTestServices: true })("tables of money", (it) => {
  it.effect("have the account in every unique key, with known exceptions", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const found = yield* sql<{ name: string }>`
        SELECT format('%s.%s', t.relname, i.relname) AS name FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
        JOIN pg_class t ON t.oid = x.indrelid
        WHERE x.indisunique AND t.relname = ANY (${tables}) AND NOT EXISTS (
          SELECT FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attname = 'account_id' AND a.attnum = ANY (x.indkey::int2[])
        ) ORDER BY 1`
      assert.deepStrictEqual(
        found.map(({ name }) => name),
        withoutAccount
      )
      const page = textOf("docs/operate/scale.md")
      for (const name of withoutAccount) assert.include(page, `\`${name.slice(name.indexOf(".") + 1)}\``)
    })
  )

  it.effect("have the account in a column, with known exceptions", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const found = yield* sql<{ name: string }>`SELECT name FROM unnest(${tables}::text[]) AS name WHERE NOT EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = name::regclass AND a.attname = 'account_id') ORDER BY 1`
      assert.deepStrictEqual(
        found.map(({ name }) => name),
        // A transfer has its account on one of its two sides.
        ["budget_period", "key_usage", "transfer"]
      )
    })
  )

  it.effect("are written for only its own account by every operation", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const bystander = yield* customer(sql, 1_000n)
      yield* run(sql, hold(bystander, 10n))
      const owner = yield* customer(sql, 1_000n)
      const paid = { budgets: [onDay(yield* addBudget(sql, owner, "key", 500n))] }
      const [settled, released, parent] = [hold(owner, 20n, paid), hold(owner, 20n), hold(owner, 40n, { upTo: 80n })]
      const [charged, given, claimed] = [
        hold(owner, 20n, { charge: true }),
        hold(owner, 20n, { charge: true, ...paid }),
        hold(owner, 10n, { claim: claim("k") })
      ]
      const operations: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
        hold: run(sql, settled),
        "hold without budget": run(sql, released),
        "hold with a claim": run(sql, claimed),
        charge: run(sql, charged),
        "charge to a budget": run(sql, given),
        "hold for parts": run(sql, parent),
        extend: run(sql, extend(settled, 20n, 10n, 5n)),
        carve: carveOne(sql, parent.requestId, hold(owner, 10n)),
        settle: run(sql, close(settled, 12n)),
        release: run(sql, close(released, undefined)),
        refund: run(sql, refund(settled, 2n)),
        conclude: concludeAll(sql, [conclusion(charged, 0n), conclusion(given, 5n)]),
        credit: run(sql, credit(owner, 5n, "one account")),
        adjust: run(sql, adjust(owner, -1n)),
        "simulated money": run(sql, { ...credit(owner, 50n), source: "play" }),
        group: commitGroup(sql, [hold(owner, 1n), close(claimed, 3n), hold(owner, 2n)])
      }
      for (const [name, operation] of Object.entries(operations)) {
        const [at] = yield* sql<{ xid: string }>`SELECT pg_current_xact_id()::text AS xid`
        yield* operation
        const rows = yield* written(sql, at!.xid)
        assert.isNotEmpty(rows, name)
        for (const { account, table } of rows) assert.strictEqual(account, owner.accountId, `${name} wrote ${table}`)
      }
    })
  )
})
