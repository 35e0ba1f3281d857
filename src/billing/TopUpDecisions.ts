/** Operators' decisions about top-ups that need one: to credit, to take back, or to dismiss. */
import { Data, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Actor, Audit } from "../account/Audit.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import { formatUsd, type Nano, NANO_PER_CENT, usdFromNano } from "../domain/Money.ts"
import type { TopUpStatus } from "../domain/TopUp.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import {
  decisionUnder,
  insertDecision,
  lockUndecided,
  setDismissed,
  setSettled,
  amountTakenBack,
  type UndecidedTopUp
} from "./TopUpDecisionsSql.ts"

/** The top-up does not allow the decision. */
export class DecisionRefused extends Data.TaggedError("DecisionRefused")<{ readonly message: string }> {}

/** A decision that an operator asks for. */
export interface DecisionRequest {
  readonly topUpId: string
  readonly action: "settled" | "dismissed"
  /** In nano-USD, whole cents and above zero. Undefined settles the top-up's own amount. */
  readonly amount?: Nano | undefined
  readonly reason: string
  /** The reference of the decision. A reference decides once. */
  readonly reference: string
  readonly actor: Actor
}

/** A decision that was made. The amount came to the account; an amount below zero was taken back. */
export interface DecisionResult {
  readonly accountId: string
  readonly amount: Nano
  readonly status: TopUpStatus
  readonly balance: Nano
  /** Whether an earlier decision under this reference was the same. Then nothing happened now. */
  readonly repeated: boolean
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly ledger: Ledger["Service"]
}

const decisionRefusal = (message: string) => new DecisionRefused({ message })

/** Returns the amount of the decision under this reference. Fails if the reference was used for another one. */
const earlier = ({ sql }: Deps, row: UndecidedTopUp, request: DecisionRequest) =>
  Effect.gen(function* () {
    const before = yield* decisionUnder(sql, row, request.reference)
    if (before === undefined) return undefined
    const { action, amount, decided_at: at } = before
    const size = amount < 0n ? -amount : amount
    if (action === request.action && (request.amount === undefined || request.amount === size)) return amount
    const what = action === "dismissed" ? "dismissed" : `settled with ${formatUsd(amount)}`
    return yield* decisionRefusal(
      `The reference ${request.reference} was used on ${at.toISOString()}: top-up ${row.id} was ${what}`
    )
  })

/** Whether a paid top-up was paid a second time through another checkout, which was not credited. */
const isPaidTwice = ({ attention_session: other, session_id: own, status }: UndecidedTopUp): boolean =>
  status === "paid" && other !== null && other !== own

/** Returns what a settlement gives to the account. An amount below zero is taken back. */
const amountOf = ({ sql }: Deps, row: UndecidedTopUp, { action, amount }: DecisionRequest) =>
  Effect.gen(function* () {
    if (action === "dismissed") return 0n
    if (row.status !== "paid" || isPaidTwice(row)) return amount ?? BigInt(row.amount_cents) * NANO_PER_CENT
    const left = row.refunded_cents * NANO_PER_CENT - (yield* amountTakenBack(sql, row))
    const returned = amount ?? left
    if (returned > 0n) return -returned
    return yield* decisionRefusal(
      `The processor reports no refund of top-up ${row.id} that was not taken back; name the amount to take back`
    )
  })

/** Moves the money of a settlement that makes a top-up paid, as the payment of its checkout, which happens once. */
const pay = ({ ledger, sql }: Deps, row: UndecidedTopUp, amount: Nano) =>
  Effect.gen(function* () {
    const { account_id: accountId, id, processor, session_id: own } = row
    const sessionId = row.attention_session ?? own
    if (sessionId === null)
      return yield* decisionRefusal(`Top-up ${id} never had a checkout; add money with \`topup\` instead`)
    yield* setSettled(sql, { id, sessionId, amountCents: Number(amount / NANO_PER_CENT) })
    const result = yield* ledger.within(sql, {
      _tag: "Credit",
      accountId,
      amount,
      source: processor === "simulated" ? "play" : "funding",
      reference: `${processor}:${sessionId}`
    })
    if (result._tag === "Gone") return yield* decisionRefusal(`The checkout ${sessionId} was credited before`)
  })

/** Moves the money of a settlement of a paid top-up: credits its second payment, or takes the first one back. */
const correct = ({ ledger, sql }: Deps, row: UndecidedTopUp, amount: Nano, reference: string) =>
  Effect.gen(function* () {
    const { account_id: accountId, id, processor } = row
    const isPlay = processor === "simulated"
    const named = { accountId, amount, reference: `top-up:${id}:${reference}` }
    const result = yield* amount > 0n
      ? ledger.within(sql, { ...named, _tag: "Credit", source: isPlay ? "play" : "funding" })
      : ledger.within(sql, { ...named, _tag: "Adjust", source: isPlay ? "play" : "adjustments" })
    if (result._tag === "Refused") {
      const available = formatUsd(result.available)
      return yield* decisionRefusal(
        `${formatUsd(-amount)} cannot be taken back: ${available} of the balance is not held`
      )
    }
    if (result._tag === "Gone") return yield* Effect.die(new Error(`account ${accountId} has no balance`))
  })

const applyDecision = (deps: Deps, request: DecisionRequest) =>
  Effect.gen(function* () {
    const { audit, ledger, sql } = deps
    const { action, actor, reason, reference, topUpId: id } = request
    const row = yield* lockUndecided(sql, id)
    if (row === undefined) return yield* failure({ _tag: "NotFound", what: "top-up", id })
    const { account_id: accountId, attention } = row
    const before = yield* earlier(deps, row, request)
    if (before === undefined && attention === null) {
      return yield* decisionRefusal(`Top-up ${id} is ${row.status} and needs no operator`)
    }
    const amount = before ?? (yield* amountOf(deps, row, request))
    const becomesPaid = action === "settled" && row.status !== "paid"
    const ends = becomesPaid ? "paid" : row.status === "open" && row.stopped ? "expired" : row.status
    if (before === undefined && attention !== null) {
      yield* audit.append({
        accountId,
        actor,
        type: `top_up.${action}`,
        resource: { type: "top_up", id },
        changes: {
          attention,
          ...(amount === 0n ? {} : { amount_usd: usdFromNano(amount) }),
          ...(ends === row.status ? {} : { status: { from: row.status, to: ends } }),
          reason,
          reference
        }
      })
      yield* insertDecision(sql, {
        accountId,
        topUpId: id,
        reference,
        action,
        attention,
        amount,
        reason,
        actorId: actor.id
      })
      if (!becomesPaid) yield* setDismissed(sql, id)
      // Last, because it locks the balance that running requests wait for.
      if (becomesPaid) yield* pay(deps, row, amount)
      else if (amount !== 0n) yield* correct(deps, row, amount, reference)
    }
    const balance = (yield* ledger.balance(accountId))?.posted ?? 0n
    const repeated = before !== undefined
    return { accountId, amount, balance, status: repeated ? row.status : ends, repeated }
  })

/**
 * Settles or dismisses a top-up that needs an operator, and writes that into the audit log. A settlement credits an unpaid top-up, and
 * the second payment of one that was paid twice. It takes back any other paid one. A repeat under the same reference does nothing.
 */
export const decideTopUp = (
  deps: Deps,
  request: DecisionRequest
): Effect.Effect<DecisionResult, DecisionRefused | Failure | Unavailable> =>
  applyDecision(deps, request).pipe(deps.sql.withTransaction, storeErrors)
