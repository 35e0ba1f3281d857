/** A large account: keys, projects, and years of audit lines. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Settings for bulk inserts: without triggers and foreign keys, and without a flush for each commit. */
export const setBulkSettings = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    yield* sql`SET statement_timeout = 0`
    yield* sql`SET synchronous_commit = off`
    yield* sql`SET session_replication_role = replica`
    yield* sql`SET maintenance_work_mem = '512MB'`
  })

const idOf = (sql: SqlClient.SqlClient, startMs: number, everyMs: number) =>
  sql.literal(`lpad(to_hex(${startMs} + n::bigint * ${everyMs}), 12, '0') || lpad(to_hex(n), 12, '0')`)

interface Batch {
  readonly from: number
  readonly to: number
  readonly startMs: number
  readonly everyMs: number
}

/** Revoked keys, because an account may have only five active ones. */
export const writeKeys = (sql: SqlClient.SqlClient, accountId: string, { from, to, startMs, everyMs }: Batch) =>
  sql`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4, created_at, revoked_at)
    SELECT ${idOf(sql, startMs, everyMs)}, ${accountId}, 'inference', 'key ' || n, sha256(('bench ' || n)::bytea), 'svc_sk_ab',
      'wxyz', now(), now()
    FROM generate_series(${from}::int, ${to - 1}::int) AS n`

export const writeProjects = (sql: SqlClient.SqlClient, accountId: string, { from, to, startMs, everyMs }: Batch) =>
  sql`INSERT INTO project (id, account_id, name, slug)
    SELECT ${idOf(sql, startMs, everyMs)}, ${accountId}, 'project ' || n, 'project-' || n
    FROM generate_series(${from}::int, ${to - 1}::int) AS n`

/** Rollups of the last 30 days: the first five keys with every model at every provider on every day. */
export const writeUsage = (sql: SqlClient.SqlClient, accountId: string) =>
  sql`WITH used AS (SELECT id FROM api_key WHERE account_id = ${accountId} AND kind = 'inference' ORDER BY id LIMIT 5)
    INSERT INTO usage_rollup (account_id, width, start, key_id, model, provider, operation, requests, prompt, cached,
      cache_write, completion, reasoning, cost, newest_at, status, latency_us, timed, oldest_id, newest_id, most_cost, most_latency_us)
    SELECT ${accountId}, 'day', day, used.id, 'vendor/model-' || model, 'provider-' || provider, 'chat.completions', 500, 250000,
      16000, 0, 135000, 5000, 1750000, day, 'succeeded', 400000000, 500, '', '', 3500, 800000
    FROM generate_series(date_trunc('day', now(), 'UTC') - interval '29 days', now(), interval '1 day') AS day, used,
      generate_series(1, 20) AS model, generate_series(1, 3) AS provider`

/** Values that the audit filters select: common ones, rare ones, and common ones that never occur together. */
export const auditValues = {
  commonType: "preset.updated",
  otherType: "preset.activated",
  rareType: "webhook.removed",
  /** Occurs only with the common type on the preset. */
  one: "a".repeat(24),
  /** Occurs only with the other type. */
  other: "b".repeat(24),
  rareActor: "d".repeat(24),
  preset: "e".repeat(24)
} as const

const types = "ARRAY['key.created', 'key.updated', 'key.rotated', 'key.revoked', 'project.created', 'project.updated']"

/** Audit lines. Half of them are awaited, and most have one of two types, one of two actors and one preset. */
export const writeAudit = (sql: SqlClient.SqlClient, accountId: string, { from, to, startMs, everyMs }: Batch) =>
  sql`WITH made AS (
    INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id, request_id, changes, awaited)
    SELECT ${idOf(sql, startMs, everyMs)}, ${accountId},
      CASE WHEN n % 100000 = 7 THEN ${auditValues.rareType} WHEN n % 4 = 0 THEN ${auditValues.commonType}
        WHEN n % 4 = 1 THEN ${auditValues.otherType} ELSE (${sql.literal(types)})[1 + n / 4 % 6] END,
      'key', CASE WHEN n % 50000 = 11 THEN ${auditValues.rareActor} WHEN n % 4 = 0 THEN ${auditValues.one} ELSE ${auditValues.other} END,
      CASE WHEN n % 4 < 2 THEN 'preset' ELSE 'key' END,
      CASE WHEN n % 4 < 2 THEN ${auditValues.preset} ELSE lpad(to_hex(n % 1000003), 24, '0') END,
      'req_' || upper(lpad(to_hex(n), 26, '0')), '{"name": ["before", "after"]}', n % 2 = 0
    FROM generate_series(${from}::int, ${to - 1}::int) AS n RETURNING id, awaited
  )
  INSERT INTO audit_completion (event_id, outcome, changes)
    SELECT id, 'succeeded', '{"name": ["before", "after"]}' FROM made WHERE awaited`

/** Drops the indexes of the audit log, fills it and builds them again, which takes a tenth of the time. */
export const withoutIndexes = <E, R>(sql: SqlClient.SqlClient, fill: Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const indexes = yield* sql<{ name: string; definition: string }>`SELECT indexname AS name, indexdef AS definition
      FROM pg_indexes WHERE tablename = 'audit_event' AND indexname <> 'audit_event_pkey'`
    for (const { name } of indexes) yield* sql`DROP INDEX ${sql(name)}`
    yield* fill
    for (const { definition } of indexes) yield* sql`${sql.literal(definition)}`
  })

/** Vacuums now, because autovacuum could start during a measurement. */
export const vacuum = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    for (const table of ["api_key", "project", "audit_event", "audit_completion", "usage_rollup", "model_usage"])
      yield* sql`VACUUM ANALYZE ${sql(table)}`
    yield* sql`CHECKPOINT`
  })

/** The id of the middle key. */
export const middleKey = (sql: SqlClient.SqlClient, part: Batch) => {
  const n = Math.floor((part.from + part.to) / 2)
  return Effect.map(
    sql<{ id: string }>`SELECT ${idOf(sql, part.startMs, part.everyMs)} AS id FROM (SELECT ${n}::int AS n) AS m`,
    ([row]) => row!.id
  )
}
