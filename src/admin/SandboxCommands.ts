/** The command that ends a sandbox, so that its database can serve real providers. */
import { Effect, Schedule } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { OPERATOR } from "../billing/Customers.ts"
import { hasTraces, Sandbox } from "../billing/Sandbox.ts"
import { formatUsd, usdFromNano } from "../domain/Money.ts"
import { isServed, storeErrors } from "../platform/database/Sql.ts"
import { confirmLoss, yesToLossFlag } from "./Confirm.ts"
import { database } from "./Database.ts"
import { print, CommandRefused } from "./Output.ts"

/** Whether a gateway serves the database. PostgreSQL lists the connections of one that has just stopped for a moment. */
const stillServed = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  storeErrors(isServed(sql)).pipe(
    Effect.repeat({ schedule: Schedule.spaced("100 millis"), times: 10, until: (served) => !served })
  )
)

const clear = Command.make(
  "clear",
  { yes: yesToLossFlag },
  Effect.fn("sandbox clear")(function* ({ yes }) {
    if (yield* stillServed) {
      const message = "A gateway serves this database. Stop every gateway, then run this command again."
      return yield* new CommandRefused({ message })
    }
    yield* confirmLoss("Void all simulated money and revoke the demo keys for good", yes)
    const { accounts, keys, left, requests, simulated } = yield* (yield* Sandbox).clear(OPERATOR)
    yield* print({
      json: {
        accounts,
        simulated_usd: usdFromNano(simulated),
        requests_cancelled: requests,
        keys_revoked: keys,
        left_usd: usdFromNano(left.simulated)
      },
      text: [
        `Simulated money voided: ${formatUsd(simulated)} in ${accounts} account(s). Demo keys revoked: ${keys}.`,
        `Running requests paid with it cancelled: ${requests}. Real money and everything else are unchanged.`
      ].join("\n")
    })
    if (!hasTraces(left)) return
    const message = `A running sandbox has created more simulated money (${formatUsd(left.simulated)}). Stop it and run this command again`
    return yield* new CommandRefused({ message })
  })
).pipe(
  Command.withDescription("Void all simulated money and revoke the demo keys; stop the service first"),
  Command.withExamples([
    { command: "npm run admin -- sandbox clear" },
    { command: "npm run admin -- sandbox clear --yes" }
  ]),
  Command.provide(database)
)

export const sandbox = Command.make("sandbox").pipe(
  Command.withDescription("End a sandbox before real providers are served"),
  Command.withSubcommands([clear])
)
