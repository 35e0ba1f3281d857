/** Decides when a delivery is retried and when it ends, following the schedule that Standard Webhooks recommends. */
import { retryAfterMs } from "../platform/outbound/RetryAfter.ts"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Delays since the previous attempt, in milliseconds. The first attempt is immediate. */
export const DELAYS_MS: ReadonlyArray<number> = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)
]

/** The largest relative extension of a delay. It spreads out deliveries that failed at the same moment. */
const JITTER = 0.1

/** The longest delay that a receiver's `Retry-After` can cause. */
const MAX_RETRY_AFTER_MS = 24 * HOUR

/** The longest time between two attempts of a delivery, plus one hour for other delays. */
export const LONGEST_GAP_MS = Math.max(...DELAYS_MS, MAX_RETRY_AFTER_MS) * (1 + JITTER) + HOUR

/** A receiver's response to an attempt. `status` is undefined when there was none. */
export interface Outcome {
  readonly status: number | undefined
  /** The `Retry-After` header, unparsed. */
  readonly retryAfter?: string | undefined
}

/** The next state of a delivery. */
export type Verdict =
  | { readonly _tag: "Delivered" }
  | { readonly _tag: "Retry"; readonly afterMs: number }
  /** No attempts are left. */
  | { readonly _tag: "Failed" }
  /** The receiver wants no more deliveries at all. */
  | { readonly _tag: "Gone" }

/** The statuses that make the gateway respect `Retry-After`. */
const ASKED_TO_WAIT: ReadonlySet<number> = new Set([429, 503])
const GONE = 410

/** Reports whether an attempt succeeded. A redirect is not a success. */
export const isDelivered = (status: number | undefined): boolean => status !== undefined && status > 199 && status < 300

/** Returns what happens to a delivery after an attempt at this step of the schedule. `random` is from 0 to 1. */
export const verdictOf = (step: number, outcome: Outcome, nowMs: number, random: number): Verdict => {
  const { retryAfter, status } = outcome
  if (isDelivered(status)) return { _tag: "Delivered" }
  if (status === GONE) return { _tag: "Gone" }
  const delay = DELAYS_MS[step + 1]
  if (delay === undefined) return { _tag: "Failed" }
  const requestedMs = ASKED_TO_WAIT.has(status ?? 0) ? (retryAfterMs(retryAfter ?? "", nowMs) ?? 0) : 0
  const waitMs = Math.max(delay, Math.min(requestedMs, MAX_RETRY_AFTER_MS))
  return { _tag: "Retry", afterMs: Math.round(waitMs * (1 + JITTER * random)) }
}
