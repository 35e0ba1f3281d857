/** Where hosts that speak OpenAI's chat completions put a model's reasoning, and how they want it back. */
import type { AssistantMessage, Conversation, ReasoningData } from "../../domain/Conversation.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { ownReasoning } from "../../domain/Reasoning.ts"
import { type JsonObject, listOf, objectOf, textIn } from "../Json.ts"
import type { ChatWireOptions } from "./ChatEncode.ts"
import type { HostTraits } from "./HostTraits.ts"

/** The members a host may put the text in, as they are looked for. Some hosts send the same under two of them. */
const FIELDS = ["reasoning_content", "reasoning", "reasoning_text"]

/** In place of a member: among the parts of the content, as at Mistral, or between tags in it. */
export const AMONG_PARTS = "content"
export const BETWEEN_TAGS = "think"

/** Reasoning as it stands in a message or a delta. */
export interface FoundThought {
  readonly text: string
  /** Where it stood. */
  readonly field: string | undefined
  readonly details: ReadonlyArray<JsonObject>
}

/** Content as a string, or as the text parts some hosts send. */
export const textOf = (content: unknown): string => {
  if (typeof content === "string") return content
  return listOf(content)
    .map((part) => textIn(objectOf(part) ?? {}, "text") ?? "")
    .join("")
}

const amongParts = (content: unknown): string =>
  Array.isArray(content) ? content.map((part) => textOf(objectOf(part)?.["thinking"])).join("") : ""

const detailText = (detail: JsonObject): string => textIn(detail, "text") ?? textIn(detail, "summary") ?? ""

/** The reasoning of a message or a delta; `field` is the member where the host is known to put it. */
export const thoughtIn = (message: JsonObject, field?: string): FoundThought => {
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

/** What is kept of reasoning for its way back. */
export const dataOf = (field: string | undefined, details: ReadonlyArray<JsonObject>): ReasoningData | undefined => {
  if (details.length > 0) return { details }
  return field === undefined ? undefined : { field }
}

/** Joins the details of a stream, which come in pieces: one with the type and the place of the last goes on with it. */
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
 * Vendors whose models refuse a history with tool calls in which the assistant's reasoning is missing: DeepSeek's
 * (https://api-docs.deepseek.com/guides/thinking_mode), Kimi and MiMo.
 */
const DEMANDING: ReadonlySet<string> = new Set(["deepseek", "moonshotai", "xiaomi"])

/** What stands for reasoning that another provider made. Kimi takes an empty text for none. */
const UNKNOWN = " "

const isOff = ({ reasoning }: Conversation): boolean =>
  reasoning?.enabled === false || reasoning?.effort === "none" || reasoning?.maxTokens === 0

/** The member in which a host takes reasoning as a text, whoever made it. */
export interface WantedThoughts {
  readonly field: string
  /** It may not be missing. */
  readonly always: boolean
}

/** How a host wants the assistant's reasoning as a text, where it does, in a conversation with tools. */
export const wantedThoughts = (
  conversation: Conversation,
  { model, offer }: Candidate,
  { flavour, traits }: Pick<ChatWireOptions, "flavour"> & { readonly traits: HostTraits }
): WantedThoughts | undefined => {
  const called = conversation.messages.some((message) => message.role === "assistant" && message.toolCalls.length > 0)
  if (flavour !== "compatible" || !called || isOff(conversation)) return undefined
  const { reasoning_field: named } = traits
  const demands = DEMANDING.has(model.vendor) && model.capabilities.includes("reasoning")
  const always = demands && !/-r1/i.test(offer.upstreamId)
  if (named === undefined || named === "reasoning_details") {
    return always ? { field: "reasoning_content", always } : undefined
  }
  return { field: named, always }
}

/** An assistant's reasoning on its way back. */
export interface ThoughtsBack {
  /** Members of the message. */
  readonly members: object
  /** What goes before the content, as the host's own answers have it. */
  readonly before: string
  /** The same as parts of the content. */
  readonly parts: ReadonlyArray<object>
  /** Members of calls by their ids. */
  readonly ofCalls: ReadonlyMap<string, unknown>
}

/**
 * What a host gets back of its own reasoning, where it gave it: a list of details always, a text with the calls it led to, which is
 * where hosts go on from it. `wanted` says where the host takes a text of anybody's.
 */
export const thoughtsBack = (
  message: AssistantMessage,
  candidate: Candidate,
  wanted: WantedThoughts | undefined
): ThoughtsBack => {
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
  if (!given && wanted !== undefined) {
    const plain = plainOf(message)
    if (plain !== "" || wanted.always) members[wanted.field] = plain || UNKNOWN
  }
  return {
    members,
    before: inContent === "" ? "" : `<think>\n${inContent}\n</think>\n\n`,
    parts: among === "" ? [] : [{ type: "thinking", thinking: [{ type: "text", text: among }] }],
    ofCalls
  }
}

/** What the caller sent as a text; that of another provider is nobody else's. */
const plainOf = ({ reasoning = [] }: AssistantMessage): string =>
  reasoning.flatMap(({ origin, text }) => (origin === undefined ? [text] : [])).join("\n\n")
