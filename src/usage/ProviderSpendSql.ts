import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Nano } from "../domain/Money.ts"

type Sql = SqlClient.SqlClient

/** A bound on the cost of a provider in a UTC day, in nano-USD, and what the other nodes have published about the day. */
export interface SpendRow {
  /** The provider. Empty: all providers together. */
  readonly provider: string
  readonly limit_nano: Nano
  /** The cost of ended requests of other nodes, and the maximum cost of their running ones. */
  readonly settled: Nano
  readonly reserved: Nano
  /** The amount that the other nodes may still spend under this bound before they publish again. */
  readonly granted: Nano
  /** The number of other nodes that published recently. */
  readonly nodes: number
}

/** What a node publishes about a provider, in nano-USD. */
export interface OwnSpend {
  readonly provider: string
  readonly settled: Nano
  readonly reserved: Nano
  /** The amount that the node may still spend under the bound of this name before it publishes again. */
  readonly granted: Nano
}

/** When a node has published nothing for this long, its running requests and its grants no longer count. */
const GONE = "60 seconds"
/** Nodes that have published within this time share the rest of a bound. */
const PRESENT = "5 seconds"

/** Lets one node at a time read the sums and publish its own, until the transaction ends. */
export const lockSpend = (sql: Sql) => sql`SELECT pg_advisory_xact_lock(hashtextextended('provider spend', 0))`

/** Returns every bound with the sums of the other nodes. */
export const spendOfOthers = (
  sql: Sql,
  node: string,
  day: string
): Effect.Effect<ReadonlyArray<SpendRow>, SqlError.SqlError> =>
  sql<SpendRow>`SELECT l.provider, l.limit_nano, COALESCE(s.settled, 0)::bigint AS settled,
      COALESCE(s.reserved, 0)::bigint AS reserved, COALESCE(s.granted, 0)::bigint AS granted, n.nodes
    FROM provider_spend_limit l
    LEFT JOIN LATERAL (
      SELECT sum(settled) AS settled, sum(reserved) FILTER (WHERE at > now() - ${GONE}::interval) AS reserved,
        sum(granted) FILTER (WHERE at > now() - ${GONE}::interval AND p.provider = l.provider) AS granted
      FROM provider_spend p
      WHERE p.day = ${day}::date AND p.node <> ${node} AND (l.provider = '' OR p.provider = l.provider)
    ) AS s ON true
    CROSS JOIN (
      SELECT count(DISTINCT node)::int AS nodes FROM provider_spend
      WHERE day = ${day}::date AND node <> ${node} AND at > now() - ${PRESENT}::interval
    ) AS n`

/** Publishes the sums of a node in place of its former ones. */
export const publishSpend = (
  sql: Sql,
  node: string,
  day: string,
  own: ReadonlyArray<OwnSpend>
): Effect.Effect<unknown, SqlError.SqlError> => {
  const rows = own.map(({ granted, provider, reserved, settled }) => ({
    provider,
    settled: String(settled),
    reserved: String(reserved),
    granted: String(granted)
  }))
  return sql`INSERT INTO provider_spend (day, provider, node, settled, reserved, granted)
      SELECT ${day}::date, o.provider, ${node}, o.settled, o.reserved, o.granted
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS o(provider text, settled bigint, reserved bigint, granted bigint)
      ON CONFLICT (day, provider, node) DO UPDATE SET settled = EXCLUDED.settled, reserved = EXCLUDED.reserved,
        granted = EXCLUDED.granted, at = now()`
}

/** Lets the other nodes have what a node may still spend. */
export const giveBackGrants = (sql: Sql, node: string) =>
  sql`UPDATE provider_spend SET granted = 0 WHERE node = ${node}`

/** Sets the bound of a provider; null removes it. Returns the former one. */
export const setSpendLimit = (
  sql: Sql,
  provider: string,
  limit: Nano | null
): Effect.Effect<Nano | null, SqlError.SqlError> =>
  Effect.gen(function* () {
    const [former] = yield* sql<{ limit_nano: Nano }>`DELETE FROM provider_spend_limit WHERE provider = ${provider}
      RETURNING limit_nano`
    if (limit !== null) {
      yield* sql`INSERT INTO provider_spend_limit (provider, limit_nano) VALUES (${provider}, ${limit})`
    }
    return former?.limit_nano ?? null
  })

/** A bound and the day's cost so far, from the sums that nodes publish. */
export interface SpendLine {
  readonly provider: string
  readonly limit_nano: Nano
  readonly settled: Nano
  readonly reserved: Nano
}

export const spendLines = (sql: Sql, day: string): Effect.Effect<ReadonlyArray<SpendLine>, SqlError.SqlError> =>
  sql<SpendLine>`SELECT l.provider, l.limit_nano, COALESCE(sum(p.settled), 0)::bigint AS settled,
      COALESCE(sum(p.reserved) FILTER (WHERE p.at > now() - ${GONE}::interval), 0)::bigint AS reserved
    FROM provider_spend_limit l LEFT JOIN provider_spend p ON p.day = ${day}::date AND (l.provider = '' OR p.provider = l.provider)
    GROUP BY l.provider, l.limit_nano ORDER BY l.provider`

/** Deletes the sums of earlier days. */
export const dropSpendBefore = (sql: Sql, day: string) => sql`DELETE FROM provider_spend WHERE day < ${day}::date`
