import type { SqlClient } from "effect/sql"
import type { Finding } from "../ledger/VerifySql.ts"

/**
 * Each paid top-up against the one transfer that credited it, by the reference of its checkout: from outside, to its account, of its
 * amount. No other transfer has such a reference, and no top-up that is not paid has one.
 */
export const topUpsEqualTransfers = (sql: SqlClient.SqlClient) => sql<Finding>`
  WITH compared AS (
    SELECT COALESCE(u.id, t.reference) AS id, u.amount_cents * 10000000::int8 AS amount, t.amount AS moved,
      t.debit = CASE u.processor WHEN 'simulated' THEN 'house:play' ELSE 'house:funding' END AND t.credit = u.account_id AND t.amount = u.amount_cents * 10000000::int8 AS right
    FROM (SELECT * FROM top_up WHERE status = 'paid') AS u
    FULL JOIN (SELECT * FROM transfer WHERE kind = 'credit' AND reference ~ '^(stripe|simulated):') AS t
      ON t.reference = u.processor || ':' || u.session_id
  )
  SELECT count(*) AS checked, count(*) FILTER (WHERE "right" IS NOT TRUE) AS failed,
    min(format('top-up %s was paid with %s, its transfer is of %s', id, COALESCE(amount, 0), COALESCE(moved, 0)))
      FILTER (WHERE "right" IS NOT TRUE) AS example FROM compared`

/**
 * Each starter credit against the one transfer that gave it, by the reference with its account: from the house's grants, to that
 * account, of its amount. Nothing else is given from there. A sandbox that only printed the code gave play money.
 */
export const starterCreditsEqualTransfers = (sql: SqlClient.SqlClient) => sql<Finding>`
  WITH compared AS (
    SELECT COALESCE(p.account_id, t.credit) AS id, p.credited AS amount, t.amount AS moved,
      t.kind = 'credit' AND t.debit IN ('house:grants', 'house:play') AND t.credit = p.account_id AND t.amount = p.credited AS right
    FROM (SELECT account_id, credited FROM verified_phone WHERE credited > 0) AS p
    FULL JOIN (SELECT * FROM transfer WHERE debit = 'house:grants' OR reference LIKE 'starter credit %') AS t
      ON t.reference = 'starter credit ' || p.account_id
  )
  SELECT count(*) AS checked, count(*) FILTER (WHERE "right" IS NOT TRUE) AS failed,
    min(format('account %s has a starter credit of %s, its transfer is of %s', id, COALESCE(amount, 0), COALESCE(moved, 0)))
      FILTER (WHERE "right" IS NOT TRUE) AS example FROM compared`
