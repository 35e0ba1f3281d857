import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { conflict, type Failure, failure, invalid } from "../domain/Failure.ts"
import { emailChanged } from "../notifications/EmailText.ts"
import { insertEmail } from "../notifications/NotificationsSql.ts"
import { Config } from "../platform/config/Config.ts"
import { newResourceId } from "../platform/Ids.ts"
import { Mail } from "../platform/messaging/Mail.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { setEmail } from "./AccountsSql.ts"
import { type Actor, Audit } from "./Audit.ts"
import { type CodeLimit, CODE_LIFE, Codes } from "./Codes.ts"
import { OwnerSessions } from "./OwnerSessions.ts"
import { boundsOf, ofMail, PER_ADDRESS, PER_CLIENT, PER_CLIENT_AND_ADDRESS } from "./SignIn.ts"

/** The limit on codes that one account may request for new addresses. */
const PER_ACCOUNT: ReadonlyArray<Omit<CodeLimit, "subject">> = [
  { sends: 5, window: Duration.minutes(15) },
  { sends: 10, window: Duration.hours(24) }
]

/** An owner with a session, and the address that the account is to have. */
export interface EmailClaim {
  readonly accountId: string
  readonly sessionId: string
  readonly actor: Actor
  /** The current address. */
  readonly from: string
  readonly to: string
}

/** A code that was sent to the new address. */
export interface SentEmailCode {
  readonly email: string
  /** The code itself, in a sandbox without a mail server, which only prints it. */
  readonly printedCode?: string
}

/** The result of a change of the address. */
export interface ChangedEmail {
  readonly email: string
  /** How many other sessions ended. */
  readonly ended: number
}

/**
 * Changes the address of an account, which is what its owner signs in with. A code that was sent to the new address confirms it. The
 * change ends all sessions but the one that asked, and an email tells the former address.
 */
export class EmailChange extends Context.Service<
  EmailChange,
  {
    /**
     * Sends a code to the new address without looking up an account. Returns what writes that into the audit log in the caller's
     * transaction. Fails with `RateLimitExceeded`, with `ServiceUnavailable` when mail cannot be sent, and with `ValidationError` when the
     * address is the present one or does not accept mail.
     */
    readonly request: (
      claim: EmailClaim,
      client: string
    ) => Effect.Effect<Effect.Effect<SentEmailCode, SqlError.SqlError>, Failure | Unavailable>
    /**
     * Checks a code. Returns what changes the address in the caller's transaction. That fails with `InvalidCode` when the code was used
     * meanwhile, and with `Conflict` when another account has the address. Only a client that can read its mail learns that.
     */
    readonly verify: (
      claim: EmailClaim,
      code: string
    ) => Effect.Effect<Effect.Effect<ChangedEmail, Failure | SqlError.SqlError>, Failure | Unavailable>
  }
>()("tollgate/account/EmailChange") {
  static readonly layer = Layer.effect(
    EmailChange,
    Effect.gen(function* () {
      const deps: Deps = {
        sql: yield* SqlClient.SqlClient,
        audit: yield* Audit,
        codes: yield* Codes,
        sessions: yield* OwnerSessions
      }
      const { audit, codes } = deps
      const mail = yield* Mail
      const { rateLimitScale } = yield* Config
      return EmailChange.of({
        request: (typed, client) =>
          Effect.gen(function* () {
            const claim = { ...typed, to: typed.to.toLowerCase() }
            const { accountId, actor, from, to } = claim
            if (to === from.toLowerCase()) return yield* invalid("email", "must differ from the current address")
            yield* codes.admit([
              ...boundsOf(`client and address ${client} ${to}`, PER_CLIENT_AND_ADDRESS),
              ...boundsOf(`address ${to}`, PER_ADDRESS),
              ...boundsOf(`client ${client}`, PER_CLIENT, rateLimitScale),
              ...boundsOf(`email of ${accountId}`, PER_ACCOUNT)
            ])
            const code = yield* codes.issue(subjectOf(claim))
            const email = { to, ...emailOf(code) }
            yield* Effect.mapError(mail.send(email), (error) => ofMail(error, "Changing the address"))
            const sent = mail.showsCodes === true ? { email: to, printedCode: code } : { email: to }
            return Effect.as(
              audit.append({
                accountId,
                type: "email.code_sent",
                actor,
                resource: { type: "account", id: accountId },
                changes: { email: to }
              }),
              sent
            )
          }),
        verify: (typed, code) =>
          Effect.gen(function* () {
            const claim = { ...typed, to: typed.to.toLowerCase() }
            const attempt = yield* codes.attempt(subjectOf(claim))
            if (attempt?.matches(code) !== true) return yield* failure({ _tag: "InvalidCode" })
            return applyChange(deps, claim, attempt.id)
          })
      })
    })
  )
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly codes: Codes["Service"]
  readonly sessions: OwnerSessions["Service"]
}

const subjectOf = ({ accountId, to }: EmailClaim): string => `email of ${accountId} ${to}`

/** The new address, the end of the other sessions and the email to the former address, all or nothing. */
const applyChange = ({ audit, codes, sessions, sql }: Deps, claim: EmailClaim, codeId: string) =>
  Effect.gen(function* () {
    const { accountId, actor, sessionId, to } = claim
    if (!(yield* codes.use(subjectOf(claim), codeId))) return yield* failure({ _tag: "InvalidCode" })
    const change = yield* setEmail(sql, accountId, to).pipe(
      Effect.catchIf(
        (error) => error.reason._tag === "UniqueViolation",
        () => Effect.fail(conflict("Another account has this address."))
      )
    )
    // The account's row is locked now, so the former address is not one that another change has just replaced.
    const ended = yield* sessions.endAll(accountId, sessionId)
    const email = emailChanged(to, change.at)
    yield* insertEmail(sql, {
      id: newResourceId(),
      accountId,
      kind: "email_changed",
      recipient: change.former,
      ...email
    })
    yield* audit.append({
      accountId,
      type: "email.changed",
      actor,
      resource: { type: "account", id: accountId },
      changes: { email: { from: change.former, to }, sessions_ended: ended }
    })
    return { email: to, ended }
  })

const emailOf = (code: string) => ({
  subject: `${code} confirms your new address`,
  text: [
    `The code that confirms your new address: ${code}`,
    "",
    `It works once, within ${Duration.toMinutes(CODE_LIFE)} minutes, on the settings page on which you asked for it.`,
    "If you did not ask for it, ignore this message: without the code, nothing changes.",
    ""
  ].join("\n")
})
