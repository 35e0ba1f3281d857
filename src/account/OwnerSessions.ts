import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import {
  deleteSession,
  deleteSessionsOf,
  dropEndedSessions,
  insertSession,
  type Lives,
  sessionByHash,
  type SessionRow
} from "./OwnerSessionsSql.ts"

/** How long somebody stays signed in, whatever they do. */
export const SESSION_LIFE = Duration.days(30)

/** How long somebody stays signed in who does nothing. */
export const SESSION_IDLE = Duration.hours(24)

const lives: Lives = { wholeMs: Duration.toMillis(SESSION_LIFE), idleMs: Duration.toMillis(SESSION_IDLE) }

const wellFormed = /^[A-Za-z0-9_-]{43}$/

/** What is stored of a token. It has 256 random bits, so that a plain digest cannot be searched backwards. */
const hashOf = (token: string): Buffer => hash("sha256", token, "buffer")

/** What a page has to send beside the cookie, which a page of another site cannot read: made from the token, and no way back. */
export const csrfTokenOf = (token: string): string =>
  createHmac("sha256", token).update("tollgate csrf token").digest("base64url")

/** Whether this is the token's, told in the same time whatever it is. */
export const isCsrfTokenOf = (token: string, csrfToken: string): boolean =>
  timingSafeEqual(hash("sha256", csrfTokenOf(token), "buffer"), hash("sha256", csrfToken, "buffer"))

/** Who is signed in to the console. A session is known by a token that is in its cookie and nowhere else; only its hash is kept. */
export class OwnerSessions extends Context.Service<
  OwnerSessions,
  {
    /** Begins a session in the caller's transaction, and answers its token. */
    readonly begin: (
      accountId: string
    ) => Effect.Effect<{ readonly id: string; readonly token: string }, SqlError.SqlError>
    /** The session of a token, and a note that it was used; undefined when there is none, or it has ended. */
    readonly find: (token: string) => Effect.Effect<SessionRow | undefined, Unavailable>
    /** Ends one at once, on every node, in the caller's transaction. */
    readonly end: (accountId: string, id: string) => Effect.Effect<void, SqlError.SqlError>
    /** Ends all of an account's, in the caller's transaction; answers how many. */
    readonly endAll: (accountId: string) => Effect.Effect<number, SqlError.SqlError>
    /** Drops what has ended by itself, a bounded number at a time; answers how many. */
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
