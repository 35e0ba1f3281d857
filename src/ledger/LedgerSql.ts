import { PgTypes } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { LimitSource } from "../domain/Failure.ts"
import type { AnyResult, Operation } from "./Operation.ts"

/**
 * The ledger's one statement. Everything a group of operations does to money happens in it, in this order:
 *
 * 1. Locks, each set ordered by id so that nodes cannot deadlock, and each waiting for the one before: keys (shared: a
 *    revocation either came first and is seen, or waits), balances, budget periods, request rows. Reads behind these locks see
 *    the newest row versions, which a plain read under the statement's snapshot would not.
 * 2. A gate per account: enough available for all its holds and extensions after what its closes give back, and room in every
 *    budget they touch. A closed gate lets no hold or extension of that account through; closes and credits always pass.
 * 3. The writes, each conditional on its gate, so that a refusal leaves nothing behind.
 *
 * Holds whose idempotency claim is taken, or whose own row stands already (a repeat after a lost acknowledgement), and holds of
 * inactive keys are left out before anything is summed.
 */
const statement = `
WITH
h AS MATERIALIZED (
  SELECT * FROM unnest($1::int4[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int8[],
    $9::int8[], $10::int8[], $11::text[], $12::text[], $13::text[], $14::text[], $15::bool[])
  AS t(ord, id, account_id, key_id, project_id, operation, model, at_least, up_to, ttl_ms, opened, idempotency_key, claim,
    fingerprint, charge)
),
x AS MATERIALIZED (
  SELECT * FROM unnest($16::int4[], $17::text[], $18::text[], $19::int8[], $20::int8[], $21::int8[])
  AS t(ord, id, account_id, more, progress, ttl_ms)
),
c AS MATERIALIZED (
  SELECT * FROM unnest($22::int4[], $23::text[], $24::text[], $25::bool[], $26::int8[], $27::bool[], $28::text[], $29::bool[],
    $30::text[], $31::text[], $32::text[], $33::text[])
  AS t(ord, id, account_id, settle, cost, only_if_expired, status, keep_claim, resolved_model, provider, closed, answer)
),
m AS MATERIALIZED (
  SELECT * FROM unnest($34::int4[], $35::text[], $36::text[], $37::int8[], $38::text[], $39::text[])
  AS t(ord, kind, account_id, amount, request_id, reference)
),
b AS MATERIALIZED (
  SELECT * FROM unnest($40::int4[], $41::text[], $42::date[]) AS t(ord, budget_id, period_start)
),
key_lock AS MATERIALIZED (
  SELECT k.id, k.account_id, k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AS active
  FROM api_key k WHERE k.id IN (SELECT key_id FROM h) ORDER BY k.id FOR SHARE
),
balance_lock AS MATERIALIZED (
  SELECT l.account_id, l.posted, l.held FROM balance l
  WHERE (SELECT count(*) FROM key_lock) >= 0 AND l.account_id IN (
    SELECT account_id FROM h UNION SELECT account_id FROM x UNION SELECT account_id FROM c UNION SELECT account_id FROM m)
  ORDER BY l.account_id FOR UPDATE
),
budget_lock AS MATERIALIZED (
  SELECT p.budget_id, p.period_start, p.spent, p.held, g.limit_nano, g.scope
  FROM budget_period p JOIN budget g ON g.id = p.budget_id
  WHERE (SELECT count(*) FROM balance_lock) >= 0 AND (p.budget_id, p.period_start) IN (SELECT budget_id, period_start FROM b)
  ORDER BY p.budget_id, p.period_start FOR UPDATE OF p
),
closing AS MATERIALIZED (
  SELECT c.*, r.held,
    CASE WHEN c.settle THEN LEAST(COALESCE(c.cost, r.progress), r.held) ELSE 0 END AS settled,
    CASE WHEN c.settle THEN GREATEST(COALESCE(c.cost, r.progress) - r.held, 0) ELSE 0 END AS absorbed
  FROM c JOIN request r ON r.id = c.id
  WHERE (SELECT count(*) FROM budget_lock) >= 0 AND r.state = 'open' AND r.account_id = c.account_id
    AND (NOT c.only_if_expired OR r.expires_at <= now())
  ORDER BY r.id FOR UPDATE OF r
),
extending AS MATERIALIZED (
  SELECT x.* FROM x JOIN request r ON r.id = x.id
  WHERE (SELECT count(*) FROM closing) >= 0 AND r.state = 'open' AND r.account_id = x.account_id
  ORDER BY r.id FOR UPDATE OF r
),
refunding AS MATERIALIZED (
  SELECT m.* FROM m JOIN request r ON r.id = m.request_id
  WHERE (SELECT count(*) FROM extending) >= 0 AND m.kind = 'refund' AND r.state = 'settled'
    AND r.account_id = m.account_id AND r.refunded + m.amount <= r.settled
  ORDER BY r.id FOR UPDATE OF r
),
moving AS MATERIALIZED (
  SELECT ord, kind, account_id, amount, request_id, reference FROM refunding
  UNION ALL
  SELECT m.ord, m.kind, m.account_id, m.amount, m.request_id, m.reference
  FROM m JOIN balance_lock l ON l.account_id = m.account_id
  WHERE m.kind <> 'refund'
    AND NOT EXISTS (SELECT 1 FROM transfer t WHERE t.kind = 'credit' AND t.reference = m.reference)
),
prior AS MATERIALIZED (
  SELECT h.ord, r.id, r.held, false AS own FROM h JOIN request r ON r.account_id = h.account_id AND r.claim = h.claim
  WHERE r.id <> h.id
  UNION ALL
  SELECT h.ord, r.id, r.held, true AS own FROM h JOIN request r ON r.id = h.id
),
fresh AS MATERIALIZED (
  SELECT h.* FROM h JOIN key_lock k ON k.id = h.key_id AND k.account_id = h.account_id AND k.active
  WHERE NOT EXISTS (SELECT 1 FROM prior p WHERE p.ord = h.ord)
),
flow AS MATERIALIZED (
  SELECT account_id, sum(need)::int8 AS need, sum(unheld)::int8 AS unheld, sum(spent)::int8 AS spent, sum(added)::int8 AS added
  FROM (
    SELECT account_id, at_least AS need, 0::int8 AS unheld, 0::int8 AS spent, 0::int8 AS added FROM fresh
    UNION ALL SELECT account_id, more, 0, 0, 0 FROM extending
    UNION ALL SELECT account_id, 0, held, settled, 0 FROM closing
    UNION ALL SELECT account_id, 0, 0, 0, amount FROM moving
  ) AS u GROUP BY account_id
),
budget_flow AS MATERIALIZED (
  SELECT b.budget_id, b.period_start, sum(u.need)::int8 AS need, sum(u.unheld)::int8 AS unheld, sum(u.spent)::int8 AS spent
  FROM (
    SELECT ord, at_least AS need, 0::int8 AS unheld, 0::int8 AS spent FROM fresh
    UNION ALL SELECT ord, more, 0, 0 FROM extending
    UNION ALL SELECT ord, 0, held, settled FROM closing
  ) AS u JOIN b ON b.ord = u.ord GROUP BY b.budget_id, b.period_start
),
budget_gate AS MATERIALIZED (
  SELECT f.budget_id, f.period_start, l.scope, f.need,
    l.limit_nano - l.spent - l.held + f.unheld - f.spent AS room
  FROM budget_flow f JOIN budget_lock l ON l.budget_id = f.budget_id AND l.period_start = f.period_start
),
budget_stop AS MATERIALIZED (
  SELECT DISTINCT u.account_id, g.scope
  FROM (SELECT ord, account_id, at_least AS need FROM fresh UNION ALL SELECT ord, account_id, more FROM extending) AS u
  JOIN b ON b.ord = u.ord
  LEFT JOIN budget_gate g ON g.budget_id = b.budget_id AND g.period_start = b.period_start
  WHERE u.need > 0 AND (g.room IS NULL OR g.room < g.need)
),
gate AS MATERIALIZED (
  SELECT l.account_id, l.posted, f.need, l.posted - l.held + f.unheld - f.spent + f.added AS available,
    l.posted - l.held + f.unheld - f.spent + f.added >= f.need
      AND NOT EXISTS (SELECT 1 FROM budget_stop s WHERE s.account_id = l.account_id) AS open
  FROM balance_lock l JOIN flow f ON f.account_id = l.account_id
),
budget_slack AS MATERIALIZED (
  SELECT ord, min(GREATEST(room - need - before, 0))::int8 AS slack FROM (
    SELECT f.ord, g.room, g.need,
      sum(f.up_to - f.at_least) OVER (PARTITION BY b.budget_id, b.period_start ORDER BY f.ord) - (f.up_to - f.at_least) AS before
    FROM fresh f JOIN b ON b.ord = f.ord
    JOIN budget_gate g ON g.budget_id = b.budget_id AND g.period_start = b.period_start
  ) AS s GROUP BY ord
),
granted AS MATERIALIZED (
  SELECT f.*, f.at_least + LEAST(f.up_to - f.at_least, GREATEST(g.available - g.need - f.before, 0), s.slack)::int8 AS amount
  FROM (
    SELECT fresh.*,
      sum(up_to - at_least) OVER (PARTITION BY account_id ORDER BY ord) - (up_to - at_least) AS before
    FROM fresh
  ) AS f
  JOIN gate g ON g.account_id = f.account_id AND g.open
  LEFT JOIN budget_slack s ON s.ord = f.ord
),
extended AS MATERIALIZED (
  SELECT e.* FROM extending e JOIN gate g ON g.account_id = e.account_id WHERE g.open OR e.more = 0
),
delta AS MATERIALIZED (
  SELECT account_id, sum(posted)::int8 AS posted, sum(held)::int8 AS held FROM (
    SELECT account_id, CASE WHEN charge THEN -amount ELSE 0 END AS posted, CASE WHEN charge THEN 0 ELSE amount END AS held
    FROM granted
    UNION ALL SELECT account_id, 0, more FROM extended
    UNION ALL SELECT account_id, -settled, -held FROM closing
    UNION ALL SELECT account_id, amount, 0 FROM moving
  ) AS u GROUP BY account_id
),
balance_after AS (
  UPDATE balance l SET posted = l.posted + d.posted, held = l.held + d.held FROM delta d WHERE l.account_id = d.account_id
  RETURNING l.account_id, l.posted, l.held
),
request_in AS (
  INSERT INTO request (id, account_id, key_id, project_id, operation, model, state, status, expires_at, closed_at, held, settled,
    budgets, opened, idempotency_key, claim, fingerprint)
  SELECT g.id, g.account_id, g.key_id, g.project_id, g.operation, g.model,
    CASE WHEN g.charge THEN 'settled' ELSE 'open' END, CASE WHEN g.charge THEN 'succeeded' ELSE 'open' END,
    now() + g.ttl_ms * interval '1 millisecond', CASE WHEN g.charge THEN now() END,
    g.amount, CASE WHEN g.charge THEN g.amount ELSE 0 END,
    COALESCE(k.budgets, '{}'), g.opened::jsonb, g.idempotency_key, g.claim, g.fingerprint
  FROM granted g
  LEFT JOIN (SELECT ord, array_agg(budget_id || ':' || period_start ORDER BY budget_id) AS budgets FROM b GROUP BY ord) AS k
    ON k.ord = g.ord
),
request_close AS (
  UPDATE request r SET state = CASE WHEN k.settle THEN 'settled' ELSE 'released' END, status = k.status, closed_at = now(),
    settled = k.settled, absorbed = k.absorbed, expired = k.only_if_expired, resolved_model = k.resolved_model,
    provider = k.provider, closed = k.closed::jsonb,
    answer = jsonb_set(k.answer::jsonb, '{posted}', to_jsonb(a.posted::text)),
    claim = CASE WHEN k.keep_claim THEN r.claim END
  FROM closing k JOIN balance_after a ON a.account_id = k.account_id WHERE r.id = k.id
),
request_extend AS (
  UPDATE request r SET held = r.held + e.more, progress = LEAST(GREATEST(r.progress, e.progress), r.held + e.more),
    expires_at = now() + e.ttl_ms * interval '1 millisecond'
  FROM extended e WHERE r.id = e.id
),
request_refund AS (
  UPDATE request r SET refunded = r.refunded + m.amount FROM refunding m WHERE r.id = m.request_id
),
request_late AS (
  UPDATE request r SET absorbed = c.cost FROM c
  WHERE r.id = c.id AND r.expired AND r.absorbed = 0 AND c.settle AND c.cost > 0
    AND NOT EXISTS (SELECT 1 FROM closing k WHERE k.ord = c.ord)
),
budget_after AS (
  UPDATE budget_period p SET spent = p.spent + d.spent, held = p.held + d.held FROM (
    SELECT b.budget_id, b.period_start, sum(u.spent)::int8 AS spent, sum(u.held)::int8 AS held FROM (
      SELECT ord, CASE WHEN charge THEN amount ELSE 0 END AS spent, CASE WHEN charge THEN 0 ELSE amount END AS held FROM granted
      UNION ALL SELECT ord, 0, more FROM extended
      UNION ALL SELECT ord, settled, -held FROM closing
    ) AS u JOIN b ON b.ord = u.ord GROUP BY b.budget_id, b.period_start
  ) AS d WHERE p.budget_id = d.budget_id AND p.period_start = d.period_start
),
transfer_in AS (
  INSERT INTO transfer (debit, credit, amount, kind, request_id, reference)
  SELECT account_id, 'house:revenue', settled, 'settle', id, NULL FROM closing WHERE settled > 0
  UNION ALL
  SELECT account_id, 'house:revenue', amount, 'charge', id, NULL FROM granted WHERE charge AND amount > 0
  UNION ALL
  SELECT 'house:revenue', account_id, amount, 'refund', request_id, reference FROM moving WHERE kind = 'refund'
  UNION ALL
  SELECT 'house:' || kind, account_id, amount, 'credit', NULL, reference FROM moving WHERE kind <> 'refund'
)
SELECT v.ord, v.verdict, v.detail, v.amount, v.extra, a.posted, a.held FROM (
  SELECT ord, account_id, 'granted' AS verdict, NULL AS detail, amount, 0::int8 AS extra FROM granted
  UNION ALL
  SELECT p.ord, NULL, CASE WHEN p.own THEN 'granted' ELSE 'claimed' END, p.id, p.held, 0 FROM prior p
  UNION ALL
  SELECT h.ord, NULL, 'key_inactive', NULL, 0, 0 FROM h
  WHERE NOT EXISTS (SELECT 1 FROM fresh f WHERE f.ord = h.ord) AND NOT EXISTS (SELECT 1 FROM prior p WHERE p.ord = h.ord)
  UNION ALL
  SELECT f.ord, NULL, 'refused',
    (SELECT min(s.scope) FROM budget_stop s WHERE s.account_id = f.account_id AND g.available >= g.need),
    COALESCE(g.available, 0), COALESCE(g.posted, 0)
  FROM fresh f LEFT JOIN gate g ON g.account_id = f.account_id WHERE g.open IS NOT TRUE
  UNION ALL
  SELECT x.ord, NULL, CASE WHEN y.ord IS NOT NULL THEN 'extended' WHEN e.ord IS NOT NULL THEN 'refused' ELSE 'gone' END, NULL, 0, 0
  FROM x LEFT JOIN extending e ON e.ord = x.ord LEFT JOIN extended y ON y.ord = x.ord
  UNION ALL
  SELECT c.ord, k.account_id, CASE WHEN k.ord IS NULL THEN 'gone' ELSE 'closed' END, NULL,
    COALESCE(k.settled, r.settled), k.absorbed
  FROM c LEFT JOIN closing k ON k.ord = c.ord LEFT JOIN request r ON r.id = c.id AND k.ord IS NULL
  UNION ALL
  SELECT m.ord, NULL, CASE WHEN v.ord IS NULL THEN 'gone' ELSE 'moved' END, NULL, 0, 0
  FROM m LEFT JOIN moving v ON v.ord = m.ord
) AS v LEFT JOIN balance_after a ON a.account_id = v.account_id`

