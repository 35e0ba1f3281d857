import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hash, randomBytes } from "node:crypto"
import type { McpToolName } from "../../schemas/Mcp.ts"
import type { RoutingPolicy } from "../../schemas/Routing.ts"
import { type BudgetPeriodName, periodStart } from "../domain/Budget.ts"
import { conflict, type Failure, failure, invalid } from "../domain/Failure.ts"
import { centsFromNano } from "../domain/Money.ts"
import { insertKeyNotification } from "../notifications/NotificationsSql.ts"
import { newResourceId } from "../platform/Ids.ts"
import { type Page, readPage } from "../platform/database/Page.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { Audit, type Actor } from "./Audit.ts"
import { Budgets } from "./Budgets.ts"
import { differences } from "./Differences.ts"
import {
  insertKey,
  keyByHash,
  keyRowById,
  keyById,
  keyIsActive,
  type KeyRecord,
  type KeyRow,
  type KeysOf,
  keysOf,
  lockAccount,
  lockKey,
  replaceKey,
  revokeKey,
  updateKey,
  workingKeys
} from "./KeysSql.ts"
import { lockActiveProject } from "./ProjectsSql.ts"

/** The maximum number of active inference keys of an account. */
export const MAX_ACTIVE_INFERENCE_KEYS = 5

export type KeyKind = "inference" | "management"

const prefixes: Record<KeyKind, string> = { inference: "svc_sk_", management: "svc_mk_" }
const wellFormed = /^svc_[sm]k_[A-Za-z0-9_-]{43}$/

/** Reports whether a string has the form of an API key. */
export const isWellFormedKey = (key: string): boolean => wellFormed.test(key)

/**
 * Returns the digest that the database stores for a key. A key has 256 random bits, so a plain SHA-256 cannot be reversed by
 * guessing.
 */
export const hashKey = (key: string): Buffer => hash("sha256", key, "buffer")

/** Returns the same digest as text, for lookups in memory. Making it without a buffer costs a third as much. */
export const hashTextOf = (key: string): string => hash("sha256", key, "base64")

/** A new key. Its secret appears here once and is not stored. */
export interface MadeKey {
  readonly id: string
  readonly key: string
}

/** The most that a key may spend in each period, in whole cents. */
export interface KeyBudget {
  readonly limitCents: number
  readonly period: BudgetPeriodName
}

export interface NewKey {
  /** Generated when absent. */
  readonly id?: string
  readonly accountId: string
  readonly kind: KeyKind
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly actor: Actor
  readonly projectId?: string | null | undefined
  readonly budget?: KeyBudget | null | undefined
  readonly expiresAt?: Date | null | undefined
  readonly routing?: RoutingPolicy | null | undefined
  /** The tools of the MCP server that the key may call; null for all. */
  readonly allowedTools?: ReadonlyArray<McpToolName> | null | undefined
}

/** A change to a key. The gateway leaves `undefined` fields as they are and clears `null` fields. */
export interface KeyChange {
  readonly name?: string | undefined
  readonly projectId?: string | null | undefined
  /** `undefined` fields of an existing budget keep their values. */
  readonly budget?: Partial<KeyBudget> | null | undefined
  readonly expiresAt?: Date | null | undefined
  readonly routing?: RoutingPolicy | null | undefined
  /** The tools of the MCP server that the key may call; null for all. */
  readonly allowedTools?: ReadonlyArray<McpToolName> | null | undefined
}

/** An inference key, its account, and the actor that changes it. */
interface KeyAction {
  readonly accountId: string
  readonly id: string
  readonly actor: Actor
}

/**
 * The API keys of accounts. The gateway shows a key once, when it creates it, and stores only its hash. Expired and revoked keys
 * never work again. Each method treats a key of another account as not found.
 */
