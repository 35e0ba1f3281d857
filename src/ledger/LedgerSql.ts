import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Balance } from "../domain/Balance.ts"
import type { LimitSource } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import { storable } from "../platform/database/Sql.ts"
import type { Statements } from "../platform/database/Statements.ts"
import type {
  AnyResult,
  BudgetPeriod,
  ConcludeOperation,
  ConcludeResult,
  HoldOperation,
  HoldResult,
  Operation
} from "./Operation.ts"
import { functionNamed } from "./FunctionsSql.ts"
import { commitPlain } from "./PlainSql.ts"

/** JSON has no bigint, and a number would lose digits. */
const text = (amount: Nano | null | undefined) => amount?.toString()

const budgetText = ({ budgetId, periodStart }: BudgetPeriod) => `${budgetId}:${periodStart}`

const encodeHold = (op: HoldOperation): object => ({
  kind: "hold",
  account_id: op.accountId,
  request_id: op.requestId,
  key_id: op.keyId,
  project_id: op.projectId,
  operation: op.operation,
  model: op.model,
  at_least: text(op.atLeast),
  up_to: text(op.upTo),
  ttl_ms: op.ttlMs,
  budgets: op.budgets.map(budgetText),
  budgets_epoch: op.budgetsEpoch,
  opened: op.opened,
  idempotency_key: op.claim?.idempotencyKey,
  claim: op.claim?.claim,
  fingerprint: op.claim?.fingerprint,
  charge: op.charge,
  paid_by: op.simulated === true ? "either" : undefined
})

/** Encodes an operation for the database's function. Undefined members are left out. */
const encode = (op: Operation): object => {
  switch (op._tag) {
    case "Hold":
      return encodeHold(op)
    case "Extend":
      return {
        kind: "extend",
        account_id: op.accountId,
        request_id: op.requestId,
        held: text(op.held),
        more: text(op.more),
        progress: text(op.progress),
        ttl_ms: op.ttlMs,
        so_far: op.soFar && {
          resolved_model: op.soFar.resolvedModel,
          provider: op.soFar.provider,
          closed: op.soFar.closed
        }
      }
    case "Close":
      return {
        kind: "close",
        account_id: op.accountId,
        request_id: op.requestId,
        settle: op.settle !== undefined,
        cost: text(op.settle?.cost),
        only_if_expired: op.onlyIfExpired,
        status: op.status,
        keep_claim: op.keepClaim,
        resolved_model: op.resolvedModel,
        provider: op.provider,
        closed: op.closed,
        answer: op.answer ?? undefined
      }
    case "Credit":
    case "Adjust":
      return {
        kind: op._tag === "Credit" ? "credit" : "adjust",
        account_id: op.accountId,
        source: op.source,
        amount: text(op.amount),
        reference: op.reference ?? undefined
      }
    case "Refund":
      return {
        kind: "refund",
        account_id: op.accountId,
        request_id: op.requestId,
        amount: text(op.amount),
        reference: op.reference
      }
  }
}

/** The result of one operation, as the database's function returns it. `op_index` is the index of the operation in its group. */
interface Row {
  readonly op_index: number
  readonly verdict: string
  readonly detail: string | null
  readonly result: bigint | null
  readonly beside: bigint | null
  readonly money: bigint | null
  readonly promised: bigint | null
}

const limitSource = (op: Operation, scope: string | null, posted: bigint): LimitSource => {
  if (scope === "account") return "account_budget"
  if (scope !== null) return scope === "project" ? "project_budget" : "key_budget"
  return op._tag === "Hold" && posted >= op.atLeast ? "in_flight" : "balance"
}

