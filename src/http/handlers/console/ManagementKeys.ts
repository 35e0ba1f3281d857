import { Effect } from "effect"
import { Owner } from "../../../../schemas/Access.ts"
import {
  type ManagementKey,
  type ManagementKeyWithSecret,
  NewManagementKey
} from "../../../../schemas/console/ManagementKeys.ts"
import { Keys } from "../../../account/Keys.ts"
import type { KeyRecord } from "../../../account/KeysSql.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { Auth } from "../../../auth/Auth.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { newResourceId } from "../../../platform/Ids.ts"
import { readJson } from "../../edge/Body.ts"
import { alreadyRevoked, answer, asOwner, makeMutate, pageOf, withoutBody } from "../management/Answers.ts"
import { operations } from "../../edge/Operations.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"

/** A management key as the API shows it. */
export const managementKeyOf = (row: KeyRecord): ManagementKey => ({
  id: row.id,
  object: "management_key",
  name: row.name,
  prefix: row.prefix,
  last4: row.last4,
  scopes: row.scopes,
  status: row.active ? "active" : "revoked",
  created_at: secondsOf(row.created_at),
  expires_at: secondsOf(row.expires_at),
  revoked_at: secondsOf(row.revoked_at)
})

const decodeNew = decoder(NewManagementKey, { strict: true })

const ofAccount = (accountId: string) => ({ accountId, kind: "management" }) as const

/** `/console/management-keys`: keys with which owners let their programs manage their accounts. */
export const consoleManagementKeysHandlers = Effect.gen(function* () {
  const auth = yield* Auth
  const keys = yield* Keys
  const mutate = makeMutate(yield* Mutations)

  const create = Effect.fnUntraced(function* (request: ApiRequest) {
    const body = yield* readJson(request)
    const { expires_at: expires, name, scopes } = yield* Effect.fromResult(decodeNew(body))
    const expiresAt = expires == null ? undefined : new Date(expires * 1_000)
    const id = newResourceId()
    const write = { request, body, type: "key.created", resource: { type: "key", id }, secret: true } as const
    return yield* mutate(asOwner, write, ({ accountId, actor }) =>
      Effect.gen(function* () {
        const wanted = { name, scopes: [...new Set(scopes)], expiresAt }
        const { key } = yield* keys.create({ id, accountId, kind: "management", actor, ...wanted })
        const data = managementKeyOf(yield* keys.get(ofAccount(accountId), id))
        return { key, data } satisfies ManagementKeyWithSecret
      })
    )
  })

  const revoke = (id: string, request: ApiRequest) => {
    const afterwards = Effect.sync(() => auth.forget(id))
    const write = { request, type: "key.revoked", resource: { type: "key", id }, afterwards }
    return mutate(asOwner, write, ({ accountId, actor }) =>
      Effect.flatMap(keys.revoke(id, actor, ofAccount(accountId)), (revoked) =>
        revoked
          ? Effect.succeed({ data: { id, object: "management_key", status: "revoked" } })
          : Effect.flatMap(keys.get(ofAccount(accountId), id), () => Effect.fail(alreadyRevoked))
      )
    )
  }

  return operations("consoleManagementKeys", {
    createManagementKey: ({ request }) => create(request),
    listManagementKeys: ({ query }) =>
      answer(
        Effect.flatMap(Owner, ({ accountId }) => keys.list(ofAccount(accountId), pageOf(query))),
        ({ next, rows }) => ({ object: "list", data: rows.map(managementKeyOf), next_cursor: next })
      ),
    revokeManagementKey: ({ params, request }) => withoutBody(request, revoke(params.key_id, request))
  })
})
