/** Finds errors in stream events before an adapter reads them in its own way. */
import { type JsonObject, objectOf } from "./Json.ts"
import type { ProviderFault } from "../ProviderError.ts"

/** The name of an event that is an error, whatever its data. */
export const ERROR_EVENT = "error"

/** Whether an `error` member really contains an error: hosts also send an empty one beside an answer. */
const isError = (error: unknown): boolean => {
  const object = objectOf(error)
  if (object !== undefined) return Object.keys(object).length > 0
  return Array.isArray(error) ? error.length > 0 : Boolean(error)
}

/**
 * The error in an event or an answer, in any of the forms that hosts use: an event with that name, an `error` member, or an object that
 * calls itself an error. Undefined when there is none.
 */
export const errorIn = (body: JsonObject, event = ""): unknown => {
  if (isError(body["error"])) return body["error"]
  return event === ERROR_EVENT || body["object"] === ERROR_EVENT || body["type"] === ERROR_EVENT ? body : undefined
}

/** Interprets data that is not a JSON object: in an error event it is an error, and at the end of the body it may be truncated. */
export const faultOfNoObject = (data: string, event: string, isCut: boolean): ProviderFault | undefined => {
  if (event === ERROR_EVENT) return { _tag: "ServerError", status: 500, detail: data }
  return isCut ? undefined : { _tag: "Malformed", detail: "an event of the stream is not a JSON object" }
}
