import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomInt, timingSafeEqual } from "node:crypto"
import { type Failure, failure } from "../domain/Failure.ts"
import { newResourceId } from "../platform/Ids.ts"
import { Secrets } from "../platform/Secrets.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { type CodeRow, countAttempt, countSend, deleteCode, dropOver, replaceCode, secondsLeft } from "./CodesSql.ts"

/** The lifetime of a code: just long enough for an email or a text message to arrive. */
export const CODE_LIFE = Duration.minutes(10)

/** The maximum number of guesses at one code. With a million codes, five guesses succeed in one of 200,000 cases. */
export const MAX_ATTEMPTS = 5

/** The number of different codes: six digits. */
const CODES = 1_000_000

/** The maximum number of codes that the gateway may send to or for a subject within a window. */
export interface CodeLimit {
  readonly subject: string
  readonly sends: number
  readonly window: Duration.Duration
}

/** A guess that was counted. */
export interface Attempt {
  readonly id: string
  /** The external verification service's reference for the code; null for the gateway's own codes. */
  readonly reference: string | null
  /** Compares in constant time whether this is the code. */
  readonly matches: (code: string) => boolean
}

/**
 * Codes that prove control of an email address or a phone number. Each subject, which is a purpose and a recipient, has one code at
 * a time. The database stores subjects and codes only as digests, keyed with a secret that it does not contain.
 */
export class Codes extends Context.Service<
  Codes,
  {
    /**
     * Counts one code about to be sent toward all of these bounds. Fails with `RateLimitExceeded` and counts nothing when one of
     * them is full.
     */
    readonly admit: (bounds: ReadonlyArray<CodeLimit>) => Effect.Effect<void, Failure | Unavailable>
    /** Issues a code of six digits and invalidates the one before it. */
    readonly issue: (subject: string) => Effect.Effect<string, Unavailable>
    /** Stores, in the caller's transaction, a code that an external service issued and checks. Invalidates the code before it. */
    readonly refer: (subject: string, reference: string) => Effect.Effect<void, SqlError.SqlError>
    /** Counts a guess before comparing anything. Returns undefined when there is no code or no guess is left. */
    readonly attempt: (subject: string) => Effect.Effect<Attempt | undefined, Unavailable>
    /** Uses up a code in the caller's transaction. Returns false when it was used or replaced before. */
    readonly use: (subject: string, id: string) => Effect.Effect<boolean, SqlError.SqlError>
    /** Deletes expired codes and windows, a bounded number at a time. Returns how many it deleted. */
    readonly dropOver: Effect.Effect<number, Unavailable>
  }
>()("tollgate/account/Codes") {
  static readonly layer = Layer.effect(
    Codes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { digest } = yield* Secrets
      const subjectOf = (subject: string) => digest(subject, "subject of a code")
      const digestOf = (subject: string, id: string, code: string) => digest(`${id} ${subject} ${code}`, "code")
      const lifeMs = Duration.toMillis(CODE_LIFE)
      return Codes.of({
        admit: (bounds) => admit(sql, digest, bounds),
        issue: (subject) =>
          Effect.suspend(() => {
            const [id, code] = [newResourceId(), String(randomInt(CODES)).padStart(6, "0")]
            const row = { id, digest: digestOf(subject, id, code), reference: null }
            return Effect.as(storeErrors(replaceCode(sql, { ...row, subject: subjectOf(subject), lifeMs })), code)
          }),
        refer: (subject, reference) =>
          Effect.suspend(() => {
            const row = { id: newResourceId(), digest: null, reference }
            return Effect.asVoid(replaceCode(sql, { ...row, subject: subjectOf(subject), lifeMs }))
          }),
        attempt: (subject) =>
          countAttempt(sql, subjectOf(subject), MAX_ATTEMPTS).pipe(
            Effect.map((row) => row && attemptOf(row, (code) => digestOf(subject, row.id, code))),
            storeErrors
          ),
        use: (subject, id) => deleteCode(sql, subjectOf(subject), id),
        dropOver: storeErrors(dropOver(sql))
      })
    })
  )
}

const attemptOf = ({ digest, id, reference }: CodeRow, digestOf: (code: string) => Uint8Array): Attempt => ({
  id,
  reference,
  matches: (code) => digest !== null && timingSafeEqual(digest, digestOf(code))
})

const admit = (
  sql: SqlClient.SqlClient,
  digest: Secrets["Service"]["digest"],
  bounds: ReadonlyArray<CodeLimit>
): Effect.Effect<void, Failure | Unavailable> =>
  Effect.gen(function* () {
    const rows = bounds.map(({ sends, subject, window }) => {
      const windowMs = Duration.toMillis(window)
      return { sends, windowMs, subject: digest(`${windowMs} ${subject}`, "sends of codes") }
    })
    // Sorted, so that two transactions that share several rows lock them in the same order and cannot deadlock.
    rows.sort((one, other) => Buffer.compare(one.subject, other.subject))
    const full: Array<{ readonly limit: number; readonly retryAfterSeconds: number }> = []
    for (const row of rows) {
      if (yield* countSend(sql, row)) continue
      full.push({ limit: row.sends, retryAfterSeconds: yield* secondsLeft(sql, row.subject) })
    }
    // Reports the bound that frees up last. A client that returned when the first one freed up would be refused by the next.
    const [last] = full.toSorted((one, other) => other.retryAfterSeconds - one.retryAfterSeconds)
    if (last === undefined) return
    return yield* failure({ _tag: "RateLimitExceeded", ...last, detail: "Too many codes were sent recently" })
  }).pipe(sql.withTransaction, storeErrors)