export class Keys extends Context.Service<
  Keys,
  {
    /**
     * Creates a key. Fails with `KeyLimitReached` when the account has five active inference keys, and with `ValidationError` when
     * the project is not an open project of the account or the expiry has passed.
     */
    readonly create: (input: NewKey) => Effect.Effect<MadeKey, Failure | Unavailable>
    /** Returns keys of one kind, newest first, that come after the cursor, and the cursor of the next page. */
    readonly list: (
      of: KeysOf,
      page: { readonly limit: number; readonly cursor: string | undefined }
    ) => Effect.Effect<Page<KeyRecord>, Unavailable>
    /** Fails with `NotFound`. */
    readonly get: (of: KeysOf, id: string) => Effect.Effect<KeyRecord, Failure | Unavailable>
    /**
     * Creates a new key with a new secret and the settings of an inference key. The old key stops at once, or after `graceSeconds`
     * (at most one day). During its grace period it does not count toward the limit of five. Fails with `NotFound`, and with
     * `Conflict` when the key is inactive, was rotated before, or five rotated keys are still in their grace period.
     */
    readonly rotate: (
      input: KeyAction & { readonly newId: string; readonly graceSeconds: number }
    ) => Effect.Effect<MadeKey, Failure | Unavailable>
    /**
     * Changes an inference key. Fails with `NotFound`, with `Conflict` as `rotate` does, and with `ValidationError` as `create`
     * does.
     */
    readonly update: (
      input: KeyAction & { readonly change: KeyChange }
    ) => Effect.Effect<KeyRecord, Failure | Unavailable>
    /** Revokes a key at once, on every node. Returns false when no unrevoked key with this ID matches `of`. */
    readonly revoke: (id: string, actor: Actor, of?: KeysOf) => Effect.Effect<boolean, Unavailable>
    readonly findByHash: (hash: Uint8Array) => Effect.Effect<KeyRow | undefined, Unavailable>
    readonly findById: (id: string) => Effect.Effect<KeyRow | undefined, Unavailable>
    /** Reports whether a key is neither revoked nor expired at this moment. */
    readonly isActive: (id: string) => Effect.Effect<boolean, Unavailable>
  }
>()("tollgate/account/Keys") {
  static readonly layer = Layer.effect(
    Keys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const deps: Deps = { sql, audit: yield* Audit, budgets: yield* Budgets }
      return Keys.of({
        create: (input) => storeErrors(create(deps, input)),
        list: Effect.fnUntraced(function* (of, { cursor, limit }) {
          const request = { cursor: cursor ?? null, limit, starts: yield* periodStarts }
          return yield* readPage(request, (page) => keysOf(sql, of, page))
        }, storeErrors),
        get: (of, id) => storeErrors(get(deps, of, id)),
        rotate: (input) => storeErrors(rotate(deps, input)),
        update: (input) => storeErrors(update(deps, input)),
        revoke: (id, actor, of) =>
          Effect.gen(function* () {
            const accountId = yield* revokeKey(sql, id, of)
            if (accountId === undefined) return false
            yield* append(deps, { accountId, actor, id }, "revoked", {})
            yield* notify(deps, { accountId, actor, id }, "revoked")
            return true
          }).pipe(sql.withTransaction, storeErrors),
        findByHash: (hash) => storeErrors(keyByHash(sql, hash)),
        findById: (id) => storeErrors(keyRowById(sql, id)),
        isActive: (id) => storeErrors(keyIsActive(sql, id))
      })
    })
  ).pipe(Layer.provide(Budgets.layer))
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly budgets: Budgets["Service"]
}

const periodStarts = Effect.map(Clock.currentTimeMillis, (nowMs) => ({
  daily: periodStart("daily", nowMs),
  weekly: periodStart("weekly", nowMs),
  monthly: periodStart("monthly", nowMs),
  lifetime: periodStart("lifetime", nowMs)
}))

const append = ({ audit }: Deps, { accountId, actor, id }: KeyAction, type: string, changes: object) =>
  audit.append({ accountId, type: `key.${type}`, actor, resource: { type: "key", id }, changes })

