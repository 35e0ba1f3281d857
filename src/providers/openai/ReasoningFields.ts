/** Where hosts with OpenAI's chat completions return a model's reasoning, and how they need it back. */
import type { AssistantMessage, Conversation, ReasoningData } from "../../domain/Conversation.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { ownReasoning } from "../../domain/Reasoning.ts"
import { type JsonObject, listOf, objectOf, textIn } from "../wire/Json.ts"
import { isReasoningOff } from "../wire/ReasoningOptions.ts"
import type { ChatWireOptions, HostTraits } from "./HostTraits.ts"

/** The fields that may contain the text, in search order. Some hosts send the same text in two of them. */
const FIELDS = ["reasoning_content", "reasoning", "reasoning_text"]

/** In place of a field: reasoning is in the content, as parts like Mistral's (`content`) or between tags (`think`). */
const AMONG_PARTS = "content"
export const BETWEEN_TAGS = "think"

/** Reasoning found in a message or a delta. */
export interface FoundReasoning {
  readonly text: string
  /** The field where it was. */
  readonly field: string | undefined
  readonly details: ReadonlyArray<JsonObject>
}

/** Content as a string, or as the text parts that some hosts send. */
export const textOf = (content: unknown): string => {
  if (typeof content === "string") return content
  return listOf(content)
    .map((part) => textIn(objectOf(part) ?? {}, "text") ?? "")
    .join("")
}

const amongParts = (content: unknown): string =>
  Array.isArray(content) ? content.map((part) => textOf(objectOf(part)?.["thinking"])).join("") : ""

const detailText = (detail: JsonObject): string => textIn(detail, "text") ?? textIn(detail, "summary") ?? ""

/** The reasoning of a message or a delta. `field` is the host's field, if it is known. */
export const reasoningIn = (message: JsonObject, field?: string): FoundReasoning => {
  const details = listOf(message["reasoning_details"]).flatMap((detail) => {
    const object = objectOf(detail)
    return object === undefined ? [] : [object]
  })
  const found = [...(field === undefined ? [] : [field]), ...FIELDS].find((name) => textIn(message, name) !== undefined)
  if (found !== undefined) return { text: textIn(message, found) ?? "", field: found, details }
  const text = amongParts(message["content"])
  if (text !== "") return { text, field: AMONG_PARTS, details }
  return { text: details.map(detailText).join(""), field: undefined, details }
}

/** The data of reasoning that is kept for the next request. */
export const dataOf = (field: string | undefined, details: ReadonlyArray<JsonObject>): ReasoningData | undefined => {
  if (details.length > 0) return { details }
  return field === undefined ? undefined : { field }
}

/** Joins the details of a stream, which arrive in pieces: a piece with the type and the index of the last one continues it. */
export const joinDetail = (details: Array<JsonObject>, piece: JsonObject): void => {
  const last = details.at(-1)
  if (last === undefined || last["type"] !== piece["type"] || last["index"] !== piece["index"]) {
    details.push(piece)
    return
  }
  const joined: Record<string, unknown> = { ...last }
  for (const [name, value] of Object.entries(piece)) {
    const before = joined[name]
    const grows = name === "text" || name === "summary" || name === "data"
    if (grows && typeof before === "string" && typeof value === "string") joined[name] = before + value
    else if (value !== null && value !== undefined) joined[name] = value
  }
  details[details.length - 1] = joined
}

/**
 * Vendors of models that reject a history with tool calls that lacks the assistant's reasoning: DeepSeek
 * (https://api-docs.deepseek.com/guides/thinking_mode), Kimi and MiMo.
 */
const DEMANDING: ReadonlySet<string> = new Set(["deepseek", "moonshotai", "xiaomi"])

/** Replaces reasoning that another provider made. Kimi treats an empty text as missing. */
const UNKNOWN = " "

/** The field in which a host accepts reasoning as text, from any provider. */
export interface AcceptedReasoning {
  readonly field: string
  /** Whether it must not be missing. */
  readonly always: boolean
}

/** How a host accepts the assistant's reasoning as text in a conversation with tools, if it does. */
export const acceptedReasoning = (
  conversation: Conversation,
  { model, offer }: Candidate,
  { flavour, traits }: Pick<ChatWireOptions, "flavour"> & { readonly traits: HostTraits }
): AcceptedReasoning | undefined => {
  const called = conversation.messages.some((message) => message.role === "assistant" && message.toolCalls.length > 0)
  const { reasoning_field: named } = traits
  const accepts = flavour === "compatible" || named !== undefined
  if (!accepts || !called || isReasoningOff(conversation.reasoning)) return undefined
  const demands = DEMANDING.has(model.vendor) && model.capabilities.includes("reasoning")
  const always = demands && !/-r1/i.test(offer.upstreamId)
  if (named === undefined || named === "reasoning_details") {
    return always ? { field: "reasoning_content", always } : undefined
  }
  return { field: named, always }
}

/** An assistant's reasoning in the form for the host. */
export interface ReturnedReasoning {
  /** Fields of the message. */
  readonly members: object
  /** Text before the content, as in the host's own answers. */
  readonly before: string
  /** The reasoning as content parts. */
  readonly parts: ReadonlyArray<object>
  /** Fields of calls by their ids. */
  readonly ofCalls: ReadonlyMap<string, unknown>
}

/**
 * Returns the reasoning that a host gets back. Details always go back, but only to the host that made them. A text goes back only with
 * the calls that it led to, because hosts continue from there. `accepted` names the field in which the host accepts text from any
 * provider.
 */
export const returnedReasoning = (
  message: AssistantMessage,
  candidate: Candidate,
  accepted: AcceptedReasoning | undefined
): ReturnedReasoning => {
  const own = ownReasoning(message, candidate)
  const details = own.flatMap(({ data }) => listOf(data["details"]))
  const ofCalls = new Map(
    own.flatMap(({ data }) => (typeof data["call"] === "string" ? [[data["call"], data["extra"]]] : []))
  )
  const calls = message.toolCalls.length > 0
  const byField = new Map<string, string>()
  for (const { data, text } of calls ? own : []) {
    if (typeof data["field"] === "string") byField.set(data["field"], (byField.get(data["field"]) ?? "") + text)
  }
  const inContent = byField.get(BETWEEN_TAGS) ?? ""
  const among = byField.get(AMONG_PARTS) ?? ""
  byField.delete(BETWEEN_TAGS)
  byField.delete(AMONG_PARTS)
  const given = details.length + byField.size > 0 || inContent !== "" || among !== ""
  const members: Record<string, unknown> = Object.fromEntries(byField)
  if (details.length > 0) members["reasoning_details"] = details
  if (!given && accepted !== undefined) {
    const plain = plainOf(message)
    if (plain !== "" || accepted.always) members[accepted.field] = plain || UNKNOWN
  }
  return {
    members,
    before: inContent === "" ? "" : `<think>\n${inContent}\n</think>\n\n`,
    parts: among === "" ? [] : [{ type: "thinking", thinking: [{ type: "text", text: among }] }],
    ofCalls
  }
}

/** The reasoning text that the caller sent. Text from another provider is omitted. */
const plainOf = ({ reasoning = [] }: AssistantMessage): string =>
  reasoning.flatMap(({ origin, text }) => (origin === undefined ? [text] : [])).join("\n\n")
