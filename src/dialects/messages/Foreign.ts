/** What of Anthropic's messages request this service does not offer. Here nothing is ignored. */
import { Schema } from "effect"
import {
  MessagesClearThinking,
  MessagesClearToolUses,
  MessagesCompact,
  MessagesCountRequest,
  MessagesCustomTool,
  MessagesTypedTool
} from "../../../schemas/inference/Messages.ts"
import { type Failure, failure, invalid } from "../../domain/Failure.ts"
import { textOfBase64 } from "../Base64.ts"
import { objectOf } from "../Decode.ts"
import { strangers } from "../Members.ts"
import { PDF_TYPE } from "../Pdfs.ts"
import { ProviderAlias } from "../Routing.ts"

type Body = Readonly<Record<string, unknown>>
type Wire = MessagesCountRequest
type Message = Wire["messages"][number]
type Content = Exclude<Message["content"], string>[number]
type Inner = Exclude<NonNullable<Extract<Content, { readonly type: "tool_result" }>["content"]>, string>[number]
type Block = Content | Inner
export type DocumentBlock = Extract<Block, { readonly type: "document" }>

const unsupported = (param: string, detail: string): Failure => failure({ _tag: "UnsupportedParameter", param, detail })

/** What `routing` and `router` do not know is refused where they are read; `provider` is read by all dialects, and refused by this one. */
const strangerIn = strangers(
  Schema.Struct({
    ...MessagesCountRequest.fields,
    // Tools and edits are told from each other by patterns of their types.
    tools: Schema.Unknown,
    context_management: Schema.Unknown,
    routing: Schema.Unknown,
    provider: ProviderAlias,
    router: Schema.Unknown
  }).ast
)

const strangerInCustom = strangers(MessagesCustomTool.ast)
const strangerInTyped = strangers(MessagesTypedTool.ast)

/** Whether Anthropic's API knows a tool by its type, and leaves it to the caller to run it. */
const isTyped = (type: string): boolean => /^(bash|text_editor|memory|computer)_\d{8}$/.test(type)

const inOneOf = (one: unknown, at: string, find: ReturnType<typeof strangers>): Failure | undefined => {
  const field = find(one)?.field
  return field === undefined ? undefined : unsupported(`${at}.${field}`, `${at}.${field} is not offered`)
}

/** A server's tool has members of its own; it is its type that is to be named. */
const foreignTool = (tools: unknown): Failure | undefined => {
  if (!Array.isArray(tools)) return undefined
  const typeOf = (tool: unknown): string => {
    const type = objectOf(tool)?.["type"]
    return typeof type === "string" ? type : "custom"
  }
  const at = tools.findIndex((tool) => typeOf(tool) !== "custom" && !isTyped(typeOf(tool)))
  if (at !== -1) return unsupported(`tools.${at}.type`, "Only tools that the caller runs are offered")
  return firstOf(tools, "tools", (tool, place) =>
    inOneOf(tool, place, typeOf(tool) === "custom" ? strangerInCustom : strangerInTyped)
  )
}

const edits = [
  [/^clear_tool_uses_\d{8}$/, strangers(MessagesClearToolUses.ast)],
  [/^clear_thinking_\d{8}$/, strangers(MessagesClearThinking.ast)],
  [/^compact_\d{8}$/, strangers(MessagesCompact.ast)]
] as const

/** An edit of the prompt that is not known, or has a member that is not. */
const foreignEdit = (management: unknown): Failure | undefined => {
  const { edits: list, ...others } = objectOf(management) ?? {}
  const [other] = Object.keys(others)
  if (other !== undefined) return unsupported(`context_management.${other}`, `${other} is not offered`)
  return firstOf(Array.isArray(list) ? list : [], "context_management.edits", (edit, place) => {
    const type = objectOf(edit)?.["type"]
    const known = edits.find(([pattern]) => typeof type === "string" && pattern.test(type))
    if (known !== undefined) return inOneOf(edit, place, known[1])
    return typeof type === "string"
      ? unsupported(`${place}.type`, `Edits of type ${type.slice(0, 64)} are not offered`)
      : undefined
  })
}

/** The first member of a body that is not offered, or a block or a tool of a type that is not. */
export const firstUnsupported = (body: Body): Failure | undefined => {
  const found = foreignTool(body["tools"]) ?? foreignEdit(body["context_management"])
  if (found !== undefined) return found
  const stranger = strangerIn(body)
  if (stranger === undefined) return undefined
  const { field, type } = stranger
  return unsupported(field, type === undefined ? `${field} is not offered` : `Type ${type} is not offered at ${field}`)
}

const firstOf = <A>(
  list: ReadonlyArray<A> | string | null | undefined,
  at: string,
  judge: (one: A, at: string) => Failure | undefined
): Failure | undefined => {
  if (list == null || typeof list === "string") return undefined
  for (let index = 0; index < list.length; index++) {
    const found = judge(list[index]!, `${at}.${index}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Base64 may be broken into lines here, whose ends are taken out at once: a pattern that allows for them could be made to try again. */
export const unbroken = (data: string): string => data.replaceAll(/\s+/g, "")

const textOf = (data: string): string | undefined => textOfBase64(unbroken(data))

/** The text of a document, behind its title and what is said about it. */
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

const ofDocument = ({ citations, source }: DocumentBlock, at: string): Failure | undefined => {
  if (citations?.enabled === true) return unsupported(`${at}.citations.enabled`, "Citations are not offered")
  if (source.type === "content") return firstOf(source.content, `${at}.source.content`, ofBlock)
  if (source.type === "text") return undefined
  // Its bytes are read with the message it stands in.
  if (source.media_type === PDF_TYPE) return undefined
  if (source.media_type !== "text/plain") {
    return unsupported(`${at}.source.media_type`, "Only documents of type text/plain and application/pdf are offered")
  }
  return textOf(source.data) === undefined ? invalid(`${at}.source.data`, "base64 of a text in UTF-8") : undefined
}

const ofBlock = (block: Block, at: string): Failure | undefined => {
  if (block.type === "thinking" || block.type === "redacted_thinking") return undefined
  switch (block.type) {
    case "text":
      return (block.citations ?? []).length === 0
        ? undefined
        : unsupported(`${at}.citations`, "Citations are not offered; leave them out")
    case "document":
      return ofDocument(block, at)
    case "tool_result":
      return firstOf(block.content, `${at}.content`, ofBlock)
    case "image":
    case "tool_use":
      return undefined
  }
}

/** Thinking whose signature another service made, or this one for another account. */
export const foreignThinking = (field: string): Failure =>
  unsupported(field, "This signature was not made here for your account; leave the block out")

/** The first value of a decoded request that is not offered. */
export const unsupportedValue = (wire: Wire): Failure | undefined =>
  firstOf(typeof wire.system === "string" ? undefined : wire.system, "system", ofBlock) ??
  firstOf(wire.messages, "messages", ({ content }, at) => firstOf<Content>(content, `${at}.content`, ofBlock))
