/** The command that brings the database up to date where nodes may not, and gives their role its rights. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { SqlError } from "effect/sql"
import { functions, installAll } from "../ledger/FunctionsSql.ts"
import { grantTo, roleExists } from "../platform/database/GrantsSql.ts"
import { migrateAll } from "../platform/database/Migrations.ts"
import { storeErrors } from "../platform/database/Sql.ts"
import { describeSqlError } from "../platform/database/SqlCondition.ts"
import { newBareDatabase } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print, CommandRefused } from "./Output.ts"

export const migrate = Command.make(
  "migrate",
  { role: Flags.serviceRole.pipe(Flag.optional) },
  Effect.fn("migrate")(function* ({ role }) {
    const service = Option.getOrUndefined(role)
    if (service !== undefined && !(yield* storeErrors(roleExists(service))))
      return yield* new CommandRefused({ message: `There is no role ${service}; create it with CREATE ROLE.` })
    const ran = yield* migrateAll
    yield* installAll
    if (service !== undefined) {
      yield* Effect.mapError(grantTo(service), (error) =>
        SqlError.isSqlError(error)
          ? new CommandRefused({
              message: `The role ${service} cannot be given its rights (${describeSqlError(error)})`
            })
          : error
      )
    }
    const names = ran.map(([id, name]) => `${String(id).padStart(4, "0")}_${name}`)
    yield* print({
      json: { ran: names, ledger_functions: functions.version, service_role: service ?? null },
      text: [
        names.length === 0 ? "The schema was up to date." : `Ran ${names.join(", ")}.`,
        `The ledger's functions have the version ${functions.version}.`,
        ...(service === undefined ? [] : [`The role ${service} can serve requests, and cannot change the schema.`])
      ].join("\n")
    })
  })
).pipe(
  Command.withDescription("Bring the database up to date, and give the gateway's own role its rights"),
  Command.withExamples([
    { command: "npm run admin -- migrate" },
    { command: "npm run admin -- migrate --service-role tollgate_service" }
  ]),
  Command.provide(newBareDatabase)
)
