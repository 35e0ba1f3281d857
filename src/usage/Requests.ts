import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import {
  claimById,
  type Claimed,
  type ClaimRow,
  requestById,
  type RequestRow,
  requestsWithClaims,
  requestWithClaim
} from "./RequestsSql.ts"

/** Reads the ledger's request rows: receipts, and the requests behind idempotency keys. */
export class Requests extends Context.Service<
  Requests,
  {
    /** Returns undefined when there is no such request or it belongs to another account. */
    readonly find: (accountId: string, id: string) => Effect.Effect<RequestRow | undefined, Unavailable>
    /** Returns the account's request with this claim, if there is one. */
    readonly claimedBy: (accountId: string, claim: string) => Effect.Effect<string | undefined, Unavailable>
    /** Returns the account's requests with any of these claims. */
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
        claimedBy: (accountId, claim) => storeErrors(requestWithClaim(sql, accountId, claim)),
        claims: (accountId, claims) => storeErrors(requestsWithClaims(sql, accountId, claims)),
        claimOf: (id) => storeErrors(claimById(sql, id))
      })
    )
  )
}
