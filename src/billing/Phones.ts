import { Context, Duration, Effect, Layer, Result } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { parsePhoneNumberFromString } from "libphonenumber-js/mobile"
import { type Actor, Audit } from "../account/Audit.ts"
import { type CodeLimit, Codes } from "../account/Codes.ts"
import { boundsOf, PER_CLIENT } from "../account/SignIn.ts"
import { conflict, type Failure, failure, invalid } from "../domain/Failure.ts"
import { type Nano, NANO_PER_USD, usdFromNano } from "../domain/Money.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { Config } from "../platform/config/Config.ts"
import { type PhoneError, PhoneVerification } from "../platform/messaging/PhoneVerification.ts"
import { Secrets } from "../platform/Secrets.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { insertPhone, phoneOf, type PhoneRow } from "./PhonesSql.ts"

/** The credit for an account's phone number, given once for each number: $0.50. */
export const STARTER_CREDIT: Nano = NANO_PER_USD / 2n

/** Whether an account's phone number is verified, and the credit it got for that. */
export interface PhoneState {
  /** The last two digits; null before verification. The rest of the number is not stored. */
  readonly last2: string | null
  readonly credited: Nano
}

/** The status of a verified phone number. */
export interface VerifiedPhone extends PhoneState {
  readonly last2: string
}

/** A code that was sent to a phone number. */
export interface SentCode {
  readonly last2: string
  /** The code itself, in a sandbox without Twilio, which only prints it. */
  readonly printedCode?: string
}

/** The account of a phone number, and the actor of the change. */
export interface PhoneClaim {
  readonly accountId: string
  /** E.164: a plus and up to 15 digits, in any spelling that a country accepts for the number. */
  readonly phone: string
  readonly actor: Actor
}

/** Phone numbers of accounts. The database keeps a digest of each number, to recognize it again. */
export class Phones extends Context.Service<
  Phones,
  {
    readonly of: (accountId: string) => Effect.Effect<PhoneState, Unavailable>
    /**
     * Sends a code to a phone number. Returns an effect that stores this in the caller's transaction and returns the last two digits.
     * Fails with `Conflict` when the account has a verified number, with `RateLimitExceeded`, with `ServiceUnavailable` if the service
     * cannot send the code, and with `ValidationError` for a number that is not mobile or gets no code.
     */
    readonly begin: (
      claim: PhoneClaim,
      client: string
    ) => Effect.Effect<Effect.Effect<SentCode, SqlError.SqlError>, Failure | Unavailable>
    /**
     * Checks a code. Returns an effect that makes the phone number the account's in the caller's transaction, with the credit if the
     * number got none before. Fails with `InvalidCode` for any wrong code, with `Conflict` when another number is verified, and
     * with `ValidationError` for a number that is not mobile.
     */
    readonly verify: (
      claim: PhoneClaim,
      code: string
    ) => Effect.Effect<Effect.Effect<VerifiedPhone, Failure | Unavailable | SqlError.SqlError>, Failure | Unavailable>
  }
>()("tollgate/billing/Phones") {
  static readonly layer = Layer.effect(
    Phones,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const codes = yield* Codes
      const ledger = yield* Ledger
      const phones = yield* PhoneVerification
      const { digest } = yield* Secrets
      const { phoneCodesPerDay, rateLimitScale } = yield* Config
      const all: CodeLimit = { subject: "telephones", sends: phoneCodesPerDay, window: Duration.hours(24) }
      const numberOf = (phone: string) => digest(phone, "telephone")
      const deps: Deps = { sql, audit, codes, ledger, source: phones.printed === true ? "play" : "grants" }

      return Phones.of({
        of: (accountId) => storeErrors(Effect.map(phoneOf(sql, accountId), stateOf)),
        begin: (asked, client) =>
          Effect.gen(function* () {
            const claim = yield* Effect.fromResult(inOneSpelling(asked))
            const { accountId, actor } = claim
            if ((yield* storeErrors(phoneOf(sql, accountId))) !== undefined) return yield* verifiedBefore
            yield* codes.admit([all, ...sendsOf(claim, client, rateLimitScale)])
            const { phone, printedCode, reference } = yield* Effect.mapError(phones.begin(claim.phone), ofPhone)
            const last2 = phone.slice(-2)
            return Effect.gen(function* () {
              yield* codes.refer(subjectOf(claim), reference)
              yield* audit.append({
                accountId,
                type: "phone.code_sent",
                actor,
                resource: { type: "account", id: accountId },
                changes: { last2 }
              })
              return printedCode === undefined ? { last2 } : { last2, printedCode }
            })
          }),
        verify: (asked, code) =>
          Effect.gen(function* () {
            const claim = yield* Effect.fromResult(inOneSpelling(asked))
            const number = numberOf(claim.phone)
            const before = yield* storeErrors(phoneOf(sql, claim.accountId))
            if (before !== undefined) {
              return isSame(before, number) ? Effect.succeed(verifiedPhoneOf(before)) : yield* verifiedBefore
            }
            const attempt = yield* codes.attempt(subjectOf(claim))
            if (attempt === undefined || attempt.reference === null) return yield* failure({ _tag: "InvalidCode" })
            const sent = { reference: attempt.reference, phone: claim.phone }
            const phone = yield* Effect.mapError(phones.check(sent, code), ofPhone)
            if (phone === undefined) return yield* failure({ _tag: "InvalidCode" })
            return storePhone(deps, claim, { phone, number: numberOf(phone), codeId: attempt.id })
          })
      })
    })
  )
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly codes: Codes["Service"]
  readonly ledger: Ledger["Service"]
  /** The source of the credit. */
  readonly source: "grants" | "play"
}

