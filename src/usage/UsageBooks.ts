import type { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type Verification, verify, type VerifyOptions } from "../ledger/Verify.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { marginsEqualRequests, rollupsEqualRequests } from "./UsageBooksSql.ts"

/** Verifies the books of this database as the ledger does, and at the same moment the usage rollups and margins made from them. */
export const verifyUsageBooks = (
  sql: SqlClient.SqlClient,
  { also = [], ...options }: VerifyOptions = {}
): Effect.Effect<Verification, Unavailable> =>
  verify(sql, {
    ...options,
    also: [
      ["rollups_equal_requests", "rollups", () => rollupsEqualRequests(sql), "whole"],
      ["margins_equal_requests", "margins", () => marginsEqualRequests(sql), "whole"],
      ...also
    ]
  })
