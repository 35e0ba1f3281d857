import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { Config } from "../platform/Config.ts"
import { newResourceId } from "../platform/Ids.ts"
import { Mail, type MailError } from "../platform/Mail.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { Accounts } from "./Accounts.ts"
import type { AccountRow } from "./AccountsSql.ts"
import { Audit } from "./Audit.ts"
import { type Bound, CODE_LIFE, Codes } from "./Codes.ts"
import { OwnerSessions } from "./OwnerSessions.ts"

/**
 * Codes that one client has sent to one address: an owner needs one. Two days' worth, which may meet where windows do, is less than
 * either bound of the address, so that nobody locks an owner out alone.
 */
export const PER_CLIENT_AND_ADDRESS: ReadonlyArray<Omit<Bound, "subject">> = [
  { sends: 3, window: Duration.minutes(15) },
  { sends: 6, window: Duration.hours(24) }
]

/**
 * Codes to one address, whoever asks. A guess counts only where a code was sent, so that this bounds guesses as well, under whatever
 * ids: 20 codes of five guesses are 100 a day of a million, 1 in 10,000 for all clients together; for one of them 30, 1 in 33,000.
 */
export const PER_ADDRESS: ReadonlyArray<Omit<Bound, "subject">> = [
  { sends: 15, window: Duration.hours(1) },
  { sends: 20, window: Duration.hours(24) }
]

/** Codes that one client has sent to whomever, times `RATE_LIMIT_SCALE`. */
export const PER_CLIENT: ReadonlyArray<Omit<Bound, "subject">> = [
  { sends: 10, window: Duration.minutes(1) },
  { sends: 200, window: Duration.hours(24) }
]

/** These bounds for one subject, widened so many times. */
export const boundsOf = (subject: string, bounds: ReadonlyArray<Omit<Bound, "subject">>, scale = 1) =>
  bounds.map(({ sends, window }) => ({ subject, window, sends: Math.max(1, Math.floor(sends * scale)) }))

/** Somebody who has just signed in. */
export interface SignedIn {
  readonly account: AccountRow
  readonly sessionId: string
  /** For the cookie, and nothing else. */
  readonly token: string
}

/** What was sent to whom, as whoever asked for it shows it. */
export interface Proof {
  readonly email: string
  /** Of the request that the code was sent for. */
  readonly signInId: string
  readonly code: string
}

/** Of 128 random bits: who did not ask for a code cannot guess at it. */
const newSignInId = (): string => randomBytes(16).toString("base64url")

/**
 * Signs owners in without passwords: who can read what is sent to an address is its owner. Capital letters make no other address.
 * A code is good for who asked for it alone, so that nobody uses up another's guesses, or kills the code by asking for one.
 * Whether there is an account shows in nothing, the time it takes included, to who cannot read its mail.
 */
export class SignIn extends Context.Service<
  SignIn,
  {
    /**
     * Sends a code to an address, and looks for no account; answers the id that has to come with the code. Fails with
     * `RateLimitExceeded`, with `ServiceUnavailable` where mail cannot be sent, and with `ValidationError` where the address takes none.
     */
    readonly request: (email: string, client: string) => Effect.Effect<string, Failure | Unavailable>
    /**
     * Signs in by the code, and makes the account when there is none. Fails with `InvalidCode`, whatever is wrong.
     * What else the answer needs is read before the code is used up for good: no session begins that nobody is told of.
     */
    readonly verify: <A>(
      proof: Proof,
      requestId: string,
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
          if (found !== undefined) return found
          const id = newResourceId()
          return yield* accounts.create(email, { type: "owner", id }, { id, requestId }).pipe(
            // Somebody made it in the same instant.
            Effect.catchTag("EmailTaken", () =>
              Effect.flatMap(accounts.findByEmail(email), (made) =>
                made === undefined ? Effect.fail(failure({ _tag: "InternalError" })) : Effect.succeed(made)
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
            yield* Effect.mapError(mail.send({ to: email, ...letterOf(code) }), ofMail)
            return signInId
          }),
        verify: ({ code, email: typed, signInId }, requestId, read) =>
          Effect.gen(function* () {
            const email = typed.toLowerCase()
            const subject = subjectOf(email, signInId)
            const attempt = yield* codes.attempt(subject)
            if (attempt?.matches(code) !== true) return yield* failure({ _tag: "InvalidCode" })
            return yield* Effect.gen(function* () {
              // Two may come with the right code at once, of whom one signs in.
              if (!(yield* codes.use(subject, attempt.id))) return yield* failure({ _tag: "InvalidCode" })
              const account = yield* accountOf(email, requestId)
              const { id: sessionId, token } = yield* sessions.begin(account.id)
              yield* audit.append({
                accountId: account.id,
                ...{ type: "session.created", requestId },
                actor: { type: "owner", id: account.id },
                resource: { type: "session", id: sessionId },
                changes: {}
              })
              return { account, sessionId, token, read: yield* read(account.id) }
            }).pipe(sql.withTransaction, storeErrors)
          })
      })
    })
  )
}

const subjectOf = (email: string, signInId: string): string => `sign-in ${signInId} ${email}`

const letterOf = (code: string) => ({
  subject: `${code} is your code to sign in`,
  text: [
    `Your code to sign in: ${code}`,
    "",
    `It is valid for ${Duration.toMinutes(CODE_LIFE)} minutes, and once. Nobody of this service will ever ask you for it.`,
    "If you did not ask for it, you need do nothing: nobody can sign in without it.",
    ""
  ].join("\n")
})

const ofMail = (error: MailError): Failure => {
  switch (error.reason) {
    case "not set up":
      return failure({ _tag: "ServiceUnavailable", detail: "Nobody can sign in here: no mail server is set up" }, error)
    case "refused":
      return invalid("email", "takes no mail")
    case "unreachable":
      return failure(
        { _tag: "ServiceUnavailable", detail: "The code could not be sent; try again", retryAfterSeconds: 60 },
        error
      )
  }
}
