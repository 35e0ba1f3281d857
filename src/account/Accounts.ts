import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Failure, failure } from "../domain/Failure.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { formatUsd } from "../domain/Money.ts"
import {
  accountByEmail,
  type AccountRow,
  type AccountState,
  anyAccount,
  insertAccount,
  lockRunning,
  lockState,
  setLimitScale,
  setMarkup,
  setState
} from "./AccountsSql.ts"
import { type Actor, Audit } from "./Audit.ts"
import { outdateKeys, revokeKeysOf } from "./KeysSql.ts"

/** An account with this address exists already. */
export class EmailTaken extends Data.TaggedError("EmailTaken")<{ readonly email: string }> {}

/** The account does not allow the change of its state. */
export class StateRefused extends Data.TaggedError("StateRefused")<{ readonly message: string }> {}

/** Returns why an account in this state may not act; undefined when it may. */
export const stoppedAccount = (state: AccountState, reason: string | null): Failure | undefined => {
  if (state === "active") return undefined
  const detail = `This account is ${state}${reason === null ? "" : `: ${reason}`}`
  return failure({ _tag: state === "closed" ? "AccountClosed" : "AccountSuspended", detail })
}

/** A change of an account's state by an operator. */
export interface StateChange {
  readonly to: AccountState
  readonly reason: string
  readonly actor: Actor
}

/** The paying accounts. A new account has an empty balance; only the ledger changes it. */
export class Accounts extends Context.Service<
  Accounts,
  {
    /**
     * `ids` holds the ID for the account and the ID of the request that asked for it. Without them, the account gets a generated ID.
     */
    readonly create: (
      email: string,
      actor: Actor,
      ids?: { readonly id: string; readonly requestId: string }
    ) => Effect.Effect<AccountRow, EmailTaken | Unavailable>
    /** Compares addresses without regard to case. */
    readonly findByEmail: (email: string) => Effect.Effect<AccountRow | undefined, Unavailable>
    readonly exist: Effect.Effect<boolean, Unavailable>
    /** Sets the factor that multiplies every rate limit of the account. It must be greater than 0. */
    readonly setLimitScale: (account: AccountRow, scale: number, actor: Actor) => Effect.Effect<void, Unavailable>
    /**
     * Sets what the account pays beyond the catalogue's prices, in basis points; below zero it pays less. Requests that are running keep
     * the price at which they were admitted. Every node plans with it from its next hold of each key on.
     */
    readonly setMarkup: (
      account: Pick<AccountRow, "id">,
      basisPoints: number,
      actor: Actor
    ) => Effect.Effect<void, Unavailable>
    /**
     * Suspends, resumes or closes an account, at once on every node. A suspended account gets no new hold and no sign-in; its running
     * requests settle, and nothing is deleted. Closing revokes every key and cannot be undone. Fails with `StateRefused` when the
     * account is in that state already or is closed, and when it is to be closed while requests run.
     */
    readonly setState: (
      account: Pick<AccountRow, "id"> & {
        /** How a refusal names the account: as the operator did. The ID when absent. */
        readonly name?: string
      },
      change: StateChange
    ) => Effect.Effect<void, StateRefused | Unavailable>
  }
>()("tollgate/account/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      return Accounts.of({
        create: (email, actor, ids) => {
          const { id, ...request } = ids ?? { id: newResourceId() }
          return insertAccount(sql, id, email).pipe(
            Effect.andThen(
              audit.append({
                accountId: id,
                type: "account.created",
                ...request,
                actor,
                resource: { type: "account", id },
                changes: { email }
              })
            ),
            sql.withTransaction,
            Effect.as({ id, email, limit_scale: 1, state: "active" as const, state_reason: null }),
            Effect.catchIf(
              (error) => error.reason._tag === "UniqueViolation",
              () => Effect.fail(new EmailTaken({ email }))
            ),
            storeErrors
          )
        },
        findByEmail: (email) => storeErrors(accountByEmail(sql, email)),
        exist: storeErrors(anyAccount(sql)),
        setLimitScale: (account, scale, actor) =>
          setLimitScale(sql, account.id, scale).pipe(
            Effect.andThen(
              audit.append({
                accountId: account.id,
                type: "account.limits_changed",
                actor,
                resource: { type: "account", id: account.id },
                changes: { limit_scale: { from: account.limit_scale, to: scale } }
              })
            ),
            sql.withTransaction,
            storeErrors
          ),
        setMarkup: ({ id }, basisPoints, actor) =>
          Effect.gen(function* () {
            const former = yield* setMarkup(sql, id, basisPoints)
            if (former === undefined) return
            // Holds that know the former markup are refused, so that every node reads its keys again.
            yield* outdateKeys(sql, id)
            yield* audit.append({
              accountId: id,
              actor,
              type: "account.markup_changed",
              resource: { type: "account", id },
              changes: { markup_basis_points: { from: former, to: basisPoints } }
            })
          }).pipe(sql.withTransaction, storeErrors),
        setState: ({ id, name = id }, change) => changedState({ sql, audit }, { id, name }, change)
      })
    })
  )
}

/** The events of the audit log that record a change to a state. */
export const stateEvents: Readonly<Record<AccountState, string>> = {
  active: "account.resumed",
  suspended: "account.suspended",
  closed: "account.closed"
}

const changedState = (
  { audit, sql }: { readonly sql: SqlClient.SqlClient; readonly audit: Audit["Service"] },
  { id, name }: { readonly id: string; readonly name: string },
  { actor, reason, to }: StateChange
): Effect.Effect<void, StateRefused | Unavailable> =>
  Effect.gen(function* () {
    const from = yield* lockState(sql, id)
    if (from === to) return yield* new StateRefused({ message: `The account ${name} is already ${to}.` })
    if (from === undefined || from === "closed") {
      return yield* new StateRefused({ message: `The account ${name} is closed; a closed account stays closed.` })
    }
    yield* setState(sql, id, { state: to, reason: to === "active" ? null : reason })
    let revoked: { readonly keys_revoked?: number } = {}
    if (to === "closed") {
      revoked = { keys_revoked: yield* revokeKeysOf(sql, id) }
      // After the keys, so that a hold that waits for this lock finds them revoked.
      const { held, requests } = yield* lockRunning(sql, id)
      if (held > 0n || requests > 0) {
        const message = `The account ${name} has ${requests} running requests that hold ${formatUsd(held)}; suspend it and close it when they have ended.`
        return yield* new StateRefused({ message })
      }
    } else yield* outdateKeys(sql, id)
    yield* audit.append({
      accountId: id,
      actor,
      type: stateEvents[to],
      resource: { type: "account", id },
      changes: { state: { from, to }, reason, ...revoked }
    })
  }).pipe(sql.withTransaction, storeErrors)
