/** Finds what this service does not support of Anthropic's Messages request. This dialect ignores nothing. */
import { Schema } from "effect"
import { MessagesCountRequest } from "../../../schemas/inference/Messages.ts"
import {
  MessagesClearThinking,
  MessagesClearToolUses,
  MessagesCompact
} from "../../../schemas/inference/MessagesContext.ts"
import { MessagesCustomTool, MessagesTypedTool } from "../../../schemas/inference/MessagesTools.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { textOfBase64 } from "../Base64.ts"
import { type IgnoredValues, oneOf, onlyInSibling, unsupportedParameter, unsupportedMember } from "../chat/Foreign.ts"
import { objectOf } from "../Decode.ts"
import { firstUnknownMember } from "../Members.ts"
import { PDF_TYPE } from "../Pdfs.ts"
import { ProviderAlias } from "../Routing.ts"

type Body = Readonly<Record<string, unknown>>
type Wire = MessagesCountRequest
type Message = Wire["messages"][number]
type Content = Exclude<Message["content"], string>[number]
type Inner = Exclude<NonNullable<Extract<Content, { readonly type: "tool_result" }>["content"]>, string>[number]
type Block = Content | Inner
export type DocumentBlock = Extract<Block, { readonly type: "document" }>
export type SearchResultBlock = Extract<Block, { readonly type: "search_result" }>

const sibling = onlyInSibling("/messages")

/** Fields whose other values would change the answer, and fields of the other dialects that have another name here. */
const harmless: IgnoredValues = new Map(
  Object.entries({
    speed: oneOf("standard"),
    input: sibling("send `messages`"),
    instructions: sibling("send `system`"),
    max_completion_tokens: sibling("send `max_tokens`"),
    max_output_tokens: sibling("send `max_tokens`"),
    response_format: sibling("send `output_config.format`"),
    reasoning_effort: sibling("send `output_config.effort`"),
    stop: sibling("send `stop_sequences`")
  })
)

/** `routing` and `router` reject unknown fields where they are decoded. All dialects decode `provider`, and this one rejects it. */
const unknownMemberIn = firstUnknownMember(
  Schema.Struct({
    ...MessagesCountRequest.fields,
    // The types of tools and edits are distinguished by patterns.
    tools: Schema.Unknown,
    context_management: Schema.Unknown,
    routing: Schema.Unknown,
    provider: ProviderAlias,
    router: Schema.Unknown
  }).ast
)

const strangerInCustom = firstUnknownMember(MessagesCustomTool.ast)
const strangerInTyped = firstUnknownMember(MessagesTypedTool.ast)

/** Whether Anthropic's API defines this tool type and leaves running it to the caller. */
const isTyped = (type: string): boolean => /^(bash|text_editor|memory|computer)_\d{8}$/.test(type)

const inOneOf = (one: unknown, at: string, find: ReturnType<typeof firstUnknownMember>): Failure | undefined => {
  const field = find(one)?.field
  return field === undefined
    ? undefined
    : unsupportedParameter(`${at}.${field}`, `\`${at}.${field}\` is not supported; omit it`)
}

/** Tools whose callers leave out the model could be called by code alone, which only Anthropic's servers run. */
const foreignCallers = (tool: unknown, at: string): Failure | undefined => {
  const callers = objectOf(tool)?.["allowed_callers"]
  return Array.isArray(callers) && !callers.includes("direct")
    ? unsupportedParameter(`${at}.allowed_callers`, `\`${at}.allowed_callers\` must be absent or contain "direct"`)
    : undefined
}

/** A server tool has fields of its own, but the error must name its type. */
const foreignTool = (tools: unknown): Failure | undefined => {
  if (!Array.isArray(tools)) return undefined
  const typeOf = (tool: unknown): string => {
    const type = objectOf(tool)?.["type"]
    return typeof type === "string" ? type : "custom"
  }
  const at = tools.findIndex((tool) => typeOf(tool) !== "custom" && !isTyped(typeOf(tool)))
  if (at !== -1)
    return unsupportedParameter(
      `tools[${at}].type`,
      `\`tools[${at}].type\` is ${typeOf(tools[at]).slice(0, 64)}; only tools that the client runs are supported`
    )
  return firstOf(
    tools,
    "tools",
    (tool, place) =>
      inOneOf(tool, place, typeOf(tool) === "custom" ? strangerInCustom : strangerInTyped) ??
      foreignCallers(tool, place)
  )
}

const edits = [
  [/^clear_tool_uses_\d{8}$/, firstUnknownMember(MessagesClearToolUses.ast)],
  [/^clear_thinking_\d{8}$/, firstUnknownMember(MessagesClearThinking.ast)],
  [/^compact_\d{8}$/, firstUnknownMember(MessagesCompact.ast)]
] as const

