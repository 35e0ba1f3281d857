/** Writes many request rows at once, as many requests leave them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Rollups } from "../../src/usage/Rollups.ts"

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** The arrival of the first mixed and of the first usual request. */
export const MIXED_FROM_MS = 1_700_000_000_000
export const USUAL_FROM_MS = 1_710_000_000_000

/** The id of an account's `n`th request, which arrived at this millisecond. All arguments are SQL expressions. */
const idOf = (accountId: string, ms: string, n: string) => {
  const time = Array.from({ length: 10 }, (_, at) => `substr('${digits}', (${ms} >> ${45 - 5 * at} & 31)::int + 1, 1)`)
  return `'req_' || ${time.join(" || ")} || upper(right(${accountId}, 8)) || lpad(${n}::text, 8, '0')`
}

interface Owner {
  readonly accountId: string
  readonly keyId: string
}

/** The columns of a row, as SQL expressions of its number `n`. */
interface Kinds {
  readonly status: string
  readonly model: string
  readonly resolved: string
  readonly operation?: string
  readonly provider?: string
  readonly project?: string
  readonly key?: string
}

/** The key and the project of some mixed requests. */
export const OTHER_KEY = "a".repeat(24)
export const SOME_PROJECT = "b".repeat(24)

const write = (
  sql: SqlClient.SqlClient,
  { accountId, keyId }: Owner,
  count: number,
  fromMs: number,
  kinds: Kinds,
  everyMs: number = 1_000
) =>
  sql`INSERT INTO request (id, account_id, key_id, operation, model, state, status, created_at, expires_at, closed_at, held, opened,
      closed, resolved_model, provider, project_id)
    SELECT ${sql.literal(idOf(`'${accountId}'`, "ms", "n"))}, ${accountId},
      COALESCE(${sql.literal(kinds.key ?? "NULL")}, ${keyId}), ${sql.literal(kinds.operation ?? "'chat.completions'")},
      ${sql.literal(kinds.model)},
      CASE status WHEN 'open' THEN 'open' WHEN 'charged' THEN 'settled' WHEN 'succeeded' THEN 'settled' ELSE 'released' END,
      CASE status WHEN 'charged' THEN 'succeeded' ELSE status END, at, at + interval '15 minutes',
      CASE WHEN status <> 'open' THEN at END, 0, '{"queueMs": 0}', CASE WHEN status NOT IN ('open', 'charged') THEN '{}'::jsonb END,
      ${sql.literal(kinds.resolved)}, ${sql.literal(kinds.provider ?? "NULL")}, ${sql.literal(kinds.project ?? "NULL")}
    FROM generate_series(1, ${count}::int) AS n
    CROSS JOIN LATERAL (SELECT ${BigInt(fromMs)}::bigint + ${BigInt(everyMs)} * n AS ms, ${sql.literal(kinds.status)} AS status) AS m
    CROSS JOIN LATERAL (SELECT to_timestamp(ms / 1000.0) AS at) AS t`

/** Writes requests of every status, with other models, operations, providers, projects and keys among them. */
export const writeMixed = (sql: SqlClient.SqlClient, owner: Owner, count: number, everyMs?: number) =>
  write(
    sql,
    owner,
    count,
    MIXED_FROM_MS,
    {
      status: `CASE WHEN n % 11 = 3 THEN 'failed' WHEN n % 13 = 5 THEN 'cancelled' WHEN n % 17 = 1 THEN 'open' WHEN n % 19 = 2
      THEN 'charged' ELSE 'succeeded' END`,
      model: "CASE WHEN n % 7 = 2 THEN 'asked' ELSE 'usual' END",
      resolved: "CASE WHEN n % 23 = 4 THEN 'served' WHEN n % 5 = 0 THEN NULL ELSE 'usual' END",
      operation: "CASE WHEN n % 3 = 1 THEN 'embeddings' ELSE 'chat.completions' END",
      provider: "CASE WHEN n % 5 = 0 THEN NULL WHEN n % 4 = 1 THEN 'one' ELSE 'two' END",
      project: `CASE WHEN n % 2 = 0 THEN '${SOME_PROJECT}' END`,
      key: `CASE WHEN n % 6 > 2 THEN '${OTHER_KEY}' END`
    },
    everyMs
  )

/** Writes requests that succeeded, after a first one that failed and had another model. */
export const writeUsual = (sql: SqlClient.SqlClient, owner: Owner, count: number) =>
  write(sql, owner, count, USUAL_FROM_MS, {
    status: "CASE WHEN n = 1 THEN 'failed' ELSE 'succeeded' END",
    model: "CASE WHEN n = 1 THEN 'rare' ELSE 'usual' END",
    resolved: "NULL"
  })

/** Rolls up every request that has ended. */
export const rollUpAll = Effect.gen(function* () {
  const [sql, rollups] = [yield* SqlClient.SqlClient, yield* Rollups]
  yield* sql`UPDATE usage_rollup_state SET safe_at = now() + interval '1 hour', seen_xid = '0'`
  let left = true
  while (left) left = (yield* rollups.step).full
  yield* rollups.step
})