const decode = (op: Operation, { beside, detail, money, promised, result, verdict }: Row): AnyResult => {
  switch (verdict) {
    case "granted":
      return { _tag: "Granted", granted: result ?? 0n }
    case "claimed":
      return { _tag: "Claimed", byRequestId: detail ?? "" }
    case "key_inactive":
      return { _tag: "KeyInactive" }
    case "key_changed":
      return { _tag: "KeyChanged" }
    case "refused":
      if (op._tag === "Extend") return { _tag: "Refused" }
      if (op._tag === "Adjust") return { _tag: "Refused", available: result ?? 0n }
      return {
        _tag: "Refused",
        limitSource: limitSource(op, detail, beside ?? 0n),
        available: result ?? 0n,
        posted: beside ?? 0n,
        ...(money === null || money === 0n ? {} : { play: money })
      }
    case "extended":
      return { _tag: "Extended" }
    case "closed":
      return {
        _tag: "Closed",
        settled: result ?? 0n,
        absorbed: beside ?? 0n,
        posted: money ?? 0n,
        held: promised ?? 0n
      }
    case "moved":
      return { _tag: "Moved" }
    default:
      return op._tag === "Close" ? { _tag: "Gone", settled: result ?? 0n } : { _tag: "Gone" }
  }
}

const json = (operations: ReadonlyArray<Operation>) => storable(JSON.stringify(operations.map(encode)))

/** Runs a statement that commits operations, and decodes its rows to their results, in order. */
const resultsOf = (
  sql: Statements,
  statement: string,
  parameters: ReadonlyArray<string>,
  operations: ReadonlyArray<Operation>
): Effect.Effect<Array<AnyResult>, SqlError.SqlError> =>
  Effect.map(sql.unsafe<Row>(statement, parameters), (rows) => {
    const results: Array<AnyResult> = []
    for (const row of rows) results[row.op_index] = decode(operations[row.op_index]!, row)
    return results
  })

const commit = functionNamed("ledger_commit")

const functionName = (sql: SqlClient.SqlClient, name: string) => sql.literal(functionNamed(name))

/** Commits a group with `ledger_commit`, which has all rules. `commitGroup` commits most groups at a lower cost. */
export const commitJudged = (sql: Statements, operations: ReadonlyArray<Operation>) =>
  resultsOf(sql, `SELECT * FROM ${commit}($1::jsonb)`, [json(operations)], operations)

/**
 * Commits a group of operations, atomically, and returns their results in order. No two operations of a group may share a request, an
 * idempotency claim of an account, or a reference. When another account's movement uses the same reference in the same instant, the
 * whole group fails with a unique violation and nothing changes.
 */
export const commitGroup = (
  sql: Statements,
  operations: ReadonlyArray<Operation>
): Effect.Effect<ReadonlyArray<AnyResult>, SqlError.SqlError> =>
  Effect.suspend(() =>
    Effect.flatMap(commitPlain(sql, operations), (results) =>
      results === undefined ? commitJudged(sql, operations) : Effect.succeed(results)
    )
  )

/**
 * Bounds a transaction that continues after its movement and keeps the balance's row locked. If its node hangs or disappears, the
 * callers that wait for that row, and their groups, wait no longer than this.
 */
const boundedIdleTime = "set_config('idle_in_transaction_session_timeout', '3000', true)"

/** Commits one operation in the caller's transaction, and returns its result. */
export const commitWithin = (
  sql: SqlClient.SqlClient,
  operation: Operation
): Effect.Effect<ReadonlyArray<AnyResult>, SqlError.SqlError> =>
  Effect.suspend(() =>
    resultsOf(sql, `SELECT c.* FROM ${boundedIdleTime}, ${commit}($1::jsonb) AS c`, [json([operation])], [operation])
  )

/**
 * Ends overdue holds, account by account and the oldest of each first. This is the order of their index, which is read no further than
 * the limit. Returns how many it ended.
 */
export const expireOverdue = (sql: SqlClient.SqlClient, limit: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ ended: bigint }>`SELECT count(*) AS ended FROM ${functionName(sql, "ledger_commit")}((
      SELECT jsonb_agg(${functionName(sql, "ledger_expiry")}(overdue.id, overdue.account_id)) FROM (
        SELECT id, account_id FROM request WHERE state = 'open' AND expires_at <= now()
        ORDER BY account_id, expires_at LIMIT ${limit}
      ) AS overdue
    )) WHERE verdict = 'closed'`,
    (rows) => Number(rows[0]?.ended ?? 0n)
  )

