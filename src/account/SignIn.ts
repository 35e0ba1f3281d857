import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { Config } from "../platform/config/Config.ts"
import { insertNotification, rememberOrigin } from "../notifications/NotificationsSql.ts"
import { newResourceId } from "../platform/Ids.ts"
import { Mail, type MailError } from "../platform/messaging/Mail.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { Accounts, stoppedAccount } from "./Accounts.ts"
import type { AccountRow } from "./AccountsSql.ts"
import { Audit } from "./Audit.ts"
import { type CodeLimit, CODE_LIFE, Codes } from "./Codes.ts"
import { OwnerSessions } from "./OwnerSessions.ts"
import type { Origin } from "./OwnerSessionsSql.ts"

/**
 * Codes that one client may request for one address; an owner needs one. Fixed windows can let through two days' worth in a row.
 * Even that stays below either bound of the address, so no client can lock out an owner alone.
 */
export const PER_CLIENT_AND_ADDRESS: ReadonlyArray<Omit<CodeLimit, "subject">> = [
  { sends: 3, window: Duration.minutes(15) },
  { sends: 6, window: Duration.hours(24) }
]

/**
 * Codes sent to one address, for all clients together. A guess counts only against a code that was sent, so this also bounds
 * guesses under any sign-in ID. 20 codes with five guesses each are 100 guesses a day among a million codes: a chance of 1 in
 * 10,000 for all clients together. One client gets 30 guesses, a chance of 1 in 33,000.
 */
export const PER_ADDRESS: ReadonlyArray<Omit<CodeLimit, "subject">> = [
  { sends: 15, window: Duration.hours(1) },
  { sends: 20, window: Duration.hours(24) }
]

/** Codes that one client may request for any addresses, multiplied by `RATE_LIMIT_SCALE`. */
export const PER_CLIENT: ReadonlyArray<Omit<CodeLimit, "subject">> = [
  { sends: 10, window: Duration.minutes(1) },
  { sends: 200, window: Duration.hours(24) }
]

/** Returns the bounds for one subject, multiplied by `scale`. */
export const boundsOf = (subject: string, bounds: ReadonlyArray<Omit<CodeLimit, "subject">>, scale = 1) =>
  bounds.map(({ sends, window }) => ({ subject, window, sends: Math.max(1, Math.floor(sends * scale)) }))

/** The result of a successful sign-in. */
export interface SignedIn {
  readonly account: AccountRow
  readonly sessionId: string
  /** Belongs in the cookie and nowhere else. */
  readonly token: string
}

/** The proof that a client presents: the address, the ID of its sign-in request, and the code it received. */
export interface Proof {
  readonly email: string
  /** The ID of the request that caused the code to be sent. */
  readonly signInId: string
  readonly code: string
}

/** Generates an ID of 128 random bits. A client that did not request the code cannot guess it. */
const newSignInId = (): string => randomBytes(16).toString("base64url")

/** The request that presents a code, and where it comes from. */
export interface CodeRequest {
  readonly requestId: string
  readonly origin: Origin
}

/** A code that was sent. */
export interface SentSignIn {
  /** Must accompany the code. */
  readonly signInId: string
  /** The code itself, in a sandbox without a mail server, which only prints it. */
  readonly printedCode?: string
}

/**
 * Signs owners in without passwords: the owner of an address is the person that can read its mail. Addresses are compared without
 * regard to case. A code works only for the client that requested it, so no other client can use up its guesses or replace it. No
 * response shows whether an account exists, by content or by timing, to a client that cannot read the mail.
 */
export class SignIn extends Context.Service<
  SignIn,
  {
    /**
     * Sends a code to an address without looking up an account. Fails with
     * `RateLimitExceeded`, with `ServiceUnavailable` when mail cannot be sent, and with `ValidationError` when the address does not
     * accept mail.
     */
    readonly request: (email: string, client: string) => Effect.Effect<SentSignIn, Failure | Unavailable>
    /**
     * Signs in with a code and creates the account if there is none. Fails with `InvalidCode`, whatever part of the proof is wrong,
     * and with `AccountSuspended` or `AccountClosed` after a right proof.
     * `read` loads the rest of the response before the code is used up, so no session begins that the client never hears of.
     */
    readonly verify: <A>(
      proof: Proof,
      presenting: CodeRequest,
      read: (accountId: string) => Effect.Effect<A, Unavailable>
    ) => Effect.Effect<SignedIn & { readonly read: A }, Failure | Unavailable>
  }
