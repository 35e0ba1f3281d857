/** A fake of Stripe on loopback, with checkout sessions, idempotency and signed events as Stripe documents them (docs.stripe.com/api). */
import { Effect, Redacted } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Stripe } from "stripe"
import { upstream } from "../providers/upstream.ts"
import { bodyOf } from "./Bodies.ts"

export const STRIPE_KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
export const STRIPE_SECRET = "whsec_wHbLyjWDarjtT1zdp7dcVuTlJBpQ"

/** A checkout session, as far as the gateway reads it. */
export interface StripeSession {
  readonly id: string
  readonly object: "checkout.session"
  readonly client_reference_id: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly amount_total: number
  currency: string
  status: "open" | "complete" | "expired"
  payment_status: "paid" | "unpaid" | "no_payment_required"
  payment_intent: string | null
  url: string | null
}

interface Kept {
  readonly parameters: string
  /** Undefined while the first request is under way. */
  answer: readonly [status: number, body: string] | undefined
}

/** Stripe's response to a failure of its own. */
const failed = [500, { error: { type: "api_error", message: "An error occurred" } }] as const

const problem = (type: string, message: string, more: object = {}) => ({ error: { type, message, ...more } })

/** An event in Stripe's form, with the header of its signature. */
export const stripeEvent = (
  type: string,
  object: object,
  options: { readonly id?: string; readonly timestamp?: number; readonly secret?: string } = {}
) => {
  const { id = `evt_${type.replaceAll(".", "_")}`, secret = STRIPE_SECRET, timestamp } = options
  const payload = JSON.stringify({
    id,
    object: "event",
    api_version: Stripe.API_VERSION,
    created: 1_700_000_000,
    livemode: false,
    type,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    data: { object }
  })
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload,
    secret,
    ...(timestamp === undefined ? {} : { timestamp })
  })
  return { payload, raw: Buffer.from(payload), signature }
}

/** An open checkout session that belongs to no top-up. `more` replaces other fields. */
export const stripeSession = (more: Partial<StripeSession> = {}): StripeSession => ({
  id: "cs_test_1",
  object: "checkout.session",
  client_reference_id: null,
  metadata: {},
  amount_total: 2_500,
  currency: "usd",
  status: "open",
  payment_status: "unpaid",
  payment_intent: null,
  url: "https://checkout.stripe.com/c/pay/cs_test_1",
  ...more
})

/**
 * How the server behaves. `broken`: it answers 500 and does nothing. `fails`: it answers 500 and keeps that under the idempotency key.
 * `hangs_before`: it answers nothing and does nothing. `hangs_after`: it carries the request out and answers nothing.
 */
type StripeMood = "well" | "broken" | "fails" | "hangs_before" | "hangs_after"

