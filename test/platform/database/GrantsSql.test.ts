import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { APPEND_ONLY, grantTo, READ_ONLY } from "../../../src/platform/database/GrantsSql.ts"
import { asSuperuser, freshDatabase, layerUrl } from "../../support/Database.ts"

const RIGHTS = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]

describe("the privileges of a service role", () => {
  it.live("are those for the kind of each table, whatever the role had before", () =>
    Effect.gen(function* () {
      const role = `service_${randomBytes(6).toString("hex")}`
      const url = yield* freshDatabase("grants")
      const database = new URL(url).pathname.slice(1)
      yield* Effect.acquireRelease(
        asSuperuser((sql) => sql`CREATE ROLE ${sql(role)}`),
        () =>
          Effect.ignore(
            Effect.andThen(
              asSuperuser((sql) => sql`DROP OWNED BY ${sql(role)}`, database),
              asSuperuser((sql) => sql`DROP ROLE ${sql(role)}`)
            )
          )
      )
      const held = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${sql(role)}`
        yield* grantTo(role)
        return yield* sql<{ table: string; rights: string }>`
          SELECT c.relname AS table, string_agg(p.name, ' ' ORDER BY p.place) AS rights
          FROM pg_class c CROSS JOIN unnest(${RIGHTS}::text[]) WITH ORDINALITY AS p (name, place)
          WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
            AND has_table_privilege(${role}, c.oid, p.name)
          GROUP BY 1`
      }).pipe(Effect.provide(layerUrl(url, 1)))
      const expected = (table: string) => {
        if (APPEND_ONLY.some((name) => name === table)) return "SELECT INSERT"
        return READ_ONLY.some((name) => name === table) ? "SELECT" : "SELECT INSERT UPDATE DELETE"
      }
      assert.isAbove(held.length, 40)
      assert.deepStrictEqual(
        held,
        held.map(({ table }) => ({ table, rights: expected(table) }))
      )
      assert.includeMembers(
        held.map(({ table }) => table),
        [...APPEND_ONLY, ...READ_ONLY]
      )
    }).pipe(Effect.scoped)
  )
})