/** Records that the owner is to be notified. An operator creates keys only together with their account, or when the owner asks. */
const notify = ({ sql }: Deps, { accountId, actor, id }: KeyAction, action: "created" | "rotated" | "revoked") =>
  action === "created" && actor.type !== "owner" && actor.type !== "key"
    ? Effect.void
    : insertKeyNotification(sql, accountId, id, { action, actor: actor.type })

/** Generates a secret and the fields that the database stores for it. */
const newSecret = (kind: KeyKind) => {
  const key = prefixes[kind] + randomBytes(32).toString("base64url")
  return { key, stored: { hash: hashKey(key), prefix: key.slice(0, 11), last4: key.slice(-4) } }
}

const textOf = (routing: RoutingPolicy | null | undefined): string | null =>
  routing === undefined || routing === null ? null : JSON.stringify(routing)

const get = Effect.fnUntraced(function* ({ sql }: Deps, of: KeysOf, id: string) {
  const found = yield* keyById(sql, of, id, yield* periodStarts)
  return found ?? (yield* failure({ _tag: "NotFound", what: "key", id }))
})

/** Checks that the key may join the project. A project of another account counts as missing. */
const checkProject = ({ sql }: Deps, accountId: string, id: string | null) =>
  Effect.gen(function* () {
    if (id === null || (yield* lockActiveProject(sql, accountId, id))) return
    return yield* invalid("project_id", `must name an open project; got ${id}`)
  })

const checkExpiry = (expiresAt: Date | null) =>
  Effect.gen(function* () {
    if (expiresAt === null || expiresAt.getTime() > (yield* Clock.currentTimeMillis)) return
    return yield* invalid("expires_at", `must lie in the future; got ${expiresAt.toISOString()}`)
  })

/** Returns the ID of the budget that the key has after the change. */
const budgetOf = (
  { budgets }: Deps,
  { accountId, id }: Omit<KeyAction, "actor">,
  before: Pick<KeyRecord, "budget_id" | "budget_limit" | "budget_period">,
  wanted: Partial<KeyBudget> | null
) =>
  Effect.gen(function* () {
    const of = { accountId, owner: { scope: "key", id }, budgetId: before.budget_id } as const
    const { limitCents, period } = {
      limitCents: before.budget_limit === null ? null : centsFromNano(before.budget_limit),
      period: before.budget_period ?? "lifetime",
      ...(wanted ?? { limitCents: null })
    }
    if (limitCents === null && wanted !== null) {
      return yield* invalid("budget_period", "requires `budget_cents`, because this key has no budget")
    }
    return yield* budgets.set({ ...of, limitCents, period })
  })

const without = { budget_id: null, budget_limit: null, budget_period: null }

const create = (deps: Deps, input: NewKey) =>
  Effect.gen(function* () {
    const { accountId, actor, kind, name, scopes } = input
    const { allowedTools = null, budget = null, expiresAt = null, id = newResourceId() } = input
    const { projectId = null, routing = null } = input
    const { key, stored } = newSecret(kind)
    yield* lockAccount(deps.sql, accountId)
    if (kind === "inference" && (yield* workingKeys(deps.sql, accountId)).active >= MAX_ACTIVE_INFERENCE_KEYS) {
      return yield* failure({ _tag: "KeyLimitReached", limit: MAX_ACTIVE_INFERENCE_KEYS })
    }
    yield* checkProject(deps, accountId, projectId)
    yield* checkExpiry(expiresAt)
    const budgetId = budget === null ? null : yield* budgetOf(deps, { accountId, id }, without, budget)
    yield* insertKey(deps.sql, {
      id,
      accountId,
      kind,
      name,
      ...stored,
      scopes,
      projectId,
      budgetId,
      expiresAt,
      routing: textOf(routing),
      allowedTools
    })
    yield* append(deps, { accountId, actor, id }, "created", {
      kind,
      name,
      ...(kind === "management" ? { scopes } : {}),
      ...(projectId === null ? {} : { project_id: projectId }),
      ...(budget === null ? {} : { budget_cents: budget.limitCents, budget_period: budget.period }),
      ...(expiresAt === null ? {} : { expires_at: expiresAt }),
      ...(routing === null ? {} : { routing }),
      ...(allowedTools === null ? {} : { allowed_tools: allowedTools })
    })
    yield* notify(deps, { accountId, actor, id }, "created")
    return { id, key }
  }).pipe(deps.sql.withTransaction)

