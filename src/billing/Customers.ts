import { Context, Data, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Accounts, type EmailTaken } from "../account/Accounts.ts"
import { type AccountRow, lockState } from "../account/AccountsSql.ts"
import { type Actor, Audit } from "../account/Audit.ts"
import { Keys } from "../account/Keys.ts"
import { lockAccount } from "../account/KeysSql.ts"
import { scopes } from "../auth/Scopes.ts"
import type { Failure } from "../domain/Failure.ts"
import { formatUsd, type Nano, usdFromNano } from "../domain/Money.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { movementUnder } from "./CustomersSql.ts"
import { type RefundResult, refund, type RefundRefused, type RefundRequest } from "./Refunds.ts"
import { type DecisionResult, decideTopUp, type DecisionRefused, type DecisionRequest } from "./TopUpDecisions.ts"
import { nanoOfTopUp } from "./TopUps.ts"
import { endOpen, type TopUpRow } from "./TopUpsSql.ts"

/** An operator at the command line. */
export const OPERATOR: Actor = { type: "operator", id: "command-line" }

/** A new customer, with its keys, which are shown only this once. */
export interface NewCustomer {
  readonly account: AccountRow
  readonly inferenceKey: string
  readonly managementKey: string
}

/** The operator of a manual movement of money, and its reference. */
export interface MovementSource {
  readonly actor?: Actor
  readonly reference?: string | undefined
}

/** The account's balance of both kinds of money afterwards, and whether this was a repeat that moved nothing. */
export interface MovementResult {
  readonly balance: Nano
  readonly repeated: boolean
}

/** The reference was used for a movement of another amount or account. */
export class ReferenceUsed extends Data.TaggedError("ReferenceUsed")<{
  readonly reference: string
  readonly amount: Nano
  readonly email: string
  readonly at: Date
}> {
  override get message() {
    const { amount, at, email, reference } = this
    return `The reference ${reference} was used on ${at.toISOString()} for ${formatUsd(amount)} of ${email}`
  }
}

/** The account has less unheld real money than the movement takes. */
export class NotAvailable extends Data.TaggedError("NotAvailable")<{
  readonly amount: Nano
  readonly available: Nano
}> {
  override get message() {
    const { amount, available } = this
    return `${formatUsd(-amount)} cannot be taken: ${formatUsd(available)} of the balance is real money that is not held`
  }
}

/** A closed account takes no money, because its owner cannot spend it. */
export class ClosedAccount extends Data.TaggedError("ClosedAccount")<{ readonly email: string }> {
  override get message() {
    return `The account ${this.email} is closed; only \`adjust\` with a negative amount moves its money.`
  }
}

export type MovementError = ReferenceUsed | NotAvailable | ClosedAccount | Unavailable

/** Opens accounts with money and keys, and makes operators' movements of money. */
export class Customers extends Context.Service<
  Customers,
  {
    /**
     * Opens an account with a balance, an inference key and a management key with every scope, all or nothing. The balance is real
     * money unless the options say simulated money.
     */
    readonly open: (
      email: string,
      balance: Nano,
      actor: Actor,
      money?: "real" | "play"
    ) => Effect.Effect<NewCustomer, EmailTaken | Failure | Unavailable>
    /**
     * Adds real money to an account's balance and writes that into its audit log. With a reference it happens once. A repeat moves
     * nothing, and fails with `ReferenceUsed` if its account or amount differs. Fails with `ClosedAccount` if the account is closed.
     */
    readonly topUp: (
      account: AccountRow,
      amount: Nano,
      how?: MovementSource
    ) => Effect.Effect<MovementResult, MovementError>
    /**
     * Corrects an account's real money up or down, against an account of the operator, and writes that with its reason into the audit
     * log. Fails with `NotAvailable` if it would take held money or more than the account has, and with `ClosedAccount` if it would add money
     * to a closed account.
     */
    readonly adjust: (
      account: AccountRow,
      amount: Nano,
      how: MovementSource & { readonly reason: string }
    ) => Effect.Effect<MovementResult, MovementError>
    /** Gives back what a request cost: see `refund` in `Refunds.ts`. */
    readonly refund: (request: RefundRequest) => Effect.Effect<RefundResult, RefundRefused | Unavailable>
    /**
     * Ends an open top-up as `expired`, and writes that into the audit log; undefined when there is no such open top-up. A later
     * payment for it is still credited.
     */
    readonly endTopUp: (id: string, actor: Actor) => Effect.Effect<TopUpRow | undefined, Unavailable>
    /** Settles or dismisses a top-up that needs an operator: see `decideTopUp` in `TopUpDecisions.ts`. */
    readonly decideTopUp: (
      request: DecisionRequest
    ) => Effect.Effect<DecisionResult, DecisionRefused | Failure | Unavailable>
  }
