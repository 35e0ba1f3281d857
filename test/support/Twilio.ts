/** A Verify service on loopback, with the shapes that Twilio documents for its API v2. */
import { Effect } from "effect"
import { randomBytes, randomInt } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { upstream } from "../providers/upstream.ts"

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

/** A request as it came. */
export interface AskedOfTwilio {
  readonly path: string
  readonly authorization: string
  readonly form: Readonly<Record<string, string>>
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
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

/** What it does instead of what it does. */
interface Told {
  /** What is answered in its stead, while it says something. */
  answer: ((response: ServerResponse) => void) | undefined
  /** The number that is meant by another spelling of it. */
  spells: (phone: string) => string
  /** What it waits for with an answer that it has, while it waits for something. */
  waits: Promise<void> | undefined
}

const MAX_CHECKS = 5

/** The service until the scope closes. */
export const twilio = Effect.gen(function* () {
  const verifications: Array<Verification> = []
  const asked: Array<AskedOfTwilio> = []
  const told: Told = { answer: undefined, spells: (phone) => phone, waits: undefined }

  const begin = (form: Readonly<Record<string, string>>): Answer => {
    const { To: asked = "" } = form
    if (form["Channel"] !== "sms" || !/^\+\d{7,15}$/.test(asked)) {
      return refused(400, 60200, "Invalid parameter `To`")
    }
    const to = told.spells(asked)
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
    const form = Object.fromEntries(new URLSearchParams(await bodyOf(request)))
    const { authorization = "" } = request.headers
    const path = request.url ?? ""
    if (told.answer === undefined) {
      const { body, status } = answerTo(path, authorization, form)
      asked.push({ path, authorization, form })
      await told.waits
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    } else {
      asked.push({ path, authorization, form })
      told.answer(response)
    }
  }

  const host = yield* upstream((request, response) => void serve(request, response))
  return {
    /** The settings with which a service verifies telephones here. */
    settings: {
      TWILIO_ACCOUNT_SID: ACCOUNT_SID,
      TWILIO_AUTH_TOKEN: AUTH_TOKEN,
      TWILIO_VERIFY_SERVICE_SID: SERVICE_SID,
      TWILIO_BASE_URL: host.origin
    },
    asked,
    told,
    /** The code of the newest message to a number. */
    codeFor: (phone: string): string => {
      const code = verifications.findLast(({ to }) => to === phone)?.code
      if (code === undefined) throw new Error(`no code was sent to ${phone}`)
      return code
    },
    /** Ten minutes pass. */
    expire: () => void verifications.splice(0)
  }
})

export type Twilio = Effect.Success<typeof twilio>
