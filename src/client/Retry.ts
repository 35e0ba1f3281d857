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

/** Milliseconds to wait before attempt number `attempt + 1`; undefined where the server asks for more than a minute. */
export const waitOf = (head: ResponseHead | undefined, attempt: number): number | undefined => {
  const retryAfter = head?.header("retry-after") ?? ""
  if (retryAfter !== "") {
    const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now()
    if (ms > LONGEST_ASKED_MS) return undefined
    if (ms >= 0) return ms
  }
  // Spread, so that clients that failed together do not come back together.
  return Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS) * (0.75 + Math.random() / 4)
}
