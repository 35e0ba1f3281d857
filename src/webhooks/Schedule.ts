/** When a delivery is tried again, and when no more; after the schedule that Standard Webhooks recommends. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** From the attempt before, in milliseconds; the first is made at once. */
export const DELAYS_MS: ReadonlyArray<number> = [
  ...[0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)
]

/** Part of a delay by which it may be longer: what failed at one moment must not come back at one moment. */
const JITTER = 0.1

/** Nobody is kept waiting for longer because a receiver says so. */
const MAX_RETRY_AFTER_MS = 24 * HOUR

/** The most that lies between two attempts of a delivery, with an hour for whatever holds one up. */
export const LONGEST_GAP_MS = Math.max(...DELAYS_MS, MAX_RETRY_AFTER_MS) * (1 + JITTER) + HOUR

/** What a receiver did with an attempt. `status` is undefined where it did not answer. */
export interface Outcome {
  readonly status: number | undefined
  /** Its `Retry-After`, as it came. */
  readonly retryAfter?: string | undefined
}

/** What is to become of a delivery. */
export type Verdict =
  | { readonly _tag: "Delivered" }
  | { readonly _tag: "Retry"; readonly afterMs: number }
  /** There was no further attempt to make. */
  | { readonly _tag: "Failed" }
  /** The receiver wants no more of anything. */
  | { readonly _tag: "Gone" }

/** Receivers that say so are waited for. */
const ASKED_TO_WAIT: ReadonlySet<number> = new Set([429, 503])
const GONE = 410

/** Milliseconds until the moment of a `Retry-After` (RFC 9110, 10.2.3), at most a day; undefined for what is none. */
export const retryAfterMs = (header: string, nowMs: number): number | undefined => {
  const text = header.trim()
  const wait = /^\d+$/.test(text)
    ? Number(text) * SECOND
    : /[A-Za-z]{3}/.test(text)
      ? Date.parse(text) - nowMs
      : Number.NaN
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, wait), MAX_RETRY_AFTER_MS)
}

/** Whether an attempt reached its receiver: redirects did not. */
export const isDelivered = (status: number | undefined): boolean => status !== undefined && status > 199 && status < 300

/** What becomes of a delivery whose attempt at this step of the schedule ended so. `random` is from 0 to 1. */
export const verdictOf = (step: number, outcome: Outcome, nowMs: number, random: number): Verdict => {
  const { retryAfter, status } = outcome
  if (isDelivered(status)) return { _tag: "Delivered" }
  if (status === GONE) return { _tag: "Gone" }
  const delay = DELAYS_MS[step + 1]
  if (delay === undefined) return { _tag: "Failed" }
  const asked = retryAfter !== undefined && ASKED_TO_WAIT.has(status ?? 0) ? retryAfterMs(retryAfter, nowMs) : undefined
  return { _tag: "Retry", afterMs: Math.round(Math.max(delay, asked ?? 0) * (1 + JITTER * random)) }
}
