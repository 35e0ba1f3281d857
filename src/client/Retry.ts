/** Decides whether a request is retried, and after how long. */

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000

/** The longest wait that a server can ask for, in milliseconds. If it asks for more, the client does not retry. */
const LONGEST_ASKED_MS = 60_000

const RETRYABLE = new Set([408, 409, 425, 429, 500, 502, 503, 504])

/** The parts of a response that decide about a retry. `header` returns null or undefined for an absent header. */
export interface ResponseHead {
  readonly status: number
  readonly header: (name: string) => string | null | undefined
}

/** Whether the same request may succeed later. `X-Should-Retry` decides, or without it the status. */
export const isRetryable = ({ header, status }: ResponseHead): boolean => {
  const decision = header("x-should-retry")
  return decision === "true" || (decision !== "false" && RETRYABLE.has(status))
}

const SECONDS = /^\d+(?:\.\d+)?$/
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [\w :-]+$/i

/**
 * Returns the milliseconds until the moment of a `Retry-After` header; negative for a past date, undefined for an invalid value. The
 * gateway has the same rule in `platform/outbound/RetryAfter.ts`, which the client cannot import because it depends on nothing.
 */
export const retryAfterMs = (header: string, nowMs: number): number | undefined => {
  const text = header.trim()
  if (SECONDS.test(text)) return Number(text) * 1_000
  const dateMs = HTTP_DATE.test(text) ? Date.parse(text.endsWith("GMT") ? text : `${text} GMT`) : Number.NaN
  return Number.isNaN(dateMs) ? undefined : dateMs - nowMs
}

/** Returns the milliseconds to wait before attempt number `attempt + 1`; undefined when the server asks for more than a minute. */
export const waitOf = (head: ResponseHead | undefined, attempt: number): number | undefined => {
  const ms = retryAfterMs(head?.header("retry-after") ?? "", Date.now()) ?? -1
  if (ms > LONGEST_ASKED_MS) return undefined
  if (ms >= 0) return ms
  // Jitter, so that clients that failed together do not retry together.
  return Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS) * (0.75 + Math.random() / 4)
}