>()("tollgate/billing/Customers") {
  static readonly layer = Layer.effect(
    Customers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const audit = yield* Audit
      const keys = yield* Keys
      const ledger = yield* Ledger
      const deps: Deps = { sql, audit, ledger }
      const topUp = (
        account: AccountRow,
        amount: Nano,
        how: MovementSource & { readonly money?: "real" | "play" } = {}
      ) =>
        movedByHand(deps, account, {
          ...how,
          amount,
          kind: "credit",
          source: how.money === "play" ? "play" : "funding"
        })
      const endTopUp = (id: string, actor: Actor) =>
        Effect.gen(function* () {
          const row = yield* endOpen(sql, id)
          if (row === undefined) return undefined
          yield* audit.append({
            accountId: row.account_id,
            type: "top_up.ended",
            actor,
            resource: { type: "top_up", id },
            changes: {
              status: { from: "open", to: row.status },
              amount_usd: usdFromNano(nanoOfTopUp(row.amount_cents))
            }
          })
          return row
        }).pipe(sql.withTransaction, storeErrors)
      return Customers.of({
        topUp,
        endTopUp,
        refund: (request) => refund(deps, request),
        decideTopUp: (request) => decideTopUp(deps, request),
        adjust: (account, amount, how) =>
          movedByHand(deps, account, { ...how, amount, kind: "adjust", source: "adjustments" }),
        open: (email, balance, actor, money = "real") =>
          Effect.gen(function* () {
            const account = yield* accounts.create(email, actor)
            const { id: accountId } = account
            const inference = yield* keys.create({ accountId, kind: "inference", name: "default", scopes: [], actor })
            const management = yield* keys.create({ accountId, kind: "management", name: "default", scopes, actor })
            yield* topUp(account, balance, { actor, money })
            return { account, inferenceKey: inference.key, managementKey: management.key }
          }).pipe(
            // Without a reference there is no repeat, a credit takes no money, and a new account is open.
            Effect.catchTags({ ReferenceUsed: Effect.die, NotAvailable: Effect.die, ClosedAccount: Effect.die }),
            sql.withTransaction,
            storeErrors
          )
      })
    })
  )
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly ledger: Ledger["Service"]
}

interface Movement extends MovementSource {
  readonly kind: "credit" | "adjust"
  readonly source: "funding" | "play" | "adjustments"
  readonly amount: Nano
  readonly reason?: string | undefined
}

/** The prefix that keeps operators' references apart from those of checkouts and starter credits. */
const referenceOf = ({ reference }: MovementSource): string | null =>
  reference === undefined ? null : `operator:${reference}`

/** Whether the reference of a movement was used for exactly that movement. Fails if it was used for another one. */
const isRepeat = (
  { sql }: Deps,
  { id }: AccountRow,
  movement: Movement
): Effect.Effect<boolean, ReferenceUsed | SqlError.SqlError> =>
  Effect.gen(function* () {
    const reference = referenceOf(movement)
    if (reference === null) return false
    // The lock serializes two movements of one account. For two accounts, the index on references lets only one pass.
    yield* lockAccount(sql, id)
    const before = yield* movementUnder(sql, movement.kind, reference)
    if (before === undefined) return false
    if (before.account_id === id && before.amount === movement.amount) return true
    const { amount, at, email } = before
    return yield* new ReferenceUsed({ reference: movement.reference ?? "", amount, email, at })
  })

/** Makes an operator's movement of money and writes it into the audit log, both or neither, and once per reference. */
const movedByHand = (
  deps: Deps,
  account: AccountRow,
  movement: Movement
): Effect.Effect<MovementResult, MovementError> => {
  const { audit, ledger, sql } = deps
  const { id: accountId } = account
  const { actor = OPERATOR, amount, kind, reason, reference, source } = movement
  const moved = Effect.gen(function* () {
    const repeated = yield* isRepeat(deps, account, movement)
    if (!repeated && amount !== 0n) {
      if (amount > 0n && (yield* lockState(sql, accountId)) === "closed")
        return yield* new ClosedAccount({ email: account.email })
      yield* audit.append({
        accountId,
        actor,
        type: kind === "credit" ? "balance.topped_up" : "balance.adjusted",
        resource: { type: "account", id: accountId },
        changes: {
          amount_usd: usdFromNano(amount),
          reason,
          reference,
          ...(source === "play" ? { simulated: true } : {})
        }
      })
      const named = { accountId, amount, reference: referenceOf(movement) }
      // Last, because it locks the balance that running requests wait for.
      const result = yield* source === "adjustments"
        ? ledger.within(sql, { ...named, _tag: "Adjust", source })
        : ledger.within(sql, { ...named, _tag: "Credit", source })
      if (result._tag === "Refused") return yield* new NotAvailable({ amount, available: result.available })
      if (result._tag === "Gone") return yield* Effect.die(new Error(`account ${accountId} has no balance`))
    }
    return { balance: (yield* ledger.balance(accountId))?.posted ?? 0n, repeated }
  })
  return moved.pipe(
    sql.withTransaction,
    // Another account's movement took the reference at the same moment: a second try finds it.
    Effect.retry({ times: 1, while: (error) => error._tag === "SqlError" && error.reason._tag === "UniqueViolation" }),
    storeErrors
  )
}
