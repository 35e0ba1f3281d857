import { windowSeconds } from "./Limits.ts"
import type { Verdict } from "./Store.ts"

/**
 * The rate-limit headers of a response. `x-ratelimit-reset` counts seconds from now; elsewhere the same name carries a
 * point in time or a duration like `6m0s`, which is why the IETF pair, where the unit is settled, is sent beside it.
 */
export const headers = (verdict: Verdict): Record<string, string> => {
  const { limit, policy, remaining, resetSeconds, retryAfterSeconds } = verdict
  const shown = {
    "x-ratelimit-limit": `${limit}`,
    "x-ratelimit-remaining": `${remaining}`,
    "x-ratelimit-reset": `${resetSeconds}`,
    "ratelimit-policy": `"${policy}";q=${limit};w=${windowSeconds}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSeconds}`
  }
  return retryAfterSeconds === undefined
    ? shown
    : { ...shown, "retry-after": `${retryAfterSeconds}`, "x-should-retry": "true" }
}
