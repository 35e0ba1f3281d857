/** Whether the money of a run is where it should be. */
import { Effect, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { NANO_PER_USD } from "../../src/domain/Money.ts"
import { connect, layerOf } from "../../src/platform/database/Sql.ts"
import { openHolds, standings } from "./BooksSql.ts"
import { admin, BALANCE_USD, type Stage } from "./Stage.ts"

/** A load that ends hangs up on what is under way, which the gateway then closes. */
const PATIENCE = "20 seconds"

const untilClosed = (sql: SqlClient.SqlClient) =>
  openHolds(sql).pipe(
    Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: (open) => open === 0n }),
    Effect.timeoutOption(PATIENCE)
  )

/** Accounts of the database whose balance did not fall by what their receipts say, or that have open holds. */
export const wrongs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* untilClosed(sql)
  const start = BigInt(BALANCE_USD) * NANO_PER_USD
  return (yield* standings(sql)).flatMap(({ email, held, open, posted, requests, settled }) => [
    ...(start - posted === settled
      ? []
      : [
          `${email}: the balance fell by ${start - posted} nano-USD, the receipts of ${requests} requests say ${settled}`
        ]),
    ...(open === 0n && held === 0n ? [] : [`${email}: ${open} holds of ${held} nano-USD in all are still open`])
  ])
})

const databaseOf = ({ databaseUrl }: Stage) =>
  layerOf(connect({ url: Redacted.make(databaseUrl), poolSize: 2, called: "The database of the bench" }))

/** One account by its email address, once it has no hold open. */
export const standingOf = (stage: Stage, email: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* untilClosed(sql)
    return (yield* standings(sql)).find((one) => one.email === email)
  }).pipe(Effect.provide(databaseOf(stage)))

/** What is wrong with the books after a run: by the product's own proof, and by balances against receipts. */
export const wrongsOf = Effect.fnUntraced(function* (stage: Stage) {
  const found = yield* wrongs.pipe(Effect.provide(databaseOf(stage)))
  const proof = yield* Effect.result(admin(stage, "ledger", "verify"))
  return proof._tag === "Success" ? found : [...found, proof.failure.message]
})
