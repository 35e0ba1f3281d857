import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import { PublicFetch, type PublicFetchReason } from "../platform/outbound/PublicFetch.ts"
import { signatureHeaders } from "./Signature.ts"

/** The time limit for an attempt, from name resolution to the response. */
export const TIMEOUT_MS = 15_000

/** How much of a response the gateway reads, in bytes, and stores, in characters. */
const MAX_ANSWER_BYTES = 4_096
const MAX_EXCERPT = 1_024

export interface Message {
  readonly url: string
  /** The current secret first. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  readonly eventId: string
  readonly body: string
}

/** The result of one attempt. */
export interface Attempt {
  readonly startedAt: Date
  readonly durationMs: number
  /** Undefined when the receiver did not respond; `error` then says why. */
  readonly status: number | undefined
  readonly error: string | undefined
  /** The beginning of the response. */
  readonly response: string | undefined
  readonly retryAfter: string | undefined
}

/**
 * Sends messages to the addresses that accounts have registered and signs each one as it is sent. It never fails; an error is part
 * of the result. It checks the address again when it connects, and treats a redirect as an ordinary response.
 */
export class Sender extends Context.Service<
  Sender,
  {
    readonly send: (message: Message) => Effect.Effect<Attempt>
  }
>()("tollgate/webhooks/Sender") {
  static readonly layer = Layer.effect(
    Sender,
    Effect.map(PublicFetch, (publicFetch) =>
      Sender.of({
        send: ({ body, eventId, secrets, url }) =>
          Effect.gen(function* () {
            const nowMs = yield* Clock.currentTimeMillis
            // The gateway sends nothing that its receiver could not verify.
            if (secrets.length === 0) return { startedAt: new Date(nowMs), durationMs: 0, ...UNSIGNED }
            const begun = performance.now()
            const timestamp = Math.floor(nowMs / 1_000)
            const headers = {
              "content-type": "application/json",
              "user-agent": "tollgate-webhooks/1.0",
              ...signatureHeaders(secrets, { id: eventId, timestamp, body })
            }
            const call = { method: "POST", url, headers, body, anyStatus: true } as const
            const sent = publicFetch.fetch({ ...call, totalMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES })
            const what = yield* Effect.match(sent, {
              onFailure: ({ reason }) => outcomeOfError(errorOf(reason)),
              onSuccess: outcomeOfAnswer
            })
            return { startedAt: new Date(nowMs), durationMs: Math.round(performance.now() - begun), ...what }
          })
      })
    )
  )
}

type Outcome = Omit<Attempt, "startedAt" | "durationMs">

const outcomeOfError = (error: string): Outcome => ({
  status: undefined,
  error,
  response: undefined,
  retryAfter: undefined
})

const UNSIGNED = outcomeOfError("another key sealed the secret; rotate it")

const outcomeOfAnswer = (answer: {
  readonly status: number
  readonly body: Uint8Array
  readonly retryAfter?: string
}): Outcome => ({
  status: answer.status,
  error: undefined,
  response: excerptOf(answer.body),
  retryAfter: answer.retryAfter
})

/** PostgreSQL text cannot hold NUL, and a truncated character is not valid text. */
const excerptOf = (body: Uint8Array): string =>
  new TextDecoder().decode(body).replaceAll("\0", "\uFFFD").slice(0, MAX_EXCERPT).toWellFormed()

const errorOf = (reason: PublicFetchReason): string => {
  switch (reason._tag) {
    case "Forbidden":
      return `the address ${reason.why}`
    case "TimedOut":
      return `no answer within ${TIMEOUT_MS / 1_000} s`
    case "Unreachable":
      return `the connection failed (${reason.detail})`
    case "Busy":
      return "too many deliveries are under way"
    case "Status":
    case "TooLarge":
      return "the answer could not be read"
  }
}
