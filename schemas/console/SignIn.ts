import { Schema } from "effect"
import { Usd } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"

/**
 * An address as HTML's `type=email` has it, of ASCII alone: no two of them look the same, and letter case is the only folding. Dots
 * stand between others alone (RFC 5321, 4.1.2, Dot-string), because mail servers take no others.
 */
const Email = Schema.String.check(
  Schema.isMaxLength(254, { message: "at most 254 characters" }),
  Schema.isPattern(
    /^(?!\.)(?![^@]*\.[.@])[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
    { message: "an email address" }
  )
)

/** Six digits, as they were sent. */
export const SentCode = Schema.String.check(Schema.isPattern(/^\d{6}$/, { message: "six digits" }))

/** Known to who asked for a code alone. */
const SignInId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{22}$/, { message: "the sign_in_id of a request" })
)

/** Whom a code is to be sent to. */
export const SignInRequest = Schema.Struct({ email: Email }).annotate({ identifier: "SignInRequest" })

/** Said of every address, whether there is an account of it or not. */
export const SignInSent = Schema.Struct({
  object: Schema.Literal("sign_in"),
  status: Schema.Literal("code_sent"),
  /** Has to come with the code, which is good for nobody else. */
  sign_in_id: SignInId,
  /** Seconds for which the code is valid. */
  expires_in: Schema.Int
}).annotate({ identifier: "SignInSent" })
export type SignInSent = typeof SignInSent.Type

/** The code that was sent to an address, and the id that was answered when it was asked for. */
export const SignInCode = Schema.Struct({ email: Email, sign_in_id: SignInId, code: SentCode }).annotate({
  identifier: "SignInCode"
})

/** Who is signed in. */
export const ConsoleSession = Schema.Struct({
  object: Schema.Literal("session"),
  account: Schema.Struct({ id: ResourceId, object: Schema.Literal("account"), email: Schema.String }),
  /** Has to come as `X-CSRF-Token` with whatever is no GET. */
  csrf_token: Schema.String,
  phone_verified: Schema.Boolean,
  /** The last two digits of the telephone; null before it is verified. */
  phone_last2: Schema.NullOr(Schema.String),
  /** What the account was given for its telephone. */
  starter_credit_usd: Usd
}).annotate({ identifier: "ConsoleSession" })
export type ConsoleSession = typeof ConsoleSession.Type

/** What is told of sessions that are no more. */
export const SessionsEnded = Schema.Struct({
  object: Schema.Literal("session"),
  /** How many there were. */
  ended: Schema.Int
}).annotate({ identifier: "SessionsEnded" })
