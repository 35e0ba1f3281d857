import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import {
  deleteSession,
  deleteSessionsOf,
  dropEndedSessions,
  insertSession,
  type Lives,
  sessionByHash,
  type SessionRow
} from "./OwnerSessionsSql.ts"

/** How long a session lasts, regardless of activity. */
export const SESSION_LIFE = Duration.days(30)

/** How long a session lasts without activity. */
export const SESSION_IDLE = Duration.hours(24)

const lives: Lives = { wholeMs: Duration.toMillis(SESSION_LIFE), idleMs: Duration.toMillis(SESSION_IDLE) }

const wellFormed = /^[A-Za-z0-9_-]{43}$/

/**
 * Returns the digest that the database stores for a token. A token has 256 random bits, so a plain SHA-256 cannot be reversed by
 * guessing.
 */
const hashOf = (token: string): Buffer => hash("sha256", token, "buffer")

/**
 * Returns the CSRF token that a page sends beside the cookie and that a page of another site cannot read. It derives one-way from
 * the session token.
 */
export const csrfTokenOf = (token: string): string =>
  createHmac("sha256", token).update("tollgate csrf token").digest("base64url")

/** Reports in constant time whether the CSRF token belongs to the session token. */
export const isCsrfTokenOf = (token: string, csrfToken: string): boolean =>
  timingSafeEqual(hash("sha256", csrfTokenOf(token), "buffer"), hash("sha256", csrfToken, "buffer"))

/**
 * The console sessions of owners. A token in the session's cookie, and nowhere else, identifies a session. The database stores only
 * its hash.
 */
export class OwnerSessions extends Context.Service<
  OwnerSessions,
  {
    /** Begins a session in the caller's transaction and returns its token. */
    readonly begin: (
      accountId: string
    ) => Effect.Effect<{ readonly id: string; readonly token: string }, SqlError.SqlError>
    /** Returns the session of a token and records its use; undefined when there is none or it has ended. */
    readonly find: (token: string) => Effect.Effect<SessionRow | undefined, Unavailable>
    /** Ends a session at once, on every node, in the caller's transaction. */
    readonly end: (accountId: string, id: string) => Effect.Effect<void, SqlError.SqlError>
    /** Ends all sessions of an account in the caller's transaction. Returns how many there were. */
    readonly endAll: (accountId: string) => Effect.Effect<number, SqlError.SqlError>
    /** Deletes expired sessions, a bounded number at a time. Returns how many it deleted. */
    readonly dropEnded: Effect.Effect<number, Unavailable>
  }
>()("tollgate/account/OwnerSessions") {
  static readonly layer = Layer.effect(
    OwnerSessions,
    Effect.map(SqlClient.SqlClient, (sql) =>
      OwnerSessions.of({
        begin: (accountId) =>
          Effect.suspend(() => {
            const [id, token] = [newResourceId(), randomBytes(32).toString("base64url")]
            return Effect.as(insertSession(sql, { id, accountId, hash: hashOf(token) }), { id, token })
          }),
        find: (token) =>
          wellFormed.test(token) ? storeErrors(sessionByHash(sql, hashOf(token), lives)) : Effect.undefined,
        end: (accountId, id) => Effect.asVoid(deleteSession(sql, accountId, id)),
        endAll: (accountId) => deleteSessionsOf(sql, accountId),
        dropEnded: storeErrors(dropEndedSessions(sql, lives))
      })
    )
  )
}