/** Returns an active key of the account and locks it until the transaction ends. */
const lockActiveKey = (deps: Deps, { accountId, id }: KeyAction) =>
  Effect.gen(function* () {
    yield* lockAccount(deps.sql, accountId)
    yield* lockKey(deps.sql, accountId, id)
    const row = yield* get(deps, { accountId, kind: "inference" }, id)
    if (!row.active) return yield* conflict("This key is revoked or expired. Create a new key.")
    if (row.replaced_by !== null) {
      return yield* conflict(`This key was rotated; ${row.replaced_by} replaces it.`)
    }
    return row
  })

const rotate = (deps: Deps, { graceSeconds, newId, ...action }: Parameters<Keys["Service"]["rotate"]>[0]) =>
  Effect.gen(function* () {
    const { accountId, id } = action
    const row = yield* lockActiveKey(deps, action)
    const { replaced } = yield* workingKeys(deps.sql, accountId)
    // Otherwise each rotation would leave one more working key.
    if (graceSeconds > 0 && replaced >= MAX_ACTIVE_INFERENCE_KEYS) {
      const detail = `At most ${MAX_ACTIVE_INFERENCE_KEYS} rotated keys may be in a grace period. Rotate without \`grace_seconds\`.`
      return yield* conflict(detail)
    }
    const { key, stored } = newSecret("inference")
    yield* insertKey(deps.sql, {
      id: newId,
      accountId,
      kind: "inference",
      name: row.name,
      ...stored,
      scopes: row.scopes,
      projectId: row.project_id,
      budgetId: row.budget_id,
      expiresAt: row.expires_at,
      routing: textOf(row.routing),
      allowedTools: row.allowed_tools
    })
    yield* replaceKey(deps.sql, { accountId, id, by: newId, graceSeconds })
    yield* append(deps, action, "rotated", { replaced_by: newId, grace_seconds: graceSeconds })
    yield* notify(deps, action, "rotated")
    return { id: newId, key }
  }).pipe(deps.sql.withTransaction)

/** Returns the changeable settings of a key in the form of the audit log. */
const settingsOf = (row: KeyRecord) => ({
  name: row.name,
  project_id: row.project_id,
  budget_cents: row.budget_limit === null ? null : centsFromNano(row.budget_limit),
  budget_period: row.budget_period,
  expires_at: row.expires_at,
  routing: row.routing,
  allowed_tools: row.allowed_tools
})

const update = (deps: Deps, { change, ...action }: Parameters<Keys["Service"]["update"]>[0]) =>
  Effect.gen(function* () {
    const { accountId, id } = action
    const row = yield* lockActiveKey(deps, action)
    const { expiresAt = row.expires_at, name = row.name, projectId = row.project_id, routing = row.routing } = change
    const { allowedTools = row.allowed_tools } = change
    if (change.projectId !== undefined) yield* checkProject(deps, accountId, projectId)
    if (change.expiresAt !== undefined) yield* checkExpiry(expiresAt)
    const budgetId = change.budget === undefined ? row.budget_id : yield* budgetOf(deps, action, row, change.budget)
    yield* updateKey(deps.sql, accountId, id, {
      name,
      projectId,
      budgetId,
      expiresAt,
      allowedTools,
      routing: textOf(routing)
    })
    const changed = yield* get(deps, { accountId, kind: "inference" }, id)
    yield* append(deps, action, "updated", differences(settingsOf(row), settingsOf(changed)))
    return changed
  }).pipe(deps.sql.withTransaction)
