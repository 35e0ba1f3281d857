import { Effect } from "effect"
import { Caller } from "../../../../schemas/Access.ts"
import {
  KeyRotation,
  type ManagedKey,
  ManagedKeyChange,
  type ManagedKeyWithSecret,
  NewManagedKey
} from "../../../../schemas/management/Keys.ts"
import { type KeyChange, Keys, type MadeKey } from "../../../account/Keys.ts"
import type { KeyRecord, KeysOf } from "../../../account/KeysSql.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { Auth } from "../../../auth/Auth.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { invalid } from "../../../domain/Failure.ts"
import { centsFromNano } from "../../../domain/Money.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { newResourceId } from "../../../platform/Ids.ts"
import { Usage } from "../../../usage/Usage.ts"
import type { KeyTotal } from "../../../usage/UsageSql.ts"
import { readJson } from "../../edge/Body.ts"
import {
  alreadyRevoked,
  answer,
  asCaller,
  KEY_ROUTING_MEMBERS,
  makeMutate,
  mayRoute,
  pageOf,
  readOptional,
  withoutBody
} from "./Answers.ts"
import { operations } from "../../edge/Operations.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"

/** How many keys may be created between two parallel reads of a list. */
const MADE_MEANWHILE = 10

const timeOf = (seconds: number): Date => new Date(seconds * 1_000)

/** A key as the API shows it, with its total usage if it has any. */
export const keyOf = (row: KeyRecord, total: KeyTotal | undefined): ManagedKey => ({
  id: row.id,
  object: "key",
  name: row.name,
  prefix: row.prefix,
  last4: row.last4,
  project_id: row.project_id,
  status: row.active ? "active" : "revoked",
  budget_cents: row.budget_limit === null ? null : centsFromNano(row.budget_limit),
  budget_period: row.budget_period,
  spent_cents: centsFromNano(row.budget_spent ?? total?.cost ?? 0n),
  routing: row.routing,
  allowed_tools: row.allowed_tools,
  created_at: secondsOf(row.created_at),
  last_used_at: secondsOf(total?.used_at ?? null),
  expires_at: secondsOf(row.expires_at),
  revoked_at: secondsOf(row.revoked_at)
})

const decodeNew = decoder(NewManagedKey, { strict: true })
const decodeChange = decoder(ManagedKeyChange, { strict: true })
const decodeRotation = decoder(KeyRotation, { strict: true })

const NULL_PERIOD = "must not be null unless `budget_cents` is null"

const newOf = ({ budget_cents: limitCents, budget_period: period, ...wanted }: typeof NewManagedKey.Type) =>
  Effect.gen(function* () {
    const unlimited = limitCents === undefined || limitCents === null
    if (unlimited && period !== undefined && period !== null) {
      return yield* invalid("budget_period", "requires `budget_cents`")
    }
    if (!unlimited && period === null) return yield* invalid("budget_period", NULL_PERIOD)
    return {
      name: wanted.name,
      projectId: wanted.project_id,
      budget: unlimited ? undefined : { limitCents, period: period ?? "lifetime" },
      expiresAt: wanted.expires_at == null ? undefined : timeOf(wanted.expires_at),
      routing: wanted.routing,
      allowedTools: wanted.allowed_tools
    }
  })

const changeOf = ({ budget_cents: limitCents, budget_period: period, ...wanted }: typeof ManagedKeyChange.Type) =>
  Effect.gen(function* () {
    if (limitCents === null && period != null) return yield* invalid("budget_period", "requires `budget_cents`")
    if (limitCents !== null && period === null) return yield* invalid("budget_period", NULL_PERIOD)
    const budget = {
      ...(limitCents == null ? {} : { limitCents }),
      ...(period == null ? {} : { period })
    }
    const change: KeyChange = {
      name: wanted.name,
      projectId: wanted.project_id,
      budget: limitCents === null ? null : limitCents === undefined && period === undefined ? undefined : budget,
      expiresAt: wanted.expires_at == null ? wanted.expires_at : timeOf(wanted.expires_at),
      routing: wanted.routing,
      allowedTools: wanted.allowed_tools
    }
    return change
  })

