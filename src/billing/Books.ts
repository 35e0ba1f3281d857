import type { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Verification, VerifyOptions } from "../ledger/Verify.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { verifyBooks as verifyUsed } from "../usage/Books.ts"
import { starterCreditsEqualTransfers, topUpsEqualTransfers } from "./BooksSql.ts"

/**
 * Proves the books of this database with what was used, and of the same moment that what customers paid in or were given for a
 * telephone is what they were credited.
 */
export const verifyBooks = (
  sql: SqlClient.SqlClient,
  options: Pick<VerifyOptions, "graceMs"> = {}
): Effect.Effect<Verification, Unavailable> =>
  verifyUsed(sql, {
    ...options,
    also: [
      ["top_ups_equal_transfers", "top-ups", topUpsEqualTransfers(sql)],
      ["starter_credits_equal_transfers", "starter credits", starterCreditsEqualTransfers(sql)]
    ]
  })
