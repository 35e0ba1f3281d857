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

/** Reads the ledger's request rows: receipts, and what stands under an idempotency key. */
export class Requests extends Context.Service<
  Requests,
  {
    /** Undefined when there is none, or it is another account's. */
    readonly find: (accountId: string, id: string) => Effect.Effect<RequestRow | undefined, Unavailable>
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
        claimedBy: (accountId, claim) => storeErrors(requestWithClaim(sql, accountId, claim)),
        claims: (accountId, claims) => storeErrors(requestsWithClaims(sql, accountId, claims)),
        claimOf: (id) => storeErrors(claimById(sql, id))
      })
    )
  )
}