const makeKeyActions = Effect.gen(function* () {
  const auth = yield* Auth
  const keys = yield* Keys
  const usage = yield* Usage
  const mutate = makeMutate(yield* Mutations)
  const ofAccount = (accountId: string) => ({ accountId, kind: "inference" }) as const

  /** The keys and their usage are read in parallel. */
  const page = (of: KeysOf, { cursor, limit }: ReturnType<typeof pageOf>) =>
    Effect.map(
      Effect.all(
        [
          keys.list(of, { cursor, limit }),
          // Reads more than one page: keys created between the two reads push others off the end of this one.
          usage.ofKeysPage(of, { cursor: cursor ?? null, limit: limit + MADE_MEANWHILE })
        ],
        { concurrency: 2 }
      ),
      ([{ next, rows }, totals]) => ({ next, data: rows.map((row) => keyOf(row, totals.get(row.id))) })
    )
  const single = (accountId: string, row: KeyRecord) =>
    Effect.map(usage.ofKeys(accountId, [row.id]), (totals) => ({ data: keyOf(row, totals.get(row.id)) }))
  const one = (accountId: string, id: string) =>
    Effect.flatMap(keys.get(ofAccount(accountId), id), (row) => single(accountId, row))
  const keyResponse = (accountId: string, { id, key }: MadeKey) =>
    Effect.map(one(accountId, id), ({ data }): ManagedKeyWithSecret => ({ key, data }))
  /** Removes a key from this node's cache. */
  const forgetKey = (id: string) => Effect.sync(() => auth.forget(id))
  /** Removes all keys of the account from this node's cache, because a change of a key also changes the keys that it replaces. */
  const forgetAccountKeys = Effect.map(Caller, ({ accountId }) => Effect.sync(() => auth.forgetAccount(accountId)))
  return { keys, page, single, one, keyResponse, mutate, forgetKey, forgetAccountKeys, ofAccount }
})

/** `/management/keys`: the inference keys of the account. */
export const managementKeysHandlers = Effect.gen(function* () {
  const { forgetAccountKeys, forgetKey, keys, keyResponse, mutate, ofAccount, one, page, single } =
    yield* makeKeyActions

  const create = Effect.fnUntraced(function* (request: ApiRequest) {
    const body = yield* readJson(request)
    yield* mayRoute(body)
    const wanted = yield* newOf(yield* Effect.fromResult(decodeNew(body)))
    const id = newResourceId()
    const write = { request, body, type: "key.created", resource: { type: "key", id }, secret: true } as const
    return yield* mutate(asCaller, write, ({ accountId, actor }) =>
      Effect.flatMap(keys.create({ id, accountId, kind: "inference", scopes: [], actor, ...wanted }), (key) =>
        keyResponse(accountId, key)
      )
    )
  })

  const update = Effect.fnUntraced(function* (id: string, request: ApiRequest) {
    const body = yield* readJson(request)
    yield* mayRoute(body, KEY_ROUTING_MEMBERS)
    const change = yield* changeOf(yield* Effect.fromResult(decodeChange(body)))
    const write = { request, body, type: "key.updated", resource: { type: "key", id } }
    return yield* mutate(asCaller, { ...write, afterwards: yield* forgetAccountKeys }, (caller) =>
      Effect.flatMap(keys.update({ ...caller, id, change }), (row) => single(caller.accountId, row))
    )
  })

  const rotate = Effect.fnUntraced(function* (id: string, request: ApiRequest) {
    const body = yield* readOptional(request)
    const { grace_seconds: graceSeconds = 0 } = yield* Effect.fromResult(decodeRotation(body))
    const newId = newResourceId()
    const write = { request, body, type: "key.rotated", resource: { type: "key", id }, secret: true } as const
    return yield* mutate(asCaller, { ...write, afterwards: forgetKey(id) }, (caller) =>
      Effect.flatMap(keys.rotate({ ...caller, id, newId, graceSeconds }), (key) => keyResponse(caller.accountId, key))
    )
  })

  const revoke = (id: string, request: ApiRequest) => {
    const write = { request, type: "key.revoked", resource: { type: "key", id }, afterwards: forgetKey(id) }
    return mutate(asCaller, write, ({ accountId, actor }) =>
      Effect.flatMap(keys.revoke(id, actor, ofAccount(accountId)), (revoked) =>
        revoked
          ? Effect.succeed({ data: { id, object: "key", status: "revoked" } })
          : Effect.flatMap(keys.get(ofAccount(accountId), id), () => Effect.fail(alreadyRevoked))
      )
    )
  }

  return operations("managementKeys", {
    createKey: ({ request }) => create(request),
    updateKey: ({ params, request }) => update(params.key_id, request),
    rotateKey: ({ params, request }) => rotate(params.key_id, request),
    listKeys: ({ query }) =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) => page(ofAccount(accountId), pageOf(query))),
        ({ data, next }) => ({ object: "list", data, next_cursor: next })
      ),
    getKey: ({ params }) =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) => one(accountId, params.key_id)),
        (found) => found
      ),
    revokeKey: ({ params, request }) => withoutBody(request, revoke(params.key_id, request))
  })
})