/** Starts the server, which ends when the scope closes. */
export const stripeServer = Effect.gen(function* () {
  const sessions = new Map<string, StripeSession>()
  const intents = new Map<string, string>()
  const kept = new Map<string, Kept>()
  const requests: Array<{ readonly method: string; readonly path: string; readonly body: URLSearchParams }> = []
  const state = { mood: "well" as StripeMood, conflicts: 0 }

  const create = (body: URLSearchParams): readonly [number, object] => {
    const amount = Number(body.get("line_items[0][price_data][unit_amount]"))
    if (body.get("mode") !== "payment" || !(amount > 0)) {
      return [400, problem("invalid_request_error", "Missing required param: mode.", { param: "mode" })]
    }
    const id = `cs_test_${sessions.size + 1}`
    const session = stripeSession({
      id,
      client_reference_id: body.get("client_reference_id"),
      metadata: { top_up_id: body.get("metadata[top_up_id]") ?? "" },
      amount_total: amount * Number(body.get("line_items[0][quantity]")),
      currency: body.get("line_items[0][price_data][currency]") ?? "",
      url: `https://checkout.stripe.com/c/pay/${id}`
    })
    sessions.set(id, session)
    return [200, session]
  }

  const missing = (id: string): readonly [number, object] => [
    404,
    problem("invalid_request_error", `No such checkout.session: ${id}`, { code: "resource_missing", param: "session" })
  ]

  const shown = (session: StripeSession, expand: boolean): object => {
    const { payment_intent: id } = session
    return expand && id !== null
      ? { ...session, payment_intent: { id, object: "payment_intent", status: intents.get(id) } }
      : session
  }

  const route = (method: string, url: URL, body: URLSearchParams): readonly [number, object] => {
    const [, , , , id = "", action] = url.pathname.split("/")
    if (method === "POST" && id === "") return create(body)
    const session = sessions.get(id)
    if (session === undefined) return missing(id)
    if (method === "GET") return [200, shown(session, url.searchParams.get("expand[0]") === "payment_intent")]
    if (action !== "expire" || session.status !== "open") {
      return [400, problem("invalid_request_error", 'Only Checkout Sessions with a status in ["open"] can be expired.')]
    }
    session.status = "expired"
    session.url = null
    return [200, session]
  }

  /** Carries a POST out once per idempotency key: a repeat gets the first answer, and other parameters are refused. */
  const once = (key: string, parameters: string, carryOut: () => readonly [number, object]) => {
    const before = kept.get(key)
    if (before === undefined) {
      const entry: Kept = { parameters, answer: undefined }
      kept.set(key, entry)
      const [status, answer] = carryOut()
      entry.answer = [status, JSON.stringify(answer)]
      return { status, text: entry.answer[1], replayed: false }
    }
    if (before.parameters !== parameters) {
      const text = JSON.stringify(
        problem("idempotency_error", "Keys for idempotent requests can only be used with the same parameters")
      )
      return { status: 400, text, replayed: false }
    }
    return { status: before.answer![0], text: before.answer![1], replayed: true }
  }

  const answer = (response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}) =>
    response
      .writeHead(status, { "content-type": "application/json", "request-id": `req_${requests.length}`, ...headers })
      .end(text)

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "/", "http://stripe")
    const text = (await bodyOf(request)).toString()
    const body = new URLSearchParams(text)
    requests.push({ method: request.method ?? "", path: url.pathname, body })
    if (request.headers.authorization !== `Bearer ${STRIPE_KEY}`) {
      const said = problem("invalid_request_error", "Invalid API Key provided: sk_test_****")
      return answer(response, 401, JSON.stringify(said))
    }
    if (state.mood === "hangs_before") return
    if (state.mood === "broken") return answer(response, failed[0], JSON.stringify(failed[1]))
    const key = request.headers["idempotency-key"]
    if (state.conflicts > 0) {
      state.conflicts -= 1
      const said = problem(
        "idempotency_error",
        "There is currently another in-progress request using this Idempotent Key",
        {
          code: "idempotency_key_in_use"
        }
      )
      return answer(response, 409, JSON.stringify(said))
    }
    const carryOut = () => (state.mood === "fails" ? failed : route(request.method ?? "", url, body))
    const made =
      request.method === "POST" && typeof key === "string"
        ? once(key, `${url.pathname} ${text}`, carryOut)
        : { status: carryOut()[0], text: JSON.stringify(carryOut()[1]), replayed: false }
    if (state.mood === "hangs_after") return
    return answer(response, made.status, made.text, {
      ...(made.replayed ? { "idempotent-replayed": "true" } : {}),
      // A retry would get the same answer.
      ...(made.status >= 500 ? { "stripe-should-retry": "false" } : {})
    })
  }

  const { origin } = yield* upstream((request, response) => void serve(request, response))
  return {
    origin,
    /** The decoded settings of a service that uses this server. */
    settings: {
      secretKey: Redacted.make(STRIPE_KEY),
      webhookSecret: Redacted.make(STRIPE_SECRET),
      baseUrl: new URL(origin)
    },
    /** The same as environment variables. */
    env: { STRIPE_SECRET_KEY: STRIPE_KEY, STRIPE_WEBHOOK_SECRET: STRIPE_SECRET, STRIPE_BASE_URL: origin },
    sessions,
    requests,
    state,
    /** Completes a session: the customer pays at once, or in a way that is processing or has failed. */
    pay: (id: string, by: "at once" | "processing" | "requires_payment_method" = "at once"): StripeSession => {
      const session = sessions.get(id)!
      session.status = "complete"
      session.payment_intent = `pi_${id}`
      session.payment_status = by === "at once" ? "paid" : "unpaid"
      intents.set(session.payment_intent, by === "at once" ? "succeeded" : by)
      return session
    }
  }
})
