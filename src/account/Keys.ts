import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hash, randomBytes } from "node:crypto"
import type { RoutingPolicy } from "../../schemas/Routing.ts"
import { type BudgetPeriodName, periodStart } from "../domain/Budget.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { centsFromNano } from "../domain/Money.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
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

export const MAX_ACTIVE_INFERENCE_KEYS = 5

export type KeyKind = "inference" | "management"

const prefixes: Record<KeyKind, string> = { inference: "svc_sk_", management: "svc_mk_" }
const wellFormed = /^svc_[sm]k_[A-Za-z0-9_-]{43}$/

/** Whether a text has the form of a key at all. */
export const isWellFormedKey = (key: string): boolean => wellFormed.test(key)

/** What is stored of a key. It has 256 random bits, so that a plain digest cannot be searched backwards. */
export const hashKey = (key: string): Buffer => hash("sha256", key, "buffer")

/** The same as a text, by which a key is found again in memory: made without a buffer, it costs a third. */
export const hashTextOf = (key: string): string => hash("sha256", key, "base64")

/** A key that was made, and the only time that it is told. */
export interface MadeKey {
  readonly id: string
  readonly key: string
}

/** What may be spent with a key in each period: integer cents. */
export interface KeyBudget {
  readonly limitCents: number
  readonly period: BudgetPeriodName
}

/** A key to be made. */
export interface NewKey {
  /** Unless told, it gets one. */
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
}

/** What is to be otherwise with a key; what is undefined stays, what is null is taken away. */
export interface KeyChange {
  readonly name?: string | undefined
  readonly projectId?: string | null | undefined
  /** The limit, or the period, of a budget that there is stays where it is undefined. */
  readonly budget?: Partial<KeyBudget> | null | undefined
  readonly expiresAt?: Date | null | undefined
  readonly routing?: RoutingPolicy | null | undefined
}

/** Whose inference key, and who does it. */
interface Doing {
  readonly accountId: string
  readonly id: string
  readonly actor: Actor
}

/**
 * The keys of accounts. A key is shown once, when it is made; only its hash is kept. One that has expired is as one that was
 * revoked, and neither ever works again. Whatever is another account's is not there.
 */
export class Keys extends Context.Service<
  Keys,
  {
    /**
     * Makes a key. Fails with `KeyLimitReached` when the account has five active inference keys, and with `ValidationError` when
     * its project is not an open one of the account or its expiry has passed.
     */
    readonly create: (input: NewKey) => Effect.Effect<MadeKey, Failure | Unavailable>
    /** Keys of one kind, newest first, from behind the cursor, and the cursor of the next page. */
    readonly list: (
      of: KeysOf,
      page: { readonly limit: number; readonly cursor: string | undefined }
    ) => Effect.Effect<{ readonly rows: ReadonlyArray<KeyRecord>; readonly next: string | null }, Unavailable>
    /** Fails with `NotFound`. */
    readonly get: (of: KeysOf, id: string) => Effect.Effect<KeyRecord, Failure | Unavailable>
    /**
     * Makes a key in the place of an inference key, like it but for its secret. That one stops at once, or after `graceSeconds`, at
     * most a day, in which it does not count as one of five. Fails with `NotFound`, and with `Conflict` for a key that does not
     * work or was rotated before, and where five are in their grace.
     */
    readonly rotate: (
      input: Doing & { readonly newId: string; readonly graceSeconds: number }
    ) => Effect.Effect<MadeKey, Failure | Unavailable>
    /** Changes an inference key. Fails with `NotFound`, with `Conflict` as rotation does, and with `ValidationError` as creation. */
    readonly update: (input: Doing & { readonly change: KeyChange }) => Effect.Effect<KeyRecord, Failure | Unavailable>
    /** Revokes at once, on every node. False when there is no such key that is not revoked, among those `of` which it has to be. */
    readonly revoke: (id: string, actor: Actor, of?: KeysOf) => Effect.Effect<boolean, Unavailable>
    readonly findByHash: (hash: Uint8Array) => Effect.Effect<KeyRow | undefined, Unavailable>
    readonly findById: (id: string) => Effect.Effect<KeyRow | undefined, Unavailable>
    /** Whether a key is neither revoked nor expired at this moment. */
    readonly isActive: (id: string) => Effect.Effect<boolean, Unavailable>
  }
