import { Schema } from "effect"
import { Usd } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"

/**
 * An email address as HTML's `type=email` accepts it, limited to ASCII: no two addresses look the same, and only letter case is folded.
 * Dots stand only between other characters (RFC 5321, 4.1.2, Dot-string), because mail servers accept no others.
 */
export const Email = Schema.String.check(
  Schema.isMaxLength(254, { message: "must have at most 254 characters" }),
  Schema.isPattern(
    /^(?!\.)(?![^@]*\.[.@])[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
    { message: "must be an email address" }
  )
)

/** Six digits, as they were sent. */
export const SentCode = Schema.String.check(Schema.isPattern(/^\d{6}$/, { message: "must be six digits" }))

/** The id of a request for a code, which only the client that made it knows. */
const SignInId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{22}$/, {
    message: "must be the sign_in_id from the response to the request for a code"
  })
)

/** The email address that should receive a code. */
export const SignInRequest = Schema.Struct({ email: Email }).annotate({ identifier: "SignInRequest" })

/** The response for every address, whether or not it has an account. */
export const SignInSent = Schema.Struct({
  object: Schema.Literal("sign_in"),
  status: Schema.Literal("code_sent"),
  /** Must be sent with the code. The code is useless without it. */
  sign_in_id: SignInId,
  /** How long the code is valid, in seconds. */
  expires_in: Schema.Int,
  /** The code itself, only from a sandbox without a mail server. Every client that reaches such a sandbox can sign in as any address. */
  sandbox_code: Schema.optionalKey(SentCode)
}).annotate({ identifier: "SignInSent" })
export type SignInSent = typeof SignInSent.Type

/** The code that was sent to an address, and the `sign_in_id` from the response to the request for it. */
export const SignInCode = Schema.Struct({ email: Email, sign_in_id: SignInId, code: SentCode }).annotate({
  identifier: "SignInCode"
})

/** The signed-in owner. */
export const ConsoleSession = Schema.Struct({
  object: Schema.Literal("session"),
  /** The owner's account. */
  account: Schema.Struct({
    id: ResourceId,
    object: Schema.Literal("account"),
    /** The address of the owner. */
    email: Schema.String
  }),
  /** Must be sent as `X-CSRF-Token` with every method other than GET. */
  csrf_token: Schema.String,
  /** Whether the owner has verified a phone number. */
  phone_verified: Schema.Boolean,
  /** The last two digits of the phone number; null before it is verified. */
  phone_last2: Schema.NullOr(Schema.String),
  /** The starter credit that the account received for its phone number. */
  starter_credit_usd: Usd
}).annotate({ identifier: "ConsoleSession" })
export type ConsoleSession = typeof ConsoleSession.Type

/** The confirmation that sessions have ended. */
export const SessionsEnded = Schema.Struct({
  object: Schema.Literal("session"),
  /** How many sessions ended. */
  ended: Schema.Int
}).annotate({ identifier: "SessionsEnded" })
