import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Indexes for pages, newest first. No other index has their collation, as with `api_key_of_kind`. So no plan can walk through all rows
 * in the order of a primary key instead.
 */
export const pages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP INDEX preset_account`
  yield* sql`CREATE INDEX preset_account ON preset (account_id, id COLLATE "C" DESC)`
  yield* sql`DROP INDEX webhook_endpoint_account`
  yield* sql`CREATE INDEX webhook_endpoint_account ON webhook_endpoint (account_id, id COLLATE "C" DESC)
    WHERE status <> 'removed'`
  yield* sql`DROP INDEX webhook_delivery_endpoint`
  yield* sql`CREATE INDEX webhook_delivery_endpoint ON webhook_delivery (endpoint_id, id COLLATE "C" DESC)`
})
