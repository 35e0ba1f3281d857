import type { SqlClient } from "effect/sql"
import type { Finding, Scope, CheckpointBounds } from "../ledger/VerifySql.ts"

/**
 * Compares each paid top-up, by the reference of its checkout, with the one transfer that credited it. The transfer moves the top-up's
 * amount, or the one that an operator settled, from outside to its account. Only transfers of paid top-ups have such a reference.
 */
export const topUpsEqualTransfers = (sql: SqlClient.SqlClient, scope: Scope) => sql<Finding>`
  WITH named AS (${scope.since === undefined ? sql.literal("SELECT NULL::text AS reference WHERE false") : recent(sql, scope, scope.since)}), compared AS (
    SELECT COALESCE(u.id, t.reference) AS id, u.amount, t.amount AS moved,
      t.debit = CASE u.processor WHEN 'simulated' THEN 'house:play' ELSE 'house:funding' END AND t.credit = u.account_id AND t.amount = u.amount AS right
    FROM (SELECT *, COALESCE(credited_cents, amount_cents) * 10000000::int8 AS amount FROM top_up WHERE status = 'paid'
      AND ${scope.since === undefined ? sql.literal("true") : sql.literal("processor || ':' || session_id IN (SELECT reference FROM named)")}) AS u
    FULL JOIN (SELECT * FROM transfer WHERE kind = 'credit' AND reference ~ '^(stripe|simulated):'
      AND ${scope.since === undefined ? sql.literal("true") : sql.literal("reference IN (SELECT reference FROM named)")}) AS t
      ON t.reference = u.processor || ':' || u.session_id
  )
  SELECT count(*) AS checked, count(*) FILTER (WHERE "right" IS NOT TRUE) AS failed,
    min(format('top-up %s was paid with %s, its transfer is of %s', id, COALESCE(amount, 0), COALESCE(moved, 0)))
      FILTER (WHERE "right" IS NOT TRUE) AS example FROM compared`

/** The transaction that credits a top-up also sets it paid, and no transaction runs for a day. */
const recent = (sql: SqlClient.SqlClient, { transfers }: Scope, { provedAt }: CheckpointBounds) => sql`
    SELECT reference FROM ${transfers} WHERE kind = 'credit' AND reference ~ '^(stripe|simulated):'
    UNION SELECT processor || ':' || session_id FROM top_up
      WHERE status = 'paid' AND paid_at > ${provedAt}::timestamptz - interval '1 day'`

/**
 * Compares each starter credit, by the reference with its account, with the one transfer that gave it. The transfer moves its amount
 * from the operator's grants to that account. No other transfer comes from there. For a code that a sandbox only printed, the credit is
 * simulated money.
 */
export const starterCreditsEqualTransfers = (sql: SqlClient.SqlClient, { since, transfers }: Scope) => sql<Finding>`
  WITH given AS (
    SELECT * FROM ${transfers} WHERE debit = 'house:grants' OR reference LIKE 'starter credit %'
  ), compared AS (
    SELECT COALESCE(p.account_id, t.credit) AS id, p.credited AS amount, t.amount AS moved,
      t.kind = 'credit' AND t.debit IN ('house:grants', 'house:play') AND t.credit = p.account_id AND t.amount = p.credited AS right
    FROM (SELECT account_id, credited FROM verified_phone WHERE credited > 0 AND ${
      since === undefined
        ? sql.literal("true")
        : sql`(verified_at > ${since.provedAt} OR account_id IN (SELECT credit FROM given))`
    }) AS p
    FULL JOIN given AS t ON t.reference = 'starter credit ' || p.account_id
  )
  SELECT count(*) AS checked, count(*) FILTER (WHERE "right" IS NOT TRUE) AS failed,
    min(format('account %s has a starter credit of %s, its transfer is of %s', id, COALESCE(amount, 0), COALESCE(moved, 0)))
      FILTER (WHERE "right" IS NOT TRUE) AS example FROM compared`
