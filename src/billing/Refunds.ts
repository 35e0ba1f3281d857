/** Gives back what a request cost, whole or in part, by an operator's decision. */
import { Data, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Actor, Audit } from "../account/Audit.ts"
import { lockAccount } from "../account/KeysSql.ts"
import { formatUsd, type Nano, usdFromNano } from "../domain/Money.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { requestById } from "../usage/RequestsSql.ts"
import { refundUnder } from "./CustomersSql.ts"

/** The request cost too little or has not ended, or the reference was used for another refund. */
export class RefundRefused extends Data.TaggedError("RefundRefused")<{ readonly message: string }> {}

/** A refund that an operator wants. */
export interface RefundRequest {
  readonly accountId: string
  readonly requestId: string
  /** The amount to give back, in nano-USD. Undefined: everything that is left of the cost. */
  readonly amount: Nano | undefined
  readonly reason: string
  readonly reference: string | undefined
  readonly actor: Actor
}

/** The result of a refund. Amounts are nano-USD. */
export interface RefundResult {
  readonly amount: Nano
  /** The sum of all refunds of the request. */
  readonly total: Nano
  /** The cost of the request after all its refunds. */
  readonly cost: Nano
  readonly balance: Nano
  /** Whether an earlier refund under this reference gave this back. Then nothing moved now. */
  readonly repeated: boolean
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly ledger: Ledger["Service"]
}

/** Returns the amount of this request that this reference already gave back. Fails if it was used for another refund. */
const earlier = ({ sql }: Deps, { amount, reference, requestId }: RefundRequest) =>
  Effect.gen(function* () {
    if (reference === undefined) return undefined
    const before = yield* refundUnder(sql, `operator:${reference}`)
    if (before === undefined) return undefined
    if (before.request_id === requestId && (amount === undefined || amount === before.amount)) return before.amount
    const at = before.at.toISOString()
    const message = `The reference ${reference} was used on ${at} to refund ${formatUsd(before.amount)} of ${before.request_id}`
    return yield* new RefundRefused({ message })
  })

/** Returns the amount to give back, or fails with what is left. */
const amountOf = ({ amount, requestId }: RefundRequest, settled: Nano, refunded: Nano) => {
  const left = settled - refunded
  if (left > 0n && (amount ?? left) <= left) return Effect.succeed(amount ?? left)
  const message =
    settled === 0n
      ? `The request ${requestId} cost nothing; there is nothing to refund`
      : `The request ${requestId} settled ${formatUsd(settled)} and refunded ${formatUsd(refunded)}; at most ${formatUsd(left)} can be refunded`
  return Effect.fail(new RefundRefused({ message }))
}

const applyRefund = (deps: Deps, request: RefundRequest) =>
  Effect.gen(function* () {
    const { accountId, actor, reason, reference, requestId } = request
    const { audit, ledger, sql } = deps
    // The lock serializes two operators.
    yield* lockAccount(sql, accountId)
    const before = yield* earlier(deps, request)
    const row = yield* requestById(sql, accountId, requestId)
    if (row === undefined) return yield* new RefundRefused({ message: `There is no request with the id ${requestId}` })
    if (row.status === "open") {
      const message = `The request ${requestId} has not ended; refund it when it has`
      return yield* new RefundRefused({ message })
    }
    const amount = before ?? (yield* amountOf(request, row.settled, row.refunded))
    if (before === undefined) {
      yield* audit.append({
        accountId,
        actor,
        type: "request.refunded",
        resource: { type: "request", id: requestId },
        changes: { amount_usd: usdFromNano(amount), reason, reference }
      })
      // Last, because it locks the balance that running requests wait for.
      const result = yield* ledger.within(sql, {
        _tag: "Refund",
        requestId,
        accountId,
        amount,
        reference: `operator:${reference ?? newResourceId()}`
      })
      if (result._tag === "Gone") {
        const message = `The request ${requestId} was refunded by another process meanwhile; look at it again`
        return yield* new RefundRefused({ message })
      }
    }
    const total = row.refunded + (before === undefined ? amount : 0n)
    const balance = (yield* ledger.balance(accountId))?.posted ?? 0n
    return { amount, total, cost: row.settled - total, balance, repeated: before !== undefined }
  })

/**
 * Gives back the cost of an ended request from the operator, and to its budgets, and writes that into the audit log. All refunds of a
 * request together never exceed what it settled. With a reference it happens once; a repeat moves nothing.
 */
export const refund = (deps: Deps, request: RefundRequest): Effect.Effect<RefundResult, RefundRefused | Unavailable> =>
  applyRefund(deps, request).pipe(
    deps.sql.withTransaction,
    // Another account's refund took the reference at the same moment: a second try finds it.
    Effect.retry({ times: 1, while: isTaken }),
    storeErrors
  )

const isTaken = (error: RefundRefused | Unavailable | SqlError.SqlError): boolean =>
  error._tag === "SqlError" && error.reason._tag === "UniqueViolation"
