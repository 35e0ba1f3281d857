import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hash, randomBytes } from "node:crypto"
import { type Failure, failure } from "../domain/Failure.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { Audit, type Actor } from "./Audit.ts"
import {
  activeInferenceKeys,
  insertKey,
  keyByHash,
  keyIsActive,
  type KeyRow,
  lockAccount,
  revokeKey
} from "./KeysSql.ts"

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

/** The keys of accounts. A key is shown once, when it is made; only its hash is kept. */
export class Keys extends Context.Service<
  Keys,
  {
    /** Makes a key. Fails with `KeyLimitReached` when the account has five active inference keys. */
    readonly create: (input: {
      readonly accountId: string
      readonly kind: KeyKind
      readonly name: string
      readonly scopes: ReadonlyArray<string>
      readonly actor: Actor
    }) => Effect.Effect<{ readonly id: string; readonly key: string }, Failure | Unavailable>
    /** Revokes at once, on every node. False when there is no such active key, or it is not this account's where one is named. */
    readonly revoke: (id: string, actor: Actor, accountId?: string) => Effect.Effect<boolean, Unavailable>
    readonly findByHash: (hash: Uint8Array) => Effect.Effect<KeyRow | undefined, Unavailable>
    /** Whether a key is neither revoked nor expired at this moment. */
    readonly isActive: (id: string) => Effect.Effect<boolean, Unavailable>
  }
>()("tollgate/account/Keys") {
  static readonly layer = Layer.effect(
    Keys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      return Keys.of({
        create: ({ accountId, kind, name, scopes, actor }) =>
          Effect.gen(function* () {
            const key = prefixes[kind] + randomBytes(32).toString("base64url")
            const id = newResourceId()
            yield* lockAccount(sql, accountId)
            if (kind === "inference" && (yield* activeInferenceKeys(sql, accountId)) >= MAX_ACTIVE_INFERENCE_KEYS) {
              return yield* failure({ _tag: "KeyLimitReached", limit: MAX_ACTIVE_INFERENCE_KEYS })
            }
            const [prefix, last4] = [key.slice(0, 11), key.slice(-4)]
            yield* insertKey(sql, { id, accountId, kind, name, hash: hashKey(key), prefix, last4, scopes })
            yield* audit.append({
              accountId,
              type: "key.created",
              actor,
              resource: { type: "key", id },
              changes: { kind, name }
            })
            return { id, key }
          }).pipe(sql.withTransaction, storeErrors),
        revoke: (id, actor, ofAccount) =>
          Effect.gen(function* () {
            const accountId = yield* revokeKey(sql, id, ofAccount)
            if (accountId === undefined) return false
            yield* audit.append({ accountId, type: "key.revoked", actor, resource: { type: "key", id }, changes: {} })
            return true
          }).pipe(sql.withTransaction, storeErrors),
        findByHash: (hash) => storeErrors(keyByHash(sql, hash)),
        isActive: (id) => storeErrors(keyIsActive(sql, id))
      })
    })
  )
}
