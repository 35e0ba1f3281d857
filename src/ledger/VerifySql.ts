import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"

/**
 * The rows that a verification reads, as tables for a `FROM`: all of them, or those that a checkpoint does not cover
 * (`CheckpointSql.ts`).
 */
export interface Scope {
  /** Transfers as a table `transfer`. */
  readonly transfers: Statement.Fragment
  /** Requests as a table `request`. */
  readonly requests: Statement.Fragment
  /** All settles and charges of those requests, as a table `transfer`. */
  readonly costs: Statement.Fragment
  /** All refunds of those requests, as a table `transfer`. */
  readonly refunds: Statement.Fragment
  /** Those of the requests that did not settle, as a table `unpaid`: `id`, `state` and whether they `moved` money. */
  readonly unpaid: Statement.Fragment
  /** The sums of accounts and budgets before those transfers: `account_id`, `what` and `amount`, as in `ledger_checkpoint_sum`. */
  readonly sums: Statement.Fragment
  /** The checkpoint after which the rows were chosen; undefined for all rows. */
  readonly since: CheckpointBounds | undefined
}

/** The part of a checkpoint that bounds what is read after it. */
export interface CheckpointBounds {
  readonly through: bigint
  readonly requestsFrom: string
  readonly provedAt: Date
}

/** Reads everything. */
export const wholeScope = (sql: SqlClient.SqlClient): Scope => ({
  transfers: sql.literal("transfer"),
  requests: sql.literal("request"),
  costs: sql.literal("transfer"),
  refunds: sql.literal("transfer"),
  // A join: no index has the requests of all kinds of transfers, and a subquery would read all of them for each request.
  unpaid: sql.literal(`(
    SELECT r.id, r.state, r.settled <> 0 OR r.refunded <> 0 OR t.request_id IS NOT NULL AS moved FROM request r
    LEFT JOIN (SELECT DISTINCT request_id FROM transfer) AS t ON t.request_id = r.id WHERE r.state <> 'settled') AS unpaid`),
  sums: sql.literal(
    "(SELECT NULL::text AS account_id, NULL::text AS what, NULL::bigint AS amount WHERE false) AS sums"
  ),
  since: undefined
})

/** The result of a check. */
export interface Finding {
  readonly checked: bigint
  readonly failed: bigint
  /** One of the failures, in words. */
  readonly example: string | null
}

/** All checks run in one transaction that sees one snapshot, and may take longer than a request's statement. */
export const begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
/** The time limit of a verification's statement, in milliseconds. */
export const ALLOWED_MS = 600_000
export const allowTime = (sql: SqlClient.SqlClient) =>
  sql`SET LOCAL statement_timeout = ${sql.literal(String(ALLOWED_MS))}`

/**
 * Runs statements with plans that scan a whole table. The service avoids them, and a verification of everything needs them. The
 * session forgets its plans before and after, because it would go on using those that it made with the other setting.
 */
export const withScans = <A, E, R>(sql: SqlClient.SqlClient, statements: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    yield* sql`SET LOCAL enable_seqscan = on`
    yield* sql`DISCARD PLANS`
    const result = yield* statements
    yield* sql`DISCARD PLANS`
    return result
  })

/** Each side of a transfer is an account with a balance or one of the operator's, and all transfers together sum to zero. */
export const transfersSumToZero = (sql: SqlClient.SqlClient, { transfers }: Scope) => sql<Finding>`
  WITH side AS (
    SELECT debit AS account_id, -sum(amount) AS moved, count(*) AS transfers FROM ${transfers} GROUP BY debit
    UNION ALL SELECT credit, sum(amount), 0 FROM ${transfers} GROUP BY credit
  ), known AS (
    SELECT sum(s.moved) FILTER (WHERE b.account_id IS NOT NULL OR left(s.account_id, 6) = 'house:') AS total, sum(s.transfers)::int8 AS transfers
    FROM side s LEFT JOIN balance b ON b.account_id = s.account_id
  )
  SELECT COALESCE(transfers, 0) AS checked, CASE WHEN COALESCE(total, 0) <> 0 THEN 1 ELSE 0 END::int8 AS failed,
    format('all accounts together have %s', total) AS example FROM known`

