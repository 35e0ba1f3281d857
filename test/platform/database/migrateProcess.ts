// A process that migrates a database after a line on standard input, and prints the migrations that it ran.
import { NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Console, Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { migrate } from "../../../src/platform/database/Migrations.ts"
import { migrations } from "../../../src/platform/database/MigrationsSql.ts"

const program = Effect.gen(function* () {
  const sql = yield* PgClient.make({ url: Redacted.make(process.argv[2] ?? ""), maxConnections: 1, minConnections: 1 })
  yield* sql`SELECT 1`
  yield* Console.log("connected")
  yield* Effect.callback<void>((resume) => void process.stdin.once("data", () => resume(Effect.void)))
  const done = yield* Effect.provideService(migrate(migrations), SqlClient.SqlClient, sql)
  yield* Console.log(JSON.stringify(done))
  process.stdin.destroy()
}).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

NodeRuntime.runMain(program)
