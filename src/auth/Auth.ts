import { Context, Effect, Layer } from "effect"
import type { PriceTerms, Principal } from "../../schemas/Access.ts"
import { hashKey, hashTextOf, isWellFormedKey, type KeyKind, Keys } from "../account/Keys.ts"
import { stoppedAccount } from "../account/Accounts.ts"
import type { KeyPlan, KeyRow } from "../account/KeysSql.ts"
import type { BudgetPeriodName } from "../domain/Budget.ts"
import { type Failure, failure, storeFailure } from "../domain/Failure.ts"
import { routingOf } from "./Routing.ts"

/** How long a paid request may use a cached principal without reading the key's row. Its hold checks the key again. */
const CACHE_TTL_MS = 30_000

/** The maximum number of cached keys of a node. */
const CACHE_MAX_KEYS = 10_000

/** Matches an operator key. */
const ofOperator = /^bearer +svc_ok_[A-Za-z0-9_-]{43} *$/i

const invalidKey = failure({ _tag: "InvalidApiKey" })
const missingKey = failure({ _tag: "MissingApiKey" })

const budgetOf = (scope: "account" | "key" | "project", id: string | null, period: BudgetPeriodName | null) =>
  id === null || period === null ? [] : [{ id, scope, period }]

/** The maximum number of plans with cached prices: more than a service has. */
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

/** Returns the markup, fixed prices and limits of an account. Its own markup overrides that of its plan. */
const termsOf = ({ markup_bp: own, plan }: KeyRow): Pick<Principal, "mostBatches" | "mostVideos" | "terms"> => {
  if (plan === null) return own === 0 ? {} : { terms: { markupBasisPoints: own, markupOf: "account" } }
  const markup = own === 0 ? plan.markup_bp : own
  return {
    terms: { plan: plan.name, markupBasisPoints: markup, markupOf: own === 0 ? "plan" : "account", ...fixedOf(plan) },
    ...(plan.running_videos === null ? {} : { mostVideos: plan.running_videos }),
    ...(plan.running_batches === null ? {} : { mostBatches: plan.running_batches })
  }
}

/** Up to this difference, the clocks of node and database agree: the row may have taken so long to arrive. */
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

/** Returns the key of an `Authorization` header; undefined when the header contains no well-formed key. */
const keyOf = (header: string): string | undefined => {
  const key = /^bearer +(\S+) *$/i.exec(header)?.[1]
  return key === undefined || !isWellFormedKey(key) ? undefined : key
}

/** The header that a key was sent in. */
export type KeyHeader = "authorization" | "x-api-key"

/** Why the value of each header is not a key. */
export const notInForm: Readonly<Record<KeyHeader, Failure>> = {
  authorization: failure({ _tag: "InvalidApiKey", detail: "`Authorization` must be `Bearer <key>`" }),
  "x-api-key": failure({
    _tag: "InvalidApiKey",
    detail: "`x-api-key` must be the key alone, such as `svc_sk_…`"
  })
}

const foreignKeyIn = (header: string): Failure =>
  failure({
    _tag: "InvalidApiKey",
    detail: `\`${header}\` must contain a key of this service: \`svc_sk_…\` for inference or \`svc_mk_…\` for management`
  })

const foreignKey: Readonly<Record<KeyHeader, Failure>> = {
  authorization: foreignKeyIn("Authorization"),
  "x-api-key": foreignKeyIn("x-api-key")
}

/** Returns the failure for a key with a wrong form. An operator key is recognized by its form alone and never looked up here. */
const malformed = (authorization: string, kind: KeyKind, header: KeyHeader): Failure => {
  if (ofOperator.test(authorization)) return failure({ _tag: "WrongKeyKind", needed: kind })
  if (!/^bearer +\S+ *$/i.test(authorization)) return notInForm[header]
  return /^bearer +svc_/i.test(authorization) ? invalidKey : foreignKey[header]
}

/** Fails unless both the key and its account are active. */
const checked = (row: KeyRow | undefined): Effect.Effect<KeyRow, Failure> => {
  if (row === undefined || !row.active) return Effect.fail(invalidKey)
  const stopped = stoppedAccount(row.account_state, row.account_state_reason)
  return stopped === undefined ? Effect.succeed(row) : Effect.fail(stopped)
}

/** A cached key. `until` is monotonic, so a corrected wall clock does not extend it. `expiresAt` is the key's own end by the wall clock. */
interface CachedKey {
  readonly principal: Principal
  readonly until: number
  readonly expiresAt: number
}

/** Authenticates credentials: turns the key of a request into its principal. */
export class Auth extends Context.Service<
  Auth,
  {
    /**
     * Returns the principal of the key in the header. Fails with `MissingApiKey` without a header, `InvalidApiKey` for anything but an
     * active key, `AccountSuspended` or `AccountClosed` for a key of such an account, `WrongKeyKind` for a key of the other kind, and
     * `StoreUnavailable`, never a 401, when the gateway cannot read keys. A message about the form of the key names `header`, which is
     * `Authorization` by default.
     */
    readonly authenticate: (
      authorization: string | undefined,
      kind: KeyKind,
      header?: KeyHeader
    ) => Effect.Effect<Principal, Failure>
    /**
     * Returns the cached principal of a key; undefined when there is none. Use it only for operations that check the key again, as a
     * hold does. With `connection`, the next request with the same header on that connection need not hash the key again.
     */
    readonly remembered: (
      authorization: string | undefined,
      kind: KeyKind,
      connection?: object
    ) => Principal | undefined
    /** Checks that a cached key is still active, for operations without a hold. Fails with `InvalidApiKey` or `StoreUnavailable`. */
    readonly confirm: (keyId: string) => Effect.Effect<void, Failure>
    /** Reads the principal of a key, bypassing the cache. Fails with `InvalidApiKey` or `StoreUnavailable`. */
    readonly again: (keyId: string) => Effect.Effect<Principal, Failure>
    /** Removes an inactive key from the cache. */
    readonly forget: (keyId: string) => void
    /** Removes the keys of a changed project from the cache. Reads that are under way fill no cache entry. */
    readonly forgetProject: (projectId: string) => void
    /** Removes all keys of an account from the cache. A rotated key that still works changes together with its replacement. */
    readonly forgetAccount: (accountId: string) => void
    /** Clears the cache after a change that concerns many accounts. */
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

      /** Returns the cache key of a header, which is the hash of its API key; undefined for a header without a well-formed key. */
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
        found.pipe(Effect.mapError(storeFailure), Effect.flatMap(checked))

      const read = (key: string) =>
        Effect.suspend(() => {
          const before = changes
          return Effect.map(active(keys.findByHash(hashKey(key))), (row) => {
            const principal = principalOf(row)
            // A row that was read while a key or a project changed may be out of date.
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
        authenticate: (authorization, kind, header = "authorization") => {
          if (authorization === undefined || authorization === "") return Effect.fail(missingKey)
          const key = keyOf(authorization)
          if (key === undefined) return Effect.fail(malformed(authorization, kind, header))
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
            Effect.mapError(storeFailure),
            Effect.flatMap((usable) => {
              if (usable) return Effect.void
              forget(keyId)
              // Reads the row to find out whether the key or its account is inactive.
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
