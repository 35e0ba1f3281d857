import { windowSeconds } from "./Limits.ts"
import type { Verdict } from "./Store.ts"

/**
 * Returns the rate-limit headers of a response. `x-ratelimit-reset` counts seconds from now. Other APIs use that name for a point
 * in time or a duration such as `6m0s`, so the response also has the IETF headers, which define the unit.
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

/** Returns the headers of a response that was not counted. They have no `Retry-After`, because no limit refused the request. */
export const headersOfUncounted = (verdict: Verdict): Record<string, string> => {
  const { admitted, limit, policy, remaining, resetSeconds } = verdict
  return headers({ admitted, limit, policy, remaining, resetSeconds })
}
