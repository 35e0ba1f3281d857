import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import {
  claimById,
  type Claimed,
  type ClaimRow,
  requestById,
  type RequestRow,
  requestsOf,
  requestsWithClaims,
  requestWithClaim
} from "./RequestsSql.ts"

export interface RequestPage {
  readonly limit: number
  /** The id after which, going back in time, the page begins. */
  readonly cursor: string | undefined
  readonly model: string | undefined
  readonly status: string | undefined
}

/** Reads the ledger's request rows: receipts, and what stands under an idempotency key. */
export class Requests extends Context.Service<
  Requests,
  {
    /** Undefined when there is none, or it is another account's. */
    readonly find: (accountId: string, id: string) => Effect.Effect<RequestRow | undefined, Unavailable>
    /** Newest first, and the cursor of the next page. */
    readonly list: (
      accountId: string,
      page: RequestPage
    ) => Effect.Effect<{ readonly rows: ReadonlyArray<RequestRow>; readonly next: string | null }, Unavailable>
    /** The request of the account that has a claim, if one has. */
    readonly claimedBy: (accountId: string, claim: string) => Effect.Effect<string | undefined, Unavailable>
    /** Those of the account that have any of these claims. */
    readonly claims: (
      accountId: string,
      claims: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<Claimed>, Unavailable>
    readonly claimOf: (id: string) => Effect.Effect<ClaimRow | undefined, Unavailable>
  }
>()("tollgate/usage/Requests") {
  static readonly layer = Layer.effect(
    Requests,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Requests.of({
        find: (accountId, id) => storeErrors(requestById(sql, accountId, id)),
        list: (accountId, { cursor, limit, model, status }) =>
          storeErrors(
            Effect.map(
              requestsOf(sql, accountId, {
                limit: limit + 1,
                cursor: cursor ?? null,
                model: model ?? null,
                status: status ?? null
              }),
              (rows) => {
                const shown = rows.slice(0, limit)
                return { rows: shown, next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null }
              }
            )
          ),
        claimedBy: (accountId, claim) => storeErrors(requestWithClaim(sql, accountId, claim)),
        claims: (accountId, claims) => storeErrors(requestsWithClaims(sql, accountId, claims)),
        claimOf: (id) => storeErrors(claimById(sql, id))
      })
    )
  )
}
