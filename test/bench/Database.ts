/** Connections to the databases of a run. */
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { connect } from "../../src/platform/database/Sql.ts"
import { createDatabase } from "./ReceiptsSql.ts"

export const connectionTo = (url: string, poolSize = 1) =>
  Layer.effect(SqlClient.SqlClient, connect({ url: Redacted.make(url), poolSize, called: "The bench's database" }))

/** The URL of another database on the same server. */
export const urlOfDatabase = (databaseUrl: string, name: string): string => {
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Creates another database on the same server and returns its URL. */
export const createSeparateDatabase = (databaseUrl: string, name: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => createDatabase(sql, name)).pipe(
    Effect.as(urlOfDatabase(databaseUrl, name)),
    Effect.provide(connectionTo(databaseUrl))
  )
