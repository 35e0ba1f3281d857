import { faultOf, type RefusedAnswer, retryAfterSeconds } from "../Failure.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { type JsonObject, listOf, objectOf, parseJson, textIn } from "../wire/Json.ts"
import { refusedFault } from "../wire/Refusal.ts"

/** Interprets a response without a success status. fal names the cause in the type of an error rather than in its message. */
export const faultOfStatus = ({ body, headers, status }: RefusedAnswer, nowMs: number): ProviderFault => {
  const types = typesOf(body)
  const detail = detailOf(body) ?? `status ${status}`
  if (types.includes(POLICY)) return refusedFault(422, detail, { type: POLICY })
  const meant = status < 500 && types.some(isProvidersFault) ? 500 : status
  return faultOf(meant, detail, retryAfterSeconds(headers, nowMs))
}

/** The error type of content that fal or a model does not accept, which arrives with any status. */
export const POLICY = "content_policy_violation"

/** Error types for faults of the provider, which can have a client error status. */
const PROVIDERS_FAULTS: ReadonlySet<string> = new Set([
  "no_media_generated",
  "generation_timeout",
  "internal_server_error"
])

/** Whether an error of this type is the provider's fault, whatever its status. */
export const isProvidersFault = (type: string): boolean => PROVIDERS_FAULTS.has(type)

/**
 * fal's error message: a model returns a list of errors, each with `msg` and `type`; the queue returns one sentence.
 * <https://docs.fal.ai/errors>
 */
export const detailOf = (body: Uint8Array): string | undefined => {
  const object = errorsOf(body)
  if (object === undefined) return undefined
  const messages = listOf(object["detail"]).flatMap((one) => textIn(objectOf(one) ?? {}, "msg") ?? [])
  return messages[0] ?? textIn(object, "detail") ?? textIn(object, "error") ?? textIn(object, "message")
}

/** The machine-readable error types that fal returns. */
export const typesOf = (body: Uint8Array): ReadonlyArray<string> => {
  const object = errorsOf(body)
  if (object === undefined) return []
  const named = [...listOf(object["detail"]).map((one) => [one, "type"] as const), [object, "error_type"] as const]
  return named.flatMap(([one, member]) => textIn(objectOf(one) ?? {}, member) ?? [])
}

const errorsOf = (body: Uint8Array): JsonObject | undefined => objectOf(parseJson(body)) ?? cutErrorsOf(body)

const LIST_BEGINS = /^\s*\{\s*"detail"\s*:\s*\[/

/** The first error of a truncated list. Each error can repeat the model's whole input after its type. */
const cutErrorsOf = (body: Uint8Array): JsonObject | undefined => {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString()
  if (!LIST_BEGINS.test(text)) return undefined
  const mentions = (name: string) =>
    parseJson(new RegExp(`"${name}"\\s*:\\s*("(?:[^"\\\\]|\\\\.){0,1000}")`).exec(text)?.[1] ?? "")
  return { detail: [{ type: mentions("type"), msg: mentions("msg") }] }
}