>()("tollgate/account/SignIn") {
  static readonly layer = Layer.effect(
    SignIn,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const audit = yield* Audit
      const codes = yield* Codes
      const mail = yield* Mail
      const sessions = yield* OwnerSessions
      const { rateLimitScale } = yield* Config

      const accountOf = (email: string, requestId: string) =>
        Effect.gen(function* () {
          const found = yield* accounts.findByEmail(email)
          if (found !== undefined) return { account: found, isNew: false }
          const id = newResourceId()
          return yield* accounts.create(email, { type: "owner", id }, { id, requestId }).pipe(
            Effect.map((account) => ({ account, isNew: true })),
            // Another request created the account at the same moment.
            Effect.catchTag("EmailTaken", () =>
              Effect.flatMap(accounts.findByEmail(email), (made) =>
                made === undefined
                  ? Effect.fail(failure({ _tag: "InternalError" }))
                  : Effect.succeed({ account: made, isNew: false })
              )
            )
          )
        })

      return SignIn.of({
        request: (typed, client) =>
          Effect.gen(function* () {
            const email = typed.toLowerCase()
            yield* codes.admit([
              ...boundsOf(`client and address ${client} ${email}`, PER_CLIENT_AND_ADDRESS),
              ...boundsOf(`address ${email}`, PER_ADDRESS),
              ...boundsOf(`client ${client}`, PER_CLIENT, rateLimitScale)
            ])
            const signInId = newSignInId()
            const code = yield* codes.issue(subjectOf(email, signInId))
            yield* Effect.mapError(mail.send({ to: email, ...emailOf(code) }), (error) => ofMail(error, "Sign-in"))
            return mail.showsCodes === true ? { signInId, printedCode: code } : { signInId }
          }),
        verify: ({ code, email: typed, signInId }, { origin, requestId }, read) =>
          Effect.gen(function* () {
            const email = typed.toLowerCase()
            const subject = subjectOf(email, signInId)
            const attempt = yield* codes.attempt(subject)
            if (attempt?.matches(code) !== true) return yield* failure({ _tag: "InvalidCode" })
            return yield* Effect.gen(function* () {
              // Two requests may present the right code at once; only one of them signs in.
              if (!(yield* codes.use(subject, attempt.id))) return yield* failure({ _tag: "InvalidCode" })
              const { account, isNew } = yield* accountOf(email, requestId)
              const stopped = stoppedAccount(account.state, account.state_reason)
              if (stopped !== undefined) return yield* stopped
              const { id: sessionId, token } = yield* sessions.begin(account.id, origin)
              yield* audit.append({
                accountId: account.id,
                type: "session.created",
                requestId,
                actor: { type: "owner", id: account.id },
                resource: { type: "session", id: sessionId },
                changes: {}
              })
              // Last, because its row is locked until the transaction ends.
              const known = !(yield* rememberOrigin(sql, account.id, JSON.stringify(origin)))
              if (!known && !isNew)
                yield* insertNotification(sql, { accountId: account.id, kind: "sign_in", data: origin })
              return { account, sessionId, token, read: yield* read(account.id) }
            }).pipe(sql.withTransaction, storeErrors)
          })
      })
    })
  )
}

const subjectOf = (email: string, signInId: string): string => `sign-in ${signInId} ${email}`

const emailOf = (code: string) => ({
  subject: `${code} is your sign-in code`,
  text: [
    `Your sign-in code: ${code}`,
    "",
    `It works once, within ${Duration.toMinutes(CODE_LIFE)} minutes. We will never ask you for it.`,
    "If you did not request it, ignore this message: without the code, no sign-in is possible.",
    ""
  ].join("\n")
})

/** Returns the failure of an operation that sends a code by email. `what` is the operation, at the start of a sentence. */
export const ofMail = (error: MailError, what: string): Failure => {
  switch (error.reason) {
    case "not set up":
      return failure(
        { _tag: "ServiceUnavailable", detail: `${what} is unavailable because no mail server is configured.` },
        error
      )
    case "refused":
      return invalid("email", "must be an address that accepts mail")
    case "unreachable":
      return failure(
        {
          _tag: "ServiceUnavailable",
          detail: "The gateway could not send the code. Try again later.",
          retryAfterSeconds: 60
        },
        error
      )
  }
}
