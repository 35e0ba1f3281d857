import type { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type Verification, verify, type VerifyOptions } from "../ledger/Verify.ts"
import type { Unavailable } from "../platform/Sql.ts"
import { rollupsEqualRequests } from "./BooksSql.ts"

/** Proves the books of this database as the ledger does, and of the same moment what is summed up of them for the use of accounts. */
export const verifyBooks = (
  sql: SqlClient.SqlClient,
  { also = [], ...options }: VerifyOptions = {}
): Effect.Effect<Verification, Unavailable> =>
  verify(sql, { ...options, also: [["rollups_equal_requests", "rollups", rollupsEqualRequests(sql)], ...also] })
