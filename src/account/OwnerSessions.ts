import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto"
import { newResourceId } from "../platform/Ids.ts"
import { type Page, readPage } from "../platform/database/Page.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import {
  deleteSession,
  deleteSessionsOf,
  dropEndedSessions,
  insertSession,
  type ListedSession,
  type SessionLifetimes,
  type Origin,
  sessionByHash,
  type SessionRow,
  sessionsOf
} from "./OwnerSessionsSql.ts"

/** How long a session lasts, regardless of activity. */
export const SESSION_LIFE = Duration.days(30)

/** How long a session lasts without activity. */
const SESSION_IDLE = Duration.hours(24)

const lives: SessionLifetimes = { wholeMs: Duration.toMillis(SESSION_LIFE), idleMs: Duration.toMillis(SESSION_IDLE) }

const wellFormed = /^[A-Za-z0-9_-]{43}$/

const NOWHERE: Origin = { browser: null, address: null }

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
    /** Begins a session in the caller's transaction and returns its token. `origin` is for its owner to recognize it. */
    readonly begin: (
      accountId: string,
      origin?: Origin
    ) => Effect.Effect<{ readonly id: string; readonly token: string }, SqlError.SqlError>
    /** Returns the session of a token and records its use; undefined when there is none or it has ended. */
    readonly find: (token: string) => Effect.Effect<SessionRow | undefined, Unavailable>
    /** Returns the sessions of an account, newest first, and the cursor of the next page. */
    readonly list: (
      accountId: string,
      page: { readonly limit: number; readonly cursor: string | undefined }
    ) => Effect.Effect<Page<ListedSession>, Unavailable>
    /** Ends a session at once, on every node, in the caller's transaction. Returns whether the account had it. */
    readonly end: (accountId: string, id: string) => Effect.Effect<boolean, SqlError.SqlError>
    /** Ends all sessions of an account in the caller's transaction, but not the one that is kept. Returns how many it ended. */
    readonly endAll: (accountId: string, kept?: string) => Effect.Effect<number, SqlError.SqlError>
    /** Deletes expired sessions, a bounded number at a time. Returns how many it deleted. */
    readonly dropEnded: Effect.Effect<number, Unavailable>
  }
>()("tollgate/account/OwnerSessions") {
  static readonly layer = Layer.effect(
    OwnerSessions,
    Effect.map(SqlClient.SqlClient, (sql) =>
      OwnerSessions.of({
        begin: (accountId, origin = NOWHERE) =>
          Effect.suspend(() => {
            const [id, token] = [newResourceId(), randomBytes(32).toString("base64url")]
            return Effect.as(insertSession(sql, { id, accountId, hash: hashOf(token), ...origin }), { id, token })
          }),
        list: (accountId, { cursor, limit }) =>
          storeErrors(readPage({ cursor, limit }, (page) => sessionsOf(sql, accountId, page, lives))),
        find: (token) =>
          wellFormed.test(token) ? storeErrors(sessionByHash(sql, hashOf(token), lives)) : Effect.undefined,
        end: (accountId, id) => deleteSession(sql, accountId, id),
        endAll: (accountId, kept) => deleteSessionsOf(sql, accountId, kept),
        dropEnded: storeErrors(dropEndedSessions(sql, lives))
      })
    )
  )
}
