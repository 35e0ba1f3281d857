/** Fields of OpenAI's Responses request that this service knows and does not support. */
import { MESSAGES_MAX } from "../../../schemas/Bounds.ts"
import type { Failure } from "../../domain/Failure.ts"
import {
  anyObject,
  emptyList,
  type IgnoredValues,
  never,
  type ValuesWithoutEffect,
  oneOf,
  onlyAutoRouter,
  onlyInSibling,
  onlyText,
  unsupportedParameter,
  unsupportedMember
} from "../chat/Foreign.ts"
import { objectOf } from "../Decode.ts"
import { isReasoningReference, itemTypes } from "./ItemTypes.ts"
import { isHosted } from "./ResponsesTools.ts"

type Body = Readonly<Record<string, unknown>>

const WHOLE_CONVERSATION = "the gateway stores no responses, so send the whole conversation in `input`"

const sibling = onlyInSibling("/responses")
const STOP_IN_CHAT = "POST /chat/completions has stop sequences"

const plainText = { holds: (value: unknown) => objectOf(value)?.["type"] === "text" }

const harmless: IgnoredValues = new Map(
  Object.entries({
    store: oneOf(false),
    background: oneOf(false),
    previous_response_id: never(WHOLE_CONVERSATION),
    conversation: never(WHOLE_CONVERSATION),
    prompt: never('use a preset: "model": "@name"'),
    context_management: emptyList,
    moderation: never(),
    image: never(),
    service_tier: oneOf("auto", "default"),
    plugins: onlyAutoRouter,
    modalities: onlyText,
    transforms: emptyList,
    route: oneOf("fallback"),
    usage: anyObject,
    // Fields of Chat Completions and the Messages API. A client that sends one of them expects its effect.
    messages: sibling("send `input`"),
    system: sibling("send `instructions`"),
    max_tokens: sibling("send `max_output_tokens`"),
    max_completion_tokens: sibling("send `max_output_tokens`"),
    response_format: sibling("send `text.format`", plainText),
    output_format: sibling("send `text.format`"),
    reasoning_effort: sibling("send `reasoning.effort`"),
    verbosity: sibling("send `text.verbosity`"),
    stop: sibling(STOP_IN_CHAT, emptyList),
    stop_sequences: sibling(STOP_IN_CHAT, emptyList)
  } satisfies Record<string, ValuesWithoutEffect>)
)

/** Fields that are decoded elsewhere than in the request's schema. */
export const foreignMembers: ReadonlySet<string> = new Set([...harmless.keys(), "provider"])

const references = new Set(["function", "custom", "tool_search", "namespace"])

const typeOf = (value: unknown): string | undefined => {
  const type = objectOf(value)?.["type"]
  return typeof type === "string" ? type : undefined
}

/** The error for a choice of a tool that no request can have. */
const unsupportedChoice = (body: Body): Failure | undefined => {
  const choice = objectOf(body["tool_choice"])
  const type = typeOf(choice)
  if (choice === undefined || type === undefined) return undefined
  if (type !== "allowed_tools") {
    return references.has(type)
      ? undefined
      : unsupportedParameter("tool_choice.type", `A tool choice of type ${type.slice(0, 64)} is not supported`)
  }
  const tools: ReadonlyArray<unknown> = Array.isArray(choice["tools"]) ? choice["tools"] : []
  const foreign = tools.map((tool) => typeOf(tool) ?? "function").map((one) => (references.has(one) ? undefined : one))
  const index = foreign.findIndex((one) => one !== undefined && !isHosted(one))
  if (index !== -1) {
    return unsupportedParameter(
      `tool_choice.tools[${index}].type`,
      `Tools of type ${foreign[index]?.slice(0, 64)} are not supported`
    )
  }
  // Among other tools, a hosted tool is left out. Alone, it leaves nothing to choose from.
  return tools.length > 0 && foreign.every((one) => one !== undefined)
    ? unsupportedParameter("tool_choice.tools", "Tools that only OpenAI's servers run are not supported")
    : undefined
}

const items: ReadonlySet<string> = new Set(itemTypes)

/** Items with an output that may have parts. */
const outputs = new Set(["function_call_output", "custom_tool_call_output"])

/** For each part type, the members that refer to content stored elsewhere. */
const elsewhere: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["input_image", ["file_id"]],
  ["input_file", ["file_id", "file_url"]]
])

const parts = new Set(["input_text", "input_image", "input_file", "output_text", "refusal"])

const unsupportedPart = (part: unknown, at: string): Failure | undefined => {
  const object = objectOf(part)
  const type = object?.["type"]
  if (object === undefined || typeof type !== "string") return undefined
  if (!parts.has(type))
    return unsupportedParameter(`${at}.type`, `Content parts of type ${type.slice(0, 64)} are not supported`)
  const member = elsewhere.get(type)?.find((name) => object[name] != null)
  return member === undefined
    ? undefined
    : unsupportedParameter(`${at}.${member}`, "Files that are stored elsewhere are not supported")
}

const NO_REFERENCES = [
  "The gateway stores no responses, so that an item cannot be referenced by its id.",
  "Set `store: false`, and send the item itself; with the AI SDK, set `providerOptions: { openai: { store: false } }`"
].join(" ")

const unsupportedItem = (item: unknown, at: string): Failure | undefined => {
  const object = objectOf(item)
  if (object === undefined) return undefined
  const { content, output, role, type } = object
  if (type === "item_reference") {
    return isReasoningReference(object) ? undefined : unsupportedParameter(`${at}.type`, NO_REFERENCES)
  }
  if (typeof type === "string" && !items.has(type)) {
    return unsupportedParameter(`${at}.type`, `Items of type ${type.slice(0, 64)} are not supported`)
  }
  const [member, list] = outputs.has(String(type)) ? ["output", output] : ["content", content]
  if (!Array.isArray(list) || type === "reasoning") return undefined
  const instructs = role === "system" || role === "developer"
  for (let index = 0; index < list.length; index++) {
    const place = `${at}.${member}[${index}]`
    const found = unsupportedPart(list[index], place)
    if (found !== undefined) return found
    if (instructs && objectOf(list[index])?.["type"] === "input_image") {
      return unsupportedParameter(`${place}.type`, `Images in messages of role ${String(role)} are not supported`)
    }
  }
  return undefined
}

/** The error for the first unsupported item or part. A list that is too long is rejected elsewhere. */
const unsupportedInput = (input: unknown): Failure | undefined => {
  if (!Array.isArray(input) || input.length > MESSAGES_MAX) return undefined
  for (let index = 0; index < input.length; index++) {
    const found = unsupportedItem(input[index], `input[${index}]`)
    if (found !== undefined) return found
  }
  return undefined
}

/** The error for the first unsupported field, choice, item or part that would change the answer. */
export const firstUnsupported = (body: Body): Failure | undefined =>
  unsupportedMember(body, harmless) ?? unsupportedChoice(body) ?? unsupportedInput(body["input"])
