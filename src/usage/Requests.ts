import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import {
  claimById,
  type ClaimedRequest,
  type ClaimRow,
  dropReplays,
  insertReplay,
  type Replay,
  requestById,
  requestReplayedBy,
  type RequestRow,
  requestsWithClaims,
  requestWithClaim
} from "./RequestsSql.ts"

/** How long the answer of a replay may wait for its note. A healthy database takes a few milliseconds. */
const NOTE_PATIENCE = "500 millis"

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
    ) => Effect.Effect<ReadonlyArray<ClaimedRequest>, Unavailable>
    readonly claimOf: (id: string) => Effect.Effect<ClaimRow | undefined, Unavailable>
    /** Returns the request that a replay was answered from, if the caller's account has both. */
    readonly findReplayed: (accountId: string, id: string) => Effect.Effect<RequestRow | undefined, Unavailable>
    /** Notes which request a replay was answered from. A failure or delay of the database is logged and does not hinder the answer. */
    readonly noteReplay: (replay: Replay) => Effect.Effect<void>
    /** Deletes some notes of replays older than this. Returns how many it deleted. */
    readonly dropReplays: (olderThanMs: number) => Effect.Effect<number, Unavailable>
  }
>()("tollgate/usage/Requests") {
  static readonly layer = Layer.effect(
    Requests,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Requests.of({
        find: (accountId, id) => storeErrors(requestById(sql, accountId, id)),
        claimedBy: (accountId, claim) => storeErrors(requestWithClaim(sql, accountId, claim)),
        claims: (accountId, claims) => storeErrors(requestsWithClaims(sql, accountId, claims)),
        claimOf: (id) => storeErrors(claimById(sql, id)),
        findReplayed: (accountId, id) => storeErrors(requestReplayedBy(sql, accountId, id)),
        noteReplay: (replay) =>
          storeErrors(insertReplay(sql, replay)).pipe(
            Effect.timeout(NOTE_PATIENCE),
            Effect.catchCause((cause) =>
              Effect.annotateLogs(Effect.logWarning("the receipt of a replay could not be noted", cause), {
                request_id: replay.id
              })
            ),
            Effect.asVoid
          ),
        dropReplays: (olderThanMs) => storeErrors(dropReplays(sql, olderThanMs))
      })
    )
  )
}
