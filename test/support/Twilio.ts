/** A fake of Twilio's Verify service on loopback, with the shapes that Twilio documents for its API v2. */
import { Effect } from "effect"
import { randomBytes, randomInt } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { upstream } from "../providers/upstream.ts"
import { bodyOf } from "./Bodies.ts"

export const ACCOUNT_SID = `AC${"0123456789abcdef".repeat(2)}`
export const SERVICE_SID = `VA${"fedcba9876543210".repeat(2)}`
export const AUTH_TOKEN = "a-token-of-twilio"

interface Verification {
  readonly sid: string
  readonly to: string
  readonly code: string
  attempts: number
  status: "pending" | "approved"
}

/** A received request. */
interface TwilioRequest {
  readonly path: string
  readonly authorization: string
  readonly form: Readonly<Record<string, string>>
}

interface Answer {
  readonly status: number
  readonly body: object
}

const refused = (status: number, code: number, message: string): Answer => ({
  status,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status }
})

const recordOf = ({ sid, status, to }: Verification, valid: boolean) => ({
  sid,
  service_sid: SERVICE_SID,
  account_sid: ACCOUNT_SID,
  to,
  channel: "sms",
  status,
  valid,
  amount: null,
  payee: null,
  date_created: "2026-01-01T00:00:00Z",
  date_updated: "2026-01-01T00:00:00Z"
})

/** How the service departs from its usual behaviour. */
interface Behaviour {
  /** Answers every request in place of the service. */
  answer: ((response: ServerResponse) => void) | undefined
  /** Turns a phone number as sent into its usual form. */
  spells: (phone: string) => string
  /** Delays every response until it resolves. */
  waits: Promise<void> | undefined
}

const MAX_CHECKS = 5

/** Starts the service, which ends when the scope closes. */
export const twilio = Effect.gen(function* () {
  const verifications: Array<Verification> = []
  const requests: Array<TwilioRequest> = []
  const behaviour: Behaviour = { answer: undefined, spells: (phone) => phone, waits: undefined }

  const begin = (form: Readonly<Record<string, string>>): Answer => {
    const { To: phone = "" } = form
    if (form["Channel"] !== "sms" || !/^\+\d{7,15}$/.test(phone)) {
      return refused(400, 60200, "Invalid parameter `To`")
    }
    const to = behaviour.spells(phone)
    const sent = verifications.filter((one) => one.to === to && one.status === "pending")
    if (sent.length >= 5) return refused(429, 60203, "Max send attempts reached")
    const code = String(randomInt(1_000_000)).padStart(6, "0")
    const made: Verification = { sid: `VE${randomBytes(16).toString("hex")}`, to, code, attempts: 0, status: "pending" }
    verifications.push(made)
    return { status: 201, body: { ...recordOf(made, false), send_code_attempts: [{ channel: "SMS" }], lookup: {} } }
  }

  const check = (form: Readonly<Record<string, string>>): Answer => {
    const found = verifications.find(({ sid, status }) => sid === form["VerificationSid"] && status === "pending")
    if (found === undefined) {
      return refused(404, 20404, "The requested resource /VerificationCheck was not found")
    }
    if (found.attempts >= MAX_CHECKS) return refused(429, 60202, "Max check attempts reached")
    found.attempts += 1
    const valid = form["Code"] === found.code
    if (valid) found.status = "approved"
    return { status: 200, body: recordOf(found, valid) }
  }

  const answerTo = (path: string, authorization: string, form: Readonly<Record<string, string>>): Answer => {
    const expected = Buffer.from(`${ACCOUNT_SID}:${AUTH_TOKEN}`).toString("base64")
    if (authorization !== `Basic ${expected}`) return refused(401, 20003, "Authenticate")
    if (path === `/v2/Services/${SERVICE_SID}/Verifications`) return begin(form)
    if (path === `/v2/Services/${SERVICE_SID}/VerificationCheck`) return check(form)
    return refused(404, 20404, "The requested resource was not found")
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = Object.fromEntries(new URLSearchParams((await bodyOf(request)).toString()))
    const { authorization = "" } = request.headers
    const path = request.url ?? ""
    if (behaviour.answer === undefined) {
      const { body, status } = answerTo(path, authorization, form)
      requests.push({ path, authorization, form })
      await behaviour.waits
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    } else {
      requests.push({ path, authorization, form })
      behaviour.answer(response)
    }
  }

  const host = yield* upstream((request, response) => void serve(request, response))
  return {
    /** The settings of a service that verifies phone numbers here. */
    settings: {
      TWILIO_ACCOUNT_SID: ACCOUNT_SID,
      TWILIO_AUTH_TOKEN: AUTH_TOKEN,
      TWILIO_VERIFY_SERVICE_SID: SERVICE_SID,
      TWILIO_BASE_URL: host.origin
    },
    requests,
    behaviour,
    /** The code of the newest message to a number. Throws when there is none. */
    codeFor: (phone: string): string => {
      const code = verifications.findLast(({ to }) => to === phone)?.code
      if (code === undefined) throw new Error(`no code was sent to ${phone}`)
      return code
    },
    /** Forgets all codes, as Twilio does after ten minutes. */
    expire: () => void verifications.splice(0)
  }
})

export type Twilio = Effect.Success<typeof twilio>
