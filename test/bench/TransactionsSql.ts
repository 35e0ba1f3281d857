/** A conventional ledger on the same tables: one transaction for each operation, which first locks the balance row. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CloseOperation, HoldOperation } from "../../src/ledger/Operation.ts"

const lockBalance = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.map(
    sql<{ posted: bigint; held: bigint }>`SELECT posted, held FROM balance WHERE account_id = ${accountId} FOR UPDATE`,
    ([row]) => row ?? { posted: 0n, held: 0n }
  )

const activeKey = (sql: SqlClient.SqlClient, keyId: string, accountId: string) =>
  sql`SELECT 1 FROM api_key WHERE id = ${keyId} AND account_id = ${accountId} AND revoked_at IS NULL
    AND COALESCE(expires_at > now(), true)`

/** Opens a request; returns false when the balance is too low. */
export const holdAlone = (sql: SqlClient.SqlClient, operation: HoldOperation) =>
  Effect.gen(function* () {
    const { accountId, atLeast, keyId, model, opened, requestId, ttlMs } = operation
    const { held, posted } = yield* lockBalance(sql, accountId)
    const keys = yield* activeKey(sql, keyId, accountId)
    if (posted - held < atLeast || keys.length === 0) return false
    yield* sql`INSERT INTO request (id, account_id, key_id, operation, model, state, status, expires_at, held, opened)
      VALUES (${requestId}, ${accountId}, ${keyId}, ${operation.operation}, ${model}, 'open', 'open',
        now() + ${BigInt(ttlMs)} * interval '1 millisecond', ${atLeast}, ${JSON.stringify(opened)}::jsonb)`
    yield* sql`UPDATE balance SET held = held + ${atLeast} WHERE account_id = ${accountId}`
    return true
  }).pipe(sql.withTransaction)

/** Settles an open request at this cost; returns false when it is not open. */
export const settleAlone = (sql: SqlClient.SqlClient, operation: CloseOperation, cost: bigint) =>
  Effect.gen(function* () {
    const { accountId, closed, provider, requestId, resolvedModel } = operation
    yield* lockBalance(sql, accountId)
    const [open] = yield* sql<{ held: bigint }>`SELECT held FROM request
      WHERE id = ${requestId} AND account_id = ${accountId} AND state = 'open' FOR UPDATE`
    if (open === undefined) return false
    const settled = cost < open.held ? cost : open.held
    yield* sql`UPDATE request SET state = 'settled', status = 'succeeded', closed_at = now(), settled = ${settled},
      absorbed = ${cost - settled}, resolved_model = ${resolvedModel}, provider = ${provider},
      closed = ${JSON.stringify(closed)}::jsonb WHERE id = ${requestId}`
    yield* sql`INSERT INTO transfer (debit, credit, amount, kind, request_id)
      VALUES (${accountId}, 'house:revenue', ${settled}, 'settle', ${requestId})`
    yield* sql`UPDATE balance SET posted = posted - ${settled}, held = held - ${open.held} WHERE account_id = ${accountId}`
    return true
  }).pipe(sql.withTransaction)

/** The inference key of an account. */
export const keyOf = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.map(
    sql<{ id: string }>`SELECT id FROM api_key WHERE account_id = ${accountId} AND kind = 'inference' LIMIT 1`,
    ([row]) => row?.id ?? ""
  )
