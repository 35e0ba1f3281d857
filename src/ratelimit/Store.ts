import type { Effect } from "effect"
import type { PolicyName, Subject, WindowName } from "./Limits.ts"

/** The decision on one request. The response's rate-limit headers come from this alone. */
export interface Verdict {
  /** The window that counted the request, or that the policy reports. */
  readonly policy: WindowName
  readonly admitted: boolean
  /** Requests admitted per window for this subject, including its scale. */
  readonly limit: number
  /** Requests that the open window still admits. */
  readonly remaining: number
  /** Seconds until the open window ends, rounded up, at least 1; the full length when no window is open. */
  readonly resetSeconds: number
  /** Present only when the request is refused: the seconds until the next request is admitted. */
  readonly retryAfterSeconds?: number
}

/** Returns the verdict on a window with `used` admitted requests, including this one if it is admitted, and `leftMillis` left. */
export const verdictOf = (
  policy: WindowName,
  admitted: boolean,
  limit: number,
  used: number,
  leftMillis: number
): Verdict => {
  const remaining = used < limit ? limit - used : 0
  const resetSeconds = Math.max(1, Math.ceil(leftMillis / 1000))
  return admitted
    ? { policy, admitted, limit, remaining, resetSeconds }
    : { policy, admitted, limit, remaining, resetSeconds, retryAfterSeconds: resetSeconds }
}

/** A store of windows. */
export interface Store {
  /**
   * Counts one request and returns whether it is admitted. A window opens with a subject's first request and lasts 60 seconds. It
   * admits at most its limit times `scale`, and refused requests do not count. `scale` is the installation's factor times the
   * account's.
   */
  readonly consume: (policy: PolicyName, subject: Subject, scale: number) => Effect.Effect<Verdict>
  /** Returns what `consume` would decide now, without counting or opening a window. */
  readonly peek: (policy: PolicyName, subject: Subject, scale: number) => Effect.Effect<Verdict>
}
