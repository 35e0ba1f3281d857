import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Failure } from "../domain/Failure.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { ReadTurns } from "./ReadTurns.ts"
import { type RequestRow, requestsOf } from "./RequestsSql.ts"

export interface ReceiptsPage {
  readonly limit: number
  /** The id after which, going back in time, the page begins. */
  readonly cursor: string | undefined
  readonly model: string | undefined
  readonly status: string | undefined
}

/** The receipts of an account, page by page. */
export class Receipts extends Context.Service<
  Receipts,
  {
    /**
     * Newest first, and the cursor of the next page. A page of some model or status may have to pass by all that the account ever
     * asked for, so it fails as `ReadTurns` does.
     */
    readonly page: (
      accountId: string,
      page: ReceiptsPage
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<RequestRow>; readonly next: string | null },
      Failure | Unavailable
    >
  }
>()("tollgate/usage/Receipts") {
  static readonly layer = Layer.effect(
    Receipts,
    Effect.gen(function* () {
      const [sql, turns] = [yield* SqlClient.SqlClient, yield* ReadTurns]
      return Receipts.of({
        page: Effect.fnUntraced(function* (accountId, { cursor = null, limit, model = null, status = null }) {
          const statement = requestsOf(sql, accountId, { limit: limit + 1, cursor, model, status })
          const chosen = model !== null || status !== null
          const found = yield* chosen ? turns.read(accountId, statement) : statement
          const rows = found.slice(0, limit)
          return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null }
        }, storeErrors)
      })
    })
  )
}