/** Takes a hold out of another one, in one statement. */
export const carveOne = (
  sql: SqlClient.SqlClient,
  fromRequestId: string,
  hold: HoldOperation
): Effect.Effect<HoldResult, SqlError.SqlError> =>
  Effect.suspend(() =>
    Effect.map(
      sql<Row>`SELECT * FROM ${functionName(sql, "ledger_carve")}(${fromRequestId}, ${storable(JSON.stringify(encode(hold)))}::jsonb)`,
      (rows) => decode(hold, rows[0]!) as HoldResult
    )
  )

/** Ends one request that was charged up front, in one statement. */
export const concludeOne = (
  sql: SqlClient.SqlClient,
  end: ConcludeOperation
): Effect.Effect<ConcludeResult, SqlError.SqlError> =>
  Effect.suspend(() => {
    const conclusion = {
      request_id: end.requestId,
      account_id: end.accountId,
      refund: text(end.refund),
      only_if_expired: false,
      status: end.status,
      keep_claim: end.keepClaim,
      resolved_model: end.resolvedModel,
      provider: end.provider,
      closed: end.closed,
      answer: end.answer ?? undefined
    }
    return Effect.map(
      sql<{ concluded: boolean; cost: bigint; money: bigint }>`
        SELECT c.* FROM ${sql.literal(boundedIdleTime)}, ${functionName(sql, "ledger_conclude")}(${storable(JSON.stringify(conclusion))}::jsonb) AS c`,
      ([row]): ConcludeResult =>
        row?.concluded === true
          ? { _tag: "Concluded", cost: row.cost, posted: row.money }
          : { _tag: "Gone", cost: row?.cost ?? 0n }
    )
  })

/** Refunds overdue charges, the oldest first, account by account so that nodes cannot deadlock. */
export const refundOverdue = (sql: SqlClient.SqlClient, limit: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ ended: bigint }>`SELECT count(*) AS ended FROM (
      SELECT id, account_id FROM (
        SELECT id, account_id FROM request WHERE state = 'settled' AND closed IS NULL AND expires_at <= now()
        ORDER BY expires_at LIMIT ${limit}
      ) AS oldest ORDER BY account_id
    ) AS overdue CROSS JOIN LATERAL ${functionName(sql, "ledger_conclude")}(${functionName(sql, "ledger_overdue_charge")}(overdue.id, overdue.account_id)) AS e
    WHERE e.concluded`,
    (rows) => Number(rows[0]?.ended ?? 0n)
  )

/** Frees idempotency keys and deletes stored answers of requests that ended longer ago than the retention. Returns how many. */
export const dropOldClaims = (sql: SqlClient.SqlClient, retentionMs: number, limit: number) =>
  Effect.map(
    sql`UPDATE request SET claim = NULL, answer = NULL WHERE id IN (
    SELECT id FROM request WHERE claim IS NOT NULL AND state <> 'open' AND closed IS NOT NULL
      AND closed_at < now() - ${BigInt(retentionMs)} * interval '1 millisecond'
    ORDER BY closed_at LIMIT ${limit} FOR UPDATE SKIP LOCKED) RETURNING id`,
    (rows) => rows.length
  )

/** Frees an account's claims of requests that expired uncharged. Returns how many. */
export const freeLapsed = (sql: SqlClient.SqlClient, accountId: string, claims: ReadonlyArray<string>) =>
  Effect.map(
    sql`UPDATE request SET claim = NULL WHERE claim = ANY (${claims as Array<string>}) AND account_id = ${accountId}
      AND expired AND settled = 0 AND state <> 'open' RETURNING id`,
    (rows) => rows.length
  )

/** Returns what an account has and how much of it is held; undefined when there is no such account. */
export const balanceOf = (
  sql: SqlClient.SqlClient,
  accountId: string
): Effect.Effect<Balance | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ posted: bigint; held: bigint; play: bigint | null; play_held: bigint | null }>`
      SELECT b.posted, b.held, p.posted AS play, p.held AS play_held
      FROM balance b LEFT JOIN play_balance p ON p.account_id = b.account_id WHERE b.account_id = ${accountId}`,
    ([row]): Balance | undefined => {
      if (row === undefined) return undefined
      const { held, play, play_held: playHeld, posted } = row
      if (play === null || playHeld === null) return { posted, held }
      return { posted: posted + play, held: held + playHeld, play: { posted: play, held: playHeld } }
    }
  )
