import { Context, Effect, Layer } from "effect"
import type { PriceTerms, Principal } from "../../schemas/Access.ts"
import { hashKey, hashTextOf, isWellFormedKey, type KeyKind, Keys } from "../account/Keys.ts"
import { stoppedAccount } from "../account/Accounts.ts"
import type { KeyPlan, KeyRow } from "../account/KeysSql.ts"
import type { BudgetPeriodName } from "../domain/Budget.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import { routingOf } from "./Routing.ts"

/** How long a key's principal may be used without reading its row, on paid requests only: their hold checks the key again. */
const CACHE_TTL_MS = 30_000

const CACHE_MAX_KEYS = 10_000

const ofOperator = /^bearer +svc_ok_[A-Za-z0-9_-]{43} *$/i

const invalidKey = failure({ _tag: "InvalidApiKey" })
const missingKey = failure({ _tag: "MissingApiKey" })

const budgetOf = (scope: "account" | "key" | "project", id: string | null, period: BudgetPeriodName | null) =>
  id === null || period === null ? [] : [{ id, scope, period }]

/** More plans than a service has. */
const MAX_PLANS = 1_000

const priceLists = new Map<string, { readonly version: number; readonly fixed: PriceTerms["fixed"] }>()

/** Returns a plan's prices by model. All keys of one version share them, because prices are compared and prepared by identity. */
const fixedOf = ({ id, prices, version }: KeyPlan): Pick<PriceTerms, "fixed"> => {
  if (prices.length === 0) return {}
  const known = priceLists.get(id)
  if (known?.version === version) return { fixed: known.fixed! }
  const fixed = Object.fromEntries(prices.map((price) => [price.model, price]))
  if (priceLists.size >= MAX_PLANS) priceLists.clear()
  priceLists.set(id, { version, fixed })
  return { fixed }
}

/** An account's own markup wins over that of its plan. */
const termsOf = ({ markup_bp: own, plan }: KeyRow): Pick<Principal, "mostBatches" | "mostVideos" | "terms"> => {
  if (plan === null) return own === 0 ? {} : { terms: { markupBasisPoints: own, markupOf: "account" } }
  const markup = own === 0 ? plan.markup_bp : own
  return {
    terms: { plan: plan.name, markupBasisPoints: markup, markupOf: own === 0 ? "plan" : "account", ...fixedOf(plan) },
    ...(plan.running_videos === null ? {} : { mostVideos: plan.running_videos }),
    ...(plan.running_batches === null ? {} : { mostBatches: plan.running_batches })
  }
}

/** A larger difference is one of clocks, and not the time that the row took to arrive. */
const CLOCKS_AGREE_MS = 1_000

const clockOf = (row: KeyRow): Pick<Principal, "clockAheadMs"> => {
  const clockAheadMs = row.read_at.getTime() - Date.now()
  return Math.abs(clockAheadMs) <= CLOCKS_AGREE_MS ? {} : { clockAheadMs }
}

const principalOf = (row: KeyRow): Principal => ({
  keyId: row.id,
  accountId: row.account_id,
  projectId: row.project_id,
  kind: row.kind,
  scopes: row.scopes,
  limitScale: row.limit_scale,
  ...termsOf(row),
  budgets: [
    ...budgetOf("key", row.budget_id, row.budget_period),
    ...budgetOf("project", row.project_budget_id, row.project_budget_period),
    ...budgetOf("account", row.daily_budget_id, "daily")
  ],
  budgetsEpoch: row.budgets_epoch,
  ...(row.allowed_tools === null ? {} : { allowedTools: row.allowed_tools }),
  ...clockOf(row),
  ...routingOf(row)
})

/** The key in an `Authorization` header; undefined when that has none, or not in the form of one. */
const keyOf = (header: string): string | undefined => {
  const key = /^bearer +(\S+) *$/i.exec(header)?.[1]
  return key === undefined || !isWellFormedKey(key) ? undefined : key
}

const notBearer = failure({ _tag: "InvalidApiKey", detail: "The header `Authorization` must be `Bearer <key>`" })

const foreignKey = failure({
  _tag: "InvalidApiKey",
  detail: "This is not a key of this service. Its inference keys start with svc_sk_, its management keys with svc_mk_"
})

/** The form alone tells an operator key: it is never looked up where it must not work. */
const malformed = (authorization: string, kind: KeyKind): Failure => {
  if (ofOperator.test(authorization)) return failure({ _tag: "WrongKeyKind", needed: kind })
  if (!/^bearer +\S+ *$/i.test(authorization)) return notBearer
  return /^bearer +svc_/i.test(authorization) ? invalidKey : foreignKey
}

/** Fails for a key that is not active, or whose account is not. */
const checked = (row: KeyRow | undefined): Effect.Effect<KeyRow, Failure> => {
  if (row === undefined || !row.active) return Effect.fail(invalidKey)
  const stopped = stoppedAccount(row.account_state, row.account_state_reason)
  return stopped === undefined ? Effect.succeed(row) : Effect.fail(stopped)
}

/** What is remembered of a key. A corrected wall clock must not prolong that: only the end of the key itself goes by it. */
interface CachedKey {
  readonly principal: Principal
  readonly until: number
  readonly expiresAt: number
}

