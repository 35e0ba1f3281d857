import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { auditEvents } from "../../../src/account/AuditSql.ts"
import { keysOf } from "../../../src/account/KeysSql.ts"
import { projectsOf } from "../../../src/account/ProjectsSql.ts"
import { topUpsOf } from "../../../src/billing/TopUpsSql.ts"
import { presetsOf, versionsOf } from "../../../src/presets/PresetsSql.ts"
import { keyTotalsOfPage } from "../../../src/usage/UsageSql.ts"
import { deliveriesOf, endpointsOf } from "../../../src/webhooks/WebhooksSql.ts"
import { layer as database } from "../../support/Database.ts"
import { genericPlan, nodesOf, type Plan, planOf } from "../../support/Plans.ts"

type Sql = SqlClient.SqlClient

const id = (number: number) => number.toString(16).padStart(24, "0")

/** The number of rows of each kind, and the account of each row by its number. */
interface Spread {
  readonly count: number
  readonly accounts: number
  readonly account: string
}

/** Rows spread evenly over twenty accounts. */
const even: Spread = { count: 3_000, accounts: 20, account: "n % 20" }

/** Rows of which half belong to one account, and the others to two hundred. */
const skewed: Spread = { count: 6_000, accounts: 200, account: "CASE WHEN n % 2 = 0 THEN 1 ELSE n / 2 % 200 END" }

/** Inserts the same number of rows of every kind, and three hundred versions of each of ten presets. */
const rows = (sql: Sql, { account, accounts, count }: Spread) => {
  const idOf = (number: string) => sql.literal(`lpad(to_hex(${number}), 24, '0')`)
  const of = sql`${idOf("n")} AS id, ${idOf(account)} AS account_id FROM generate_series(0, ${count - 1}) n`
  return Effect.gen(function* () {
    yield* sql`INSERT INTO account (id, email)
      SELECT ${idOf("n")}, n || '@example.com' FROM generate_series(0, ${accounts - 1}) n`
    yield* sql`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4)
      SELECT id, account_id, 'inference', 'k', sha256(id::bytea), 'p', 'l' FROM (SELECT ${of}) made`
    yield* sql`INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id)
      SELECT id, account_id, 'key.created', 'operator', 'o', 'key', account_id FROM (SELECT ${of}) made`
    yield* sql`INSERT INTO project (id, account_id, name, slug) SELECT id, account_id, 'p', id FROM (SELECT ${of}) made`
    yield* sql`INSERT INTO top_up (id, account_id, amount_cents, processor, return_url, ask_at)
      SELECT id, account_id, 500, 'simulated', 'u', now() FROM (SELECT ${of}) made`
    yield* sql`WITH made AS (INSERT INTO preset (id, account_id, slug, name, active_version)
        SELECT id, account_id, id, 'p', 1 FROM (SELECT ${of}) made RETURNING id)
      INSERT INTO preset_version (preset_id, version, config)
      SELECT id, generate_series(1, CASE WHEN id < ${id(10)} THEN 300 ELSE 1 END), '{}' FROM made`
    yield* sql`INSERT INTO webhook_endpoint (id, account_id, url, events, secret, sealed_with)
      SELECT id, account_id, 'u', '{}', '', 's' FROM (SELECT ${of}) made`
    yield* sql`INSERT INTO webhook_event (id, account_id, type, body, created_at)
      SELECT n, ${id(0)}, 't', 'b', now() FROM generate_series(1, 150) n`
    yield* sql`INSERT INTO webhook_delivery (id, endpoint_id, event_id)
      SELECT ${idOf("20 * event + endpoint")}, ${idOf("endpoint")}, event
      FROM generate_series(1, 150) event, generate_series(0, 19) endpoint`
    yield* sql`ANALYZE`
  })
}

const accountId = id(1)
const page = { limit: 20, cursor: id(2_000) }
const starts = { daily: "2026-01-01", weekly: "2026-01-01", monthly: "2026-01-01", lifetime: "2026-01-01" }
const audited = {
  accountId,
  types: undefined,
  actors: undefined,
  resources: undefined,
  least: id(0),
  end: id(2_000),
  limit: 20
}

/** Statements that read a page: the table, the columns that select and order the page, and the statement. */
const pages: ReadonlyArray<
  readonly [string, ReadonlyArray<string>, (sql: Sql) => Effect.Effect<unknown, SqlError.SqlError>]
