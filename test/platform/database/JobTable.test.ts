import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { JOB_TABLE } from "../../../src/platform/database/JobTableSql.ts"
import { layer as database } from "../../support/Database.ts"
import { describeSchema } from "./Schema.ts"

describe("the job table", () => {
  it.live("leaves Effect's job store no migrations to run", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const steps = sql<{ id: number }>`SELECT migration_id AS id FROM job_migrations ORDER BY migration_id`
      const [before, schema] = [yield* steps, yield* describeSchema]
      assert.isNotEmpty(before)
      yield* Effect.scoped(PersistedQueue.makeStoreSql({ tableName: JOB_TABLE }))
      assert.deepStrictEqual(yield* steps, before)
      assert.strictEqual(yield* describeSchema, schema)
    }).pipe(Effect.provide(database))
  )

  it.live("allows more than 2,147,483,647 jobs", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`SELECT setval('job_sequence_seq', 2147483646)`
      const store = yield* PersistedQueue.makeStoreSql({ tableName: JOB_TABLE })
      for (const id of ["last", "next"]) {
        yield* store.offer({ name: "videos", id, element: id, isCustomId: true })
      }
      const rows = yield* sql<{ sequence: bigint }>`SELECT sequence FROM job ORDER BY sequence`
      assert.deepStrictEqual(
        rows.map(({ sequence }) => sequence),
        [2_147_483_647n, 2_147_483_648n]
      )
    }).pipe(Effect.scoped, Effect.provide(database))
  )
})