/** The error for an unknown edit of the prompt, or one with an unknown field. */
const foreignEdit = (management: unknown): Failure | undefined => {
  const { edits: list, ...others } = objectOf(management) ?? {}
  const [other] = Object.keys(others)
  if (other !== undefined)
    return unsupportedParameter(
      `context_management.${other}`,
      `\`context_management.${other}\` is not supported; omit it`
    )
  return firstOf(Array.isArray(list) ? list : [], "context_management.edits", (edit, place) => {
    const type = objectOf(edit)?.["type"]
    const known = edits.find(([pattern]) => typeof type === "string" && pattern.test(type))
    if (known !== undefined) return inOneOf(edit, place, known[1])
    return typeof type === "string"
      ? unsupportedParameter(`${place}.type`, `Edits of type ${type.slice(0, 64)} are not supported`)
      : undefined
  })
}

/** The error for the first unsupported field of a body, or for a block or a tool of an unsupported type. */
export const firstUnsupported = (body: Body): Failure | undefined => {
  const found =
    unsupportedMember(body, harmless) ?? foreignTool(body["tools"]) ?? foreignEdit(body["context_management"])
  if (found !== undefined) return found
  const unknown = unknownMemberIn(body)
  if (unknown === undefined) return undefined
  const { field, type } = unknown
  return unsupportedParameter(
    field,
    type === undefined ? `\`${field}\` is not supported; omit it` : `\`${field}\` is ${type}, which is not supported`
  )
}

const firstOf = <A>(
  list: ReadonlyArray<A> | string | null | undefined,
  at: string,
  judge: (one: A, at: string) => Failure | undefined
): Failure | undefined => {
  if (list == null || typeof list === "string") return undefined
  for (let index = 0; index < list.length; index++) {
    const found = judge(list[index]!, `${at}[${index}]`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Base64 may contain line breaks here, which are removed first: a pattern that allows them could be made to backtrack. */
export const withoutLineBreaks = (data: string): string => data.replaceAll(/\s+/g, "")

const textOf = (data: string): string | undefined => textOfBase64(withoutLineBreaks(data))

/** The text of a document, after its title and its context. */
export const documentText = ({ context, source, title }: DocumentBlock): string => {
  const texts =
    source.type === "text"
      ? [source.data]
      : source.type === "base64"
        ? [textOf(source.data) ?? ""]
        : typeof source.content === "string"
          ? [source.content]
          : source.content.map(({ text }) => text)
  return [title, context, ...texts].filter((text) => text != null && text !== "").join("\n\n")
}

/** The text of a search result, after its title and its source. */
export const searchResultText = ({ content, source, title }: SearchResultBlock): string =>
  [title, source, ...content.map(({ text }) => text)].filter((text) => text !== "").join("\n\n")

const citationsFailure = ({ citations }: Pick<DocumentBlock, "citations">, at: string): Failure | undefined =>
  citations?.enabled === true
    ? unsupportedParameter(`${at}.citations.enabled`, "Citations are not supported")
    : undefined

const ofDocument = ({ source }: DocumentBlock, at: string): Failure | undefined => {
  if (source.type === "content") return firstOf(source.content, `${at}.source.content`, ofBlock)
  if (source.type === "text") return undefined
  // Its bytes are read with the message it stands in.
  if (source.media_type === PDF_TYPE) return undefined
  if (source.media_type !== "text/plain") {
    return unsupportedParameter(
      `${at}.source.media_type`,
      "Only documents of type text/plain and application/pdf are supported"
    )
  }
  return textOf(source.data) === undefined ? invalid(`${at}.source.data`, "must be base64 of UTF-8 text") : undefined
}

const ofBlock = (block: Block, at: string): Failure | undefined => {
  if (block.type === "thinking" || block.type === "redacted_thinking") return undefined
  switch (block.type) {
    case "text":
      return (block.citations ?? []).length === 0
        ? undefined
        : unsupportedParameter(`${at}.citations`, "Citations are not supported; omit them")
    case "document":
      return citationsFailure(block, at) ?? ofDocument(block, at)
    case "search_result":
      return citationsFailure(block, at) ?? firstOf(block.content, `${at}.content`, ofBlock)
    case "tool_result":
      return firstOf(block.content, `${at}.content`, ofBlock)
    case "image":
    case "tool_reference":
    case "tool_use":
      return undefined
  }
}

/** The error for thinking that another service signed, or that this service signed for another account. */
export const foreignThinking = (field: string): Failure =>
  unsupportedParameter(field, "This signature was not made by this service for your account; omit the block")

/** The error for the first unsupported value of a decoded request. */
export const unsupportedValue = (wire: Wire): Failure | undefined =>
  firstOf(typeof wire.system === "string" ? undefined : wire.system, "system", ofBlock) ??
  firstOf(wire.messages, "messages", ({ content }, at) => firstOf<Content>(content, `${at}.content`, ofBlock))
