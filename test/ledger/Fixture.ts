import { Effect, Layer, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { Nano } from "../../src/domain/Money.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { commitGroup, concludeOne } from "../../src/ledger/LedgerSql.ts"
import type {
  AdjustOperation,
  BudgetPeriod,
  CloseOperation,
  ConcludeOperation,
  CreditOperation,
  ExtendOperation,
  HoldOperation,
  Operation,
  OperationResult,
  RefundOperation
} from "../../src/ledger/Operation.ts"
import { newRequestId, newResourceId } from "../../src/platform/Ids.ts"
import { connect } from "../../src/platform/database/Sql.ts"
import { verifyUsageBooks } from "../../src/usage/UsageBooks.ts"
import * as Database from "../support/Database.ts"

export interface Customer {
  readonly accountId: string
  readonly keyId: string
}

export const addKey = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.gen(function* () {
    const keyId = newResourceId()
    yield* sql`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4)
      VALUES (${keyId}, ${accountId}, 'inference', 'test', sha256(${keyId}::bytea), 'svc_sk_', 'test')`
    return keyId
  })

/** A new account with a key and so much money. */
export const customer = (sql: SqlClient.SqlClient, money: Nano) =>
  Effect.gen(function* () {
    const accountId = newResourceId()
    yield* sql`INSERT INTO account (id, email) VALUES (${accountId}, ${`${accountId}@example.org`})`
    yield* sql`INSERT INTO balance (account_id) VALUES (${accountId})`
    const keyId = yield* addKey(sql, accountId)
    if (money > 0n) yield* commitGroup(sql, [credit({ accountId, keyId }, money)])
    return { accountId, keyId } satisfies Customer
  })

export const addBudget = (
  sql: SqlClient.SqlClient,
  { accountId }: Customer,
  scope: "key" | "project",
  limit: Nano,
  period: "daily" | "lifetime" = "daily"
) =>
  Effect.gen(function* () {
    const id = newResourceId()
    yield* sql`INSERT INTO budget (id, account_id, scope, limit_nano, period)
      VALUES (${id}, ${accountId}, ${scope}, ${limit}, ${period})`
    return id
  })

export const onDay = (budgetId: string, periodStart = "2026-01-02"): BudgetPeriod => ({ budgetId, periodStart })

export const hold = (
  { accountId, keyId }: Customer,
  amount: Nano,
  more: Partial<HoldOperation> = {}
): HoldOperation => ({
  _tag: "Hold",
  requestId: newRequestId(),
  accountId,
  keyId,
  projectId: null,
  operation: "chat.completions",
  model: "test/model",
  atLeast: amount,
  upTo: amount,
  ttlMs: 900_000,
  budgets: [],
  budgetsEpoch: 0,
  opened: { streamed: false },
  claim: undefined,
  charge: false,
  ...more
})

export const claim = (key: string) => ({ idempotencyKey: key, claim: `POST /x ${key}`, fingerprint: "f" })

export const extend = (
  { accountId, requestId }: HoldOperation,
  held: Nano,
  more: Nano,
  progress: Nano = 0n
): ExtendOperation => ({ _tag: "Extend", requestId, accountId, held, more, progress, ttlMs: 900_000 })

/** What a receipt says of a request that was served: where it was planned for doubles alone, one of them did. */
const closedBy = (simulated: boolean | undefined) => ({ finish: "stop", ...(simulated === true ? { simulated } : {}) })

/** Ends a hold with this cost; without one, releases it. */
export const close = (
  { accountId, requestId, simulated }: HoldOperation,
  cost: Nano | undefined,
  more: Partial<CloseOperation> = {}
): CloseOperation => ({
  _tag: "Close",
  requestId,
  accountId,
  settle: cost === undefined ? undefined : { cost },
  onlyIfExpired: false,
  status: cost === undefined ? "failed" : "succeeded",
  keepClaim: cost !== undefined,
  resolvedModel: "test/model",
  provider: "test",
  closed: closedBy(simulated),
  answer: null,
  ...more
})

export const credit = ({ accountId }: Customer, amount: Nano, reference: string | null = null): CreditOperation => ({
  _tag: "Credit",
  accountId,
  amount,
  source: "funding",
  reference
})

/** A correction by an operator. */
export const adjust = (
  { accountId }: Customer,
  amount: Nano,
  reference: string | null = null,
  play = false
): AdjustOperation => ({ _tag: "Adjust", accountId, amount, source: play ? "play" : "adjustments", reference })

export const refund = (
  { accountId, requestId }: HoldOperation,
  amount: Nano,
  reference: string = newResourceId()
): RefundOperation => ({ _tag: "Refund", requestId, accountId, amount, reference })

/** Ends a request that was charged up front, giving so much back. */
export const conclusion = (
  { accountId, requestId, simulated }: HoldOperation,
  back: Nano,
  more: Partial<ConcludeOperation> = {}
): ConcludeOperation => ({
  requestId,
  accountId,
  refund: back,
  status: "succeeded",
  keepClaim: true,
  resolvedModel: "test/model",
  provider: "test",
  closed: closedBy(simulated),
  answer: null,
  ...more
})

/** Concludes them one after the other; how each was answered. */
export const concludeAll = (sql: SqlClient.SqlClient, ends: ReadonlyArray<ConcludeOperation>) =>
  Effect.forEach(ends, (end) => concludeOne(sql, end))

/** Carries out one operation by itself. */
export const run = <Op extends Operation>(sql: SqlClient.SqlClient, operation: Op) =>
  Effect.map(commitGroup(sql, [operation]), ([result]) => result as OperationResult<Op>)

export const balance = (sql: SqlClient.SqlClient, { accountId }: Customer) =>
  Effect.map(
    sql<{ posted: bigint; held: bigint }>`SELECT posted, held FROM balance WHERE account_id = ${accountId}`,
    ([row]) => row!
  )

export interface RequestFacts {
  readonly state: string
  readonly held: bigint
  readonly settled: bigint
  readonly absorbed: bigint
  readonly refunded: bigint
}

export const request = (sql: SqlClient.SqlClient, id: string) =>
  Effect.map(
    sql<RequestFacts>`SELECT state, held, settled, absorbed, refunded FROM request WHERE id = ${id}`,
    (rows) => rows[0]
  )

/** Lets the database's clock be past the hold's expiry. */
export const makeOverdue = (sql: SqlClient.SqlClient, requestId: string) =>
  sql`UPDATE request SET expires_at = now() - interval '1 second' WHERE id = ${requestId}`

/** What is wrong with the books: nothing, it is to be hoped. */
export const wrongs = (sql: SqlClient.SqlClient) =>
  Effect.map(verifyUsageBooks(sql, { graceMs: 3_600_000 }), ({ checks }) => checks.filter((check) => !check.ok))

/** Rows of every table that an operation may write to. */
export const rowCounts = (sql: SqlClient.SqlClient) =>
  sql`SELECT (SELECT count(*) FROM request) AS requests, (SELECT count(*) FROM transfer) AS transfers,
    (SELECT count(*) FROM budget_period) AS periods`

/** A ledger of its own on this client, as another node has one. */
export const newLedger = (sql: SqlClient.SqlClient, layer: typeof Ledger.layer = Ledger.layer) =>
  Effect.gen(function* () {
    const scope = yield* Scope.Scope
    const context = yield* Layer.buildWithScope(
      Layer.fresh(layer).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql))),
      scope
    )
    return yield* Effect.provide(Ledger, context)
  })

