import type { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type Proof, prove, type ProveOptions } from "../ledger/Checkpoint.ts"
import type { Verification, VerifyOptions } from "../ledger/Verify.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { verifyUsageBooks } from "../usage/UsageBooks.ts"
import { starterCreditsEqualTransfers, topUpsEqualTransfers } from "./BooksSql.ts"

/**
 * Proves the books of this database and the usage in it. For the same moment, also proves that customers were credited what they
 * paid in and what they were given for a phone number.
 */
export const verifyBooks = (
  sql: SqlClient.SqlClient,
  { also = [], ...options }: VerifyOptions = {}
): Effect.Effect<Verification, Unavailable> =>
  verifyUsageBooks(sql, {
    ...options,
    also: [
      ["top_ups_equal_transfers", "top-ups", (scope) => topUpsEqualTransfers(sql, scope)],
      ["starter_credits_equal_transfers", "starter credits", (scope) => starterCreditsEqualTransfers(sql, scope)],
      ...also
    ]
  })

/** Proves the books from the checkpoint of the last proof, or in full, and moves the checkpoint when everything is in order. */
export const proveBooks = (sql: SqlClient.SqlClient, options: ProveOptions): Effect.Effect<Proof, Unavailable> =>
  prove(sql, (what) => verifyBooks(sql, what), options)
