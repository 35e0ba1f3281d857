import { Result } from "effect"
import { finishEvent, type FinishReason, type Output, type OutputEvent, OutputFold } from "../../domain/Output.ts"
import type { TokenUsage } from "../../domain/Usage.ts"
import { type JsonObject, listOf, objectOf, parseJson, textIn } from "../wire/Json.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { toolCallId } from "../wire/ToolCallId.ts"
import { argumentsOf, isCut, NO_ARGUMENTS, usageOf } from "./ChatDecode.ts"
import { faultOfError } from "./Failure.ts"

/** Decodes a complete response. `requestId` seeds ids for tool calls that arrived without one. */
export const decodeResponse = (body: Uint8Array, requestId: string): Result.Result<Output, ProviderFault> => {
  const response = objectOf(parseJson(body))
  if (response === undefined) return malformed("the body is not a JSON object")
  const fault = faultOfResponse(response)
  if (fault !== undefined) return Result.fail(fault)
  if (!Array.isArray(response["output"])) return malformed("the body has no output")
  const fold = new OutputFold()
  const items = listOf(response["output"]).map((item) => objectOf(item) ?? {})
  const { length: calls } = items.filter(isCall)
  const finish = finishOfResponse(response, calls > 0)
  let index = 0
  for (const item of items) {
    const itemEvents = isCall(item) ? callOf(item, index++, requestId, isCut(finish)) : eventsOfItem(item)
    const events = [...itemEvents, ...endOfReasoning(item)]
    for (const event of events) fold.push(event)
  }
  for (const event of endOf(finish, usageOfResponse(response["usage"]))) fold.push(event)
  const output = fold.output()
  if (calls > 0 || output.text !== "" || output.refusal !== "") return Result.succeed(output)
  for (const item of items.filter(isAside)) for (const event of eventsOfItem({ ...item, phase: null })) fold.push(event)
  return Result.succeed(fold.output())
}

/** Whether an item is a function call. */
export const isCall = (item: JsonObject): boolean =>
  item["type"] === "function_call" && textIn(item, "name") !== undefined

const callOf = (item: JsonObject, index: number, requestId: string, cut: boolean): ReadonlyArray<OutputEvent> => {
  const argumentText = argumentsOf(item["arguments"])
  const id = textIn(item, "call_id") ?? toolCallId(requestId, index)
  const text = argumentText.trim() === "" && !cut ? NO_ARGUMENTS : argumentText
  return [
    { _tag: "ToolStart", index, id, name: textIn(item, "name") ?? "" },
    { _tag: "ToolDelta", index, text }
  ]
}

/**
 * Whether an item is commentary on the way to an answer. The answer may repeat it, and as text the two would run together. So
 * commentary counts as reasoning, and as the answer only if there is no other text.
 */
export const isAside = (item: JsonObject): boolean => item["phase"] === "commentary"

/** The events of any other item. */
export const eventsOfItem = (item: JsonObject): ReadonlyArray<OutputEvent> =>
  [...listOf(item["summary"]), ...listOf(item["content"])].flatMap((part): ReadonlyArray<OutputEvent> => {
    const members = objectOf(part) ?? {}
    const text = textIn(members, "text") ?? ""
    if (item["type"] === "reasoning" || (isAside(item) && text !== "")) return [{ _tag: "Reasoning", text }]
    return members["type"] === "refusal"
      ? [{ _tag: "Refusal", text: textIn(members, "refusal") ?? "" }]
      : [{ _tag: "Text", text }]
  })

/** Ends a reasoning item that the host encrypted for the next request. */
export const endOfReasoning = (item: JsonObject): ReadonlyArray<OutputEvent> => {
  const encrypted = item["type"] === "reasoning" ? textIn(item, "encrypted_content") : undefined
  return encrypted === undefined ? [] : [{ _tag: "ReasoningEnd", data: { encrypted, id: textIn(item, "id") } }]
}

/** The last events of an answer. */
export const endOf = (finish: FinishReason | undefined, usage: TokenUsage | undefined): ReadonlyArray<OutputEvent> => [
  ...(finish === undefined ? [] : [finishEvent(finish, undefined)]),
  ...(usage === undefined ? [] : [{ _tag: "Usage", usage } as const])
]

/** Why the model stopped; undefined when the response has no end. */
export const finishOfResponse = (response: JsonObject, calledTools: boolean): FinishReason | undefined => {
  switch (response["status"]) {
    case "completed":
      return calledTools ? "tool_calls" : "stop"
    case "incomplete":
      return objectOf(response["incomplete_details"])?.["reason"] === "content_filter" ? "content_filter" : "length"
    default:
      return undefined
  }
}

/** This wire format counts like chat completions, under other names. */
export const usageOfResponse = (value: unknown): TokenUsage | undefined => {
  const usage = objectOf(value)
  return usageOf(
    usage && {
      ...usage,
      prompt_tokens: usage["input_tokens"],
      prompt_tokens_details: usage["input_tokens_details"],
      completion_tokens: usage["output_tokens"],
      completion_tokens_details: usage["output_tokens_details"],
      total_tokens: usage["total_tokens"]
    }
  )
}

/** Error codes that the request's content causes, among them `bio_policy` and `cyber_policy` for forbidden topics. */
const OF_REQUEST = /^invalid_|image|policy/

/** Why a response failed, if it did. */
export const faultOfResponse = (response: JsonObject): ProviderFault | undefined => {
  const { error } = response
  if (error === undefined || error === null) {
    return response["status"] === "failed" ? faultOfError(undefined) : undefined
  }
  const errorMembers = objectOf(error)
  return faultOfError(
    errorMembers !== undefined && OF_REQUEST.test(textIn(errorMembers, "code") ?? "")
      ? { ...errorMembers, status: 400 }
      : error
  )
}

const malformed = (detail: string) => Result.fail<ProviderFault>({ _tag: "Malformed", detail })