/**
 * The claim with its number in one spelling: in many countries people can dial several spellings that reach the same phone.
 * Numbers of fixed lines get no text messages, and some differ from a mobile number only by such a digit.
 */
const inOneSpelling = (claim: PhoneClaim): Result.Result<PhoneClaim, Failure> => {
  const parsed = parsePhoneNumberFromString(claim.phone, { extract: false })
  return parsed?.isValid() === true
    ? Result.succeed({ ...claim, phone: parsed.number })
    : Result.fail(invalid("phone", "must be a valid mobile number"))
}

const verifiedBefore = conflict("This account already has a verified phone number.")

const subjectOf = ({ accountId, phone }: PhoneClaim): string => `telephone ${accountId} ${phone}`

const stateOf = (row: PhoneRow | undefined): PhoneState =>
  row === undefined ? { last2: null, credited: 0n } : verifiedPhoneOf(row)

const verifiedPhoneOf = ({ credited, last2 }: PhoneRow): VerifiedPhone => ({ last2, credited })

const isSame = (row: PhoneRow, number: Uint8Array): boolean => Buffer.from(row.number).equals(number)

/** The limit on codes to one number, and for one account. */
const PER_PHONE: ReadonlyArray<Omit<CodeLimit, "subject">> = [
  { sends: 3, window: Duration.minutes(15) },
  { sends: 10, window: Duration.hours(24) }
]

/** Text messages cost the operator money and wake people, so limits apply per number, per account, per client and to all together. */
const sendsOf = ({ accountId, phone }: PhoneClaim, client: string, scale: number): ReadonlyArray<CodeLimit> => [
  ...boundsOf(`telephone ${phone}`, PER_PHONE),
  ...boundsOf(`telephone of ${accountId}`, PER_PHONE),
  ...boundsOf(`client ${client}`, PER_CLIENT, scale)
]

/** Stores the phone number, gives its credit and ends the code, all or nothing. */
const storePhone = (
  { audit, codes, ledger, source, sql }: Deps,
  claim: PhoneClaim,
  { codeId, number, phone }: { readonly codeId: string; readonly number: Uint8Array; readonly phone: string }
) =>
  Effect.gen(function* () {
    const { accountId, actor } = claim
    const last2 = phone.slice(-2)
    if (!(yield* codes.use(subjectOf(claim), codeId))) return yield* failure({ _tag: "InvalidCode" })
    const credited = yield* insertPhone(sql, { accountId, number, last2, credited: STARTER_CREDIT })
    // Another number of the account was verified at the same moment.
    if (credited === undefined) return yield* verifiedBefore
    yield* audit.append({
      accountId,
      type: "phone.verified",
      actor,
      resource: { type: "account", id: accountId },
      changes: { last2, starter_credit_usd: usdFromNano(credited) }
    })
    // Last, because it locks the balance that running requests wait for.
    if (credited > 0n) {
      const reference = `starter credit ${accountId}`
      yield* ledger.within(sql, { _tag: "Credit", accountId, amount: credited, source, reference })
    }
    return { last2, credited }
  })

const ofPhone = (error: PhoneError): Failure => {
  const unavailable = (detail: string, more: { readonly retryAfterSeconds?: number } = {}) =>
    failure({ _tag: "ServiceUnavailable", detail, ...more }, error)
  switch (error.reason) {
    case "not set up":
      return unavailable("Phone verification is unavailable because no verification service is configured.")
    case "number":
      return invalid("phone", "must be a number that receives text messages")
    case "too many":
      return failure({
        _tag: "RateLimitExceeded",
        limit: 5,
        retryAfterSeconds: Duration.toSeconds("10 minutes"),
        detail: "This number received too many codes recently"
      })
    case "unreachable":
      return unavailable("Phone verification is temporarily unavailable. Try again later.", { retryAfterSeconds: 60 })
  }
}
