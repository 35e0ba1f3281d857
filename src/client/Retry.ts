/** When a request is sent again, and after what time. */

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000

/** The client does not wait longer than this for a server that asks for it. */
const LONGEST_ASKED_MS = 60_000

const PASSING = new Set([408, 409, 425, 429, 500, 502, 503, 504])

/** The parts of a response that decide; `header` returns null or undefined for a header that is absent. */
export interface ResponseHead {
  readonly status: number
  readonly header: (name: string) => string | null | undefined
}

/** Whether the same request may succeed later: `X-Should-Retry` decides, else the status. */
export const isPassing = ({ header, status }: ResponseHead): boolean => {
  const decision = header("x-should-retry")
  return decision === "true" || (decision !== "false" && PASSING.has(status))
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

/** Milliseconds to wait before attempt number `attempt + 1`; undefined where the server asks for more than a minute. */
export const waitOf = (head: ResponseHead | undefined, attempt: number): number | undefined => {
  const ms = retryAfterMs(head?.header("retry-after") ?? "", Date.now()) ?? -1
  if (ms > LONGEST_ASKED_MS) return undefined
  if (ms >= 0) return ms
  // Spread, so that clients that failed together do not come back together.
  return Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS) * (0.75 + Math.random() / 4)
}
