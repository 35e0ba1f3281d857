import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { LOW_BALANCE } from "../domain/Balance.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { Mail } from "../platform/messaging/Mail.ts"
import { PublicUrl } from "../platform/outbound/PublicUrl.ts"
import { letterOf } from "./LetterText.ts"
import {
  acceptKind,
  anyNotice,
  claimLetters,
  declinedKinds,
  declineKind,
  endLetter,
  forgetLetters,
  insertLetter,
  type LetterRow,
  lockWriting,
  type NoticeGroup,
  type NoticeKind,
  noticeKinds,
  postponeLetter,
  takeNotices
} from "./NoticesSql.ts"

/** Which notices an owner gets by email. */
export type NoticeChoices = Readonly<Record<NoticeKind, boolean>>

/** The shortest time between two letters of one kind to one account. What happens meanwhile comes in one letter. */
const LETTER_PAUSE = Duration.minutes(10)

/** How long a node may take to send a letter. It is longer than a mail server may be silent. */
const LEASE_MS = 120_000

/** How long letters are kept after their end. */
const LETTER_MS = Duration.toMillis(Duration.days(30))

/** How long an origin counts as known without a sign-in from it. */
const ORIGIN_MS = Duration.toMillis(Duration.days(90))

/** How long after each failed attempt the next one is made. After the last one the gateway gives up, a day later. */
const DELAYS_MS = [1, 5, 30, 120, 360, 900].map((minutes) => minutes * 60_000)

/** The most accounts for which one transaction writes letters. */
const GROUPS = 100

/** The most letters that a node claims at a time. A mail server gets them one after the other. */
const LETTERS = 10

/**
 * Notices to owners by email. What happens records a notice in its own transaction. A second transaction turns notices into letters, and
 * each letter is sent with the same text under the same `Message-ID` until a mail server accepts it. So a letter is sent once, unless a
 * node dies between the server's acceptance and its note of it.
 */
export class Notices extends Context.Service<
  Notices,
  {
    readonly choices: (accountId: string) => Effect.Effect<NoticeChoices, Unavailable>
    /** Changes the given choices in the caller's transaction. Returns all of them, before and after. */
    readonly choose: (
      accountId: string,
      changes: Partial<NoticeChoices>
    ) => Effect.Effect<{ readonly before: NoticeChoices; readonly after: NoticeChoices }, SqlError.SqlError>
    /** Writes letters about waiting notices, a bounded number at a time. Returns how many groups of notices it took. */
    readonly write: Effect.Effect<number, Unavailable>
    /** Sends letters that are due, a bounded number at a time. Returns how many it tried. */
    readonly send: Effect.Effect<number, Unavailable>
    /** Deletes what is old, a bounded number at a time. Returns how many rows it deleted. */
    readonly sweep: Effect.Effect<number, Unavailable>
  }
>()("tollgate/notices/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const mail = yield* Mail
      const publicUrl = yield* PublicUrl
      const choicesOf = (accountId: string) => Effect.map(declinedKinds(sql, accountId), without)
      return Notices.of({
        choices: (accountId) => storeErrors(choicesOf(accountId)),
        choose: (accountId, changes) =>
          Effect.gen(function* () {
            const before = yield* choicesOf(accountId)
            const wanted = noticeKinds.filter((kind) => changes[kind] !== undefined)
            for (const kind of wanted)
              yield* changes[kind] === true ? acceptKind(sql, accountId, kind) : declineKind(sql, accountId, kind)
            return { before, after: yield* choicesOf(accountId) }
          }),
        write: storeErrors(
          Effect.flatMap(anyNotice(sql), (any) => (any ? writing(sql, () => publicUrl.base()) : Effect.succeed(0)))
        ),
        send: Effect.gen(function* () {
          const letters = yield* storeErrors(claimLetters(sql, LETTERS, LEASE_MS))
          for (const letter of letters) yield* attempt({ sql, mail }, letter)
          return letters.length
        }),
        sweep: storeErrors(forgetLetters(sql, { letterMs: LETTER_MS, originMs: ORIGIN_MS }))
      })
    })
  )
}

const without = (declined: ReadonlySet<string>): NoticeChoices => ({
  low_balance: !declined.has("low_balance"),
  budget_alert: !declined.has("budget_alert"),
  webhook_disabled: !declined.has("webhook_disabled"),
  sign_in: !declined.has("sign_in"),
  key_change: !declined.has("key_change")
})

/** A closed account gets no letters, and a balance that was topped up meanwhile is not low. */
const isObsolete = ({ closed, kind, posted }: NoticeGroup): boolean =>
  closed || (kind === "low_balance" && posted >= LOW_BALANCE)

const writing = (sql: SqlClient.SqlClient, base: () => string) =>
  Effect.gen(function* () {
    if (!(yield* lockWriting(sql))) return 0
    const groups = yield* takeNotices(sql, GROUPS, Duration.toMillis(LETTER_PAUSE))
    for (const group of groups.filter((one) => !isObsolete(one))) {
      const { account_id: accountId, email: recipient, kind } = group
      yield* insertLetter(sql, { id: newResourceId(), accountId, kind, recipient, ...letterOf(group, base()) })
    }
    return groups.length
  }).pipe(sql.withTransaction)

/** Sends a letter and notes the outcome. A node that stops finishes both first. */
const attempt = (
  { mail, sql }: { readonly sql: SqlClient.SqlClient; readonly mail: Mail["Service"] },
  { attempts, body: text, id, recipient: to, subject }: LetterRow
) =>
  Effect.gen(function* () {
    const failed = yield* mail.send({ id, to, subject, text }).pipe(
      Effect.as(undefined),
      Effect.catch((error) => Effect.succeed(error))
    )
    if (failed === undefined) return yield* endLetter(sql, id, "sent")
    const delayMs = DELAYS_MS[attempts - 1]
    yield* Effect.logWarning(`the letter ${id} was not sent`, failed)
    if (failed.reason === "refused") return yield* endLetter(sql, id, "refused")
    return yield* delayMs === undefined ? endLetter(sql, id, "given_up") : postponeLetter(sql, id, delayMs)
  }).pipe(storeErrors, Effect.uninterruptible)
