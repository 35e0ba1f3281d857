/** Verifies that an owner can receive codes on a phone. It uses Twilio Verify (API v2), which creates, sends and checks the codes. */
import { Context, Data, Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { Config, type TwilioSettings } from "../config/Config.ts"
import { Outbound } from "../outbound/Outbound.ts"
import type { OutboundError, OutboundResponse } from "../outbound/OutboundCall.ts"
import { Secrets } from "../Secrets.ts"

/**
 * A verification that could not be started, or a code that could not be checked. `detail` is for operators and contains no phone
 * number.
 */
export class PhoneError extends Data.TaggedError("PhoneError")<{
  /**
   * `not set up`: the service has no Twilio account. `number`: this phone number cannot receive codes. `too many`: it has received too
   * many codes recently. `unreachable`: a later attempt may succeed.
   */
  readonly reason: "not set up" | "number" | "too many" | "unreachable"
  readonly detail: string
}> {
  override get message() {
    return `a phone number could not be verified: ${this.detail}`
  }
}

/** A code that was sent. */
export interface SentVerification {
  /** The reference with which the code can be checked. */
  readonly reference: string
  /** An E.164 number. Several spellings of a number may reach the same phone; this is the provider's spelling, if it returned one. */
  readonly phone: string
  /** The code itself, where it is only printed. */
  readonly printedCode?: string
}

/** Verifies phone numbers. A sandbox without Twilio writes codes to its log, so that verification can be tried. */
export class PhoneVerification extends Context.Service<
  PhoneVerification,
  {
    /** The codes are only printed, which proves no phone. So the credit granted for such a code is simulated money. */
    readonly printed?: true
    /** Sends a code to this E.164 number. */
    readonly begin: (phone: string) => Effect.Effect<SentVerification, PhoneError>
    /** The number to which this code was sent, in the provider's spelling. Undefined when the code is wrong or no longer valid. */
    readonly check: (sent: SentVerification, code: string) => Effect.Effect<string | undefined, PhoneError>
  }
>()("tollgate/platform/PhoneVerification") {
  static readonly layer = Layer.effect(
    PhoneVerification,
    Effect.gen(function* () {
      const { sandbox, twilio } = yield* Config
      if (twilio !== undefined) return PhoneVerification.of(byTwilio(twilio, yield* Outbound))
      if (sandbox) return PhoneVerification.of(byLog(yield* Secrets))
      return PhoneVerification.of({ begin: () => Effect.fail(notSetUp), check: () => Effect.fail(notSetUp) })
    })
  )
}

const notSetUp = new PhoneError({ reason: "not set up", detail: "TWILIO_ACCOUNT_SID is not set" })

/** Derives six digits from the reference, so that every node can check a code that another node sent. */
const byLog = ({ digest }: Secrets["Service"]) => {
  const codeOf = (reference: string): string =>
    String(digest(reference, "code of a sandbox").readUInt32BE() % 1_000_000).padStart(6, "0")
  return {
    printed: true as const,
    begin: (phone: string) =>
      Effect.suspend(() => {
        const reference = randomUUID()
        const printedCode = codeOf(reference)
        const line = `text message to ${phone} (a sandbox does not send it): your code is ${printedCode}`
        return Effect.as(Effect.logInfo(line), { reference, phone, printedCode })
      }),
    check: ({ phone, reference }: SentVerification, code: string) =>
      Effect.sync(() => (code === codeOf(reference) ? phone : undefined))
  }
}

/** Longer than Twilio usually takes. The owner waits for the answer. */
const CLOCKS = { connectMs: 5_000, totalMs: 10_000 } as const

const MAX_ANSWER_BYTES = 64 * 1_024

/** A member of the response's JSON body. */
const memberOf = ({ body }: OutboundResponse, name: string): unknown => {
  try {
    return (JSON.parse(Buffer.from(body).toString()) as Record<string, unknown> | null)?.[name]
  } catch {
    return undefined
  }
}

/** The phone number that Twilio's answer names, or else the given one. */
const numberOf = (answer: OutboundResponse, phone: string): string => {
  const to = memberOf(answer, "to")
  return typeof to === "string" && /^\+[1-9]\d{6,14}$/.test(to) ? to : phone
}

const unreachable = (detail: string) => new PhoneError({ reason: "unreachable", detail })

/**
 * Twilio error codes for numbers that cannot receive codes: a landline does not support SMS; the number is blocked as fraud; the
 * number's country is not enabled, or its rules are not met. All come with status 403, as does a token without permission.
 */
const NO_CODES: ReadonlySet<unknown> = new Set([60205, 60410, 60605, 60220])

/** Translates Twilio's error code and status. */
const refused = (answer: OutboundResponse): PhoneError => {
  const code = memberOf(answer, "code")
  const detail = `Twilio answered ${answer.status}${typeof code === "number" ? `, error ${code}` : ""}`
  // 60203: too many codes were sent to this number. Any other 429: this service sends too many requests.
  if (code === 60203) return new PhoneError({ reason: "too many", detail })
  return answer.status === 400 || NO_CODES.has(code)
    ? new PhoneError({ reason: "number", detail })
    : unreachable(detail)
}

const byTwilio = (settings: TwilioSettings, outbound: Outbound["Service"]) => {
  const { accountSid, authToken, baseUrl, serviceSid } = settings
  const authorization = `Basic ${Buffer.from(`${accountSid}:${Redacted.value(authToken)}`).toString("base64")}`
  const post = (resource: string, form: Readonly<Record<string, string>>) =>
    outbound
      .send({
        method: "POST",
        origin: baseUrl.origin,
        path: `${baseUrl.pathname.replace(/\/+$/, "")}/v2/Services/${serviceSid}/${resource}`,
        headers: { authorization, "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
        body: new URLSearchParams(form).toString(),
        clocks: CLOCKS,
        maxBodyBytes: MAX_ANSWER_BYTES
      })
      .pipe(Effect.mapError((error: OutboundError) => unreachable(`Twilio cannot be reached: ${error.message}`)))
  const isOk = ({ status }: OutboundResponse) => status >= 200 && status < 300
  return {
    begin: (phone: string) =>
      Effect.flatMap(post("Verifications", { To: phone, Channel: "sms" }), (answer) => {
        if (!isOk(answer)) return Effect.fail(refused(answer))
        const sid = memberOf(answer, "sid")
        return typeof sid === "string"
          ? Effect.succeed({ reference: sid, phone: numberOf(answer, phone) })
          : Effect.fail(unreachable("Twilio's answer contains no verification id"))
      }),
    check: ({ phone, reference }: SentVerification, code: string) =>
      Effect.flatMap(post("VerificationCheck", { VerificationSid: reference, Code: code }), (answer) => {
        if (isOk(answer)) {
          return Effect.succeed(memberOf(answer, "status") === "approved" ? numberOf(answer, phone) : undefined)
        }
        // The code has expired, was approved before, or had too many wrong guesses (60202).
        const isOver = answer.status === 404 || memberOf(answer, "code") === 60202
        return isOver || answer.status === 400 ? Effect.undefined : Effect.fail(refused(answer))
      })
  }
}
