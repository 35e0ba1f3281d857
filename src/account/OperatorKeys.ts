import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { hashKey, type MadeKey } from "./Keys.ts"
import { OperatorEvents } from "./OperatorEvents.ts"
import {
  insertOperatorKey,
  type OperatorKeyRow,
  operatorKeyByHash,
  operatorKeys,
  revokeOperatorKey
} from "./OperatorKeysSql.ts"

/** The actor of every change of operator keys in the audit log. */
const COMMAND_LINE = { id: "command-line" }

const PREFIX = "svc_ok_"

const wellFormed = /^svc_ok_[A-Za-z0-9_-]{43}$/

/** Reports whether a string has the form of an operator key. */
export const isOperatorKey = (key: string): boolean => wellFormed.test(key)

/** The facts of a key that the audit log records. */
type RecordedKey = Pick<OperatorKeyRow, "id" | "name" | "expires_at">

/**
 * The keys of operators. Each reaches every account, so only the command line creates them. No cache holds one: each request reads it from
 * the database, so a revocation takes effect at once on every node.
 */
export class OperatorKeys extends Context.Service<
  OperatorKeys,
  {
    /** Creates a key. Its secret appears here once and is not stored. */
    readonly create: (input: {
      readonly name: string
      readonly expiresAt: Date | null
    }) => Effect.Effect<MadeKey, Unavailable>
    /** Returns all keys, newest first. */
    readonly list: Effect.Effect<ReadonlyArray<OperatorKeyRow>, Unavailable>
    /** Revokes a key. Returns false when no unrevoked key has this ID. */
    readonly revoke: (id: string) => Effect.Effect<boolean, Unavailable>
    /** Returns the id of a key that is neither revoked nor expired; undefined for everything else. */
    readonly find: (key: string) => Effect.Effect<string | undefined, Unavailable>
  }
>()("tollgate/account/OperatorKeys") {
  static readonly layer = Layer.effect(
    OperatorKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const events = yield* OperatorEvents
      const record = (type: "operator_key.created" | "operator_key.revoked", key: RecordedKey) =>
        events.append({
          type,
          actor: COMMAND_LINE,
          resource: { type: "operator_key", id: key.id },
          changes: { name: key.name, expires_at: key.expires_at?.toISOString() ?? null }
        })
      return OperatorKeys.of({
        create: ({ expiresAt, name }) =>
          Effect.gen(function* () {
            const id = newResourceId()
            const key = PREFIX + randomBytes(32).toString("base64url")
            yield* insertOperatorKey(sql, { id, name, expiresAt, hash: hashKey(key), last4: key.slice(-4) })
            yield* record("operator_key.created", { id, name, expires_at: expiresAt })
            return { id, key }
          }).pipe(sql.withTransaction, storeErrors),
        list: storeErrors(operatorKeys(sql)),
        revoke: (id) =>
          Effect.gen(function* () {
            const revoked = yield* revokeOperatorKey(sql, id)
            if (revoked === undefined) return false
            yield* record("operator_key.revoked", revoked)
            return true
          }).pipe(sql.withTransaction, storeErrors),
        find: (key) => (isOperatorKey(key) ? storeErrors(operatorKeyByHash(sql, hashKey(key))) : Effect.undefined)
      })
    })
  )
}
