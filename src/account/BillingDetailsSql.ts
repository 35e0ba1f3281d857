import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** The company behind an account, as statements name it. */
export interface BillingDetailsRow {
  readonly company_name: string | null
  /** The lines of the address, without empty ones. */
  readonly address_lines: ReadonlyArray<string>
  readonly tax_id: string | null
}

const none: BillingDetailsRow = { company_name: null, address_lines: [], tax_id: null }

export const billingDetailsOf = (
  sql: SqlClient.SqlClient,
  accountId: string
): Effect.Effect<BillingDetailsRow, SqlError.SqlError> =>
  Effect.map(
    sql<BillingDetailsRow>`SELECT company_name, address_lines, tax_id FROM billing_details WHERE account_id = ${accountId}`,
    (rows) => rows[0] ?? none
  )

/** Locks the account's details, whether they exist or not, until the transaction ends. */
export const lockBillingDetails = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.andThen(
    sql`INSERT INTO billing_details (account_id) VALUES (${accountId}) ON CONFLICT DO NOTHING`,
    sql`SELECT 1 FROM billing_details WHERE account_id = ${accountId} FOR UPDATE`
  )

export const setBillingDetails = (sql: SqlClient.SqlClient, accountId: string, row: BillingDetailsRow) =>
  sql`UPDATE billing_details SET company_name = ${row.company_name}, address_lines = ${[...row.address_lines]}::text[],
    tax_id = ${row.tax_id} WHERE account_id = ${accountId}`