> = [
  ["api_key", ["account_id", "id"], (sql) => keysOf(sql, { accountId, kind: "inference" }, { ...page, starts })],
  ["audit_event", ["account_id", "id"], (sql) => auditEvents(sql, audited)],
  ["audit_event", ["hashtextextended", "id"], (sql) => auditEvents(sql, { ...audited, types: ["key.created"] })],
  [
    "audit_event",
    ["hashtextextended", "id"],
    (sql) => {
      const narrowed = { types: ["key.created", "x"], actors: ["o", "x"], resources: [accountId, "x"] }
      return auditEvents(sql, { ...audited, ...narrowed })
    }
  ],
  ["project", ["account_id", "id"], (sql) => projectsOf(sql, accountId, page)],
  ["preset", ["account_id", "id"], (sql) => presetsOf(sql, accountId, page)],
  ["preset_version", ["preset_id", "version"], (sql) => versionsOf(sql, accountId, id(1), { limit: 20, before: 200 })],
  ["webhook_endpoint", ["account_id", "id"], (sql) => endpointsOf(sql, accountId, page)],
  ["webhook_delivery", ["endpoint_id", "id"], (sql) => deliveriesOf(sql, id(1), page)],
  ["top_up", ["account_id", "id"], (sql) => topUpsOf(sql, accountId, page)]
]

/** Checks the plan of every page's statement with rows spread like this. */
const walked = (
  spread: Spread,
  planned: (sql: Sql, statement: Effect.Effect<unknown, SqlError.SqlError>) => Effect.Effect<Plan, SqlError.SqlError>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* rows(sql, spread)
    for (const [table, columns, statement] of pages) {
      const plan = yield* planned(sql, statement(sql))
      const read = nodesOf(plan).filter((node) => node["Relation Name"] === table)
      assert.isNotEmpty(read, table)
      // A sort is only allowed of rows that are already limited to one page.
      for (const sorted of nodesOf(plan).filter((node) => node["Node Type"].includes("Sort"))) {
        assert.include(
          nodesOf(sorted).map((node) => node["Node Type"]),
          "Limit",
          JSON.stringify(plan)
        )
      }
      for (const { "Index Cond": condition = "" } of read) {
        for (const column of columns) assert.match(condition, new RegExp(`\\(${column}\\b`), JSON.stringify(plan))
      }
    }
  }).pipe(Effect.provide(database))

describe("a page", () => {
  it.live("is read from an index without reading newer rows or rows of other accounts", () => walked(even, genericPlan))

  it.live("of a large account is read from the index without sorting", () => walked(skewed, planOf))

  it.live("of a large account is read from the index by the generic plan", () => walked(skewed, genericPlan))

  it.live("of keys, of key totals or of the audit log uses a cached plan after five reads", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO account (id, email) VALUES (${accountId}, 'many@example.com')`
      yield* sql`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4)
          SELECT lpad(to_hex(n), 24, '0'), ${accountId}, 'inference', 'k', sha256(n::text::bytea), 'p', 'l'
          FROM generate_series(1, 20000) n`
      yield* sql`INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id)
          SELECT lpad(to_hex(n), 24, '0'), ${accountId}, CASE WHEN n % 1000 = 0 THEN 'rare' ELSE 'common' END, 'operator',
            'o' || n % 3, 'key', n % 100
          FROM generate_series(1, 20000) n`
      yield* sql`ANALYZE`
      const of = { accountId, kind: "inference" } as const
      const first = { limit: 100, cursor: null }
      const three = { types: ["common", "rare"], actors: ["o1", "o2"], resources: ["7", "8"] }
      const selections = [
        {},
        { least: id(10_000) },
        { least: id(5_000), end: id(5_100) },
        { end: "g" },
        three,
        ...["common", "rare", "none"].map((type) => ({ types: [type], end: "g" }))
      ]
      const statements: ReadonlyArray<Effect.Effect<unknown, SqlError.SqlError>> = [
        keysOf(sql, of, { ...first, starts }),
        keyTotalsOfPage(sql, of, first),
        // Different limits make each a separate statement.
        ...selections.map((selection, n) => auditEvents(sql, { ...audited, ...selection, limit: 20 + n }))
      ]
      for (const statement of statements) {
        const [text] = (statement as Statement.Statement<unknown>).compile()
        // A single connection caches the plan.
        const plans = yield* sql.withTransaction(
          Effect.andThen(
            Effect.repeat(statement, { times: 9 }),
            sql`SELECT custom_plans::int AS anew, generic_plans::int AS kept FROM pg_prepared_statements
                WHERE statement = ${text}`
          )
        )
        assert.deepStrictEqual(plans, [{ anew: 5, kept: 5 }], text)
      }
    }).pipe(Effect.provide(database))
  )
})
