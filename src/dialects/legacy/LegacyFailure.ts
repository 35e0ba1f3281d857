/** Failures in the words of the legacy routes. */
import type { ErrorBody } from "../../../schemas/Errors.ts"
import type { LegacyErrorBody } from "../../../schemas/LegacyErrors.ts"

/**
 * The legacy form of an error body: message and code stand at the top level too, beside the request's id, and beyond the rate
 * limit `error` is the code alone. Where the body names another request's receipt, that one's id stays.
 */
export const encodeLegacyFailure = (body: ErrorBody, requestId: string): LegacyErrorBody => {
  const { code, message } = body.error
  const mirrored = { message, code, request_id: body.request_id ?? requestId }
  if (code !== "rate_limit_exceeded") return { ...body, ...mirrored }
  const upstream = body.upstream_rate_limited === undefined ? {} : { upstream_rate_limited: true as const }
  return { error: code, ...mirrored, ...upstream }
}