>()("tollgate/account/Keys") {
  static readonly layer = Layer.effect(
    Keys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const desk: Desk = { sql, audit: yield* Audit, budgets: yield* Budgets }
      return Keys.of({
        create: (input) => storeErrors(create(desk, input)),
        list: Effect.fnUntraced(function* (of, { cursor, limit }) {
          const page = { cursor: cursor ?? null, limit: limit + 1, starts: yield* periodStarts }
          const found = yield* keysOf(sql, of, page)
          const rows = found.slice(0, limit)
          return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null }
        }, storeErrors),
        get: (of, id) => storeErrors(get(desk, of, id)),
        rotate: (input) => storeErrors(rotate(desk, input)),
        update: (input) => storeErrors(update(desk, input)),
        revoke: (id, actor, of) =>
          Effect.gen(function* () {
            const accountId = yield* revokeKey(sql, id, of)
            if (accountId === undefined) return false
            yield* append(desk, { accountId, actor, id }, "revoked", {})
            return true
          }).pipe(sql.withTransaction, storeErrors),
        findByHash: (hash) => storeErrors(keyByHash(sql, hash)),
        findById: (id) => storeErrors(keyRowById(sql, id)),
        isActive: (id) => storeErrors(keyIsActive(sql, id))
      })
    })
  ).pipe(Layer.provide(Budgets.layer))
}

interface Desk {
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

const conflict = (detail: string): Failure => failure({ _tag: "Conflict", detail })

const append = ({ audit }: Desk, { accountId, actor, id }: Doing, type: string, changes: object) =>
  audit.append({ accountId, type: `key.${type}`, actor, resource: { type: "key", id }, changes })

/** A secret, and what is stored of it. */
const newSecret = (kind: KeyKind) => {
  const key = prefixes[kind] + randomBytes(32).toString("base64url")
  return { key, stored: { hash: hashKey(key), prefix: key.slice(0, 11), last4: key.slice(-4) } }
}

const textOf = (routing: RoutingPolicy | null | undefined): string | null =>
  routing === undefined || routing === null ? null : JSON.stringify(routing)

const get = Effect.fnUntraced(function* ({ sql }: Desk, of: KeysOf, id: string) {
  const found = yield* keyById(sql, of, id, yield* periodStarts)
  return found ?? (yield* failure({ _tag: "NotFound", what: "key", id }))
})

/** A project that a key can be put into; another account's is as one that there is not. */
const checkProject = ({ sql }: Desk, accountId: string, id: string | null) =>
  Effect.gen(function* () {
    if (id === null || (yield* lockActiveProject(sql, accountId, id))) return
    return yield* invalid("project_id", `there is no open project ${id}`)
  })

const checkExpiry = (expiresAt: Date | null) =>
  Effect.gen(function* () {
    if (expiresAt === null || expiresAt.getTime() > (yield* Clock.currentTimeMillis)) return
    return yield* invalid("expires_at", "must lie in the future")
  })

/** The budget that a key has from now on. */
const budgetOf = (
  { budgets }: Desk,
  { accountId, id }: Omit<Doing, "actor">,
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
      return yield* invalid("budget_period", "needs budget_cents: this key has no budget")
    }
    return yield* budgets.set({ ...of, limitCents, period })
  })

const without = { budget_id: null, budget_limit: null, budget_period: null }