/** Turns a credential into the principal it stands for. */
export class Auth extends Context.Service<
  Auth,
  {
    /**
     * Fails with `MissingApiKey` without a header, `InvalidApiKey` for anything but an active key, `AccountSuspended` or
     * `AccountClosed` for a key of such an account, `WrongKeyKind` for a key of the other kind, and `StoreUnavailable`, never a 401, when keys cannot be read.
     */
    readonly authenticate: (authorization: string | undefined, kind: KeyKind) => Effect.Effect<Principal, Failure>
    /**
     * The principal of a key that was read a short while ago; only for operations that check the key again, as a hold does. Given
     * the connection that it came over, the same header need not be digested again for the next request of that.
     */
    readonly remembered: (
      authorization: string | undefined,
      kind: KeyKind,
      connection?: object
    ) => Principal | undefined
    /** Checks a remembered key where no hold does. Fails with `InvalidApiKey` or `StoreUnavailable`. */
    readonly confirm: (keyId: string) => Effect.Effect<void, Failure>
    /** The principal of a key as it is now, whatever was remembered of it. Fails with `InvalidApiKey` or `StoreUnavailable`. */
    readonly again: (keyId: string) => Effect.Effect<Principal, Failure>
    /** Drops what is remembered of a key that turned out to be inactive. */
    readonly forget: (keyId: string) => void
    /** Drops what is remembered of the keys of a project that has changed, and what is being read of them. */
    readonly forgetProject: (projectId: string) => void
    /** The same of all keys of an account: one that was rotated and still works changes with the one that is in its place. */
    readonly forgetAccount: (accountId: string) => void
    /** The same of every key, after a change that concerns many accounts. */
    readonly forgetAll: () => void
  }
>()("tollgate/auth/Auth") {
  static readonly layer = Layer.effect(
    Auth,
    Effect.gen(function* () {
      const keys = yield* Keys
      const cache = new Map<string, CachedKey>()
      let changes = 0

      const remember = (hash: string, principal: Principal, row: KeyRow) => {
        if (cache.size >= CACHE_MAX_KEYS) {
          const oldest = cache.keys().next()
          if (oldest.done !== true) cache.delete(oldest.value)
        }
        const expiresAt = row.expires_at?.getTime() ?? Infinity
        cache.set(hash, { principal, until: performance.now() + CACHE_TTL_MS, expiresAt })
      }

      const names = new WeakMap<object, { readonly authorization: string; readonly name: string }>()

      /** Under which name the key of a header would be remembered. */
      const nameOf = (authorization: string, connection: object | undefined): string | undefined => {
        const last = connection && names.get(connection)
        if (last?.authorization === authorization) return last.name
        const key = keyOf(authorization)
        if (key === undefined) return undefined
        const name = hashTextOf(key)
        if (connection !== undefined) names.set(connection, { authorization, name })
        return name
      }

      const active = (found: ReturnType<Keys["Service"]["findById"]>): Effect.Effect<KeyRow, Failure> =>
        found.pipe(
          Effect.mapError((error) => failure({ _tag: "StoreUnavailable" }, error)),
          Effect.flatMap(checked)
        )

      const read = (key: string) =>
        Effect.suspend(() => {
          const before = changes
          return Effect.map(active(keys.findByHash(hashKey(key))), (row) => {
            const principal = principalOf(row)
            // What was read while a key or a project changed may be out of date.
            if (changes === before) remember(hashTextOf(key), principal, row)
            return principal
          })
        })

      const ofKind = (principal: Principal, kind: KeyKind): Effect.Effect<Principal, Failure> =>
        principal.kind === kind
          ? Effect.succeed(principal)
          : Effect.fail(failure({ _tag: "WrongKeyKind", needed: kind }))

      const forgetWhere = (is: (principal: Principal) => boolean) => {
        changes += 1
        for (const [name, { principal }] of cache) if (is(principal)) cache.delete(name)
      }
      const forget = (keyId: string) => forgetWhere((principal) => principal.keyId === keyId)

      return Auth.of({
        authenticate: (authorization, kind) => {
          if (authorization === undefined || authorization === "") return Effect.fail(missingKey)
          const key = keyOf(authorization)
          if (key === undefined) return Effect.fail(malformed(authorization, kind))
          return Effect.flatMap(read(key), (principal) => ofKind(principal, kind))
        },
        remembered: (authorization = "", kind, connection) => {
          const name = nameOf(authorization, connection)
          const known = name === undefined ? undefined : cache.get(name)
          if (known === undefined || known.until <= performance.now() || known.expiresAt <= Date.now()) return undefined
          return known.principal.kind === kind ? known.principal : undefined
        },
        again: (keyId) =>
          Effect.suspend(() => {
            forget(keyId)
            return Effect.map(active(keys.findById(keyId)), principalOf)
          }),
        confirm: (keyId) =>
          keys.isActive(keyId).pipe(
            Effect.mapError((error) => failure({ _tag: "StoreUnavailable" }, error)),
            Effect.flatMap((usable) => {
              if (usable) return Effect.void
              forget(keyId)
              // Reads why: the key or its account.
              return Effect.flatMap(active(keys.findById(keyId)), () => Effect.fail(invalidKey))
            })
          ),
        forget,
        forgetProject: (projectId) => forgetWhere((principal) => principal.projectId === projectId),
        forgetAll: () => forgetWhere(() => true),
        forgetAccount: (accountId) => forgetWhere((principal) => principal.accountId === accountId)
      })
    })
  )
}
