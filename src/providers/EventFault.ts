/** What adapters find wrong with an event of a stream before they read it in their own way. */
import { type JsonObject, objectOf } from "./Json.ts"
import type { ProviderFault } from "./Provider.ts"

/** The name of an event that is an error, whatever its data. */
export const ERROR_EVENT = "error"

/** Whether a member says that there is an error: hosts also send it empty beside an answer. */
const isSaid = (error: unknown): boolean => {
  const object = objectOf(error)
  if (object !== undefined) return Object.keys(object).length > 0
  return Array.isArray(error) ? error.length > 0 : Boolean(error)
}

/**
 * The error of an event, or of an answer, that is one in any of the forms that hosts use: an event of that name, an `error` member,
 * or an object that calls itself an error. Undefined where there is none.
 */
export const errorIn = (said: JsonObject, event = ""): unknown => {
  if (isSaid(said["error"])) return said["error"]
  return event === ERROR_EVENT || said["object"] === ERROR_EVENT || said["type"] === ERROR_EVENT ? said : undefined
}

/** What data means that is no JSON object: under the name of an error it is one, and at the end of the body it may have been cut. */
export const faultOfNoObject = (data: string, event: string, isCut: boolean): ProviderFault | undefined => {
  if (event === ERROR_EVENT) return { _tag: "ServerError", status: 500, detail: data }
  return isCut ? undefined : { _tag: "Malformed", detail: "an event of the stream is not a JSON object" }
}
