/** Checks the ledger after a run. */
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { NANO_PER_USD } from "../../src/domain/Money.ts"
import { connectionTo } from "./Database.ts"
import { accountSummaries, openHolds } from "./LedgerCheckSql.ts"
import { admin, BALANCE_USD, type Testbed } from "./Testbed.ts"

/** Time for the gateway to close the requests that a load abandons at its end. */
const HOLDS_CLOSE_WITHIN = "20 seconds"

const untilClosed = (sql: SqlClient.SqlClient) =>
  openHolds(sql).pipe(
    Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: (open) => open === 0n }),
    Effect.timeoutOption(HOLDS_CLOSE_WITHIN)
  )

/** Lists the accounts whose balance differs from their receipts, or that have open holds. */
export const ledgerErrors = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* untilClosed(sql)
  const start = BigInt(BALANCE_USD) * NANO_PER_USD
  return (yield* accountSummaries(sql)).flatMap(({ email, held, open, posted, requests, settled }) => [
    ...(start - posted === settled
      ? []
      : [
          `${email}: the balance fell by ${start - posted} nano-USD, the receipts of ${requests} requests add up to ${settled}`
        ]),
    ...(open === 0n && held === 0n ? [] : [`${email}: ${open} holds of ${held} nano-USD in all are open`])
  ])
})

/** The summary of the account with this email address, after all holds have closed. */
export const accountSummaryOf = (testbed: Testbed, email: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* untilClosed(sql)
    return (yield* accountSummaries(sql)).find((one) => one.email === email)
  }).pipe(Effect.provide(connectionTo(testbed.databaseUrl, 2)))

/** Compares balances with receipts and runs `ledger verify`. Returns what is wrong. */
export const ledgerErrorsOf = Effect.fnUntraced(function* (testbed: Testbed) {
  const found = yield* ledgerErrors.pipe(Effect.provide(connectionTo(testbed.databaseUrl, 2)))
  const verified = yield* Effect.result(admin(testbed, "ledger", "verify"))
  return verified._tag === "Success" ? found : [...found, verified.failure.message]
})