const create = (desk: Desk, input: NewKey) =>
  Effect.gen(function* () {
    const { accountId, actor, kind, name, scopes } = input
    const { id = newResourceId(), budget = null, expiresAt = null, projectId = null, routing = null } = input
    const { key, stored } = newSecret(kind)
    yield* lockAccount(desk.sql, accountId)
    if (kind === "inference" && (yield* workingKeys(desk.sql, accountId)).active >= MAX_ACTIVE_INFERENCE_KEYS) {
      return yield* failure({ _tag: "KeyLimitReached", limit: MAX_ACTIVE_INFERENCE_KEYS })
    }
    yield* checkProject(desk, accountId, projectId)
    yield* checkExpiry(expiresAt)
    const budgetId = budget === null ? null : yield* budgetOf(desk, { accountId, id }, without, budget)
    yield* insertKey(desk.sql, {
      ...{ id, accountId, kind, name, ...stored, scopes, projectId, budgetId, expiresAt },
      routing: textOf(routing)
    })
    yield* append(desk, { accountId, actor, id }, "created", {
      ...{ kind, name },
      ...(kind === "management" ? { scopes } : {}),
      ...(projectId === null ? {} : { project_id: projectId }),
      ...(budget === null ? {} : { budget_cents: budget.limitCents, budget_period: budget.period }),
      ...(expiresAt === null ? {} : { expires_at: expiresAt }),
      ...(routing === null ? {} : { routing })
    })
    return { id, key }
  }).pipe(desk.sql.withTransaction)

/** The key of an account as it stays until the transaction ends. */
const locked = (desk: Desk, { accountId, id }: Doing) =>
  Effect.gen(function* () {
    yield* lockAccount(desk.sql, accountId)
    yield* lockKey(desk.sql, accountId, id)
    const row = yield* get(desk, { accountId, kind: "inference" }, id)
    if (!row.active) return yield* conflict("This key works no more, and will not again: make another one")
    if (row.replaced_by !== null) {
      return yield* conflict(`This key was rotated: ${row.replaced_by} is in its place`)
    }
    return row
  })

const rotate = (desk: Desk, { graceSeconds, newId, ...doing }: Parameters<Keys["Service"]["rotate"]>[0]) =>
  Effect.gen(function* () {
    const { accountId, id } = doing
    const row = yield* locked(desk, doing)
    const { replaced } = yield* workingKeys(desk.sql, accountId)
    // Else each rotation would leave one more that works.
    if (graceSeconds > 0 && replaced >= MAX_ACTIVE_INFERENCE_KEYS) {
      const detail = `At most ${MAX_ACTIVE_INFERENCE_KEYS} rotated keys go on working at a time: rotate this one without grace_seconds`
      return yield* conflict(detail)
    }
    const { key, stored } = newSecret("inference")
    yield* insertKey(desk.sql, {
      ...{ id: newId, accountId, kind: "inference", name: row.name, ...stored, scopes: row.scopes },
      ...{ projectId: row.project_id, budgetId: row.budget_id, expiresAt: row.expires_at },
      routing: textOf(row.routing)
    })
    yield* replaceKey(desk.sql, { accountId, id, by: newId, graceSeconds })
    yield* append(desk, doing, "rotated", { replaced_by: newId, grace_seconds: graceSeconds })
    return { id: newId, key }
  }).pipe(desk.sql.withTransaction)

/** What of a key may change, as the audit log has it. */
const settingsOf = (row: KeyRecord) => ({
  name: row.name,
  project_id: row.project_id,
  budget_cents: row.budget_limit === null ? null : centsFromNano(row.budget_limit),
  budget_period: row.budget_period,
  expires_at: row.expires_at,
  routing: row.routing
})

const update = (desk: Desk, { change, ...doing }: Parameters<Keys["Service"]["update"]>[0]) =>
  Effect.gen(function* () {
    const { accountId, id } = doing
    const row = yield* locked(desk, doing)
    const { expiresAt = row.expires_at, name = row.name, projectId = row.project_id, routing = row.routing } = change
    if (change.projectId !== undefined) yield* checkProject(desk, accountId, projectId)
    if (change.expiresAt !== undefined) yield* checkExpiry(expiresAt)
    const budgetId = change.budget === undefined ? row.budget_id : yield* budgetOf(desk, doing, row, change.budget)
    yield* updateKey(desk.sql, accountId, id, { name, projectId, budgetId, expiresAt, routing: textOf(routing) })
    const changed = yield* get(desk, { accountId, kind: "inference" }, id)
    yield* append(desk, doing, "updated", differences(settingsOf(row), settingsOf(changed)))
    return changed
  }).pipe(desk.sql.withTransaction)
