import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomInt, timingSafeEqual } from "node:crypto"
import { type Failure, failure } from "../domain/Failure.ts"
import { newResourceId } from "../platform/Ids.ts"
import { Secrets } from "../platform/Secrets.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { type CodeRow, countAttempt, countSend, deleteCode, dropOver, replaceCode, secondsLeft } from "./CodesSql.ts"

/** As long as a letter or a text message may take, and no longer. */
export const CODE_LIFE = Duration.minutes(10)

/** Guesses at one code. Of a million codes one in 200,000 is guessed so. */
export const MAX_ATTEMPTS = 5

/** Of how many codes there are: six digits. */
const CODES = 1_000_000

/** So many codes may be sent to somebody, or for somebody, within a time. */
export interface Bound {
  readonly subject: string
  readonly sends: number
  readonly window: Duration.Duration
}

/** A guess that was counted. */
export interface Attempt {
  readonly id: string
  /** By what somebody else checks the code; null for one of ours. */
  readonly reference: string | null
  /** Whether this is the code, told in the same time whatever it is. */
  readonly matches: (code: string) => boolean
}

/**
 * Codes that prove an address or a telephone, one at a time for each subject: what it is for, and whom it was sent to. Neither
 * stands in the database but as a digest with a key that is not in it.
 */
export class Codes extends Context.Service<
  Codes,
  {
    /** Counts one code that is about to be sent towards all of these. Fails with `RateLimitExceeded` and counts none if one is full. */
    readonly admit: (bounds: ReadonlyArray<Bound>) => Effect.Effect<void, Failure | Unavailable>
    /** Makes a code of six digits. The one before is dead. */
    readonly issue: (subject: string) => Effect.Effect<string, Unavailable>
    /** The same in the caller's transaction for a code that somebody else made and checks. */
    readonly refer: (subject: string, reference: string) => Effect.Effect<void, SqlError.SqlError>
    /** Counts a guess, before anything is compared; undefined where there is no code, or it may be guessed at no more. */
    readonly attempt: (subject: string) => Effect.Effect<Attempt | undefined, Unavailable>
    /** Uses a code up in the caller's transaction; false where it was used or replaced before. */
    readonly use: (subject: string, id: string) => Effect.Effect<boolean, SqlError.SqlError>
    /** Drops what is over, a bounded number at a time; answers how many. */
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
  bounds: ReadonlyArray<Bound>
): Effect.Effect<void, Failure | Unavailable> =>
  Effect.gen(function* () {
    const rows = bounds.map(({ sends, subject, window }) => {
      const windowMs = Duration.toMillis(window)
      return { sends, windowMs, subject: digest(`${windowMs} ${subject}`, "sends of codes") }
    })
    // In one order, so that two that meet at several do not wait for each other.
    rows.sort((one, other) => Buffer.compare(one.subject, other.subject))
    const full: Array<{ readonly limit: number; readonly retryAfterSeconds: number }> = []
    for (const row of rows) {
      if (yield* countSend(sql, row)) continue
      full.push({ limit: row.sends, retryAfterSeconds: yield* secondsLeft(sql, row.subject) })
    }
    // Of several that are full, who comes back by the first that has room is refused by the next.
    const [last] = full.toSorted((one, other) => other.retryAfterSeconds - one.retryAfterSeconds)
    if (last === undefined) return
    return yield* failure({ _tag: "RateLimitExceeded", ...last, detail: "Too many codes were sent of late" })
  }).pipe(sql.withTransaction, storeErrors)
