import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { LOW_BALANCE } from "../domain/Balance.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { Mail } from "../platform/messaging/Mail.ts"
import { PublicUrl } from "../platform/outbound/PublicUrl.ts"
import { emailOf } from "./EmailText.ts"
import {
  acceptKind,
  anyNotification,
  claimEmails,
  declinedKinds,
  declineKind,
  endEmail,
  forgetEmails,
  insertEmail,
  type EmailRow,
  lockWriting,
  type NotificationGroup,
  type NotificationKind,
  notificationKinds,
  postponeEmail,
  takeNotifications
} from "./NotificationsSql.ts"

/** Which notifications an owner gets by email. */
export type NotificationChoices = Readonly<Record<NotificationKind, boolean>>

/** The minimum time between two emails of one kind to one account. One email reports all changes meanwhile. */
const EMAIL_PAUSE = Duration.minutes(10)

/** How long a node may take to send an email. It is longer than a mail server may be silent. */
const LEASE_MS = 120_000

/** How long emails are kept after their end. */
const EMAIL_MS = Duration.toMillis(Duration.days(30))

/** How long an origin counts as known without a sign-in from it. */
const ORIGIN_MS = Duration.toMillis(Duration.days(90))

/** The delay after each failed attempt, in milliseconds. After the last attempt, a day after the first, the gateway gives up. */
const DELAYS_MS = [1, 5, 30, 120, 360, 900].map((minutes) => minutes * 60_000)

/** The maximum number of groups for which one transaction writes emails. */
const GROUPS = 100

/** The maximum number of emails that a node claims at a time. It sends them one after the other. */
const EMAILS = 10

/**
 * Notifies owners by email. A change records a notification in its own transaction. A second transaction turns notifications into emails.
 * A node sends each email with the same text under the same `Message-ID` until a mail server accepts it. So an email is sent once, unless
 * a node dies between the server's acceptance and the record of it.
 */
export class Notifications extends Context.Service<
  Notifications,
  {
    readonly choices: (accountId: string) => Effect.Effect<NotificationChoices, Unavailable>
    /** Changes the given choices in the caller's transaction. Returns all of them, before and after. */
    readonly choose: (
      accountId: string,
      changes: Partial<NotificationChoices>
    ) => Effect.Effect<{ readonly before: NotificationChoices; readonly after: NotificationChoices }, SqlError.SqlError>
    /** Writes emails about waiting notifications, a bounded number at a time. Returns how many groups of notifications it took. */
    readonly write: Effect.Effect<number, Unavailable>
    /** Sends emails that are due, a bounded number at a time. Returns how many it tried. */
    readonly send: Effect.Effect<number, Unavailable>
    /** Deletes old emails and origins, a bounded number at a time. Returns the number of deleted rows. */
    readonly sweep: Effect.Effect<number, Unavailable>
  }
>()("tollgate/notifications/Notifications") {
  static readonly layer = Layer.effect(
    Notifications,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const mail = yield* Mail
      const publicUrl = yield* PublicUrl
      const choicesOf = (accountId: string) => Effect.map(declinedKinds(sql, accountId), without)
      return Notifications.of({
        choices: (accountId) => storeErrors(choicesOf(accountId)),
        choose: (accountId, changes) =>
          Effect.gen(function* () {
            const before = yield* choicesOf(accountId)
            const wanted = notificationKinds.filter((kind) => changes[kind] !== undefined)
            for (const kind of wanted)
              yield* changes[kind] === true ? acceptKind(sql, accountId, kind) : declineKind(sql, accountId, kind)
            return { before, after: yield* choicesOf(accountId) }
          }),
        write: storeErrors(
          Effect.flatMap(anyNotification(sql), (any) =>
            any ? writing(sql, () => publicUrl.base()) : Effect.succeed(0)
          )
        ),
        send: Effect.gen(function* () {
          const emails = yield* storeErrors(claimEmails(sql, EMAILS, LEASE_MS))
          for (const email of emails) yield* attempt({ sql, mail }, email)
          return emails.length
        }),
        sweep: storeErrors(forgetEmails(sql, { emailMs: EMAIL_MS, originMs: ORIGIN_MS }))
      })
    })
  )
}

const without = (declined: ReadonlySet<string>): NotificationChoices => ({
  low_balance: !declined.has("low_balance"),
  budget_alert: !declined.has("budget_alert"),
  webhook_disabled: !declined.has("webhook_disabled"),
  sign_in: !declined.has("sign_in"),
  key_change: !declined.has("key_change")
})

/** A closed account gets no emails, and a balance that was topped up meanwhile is not low. */
const isObsolete = ({ closed, kind, posted }: NotificationGroup): boolean =>
  closed || (kind === "low_balance" && posted >= LOW_BALANCE)

const writing = (sql: SqlClient.SqlClient, base: () => string) =>
  Effect.gen(function* () {
    if (!(yield* lockWriting(sql))) return 0
    const groups = yield* takeNotifications(sql, GROUPS, Duration.toMillis(EMAIL_PAUSE))
    for (const group of groups.filter((one) => !isObsolete(one))) {
      const { account_id: accountId, email: recipient, kind } = group
      yield* insertEmail(sql, { id: newResourceId(), accountId, kind, recipient, ...emailOf(group, base()) })
    }
    return groups.length
  }).pipe(sql.withTransaction)

/** Sends an email and notes the outcome. A node that stops finishes both first. */
const attempt = (
  { mail, sql }: { readonly sql: SqlClient.SqlClient; readonly mail: Mail["Service"] },
  { attempts, body: text, id, recipient: to, subject }: EmailRow
) =>
  Effect.gen(function* () {
    const failed = yield* mail.send({ id, to, subject, text }).pipe(
      Effect.as(undefined),
      Effect.catch((error) => Effect.succeed(error))
    )
    if (failed === undefined) return yield* endEmail(sql, id, "sent")
    const delayMs = DELAYS_MS[attempts - 1]
    yield* Effect.logWarning(`the email ${id} was not sent`, failed)
    if (failed.reason === "refused") return yield* endEmail(sql, id, "refused")
    return yield* delayMs === undefined ? endEmail(sql, id, "given_up") : postponeEmail(sql, id, delayMs)
  }).pipe(storeErrors, Effect.uninterruptible)