/** An account's money of each kind. Simulated money moves from and to `house:play` alone, and nothing else does. */
export const balancesEqualTransfers = (sql: SqlClient.SqlClient, { sums, transfers }: Scope) => sql<Finding>`
  WITH moved AS (
    SELECT account_id, play, sum(amount) AS amount FROM (
      SELECT credit AS account_id, debit = 'house:play' AS play, amount FROM ${transfers} WHERE left(credit, 6) <> 'house:'
      UNION ALL SELECT debit, credit = 'house:play', -amount FROM ${transfers} WHERE left(debit, 6) <> 'house:'
      UNION ALL SELECT account_id, what = 'play', amount FROM ${sums} WHERE what IN ('money', 'play')
    ) AS t GROUP BY account_id, play
  ), has AS (
    SELECT account_id, false AS play, posted FROM balance UNION ALL SELECT account_id, true, posted FROM play_balance
  ), compared AS (
    SELECT COALESCE(b.account_id, m.account_id) AS account_id, COALESCE(b.play, m.play) AS play, b.posted,
      COALESCE(m.amount, 0) AS amount
    FROM has b FULL JOIN moved m ON m.account_id = b.account_id AND m.play = b.play
  )
  SELECT count(DISTINCT account_id) AS checked, count(*) FILTER (WHERE posted IS DISTINCT FROM amount) AS failed,
    min(format('account %s has %s%s, its transfers come to %s', account_id, COALESCE(posted::text, 'no balance'),
      CASE WHEN play THEN ' of simulated money' END, amount)) FILTER (WHERE posted IS DISTINCT FROM amount) AS example FROM compared`

export const heldEqualsOpenHolds = (sql: SqlClient.SqlClient) => sql<Finding>`
  WITH open AS (
    SELECT account_id, play IS TRUE AS play, sum(held) AS held FROM request WHERE state = 'open' GROUP BY 1, 2
  ), has AS (
    SELECT account_id, false AS play, held FROM balance UNION ALL SELECT account_id, true, held FROM play_balance
  ), compared AS (
    SELECT COALESCE(b.account_id, o.account_id) AS account_id, COALESCE(b.play, o.play) AS play, b.held,
      COALESCE(o.held, 0) AS open
    FROM has b FULL JOIN open o ON o.account_id = b.account_id AND o.play = b.play
  )
  SELECT count(DISTINCT account_id) AS checked, count(*) FILTER (WHERE held IS DISTINCT FROM open) AS failed,
    min(format('account %s has %s%s held, its open holds come to %s', account_id, COALESCE(held::text, 'nothing'),
      CASE WHEN play THEN ' of simulated money' END, open)) FILTER (WHERE held IS DISTINCT FROM open) AS example FROM compared`

export const budgetsEqualRequests = (sql: SqlClient.SqlClient, scope: Scope) => sql<Finding>`
  WITH used AS (${scope.since === undefined ? usedByRequests(sql) : usedByTransfers(sql, scope)}), compared AS (
    SELECT COALESCE(p.budget_id || ':' || p.period_start, u.budget) AS budget, COALESCE(p.spent, 0) AS spent,
      COALESCE(p.held, 0) AS held, COALESCE(u.spent, 0) AS used_spent, COALESCE(u.held, 0) AS used_held
    FROM budget_period p FULL JOIN used u ON u.budget = p.budget_id || ':' || p.period_start
  )
  SELECT count(*) AS checked, count(*) FILTER (WHERE spent <> used_spent OR held <> used_held) AS failed,
    min(format('budget %s has %s spent and %s held, its requests come to %s and %s', budget, spent, held, used_spent, used_held))
      FILTER (WHERE spent <> used_spent OR held <> used_held) AS example FROM compared`