const { OID } = PgTypes

/** Collects one typed array per column; typed even when empty, so that one prepared statement serves every group. */
class Columns {
  readonly #columns: ReadonlyArray<{ readonly oid: number; readonly values: Array<unknown> }>
  constructor(oids: ReadonlyArray<number>) {
    this.#columns = oids.map((oid) => ({ oid, values: [] }))
  }
  push(...row: ReadonlyArray<unknown>) {
    row.forEach((value, index) => this.#columns[index]!.values.push(value))
  }
  parameters(): ReadonlyArray<PgTypes.Parameter> {
    return this.#columns.map(({ oid, values }) => Result.getOrThrow(PgTypes.array(values, oid)))
  }
}

const encode = (operations: ReadonlyArray<Operation>): ReadonlyArray<unknown> => {
  const { bool, date, int4, int8, text } = OID
  const holds = new Columns([
    ...[int4, text, text, text, text, text, text, int8, int8, int8, text, text, text, text, bool]
  ])
  const extensions = new Columns([int4, text, text, int8, int8, int8])
  const closes = new Columns([int4, text, text, bool, int8, bool, text, bool, text, text, text, text])
  const moves = new Columns([int4, text, text, int8, text, text])
  const budgets = new Columns([int4, text, date])
  operations.forEach((op, ord) => {
    if ("budgets" in op) for (const { budgetId, periodStart } of op.budgets) budgets.push(ord, budgetId, periodStart)
    switch (op._tag) {
      case "Hold": {
        const claim = op.claim
        return holds.push(
          ...[ord, op.requestId, op.accountId, op.keyId, op.projectId, op.operation, op.model, op.atLeast, op.upTo],
          ...[BigInt(op.ttlMs), JSON.stringify(op.opened)],
          ...[claim?.idempotencyKey ?? null, claim?.claim ?? null, claim?.fingerprint ?? null, op.charge]
        )
      }
      case "Extend":
        return extensions.push(ord, op.requestId, op.accountId, op.more, op.progress, BigInt(op.ttlMs))
      case "Close":
        return closes.push(
          ...[ord, op.requestId, op.accountId, op.settle !== undefined, op.settle?.cost ?? null, op.onlyIfExpired],
          ...[op.status, op.keepClaim, op.resolvedModel, op.provider, JSON.stringify(op.closed)],
          op.answer === null ? null : JSON.stringify(op.answer)
        )
      case "Credit":
        return moves.push(ord, op.source, op.accountId, op.amount, null, op.reference)
      case "Refund":
        return moves.push(ord, "refund", op.accountId, op.amount, op.requestId, op.reference)
    }
  })
  return [holds, extensions, closes, moves, budgets].flatMap((columns) => columns.parameters())
}

type Row = readonly [
  ord: number,
  verdict: string,
  detail: string | null,
  amount: bigint | null,
  extra: bigint | null,
  posted: bigint | null,
  held: bigint | null
]

const refusalOf = (op: Operation, scope: string | null, posted: bigint): LimitSource => {
  if (scope !== null) return scope === "project" ? "project_budget" : "key_budget"
  return op._tag === "Hold" && posted >= op.atLeast ? "in_flight" : "balance"
}

const decodeRow = (op: Operation, [, verdict, detail, amount, extra, posted, held]: Row): AnyResult => {
  switch (verdict) {
    case "granted":
      return { _tag: "Granted", granted: amount ?? 0n }
    case "claimed":
      return { _tag: "Claimed", byRequestId: detail ?? "" }
    case "key_inactive":
      return { _tag: "KeyInactive" }
    case "refused":
      return op._tag === "Extend"
        ? { _tag: "Refused" }
        : {
            _tag: "Refused",
            limitSource: refusalOf(op, detail, extra ?? 0n),
            available: amount ?? 0n,
            posted: extra ?? 0n
          }
    case "extended":
      return { _tag: "Extended" }
    case "closed":
      return { _tag: "Closed", settled: amount ?? 0n, absorbed: extra ?? 0n, posted: posted ?? 0n, held: held ?? 0n }
    case "moved":
      return { _tag: "Moved" }
    default:
      return { _tag: "Gone", settled: amount ?? 0n }
  }
}

/**
 * Carries out a group of operations in one statement, atomically, and answers each in its place. Within a group no request may
 * stand twice. Fails as a whole (nothing has happened) on a claim lost to another node in the same instant.
 */
export const commitGroup = (
  sql: SqlClient.SqlClient,
  operations: ReadonlyArray<Operation>
): Effect.Effect<ReadonlyArray<AnyResult>, SqlError.SqlError> =>
  Effect.map(sql.unsafe(statement, encode(operations)).values, (rows) => {
    const results: Array<AnyResult> = Array.from({ length: operations.length }, () => ({ _tag: "Gone", settled: 0n }))
    for (const row of rows as unknown as ReadonlyArray<Row>) results[row[0]] = decodeRow(operations[row[0]]!, row)
    return results
  })

/** An open request past its expiry, by the database's clock. */
export interface Overdue {
  readonly id: string
  readonly account_id: string
  readonly budgets: ReadonlyArray<string>
}

/** Overdue requests, oldest first; of these accounts only, when given. */
export const overdueRequests = (
  sql: SqlClient.SqlClient,
  limit: number,
  accountIds?: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Overdue>, SqlError.SqlError> =>
  accountIds === undefined
    ? sql<Overdue>`SELECT id, account_id, budgets FROM request WHERE state = 'open' AND expires_at <= now()
        ORDER BY expires_at LIMIT ${limit}`
    : sql<Overdue>`SELECT id, account_id, budgets FROM request
        WHERE state = 'open' AND expires_at <= now() AND account_id = ANY(${accountIds}::text[])
        ORDER BY expires_at LIMIT ${limit}`

/** Makes the rows that budgets are counted in; a group locks them and does not create them. */
export const ensureBudgetPeriods = (
  sql: SqlClient.SqlClient,
  periods: ReadonlyArray<{ readonly budgetId: string; readonly periodStart: string }>
) =>
  sql`INSERT INTO budget_period (budget_id, period_start)
    SELECT * FROM unnest(${periods.map((p) => p.budgetId)}::text[], ${periods.map((p) => p.periodStart)}::date[])
    ON CONFLICT DO NOTHING`

/** Frees idempotency keys and forgets stored answers of requests that ended longer ago than the retention. */
export const dropOldClaims = (sql: SqlClient.SqlClient, retentionMs: number, limit: number) =>
  sql`UPDATE request SET claim = NULL, answer = NULL WHERE id IN (
    SELECT id FROM request WHERE claim IS NOT NULL AND closed_at < now() - ${BigInt(retentionMs)} * interval '1 millisecond'
    ORDER BY closed_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`

/** What an account has and what of it is held; undefined when there is no such account. */
export const balanceOf = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.map(
    sql<{ posted: bigint; held: bigint }>`SELECT posted, held FROM balance WHERE account_id = ${accountId}`,
    (rows) => rows[0]
  )
