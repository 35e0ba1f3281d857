import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"

/** All rows of all tables of a database, as one text. */
export const allRows = (url: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.make({ url: Redacted.make(url), maxConnections: 1 })
    const tables = yield* sql<{ name: string }>`SELECT quote_ident(table_name) AS name FROM information_schema.tables
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`
    let text = ""
    for (const { name } of tables) {
      const rows = yield* sql.unsafe<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)
      text += rows.map(({ row }) => row).join("\n")
    }
    return text
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