const usedByRequests = (sql: SqlClient.SqlClient) =>
  sql.literal(`
    SELECT u.budget, sum(r.settled - r.refunded) AS spent, sum(CASE WHEN r.state = 'open' THEN r.held ELSE 0 END) AS held
    FROM request r CROSS JOIN LATERAL unnest(r.budgets) AS u(budget) GROUP BY u.budget`)

/** Reads no old requests, because what a budget has spent changes only with a transfer of one of its requests. */
const usedByTransfers = (sql: SqlClient.SqlClient, { sums, transfers }: Scope) => sql`
    SELECT budget, sum(spent) AS spent, sum(held) AS held FROM (
      SELECT substr(what, 8) AS budget, amount AS spent, 0::bigint AS held FROM ${sums} WHERE what LIKE 'budget %'
      UNION ALL SELECT u.budget, CASE t.kind WHEN 'refund' THEN -t.amount ELSE t.amount END, 0
        FROM (SELECT * FROM ${transfers}) AS t
        CROSS JOIN LATERAL (SELECT budgets FROM request WHERE request.id = t.request_id OFFSET 0) AS r
        CROSS JOIN LATERAL unnest(r.budgets) AS u(budget) WHERE t.kind IN ('settle', 'charge', 'refund')
      UNION ALL SELECT u.budget, 0, r.held FROM request r CROSS JOIN LATERAL unnest(r.budgets) AS u(budget)
        WHERE r.state = 'open'
    ) AS part GROUP BY budget`

export const noOverdueHolds = (sql: SqlClient.SqlClient, graceMs: number) => sql<Finding>`
  SELECT count(*) AS checked, count(*) FILTER (WHERE overdue) AS failed,
    min(format('request %s expired at %s', id, expires_at)) FILTER (WHERE overdue) AS example
  FROM (
    SELECT id, expires_at, expires_at < now() - ${BigInt(graceMs)} * interval '1 millisecond' AS overdue
    FROM request WHERE state = 'open'
  ) AS open`

/** Each up-front charge is concluded in time, or refunded. */
export const chargesAreConcluded = (sql: SqlClient.SqlClient, graceMs: number) => sql<Finding>`
  SELECT count(*) AS checked, count(*) FILTER (WHERE overdue) AS failed,
    min(format('request %s, charged %s up front, expired at %s', id, settled, expires_at)) FILTER (WHERE overdue) AS example
  FROM (
    SELECT id, settled, expires_at, expires_at < now() - ${BigInt(graceMs)} * interval '1 millisecond' AS overdue
    FROM request WHERE state = 'settled' AND closed IS NULL
  ) AS charged`

export const nothingNegative = (sql: SqlClient.SqlClient, { requests, transfers }: Scope) => sql<Finding>`
  WITH amounts AS (
    SELECT 'the balance of account ' || account_id AS name, LEAST(posted, held, posted - held) AS least FROM balance
    UNION ALL SELECT 'the simulated money of account ' || account_id, LEAST(posted, held, posted - held) FROM play_balance
    UNION ALL SELECT 'budget ' || budget_id || ':' || period_start, LEAST(spent, held) FROM budget_period
    UNION ALL SELECT 'request ' || id, LEAST(held, progress, settled, absorbed, refunded) FROM ${requests}
    UNION ALL SELECT 'transfer ' || id, amount - 1 FROM ${transfers}
  )
  SELECT count(*) AS checked, count(*) FILTER (WHERE least < 0) AS failed, min(name) FILTER (WHERE least < 0) AS example
  FROM amounts`

export const settledWithinHeld = (sql: SqlClient.SqlClient, { requests }: Scope) => sql<Finding>`
  SELECT count(*) AS checked, count(*) FILTER (WHERE beyond) AS failed,
    min(format('request %s held %s and settled %s', id, held, settled)) FILTER (WHERE beyond) AS example
  FROM (SELECT id, held, settled, settled > held OR progress > held AS beyond FROM ${requests}) AS r`

/**
 * Each paid request has exactly one settle or charge, of its amount, from its account to the operator's account of the kind of money that
 * paid. No settle or charge is without its request.
 */
