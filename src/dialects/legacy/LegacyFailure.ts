/** Encodes failures for the legacy routes. */
import type { ErrorBody } from "../../../schemas/Errors.ts"
import type { LegacyErrorBody } from "../../../schemas/LegacyErrors.ts"

/**
 * The legacy form of an error body: message and code are also at the top level, next to the request's id. Except for rate limits,
 * `error` is the code only. If the body names another request's receipt, it keeps that request's id.
 */
export const encodeLegacyFailure = (body: ErrorBody, requestId: string): LegacyErrorBody => {
  const { code, message } = body.error
  const mirrored = { message, code, request_id: body.request_id ?? requestId }
  if (code !== "rate_limit_exceeded") return { ...body, ...mirrored }
  const upstream = body.upstream_rate_limited === undefined ? {} : { upstream_rate_limited: true as const }
  return { error: code, ...mirrored, ...upstream }
}