/** A client of its own of the database with this URL. */
export const newClient = (url: string) =>
  connect({ url: Redacted.make(url), poolSize: 4, called: "The test database" }).pipe(Effect.provide(Reactivity.layer))

/** Two nodes: two ledgers with a client each, on one database. */
export const twoNodes = Effect.gen(function* () {
  const url = yield* Database.freshDatabase()
  const sql = yield* newClient(url)
  return { url, sql, nodes: [yield* newLedger(sql), yield* newLedger(yield* newClient(url))] as const }
})

/** Waits until so many sessions of this database wait for a lock: the meeting point of tests that hold one. */
export const lockWaiters = (sql: SqlClient.SqlClient, count: number) =>
  Effect.repeat(
    Effect.andThen(
      // A transaction would see for ever what it saw first.
      sql`SELECT pg_stat_clear_snapshot()`,
      sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`
    ),
    { until: (rows) => rows.length >= count }
  )

/** Keeps a balance row locked by another session until `unlock` is run or the scope closes. */
export const lockBalance = (client: SqlClient.SqlClient, { accountId }: Customer) =>
  Effect.gen(function* () {
    const session = yield* client.reserve
    yield* session.executeRaw("BEGIN", [])
    yield* session.executeRaw("SELECT 1 FROM balance WHERE account_id = $1 FOR UPDATE", [accountId])
    return { unlock: Effect.ignore(session.executeRaw("ROLLBACK", [])) }
  })