export const costsHaveOneTransfer = (sql: SqlClient.SqlClient, { costs, requests }: Scope) => sql<Finding>`
  WITH paid AS (
    SELECT request_id, count(*) AS transfers, sum(amount) AS amount, min(debit) AS debit, min(credit) AS credit
    FROM ${costs} WHERE kind IN ('settle', 'charge') GROUP BY request_id
  ), compared AS (
    SELECT COALESCE(r.id, p.request_id) AS id, r.settled, p.amount, p.transfers IS NOT DISTINCT FROM 1 AND r.settled = p.amount
      AND p.debit = r.account_id AND p.credit = CASE WHEN r.play THEN 'house:play' ELSE 'house:revenue' END AS right
    FROM (SELECT id, account_id, settled, play FROM ${requests} WHERE settled <> 0) AS r FULL JOIN paid p ON p.request_id = r.id
  )
  SELECT count(*) AS checked, count(*) FILTER (WHERE "right" IS NOT TRUE) AS failed,
    min(format('request %s settled %s, its transfers come to %s', id, COALESCE(settled, 0), COALESCE(amount, 0)))
      FILTER (WHERE "right" IS NOT TRUE) AS example FROM compared`

export const releasedMovedNothing = (sql: SqlClient.SqlClient, { unpaid }: Scope) => sql<Finding>`
  SELECT count(*) AS checked, count(*) FILTER (WHERE moved) AS failed,
    min(format('request %s is %s and moved money', id, state)) FILTER (WHERE moved) AS example FROM ${unpaid}`

export const refundsEqualTransfers = (sql: SqlClient.SqlClient, { refunds, requests }: Scope) => sql<Finding>`
  WITH paid_back AS (
    SELECT request_id, sum(amount) AS amount, min(debit) AS house, max(debit) AS last_house, min(credit) AS least,
      max(credit) AS most FROM ${refunds} WHERE kind = 'refund' GROUP BY request_id
  ), compared AS (
    SELECT COALESCE(r.id, p.request_id) AS id, r.refunded, r.settled, p.amount, r.refunded = p.amount AND r.refunded <= r.settled
      AND p.house = p.last_house AND p.house = CASE WHEN r.play THEN 'house:play' ELSE 'house:revenue' END AND p.least = r.account_id AND p.most = r.account_id AS right
    FROM (SELECT id, account_id, settled, refunded, play FROM ${requests} WHERE refunded <> 0) AS r
    FULL JOIN paid_back p ON p.request_id = r.id
  )
  SELECT count(*) AS checked, count(*) FILTER (WHERE "right" IS NOT TRUE) AS failed,
    min(format('request %s settled %s and refunded %s, its transfers come to %s', id, COALESCE(settled, 0),
      COALESCE(refunded, 0), COALESCE(amount, 0))) FILTER (WHERE "right" IS NOT TRUE) AS example FROM compared`

/** A request that simulated money paid for and that names a provider was served by a double, as its receipt says. */
export const playMoneyPaidDoubles = (sql: SqlClient.SqlClient, { requests }: Scope) => sql<Finding>`
  SELECT count(*) AS checked, count(*) FILTER (WHERE wrong) AS failed,
    min(format('request %s was paid with %s of simulated money and served by %s', id, settled, provider)) FILTER (WHERE wrong) AS example
  FROM (
    SELECT id, settled, provider, provider IS NOT NULL AND closed -> 'simulated' IS DISTINCT FROM 'true' AS wrong
    FROM ${requests} WHERE play AND settled <> 0
  ) AS paid`

/** The statement trigger before update (16), delete (8) and truncate (32) exists and is switched on. */
export const transfersAreAppendOnly = (sql: SqlClient.SqlClient) => sql<Finding>`
  SELECT 1::int8 AS checked, CASE WHEN count(*) = 0 THEN 1 ELSE 0 END::int8 AS failed,
    'its trigger is missing or switched off' AS example
  FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
  WHERE t.tgrelid = 'transfer'::regclass AND p.proname = 'transfer_is_append_only' AND t.tgenabled IN ('O', 'A')
    AND t.tgtype & 58 = 58`
