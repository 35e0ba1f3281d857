import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hash, randomBytes } from "node:crypto"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { OperatorEvents } from "./OperatorEvents.ts"
import {
  deleteOperatorSession,
  dropEndedOperatorSessions,
  insertOperatorSession,
  operatorSessionByHash,
  type OperatorSessionRow
} from "./OperatorSessionsSql.ts"
import type { SessionLifetimes, Origin } from "./OwnerSessionsSql.ts"

/** How long a session lasts, regardless of activity: a working day. */
export const OPERATOR_SESSION_LIFE = Duration.hours(12)

/** How long a session lasts without activity. It reaches every account, so a browser that is left alone loses it soon. */
const OPERATOR_SESSION_IDLE = Duration.hours(1)

const lives: SessionLifetimes = {
  wholeMs: Duration.toMillis(OPERATOR_SESSION_LIFE),
  idleMs: Duration.toMillis(OPERATOR_SESSION_IDLE)
}

const wellFormed = /^[A-Za-z0-9_-]{43}$/

const hashOf = (token: string): Buffer => hash("sha256", token, "buffer")

/** The key of a session, and the request that begins or ends it. */
interface KeySession {
  readonly keyId: string
  readonly requestId: string
}

/**
 * The console sessions of operators. Each acts with the key that began it. Every request reads the session and its key from the
 * database, so revoking the key ends its sessions at once on every node.
 */
export class OperatorSessions extends Context.Service<
  OperatorSessions,
  {
    /** Begins a session of a key and audits it with the key's name. Returns undefined when the key works no longer. */
    readonly begin: (
      by: KeySession & { readonly origin: Origin }
    ) => Effect.Effect<(OperatorSessionRow & { readonly token: string }) | undefined, Unavailable>
    /** Returns the session of a token and records its use; undefined when there is none or it has ended. */
    readonly find: (token: string) => Effect.Effect<OperatorSessionRow | undefined, Unavailable>
    /** Ends a session at once, on every node, and audits it. */
    readonly end: (session: OperatorSessionRow, requestId: string) => Effect.Effect<void, Unavailable>
    /** Deletes sessions that have ended, a bounded number at a time. Returns how many it deleted. */
    readonly dropEnded: Effect.Effect<number, Unavailable>
  }
>()("tollgate/account/OperatorSessions") {
  static readonly layer = Layer.effect(
    OperatorSessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const events = yield* OperatorEvents
      const record = (type: string, session: OperatorSessionRow, requestId: string, more: object = {}) =>
        events.append({
          type,
          actor: { id: session.key_id, requestId },
          resource: { type: "operator_session", id: session.id },
          changes: { key_name: session.key_name, ...more }
        })
      return OperatorSessions.of({
        begin: ({ keyId, origin, requestId }) =>
          Effect.gen(function* () {
            const [id, token] = [newResourceId(), randomBytes(32).toString("base64url")]
            const session = yield* insertOperatorSession(sql, { id, keyId, hash: hashOf(token), ...origin }, lives)
            if (session === undefined) return undefined
            yield* record("operator.signed_in", session, requestId, { ...origin })
            return { ...session, token }
          }).pipe(sql.withTransaction, storeErrors),
        find: (token) =>
          wellFormed.test(token) ? storeErrors(operatorSessionByHash(sql, hashOf(token), lives)) : Effect.undefined,
        end: (session, requestId) =>
          Effect.gen(function* () {
            if (yield* deleteOperatorSession(sql, session.id)) yield* record("operator.signed_out", session, requestId)
          }).pipe(sql.withTransaction, storeErrors),
        dropEnded: storeErrors(dropEndedOperatorSessions(sql, lives))
      })
    })
  )
}
