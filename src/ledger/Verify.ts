import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { StatementTimeout } from "../platform/database/StatementTimeout.ts"
import {
  ALLOWED_MS,
  allowTime,
  balancesEqualTransfers,
  begin,
  budgetsEqualRequests,
  chargesAreConcluded,
  costsHaveOneTransfer,
  wholeScope,
  type Finding,
  heldEqualsOpenHolds,
  noOverdueHolds,
  nothingNegative,
  playMoneyPaidDoubles,
  refundsEqualTransfers,
  releasedMovedNothing,
  type Scope,
  settledWithinHeld,
  transfersAreAppendOnly,
  transfersSumToZero,
  withScans
} from "./VerifySql.ts"

/** How long after its expiry a hold or a charge may be open, because sweeps run at intervals. */
const GRACE_MS = 60_000

/** A rule of the books, and whether they keep it. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  /** How many rows were checked; if the rule is broken, how many break it, and an example. */
  readonly detail: string
}

export interface Verification {
  readonly ok: boolean
  readonly checks: ReadonlyArray<Check>
}

/** A rule: its name, the noun for what is counted, and the query that looks for breaches in these rows. */
export type BookRule = readonly [
  name: string,
  noun: string,
  query: (scope: Scope) => Effect.Effect<ReadonlyArray<Finding>, SqlError.SqlError>,
  /** `whole`: it can only be checked by reading everything, so a verification from a checkpoint leaves it out. */
  when?: "whole"
]

export interface VerifyOptions {
  /** How long holds and charges may be past their expiry; a minute by default. */
  readonly graceMs?: number | undefined
  /** Rules of other rooms. */
  readonly also?: ReadonlyArray<BookRule>
  /** The rows to read; everything by default. */
  readonly scope?: Scope | undefined
}

const describe = (noun: string, { checked, example, failed }: Finding): string =>
  failed === 0n ? `${checked} ${noun}` : `${failed} of ${checked} ${noun}; for one, ${example}`

/**
 * Proves the books of this database. It reads all rows, or those of `scope`, in one snapshot, so it may run beside running services.
 * Amounts in its details are nano-USD.
 */
export const verify = (
  sql: SqlClient.SqlClient,
  { also = [], graceMs = GRACE_MS, scope = wholeScope(sql) }: VerifyOptions = {}
): Effect.Effect<Verification, Unavailable> => {
  const rules: ReadonlyArray<BookRule> = [
    ["transfers_sum_to_zero", "transfers", (rows) => transfersSumToZero(sql, rows)],
    ["balances_equal_transfers", "accounts", (rows) => balancesEqualTransfers(sql, rows)],
    ["held_equals_open_holds", "accounts", () => heldEqualsOpenHolds(sql)],
    ["budgets_equal_requests", "budget periods", (rows) => budgetsEqualRequests(sql, rows)],
    ["no_overdue_holds", "open holds", () => noOverdueHolds(sql, graceMs)],
    ["charges_are_concluded", "charges under way", () => chargesAreConcluded(sql, graceMs)],
    ["nothing_negative", "rows", (rows) => nothingNegative(sql, rows)],
    ["settled_within_held", "requests", (rows) => settledWithinHeld(sql, rows)],
    ["costs_have_one_transfer", "paid requests", (rows) => costsHaveOneTransfer(sql, rows)],
    ["released_moved_nothing", "unpaid requests", (rows) => releasedMovedNothing(sql, rows)],
    ["refunds_equal_transfers", "refunded requests", (rows) => refundsEqualTransfers(sql, rows)],
    ["play_money_paid_doubles", "requests paid with simulated money", (rows) => playMoneyPaidDoubles(sql, rows)],
    ["transfers_are_append_only", "table", () => transfersAreAppendOnly(sql)],
    ...also
  ]
  return Effect.gen(function* () {
    yield* allowTime(sql)
    const isWhole = scope.since === undefined
    const read = rules.filter(([, , , when]) => when === undefined || isWhole)
    const checking = Effect.forEach(read, ([name, noun, query]) =>
      Effect.map(query(scope), ([finding]): Check => {
        const found = finding ?? { checked: 0n, failed: 1n, example: "nothing could be read" }
        return { name, ok: found.failed === 0n, detail: describe(noun, found) }
      })
    )
    const checks = yield* isWhole ? withScans(sql, checking) : checking
    return { ok: checks.every((check) => check.ok), checks }
  }).pipe(
    sql.withTransaction,
    Effect.provideService(SqlClient.BeginTransaction, begin),
    Effect.provideService(StatementTimeout, ALLOWED_MS + 10_000),
    storeErrors
  )
}
