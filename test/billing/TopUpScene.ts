/** The rooms that top-ups need, as often as there are nodes on a database, and accounts that pay in. */
import { Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { verifyBooks } from "../../src/billing/Books.ts"
import { Payments } from "../../src/billing/Payments.ts"
import type { Processor } from "../../src/billing/Processor.ts"
import { TopUps } from "../../src/billing/TopUps.ts"
import { topUpById } from "../../src/billing/TopUpsSql.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { PublicUrl } from "../../src/platform/outbound/PublicUrl.ts"
import { layerUrl } from "../support/Database.ts"

export const actor = { type: "owner", id: "test" } as const

/** A node on this database, whose customers pay by this processor. */
export const node = (url: string, processor: Processor | undefined, ledger: typeof Ledger.layer = Ledger.layer) =>
  TopUps.layer.pipe(
    Layer.provide(Payments.layerFrom(processor)),
    Layer.provideMerge(Layer.mergeAll(ledger, Accounts.layer)),
    Layer.provideMerge(Audit.layer),
    Layer.provide(PublicUrl.layer),
    Layer.provide(Config.layerFrom({ PUBLIC_URL: "https://gateway.example" })),
    Layer.provideMerge(layerUrl(url, 6)),
    Layer.provideMerge(Logger.layer([]))
  )

let accounts = 0

/** A new account, and what it pays in and has. */
export const payer = Effect.gen(function* () {
  const [topUps, audit, ledger, sql] = [yield* TopUps, yield* Audit, yield* Ledger, yield* SqlClient.SqlClient]
  const { id: accountId } = yield* (yield* Accounts).create(`payer-${process.pid}-${accounts++}@example.com`, actor)
  const create = (amountCents = 2_500) =>
    Effect.map(
      sql.withTransaction(topUps.create({ id: newResourceId(), accountId, amountCents, actor })),
      ({ id }) => id
    )
  return {
    accountId,
    create,
    /** An open top-up with its checkout. */
    opened: (amountCents?: number) =>
      Effect.flatMap(create(amountCents), (id) => topUps.checkout(accountId, id)).pipe(
        Effect.map(({ id, session_id: sessionId }) => ({ id, sessionId: sessionId! }))
      ),
    row: (id: string) => Effect.map(topUpById(sql, accountId, id), (row) => row!),
    posted: Effect.map(ledger.balance(accountId), (balance) => balance!.posted),
    /** What its audit log says of its top-ups, the newest first. */
    audited: Effect.map(audit.list(accountId, 100), (lines) =>
      lines.filter(({ resource_type: type }) => type === "top_up").map(({ type }) => type)
    )
  }
})

/** What is wrong with the books: nothing. */
export const faults = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(verifyBooks(sql), ({ checks }) => checks.filter(({ ok }) => !ok))
)
