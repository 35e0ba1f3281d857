import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Nano } from "../domain/Money.ts"

/** The phone number of an account. */
export interface PhoneRow {
  readonly number: Uint8Array
  readonly last2: string
  /** The credit that the account got for it. */
  readonly credited: Nano
}

export const phoneOf = (
  sql: SqlClient.SqlClient,
  accountId: string
): Effect.Effect<PhoneRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<PhoneRow>`SELECT number, last2, credited FROM verified_phone WHERE account_id = ${accountId}`,
    (rows) => rows[0]
  )

/**
 * Makes a phone number an account's, after any concurrent request with the same number. Returns the credit that the account gets for it,
 * which is zero when the number had its credit before; undefined when the account already has one.
 */
export const insertPhone = (
  sql: SqlClient.SqlClient,
  row: PhoneRow & { readonly accountId: string }
): Effect.Effect<Nano | undefined, SqlError.SqlError> =>
  Effect.gen(function* () {
    for (const credited of [row.credited, 0n]) {
      const inserted = yield* sql`INSERT INTO verified_phone (account_id, number, last2, credited)
        VALUES (${row.accountId}, ${row.number}, ${row.last2}, ${credited}) ON CONFLICT DO NOTHING RETURNING 1`
      if (inserted.length === 1) return credited
    }
    return undefined
  })
