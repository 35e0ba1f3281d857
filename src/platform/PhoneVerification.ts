/** Shows that somebody has a telephone: by Twilio Verify (its API v2), which makes the codes, sends and checks them. */
import { Context, Data, Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { Config, type TwilioSettings } from "./Config.ts"
import { Outbound } from "./Outbound.ts"
import type { OutboundError, OutboundResponse } from "./OutboundCall.ts"
import { Secrets } from "./Secrets.ts"

/** A verification that could not be begun, or a code that could not be checked. `detail` is for operators and names no number. */
export class PhoneError extends Data.TaggedError("PhoneError")<{
  /**
   * `not set up`: nobody verifies telephones here. `number`: this one gets no codes. `too many`: it got too many of late.
   * `unreachable`: another time it may go well.
   */
  readonly reason: "not set up" | "number" | "too many" | "unreachable"
  readonly detail: string
}> {
  override get message() {
    return `a telephone could not be verified: ${this.detail}`
  }
}

/** A code that was sent. */
export interface SentTo {
  /** By what it can be checked. */
  readonly reference: string
  /** E.164. Of one number several spellings may be dialled: as its sender spells it, if that was said. */
  readonly phone: string
}

/** Verifies telephones. A sandbox without Twilio writes codes into its log, so that it can be tried. */
export class PhoneVerification extends Context.Service<
  PhoneVerification,
  {
    /** Codes are only printed, which shows nobody's telephone: what is given for one is play money. */
    readonly printed?: true
    /** Sends a code to this number (E.164). */
    readonly begin: (phone: string) => Effect.Effect<SentTo, PhoneError>
    /**
     * The number that this code was sent to, as its sender spells it; undefined for another code, and once it is no longer valid.
     */
    readonly check: (sent: SentTo, code: string) => Effect.Effect<string | undefined, PhoneError>
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

/** Six digits that follow from the reference, so that any node can check what another one began. */
const byLog = ({ digest }: Secrets["Service"]) => {
  const codeOf = (reference: string): string =>
    String(digest(reference, "code of a sandbox").readUInt32BE() % 1_000_000).padStart(6, "0")
  return {
    printed: true as const,
    begin: (phone: string) =>
      Effect.suspend(() => {
        const reference = randomUUID()
        const said = `a text message to ${phone}, which a sandbox does not send: your code is ${codeOf(reference)}`
        return Effect.as(Effect.logInfo(said), { reference, phone })
      }),
    check: ({ phone, reference }: SentTo, code: string) =>
      Effect.sync(() => (code === codeOf(reference) ? phone : undefined))
  }
}

/** Longer than Twilio takes; who verifies waits for it. */
const CLOCKS = { connectMs: 5_000, totalMs: 10_000 } as const

const MAX_ANSWER_BYTES = 64 * 1_024

/** The member of an answer by this name. */
const memberOf = ({ body }: OutboundResponse, name: string): unknown => {
  try {
    return (JSON.parse(Buffer.from(body).toString()) as Record<string, unknown> | null)?.[name]
  } catch {
    return undefined
  }
}

/** The number that an answer of Twilio's is about; this one where it names none. */
const numberOf = (answer: OutboundResponse, phone: string): string => {
  const to = memberOf(answer, "to")
  return typeof to === "string" && /^\+[1-9]\d{6,14}$/.test(to) ? to : phone
}

const unreachable = (detail: string) => new PhoneError({ reason: "unreachable", detail })

/**
 * SMS is not supported by a landline; what is sent to this number is blocked as fraud; its country is not sent to, because it is not
 * enabled or its rules are not met. All come as a 403, as what a token may not does.
 */
const NO_CODES: ReadonlySet<unknown> = new Set([60205, 60410, 60605, 60220])

/** What Twilio's own numbers of errors say beside the status. */
const refused = (answer: OutboundResponse): PhoneError => {
  const code = memberOf(answer, "code")
  const detail = `Twilio answered ${answer.status}${typeof code === "number" ? `, error ${code}` : ""}`
  // 60203: too many codes were sent to the number. 429 else: this service asks too much.
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
      .pipe(Effect.mapError((error: OutboundError) => unreachable(`Twilio cannot be asked: ${error.message}`)))
  const isOk = ({ status }: OutboundResponse) => status >= 200 && status < 300
  return {
    begin: (phone: string) =>
      Effect.flatMap(post("Verifications", { To: phone, Channel: "sms" }), (answer) => {
        if (!isOk(answer)) return Effect.fail(refused(answer))
        const sid = memberOf(answer, "sid")
        return typeof sid === "string"
          ? Effect.succeed({ reference: sid, phone: numberOf(answer, phone) })
          : Effect.fail(unreachable("Twilio named no verification"))
      }),
    check: ({ phone, reference }: SentTo, code: string) =>
      Effect.flatMap(post("VerificationCheck", { VerificationSid: reference, Code: code }), (answer) => {
        if (isOk(answer)) {
          return Effect.succeed(memberOf(answer, "status") === "approved" ? numberOf(answer, phone) : undefined)
        }
        // It has expired, was approved before, or was guessed at too often (60202).
        const isOver = answer.status === 404 || memberOf(answer, "code") === 60202
        return isOver || answer.status === 400 ? Effect.undefined : Effect.fail(refused(answer))
      })
  }
}
