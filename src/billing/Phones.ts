import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Actor, Audit } from "../account/Audit.ts"
import { type Bound, Codes } from "../account/Codes.ts"
import { boundsOf, PER_CLIENT } from "../account/SignIn.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { type Nano, NANO_PER_USD, usdFromNano } from "../domain/Money.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { Config } from "../platform/Config.ts"
import { type PhoneError, PhoneVerification } from "../platform/PhoneVerification.ts"
import { Secrets } from "../platform/Secrets.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { insertPhone, phoneOf, type PhoneRow } from "./PhonesSql.ts"

/** What an account is given once for a telephone that no other was given it for: $0.50. */
export const STARTER_CREDIT: Nano = NANO_PER_USD / 2n

/** Whether an account's telephone is verified, and what it was given for it. */
export interface PhoneState {
  /** Its last two digits; null before. All else of it is known to nobody. */
  readonly last2: string | null
  readonly credited: Nano
}

/** Whose telephone, and who says so. */
export interface PhoneClaim {
  readonly accountId: string
  /** E.164: a plus and up to 15 digits. */
  readonly phone: string
  readonly actor: Actor
}

/** Telephones of accounts. A number is kept as a digest, by which it is known again. */
export class Phones extends Context.Service<
  Phones,
  {
    readonly of: (accountId: string) => Effect.Effect<PhoneState, Unavailable>
    /**
     * Sends a code to a telephone, and answers what is to be written down of that in a transaction of the caller's. Fails with
     * `Conflict` when the account's is verified, with `RateLimitExceeded`, with `ServiceUnavailable` where nobody can send it, and
     * with `ValidationError` for a number that gets none.
     */
    readonly begin: (
      claim: PhoneClaim,
      client: string
    ) => Effect.Effect<Effect.Effect<void, SqlError.SqlError>, Failure | Unavailable>
    /**
     * Checks a code, and answers what makes the telephone the account's in a transaction of the caller's: with the credit, if the
     * number was given none before. Fails with `InvalidCode`, whatever is wrong, and with `Conflict` where another telephone is
     * verified.
     */
    readonly verify: (
      claim: PhoneClaim,
      code: string
    ) => Effect.Effect<Effect.Effect<PhoneState, Failure | Unavailable | SqlError.SqlError>, Failure | Unavailable>
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
      const { rateLimitScale } = yield* Config
      const numberOf = (phone: string) => digest(phone, "telephone")
      const desk: Desk = { sql, audit, codes, ledger }

      return Phones.of({
        of: (accountId) => storeErrors(Effect.map(phoneOf(sql, accountId), stateOf)),
        begin: (claim, client) =>
          Effect.gen(function* () {
            const { accountId, actor, phone } = claim
            if ((yield* storeErrors(phoneOf(sql, accountId))) !== undefined) return yield* verifiedBefore
            yield* codes.admit(sendsOf(claim, client, rateLimitScale))
            const reference = yield* Effect.mapError(phones.begin(phone), ofPhone)
            return Effect.andThen(
              codes.refer(subjectOf(claim), reference),
              audit.append({
                ...{ accountId, type: "phone.code_sent", actor },
                resource: { type: "account", id: accountId },
                changes: { last2: phone.slice(-2) }
              })
            )
          }),
        verify: (claim, code) =>
          Effect.gen(function* () {
            const number = numberOf(claim.phone)
            const before = yield* storeErrors(phoneOf(sql, claim.accountId))
            if (before !== undefined) {
              return isSame(before, number) ? Effect.succeed(stateOf(before)) : yield* verifiedBefore
            }
            const attempt = yield* codes.attempt(subjectOf(claim))
            if (attempt === undefined || attempt.reference === null) return yield* failure({ _tag: "InvalidCode" })
            if (!(yield* Effect.mapError(phones.check(attempt.reference, code), ofPhone))) {
              return yield* failure({ _tag: "InvalidCode" })
            }
            return verified(desk, claim, { number, codeId: attempt.id })
          })
      })
    })
  )
}

interface Desk {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly codes: Codes["Service"]
  readonly ledger: Ledger["Service"]
}

const verifiedBefore = failure({ _tag: "Conflict", detail: "The telephone of this account is verified" })

const subjectOf = ({ accountId, phone }: PhoneClaim): string => `telephone ${accountId} ${phone}`

const stateOf = (row: PhoneRow | undefined): PhoneState =>
  row === undefined ? { last2: null, credited: 0n } : { last2: row.last2, credited: row.credited }

const isSame = (row: PhoneRow, number: Uint8Array): boolean => Buffer.from(row.number).equals(number)

/** Codes to one number, and for one account. */
const PER_TELEPHONE: ReadonlyArray<Omit<Bound, "subject">> = [
  { sends: 3, window: Duration.minutes(15) },
  { sends: 10, window: Duration.hours(24) }
]

/** Text messages cost the house, and wake people: counted by number, by account and by client. */
const sendsOf = ({ accountId, phone }: PhoneClaim, client: string, scale: number): ReadonlyArray<Bound> => [
  ...boundsOf(`telephone ${phone}`, PER_TELEPHONE),
  ...boundsOf(`telephone of ${accountId}`, PER_TELEPHONE),
  ...boundsOf(`client ${client}`, PER_CLIENT, scale)
]

/** The telephone, its credit and the end of the code, all or nothing. */
const verified = (
  { audit, codes, ledger, sql }: Desk,
  claim: PhoneClaim,
  { codeId, number }: { readonly codeId: string; readonly number: Uint8Array }
) =>
  Effect.gen(function* () {
    const { accountId, actor, phone } = claim
    if (!(yield* codes.use(subjectOf(claim), codeId))) return yield* failure({ _tag: "InvalidCode" })
    const credited = yield* insertPhone(sql, { accountId, number, last2: phone.slice(-2), credited: STARTER_CREDIT })
    // Another telephone of the account was verified in the same instant.
    if (credited === undefined) return yield* verifiedBefore
    yield* audit.append({
      ...{ accountId, type: "phone.verified", actor },
      resource: { type: "account", id: accountId },
      changes: { last2: phone.slice(-2), starter_credit_usd: usdFromNano(credited) }
    })
    // Last, because it locks the balance that running requests wait for.
    if (credited > 0n) {
      const reference = `starter credit ${accountId}`
      yield* ledger.within(sql, { _tag: "Credit", accountId, amount: credited, source: "grants", reference })
    }
    return { last2: phone.slice(-2), credited }
  })

const ofPhone = (error: PhoneError): Failure => {
  const unavailable = (detail: string, more: { readonly retryAfterSeconds?: number } = {}) =>
    failure({ _tag: "ServiceUnavailable", detail, ...more }, error)
  switch (error.reason) {
    case "not set up":
      return unavailable("No telephone can be verified here: no service for that is set up")
    case "number":
      return invalid("phone", "takes no text messages")
    case "too many":
      return failure({
        ...{ _tag: "RateLimitExceeded", limit: 5, retryAfterSeconds: Duration.toSeconds("10 minutes") },
        detail: "Too many codes were sent to this number of late"
      })
    case "unreachable":
      return unavailable("Telephones cannot be verified at present; try again", { retryAfterSeconds: 60 })
  }
}
