import type { Effect } from "effect"
import type { PolicyName, Subject, WindowName } from "./Limits.ts"

/** What the limiter says about one request. The headers of its response are made from this and nothing else. */
export interface Verdict {
  /** The window that was counted in, or shown. */
  readonly policy: WindowName
  readonly admitted: boolean
  /** Requests admitted per window for this subject, its scale included. */
  readonly limit: number
  /** Requests still admitted in the open window. */
  readonly remaining: number
  /** Seconds until the open window ends, rounded up, at least 1; the whole length when none is open. */
  readonly resetSeconds: number
  /** Present exactly when refused: after so many seconds a request is admitted again. */
  readonly retryAfterSeconds?: number
}

/**
 * The verdict on a window in which `used` requests are admitted (this one included, if it is) and `leftMillis` are
 * left.
 */
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

/** Where windows are kept and requests counted. */
export interface Store {
  /**
   * Counts one request and says whether it is admitted. A window opens with a subject's first request and lasts 60
   * seconds; no more than its limit times `scale` are admitted in it, and a refused request is not counted. `scale` is
   * the installation's times the account's own.
   */
  readonly consume: (policy: PolicyName, subject: Subject, scale: number) => Effect.Effect<Verdict>
  /** What `consume` would say now, counting nothing and opening no window. */
  readonly peek: (policy: PolicyName, subject: Subject, scale: number) => Effect.Effect<Verdict>
}
