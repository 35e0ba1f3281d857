/** What of Anthropic's messages request this service does not offer. Here nothing is ignored. */
import { Schema } from "effect"
import { MessagesCountRequest } from "../../../schemas/inference/Messages.ts"
import { type Failure, failure, invalid } from "../../domain/Failure.ts"
import { textOfBase64 } from "../Base64.ts"
import { objectOf } from "../Decode.ts"
import { strangers } from "../Members.ts"
import { ProviderAlias } from "../Routing.ts"

type Body = Readonly<Record<string, unknown>>
type Wire = MessagesCountRequest
type Message = Wire["messages"][number]
type Content = Exclude<Message["content"], string>[number]
type Inner = Exclude<NonNullable<Extract<Content, { readonly type: "tool_result" }>["content"]>, string>[number]
type Block = Content | Inner
type Cacheable = Pick<Extract<Block, { readonly type: "text" }>, "cache_control">
export type DocumentBlock = Extract<Block, { readonly type: "document" }>

const unsupported = (param: string, detail: string): Failure => failure({ _tag: "UnsupportedParameter", param, detail })

/** What `routing` and `router` do not know is refused where they are read; `provider` is read by all dialects, and refused by this one. */
const strangerIn = strangers(
  Schema.Struct({
    ...MessagesCountRequest.fields,
    routing: Schema.Unknown,
    provider: ProviderAlias,
    router: Schema.Unknown
  }).ast
)

/** A server's tool has members of its own; it is its type that is to be named. */
const foreignTool = (tools: unknown): Failure | undefined => {
  if (!Array.isArray(tools)) return undefined
  const at = tools.findIndex((tool) => {
    const type = objectOf(tool)?.["type"]
    return typeof type === "string" && type !== "custom"
  })
  return at === -1 ? undefined : unsupported(`tools.${at}.type`, "Only tools of type custom are offered")
}

/** The first member of a body that is not offered, or a block or a tool of a type that is not. */
export const firstUnsupported = (body: Body): Failure | undefined => {
  const tool = foreignTool(body["tools"])
  if (tool !== undefined) return tool
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

/** An hour in the cache has another price than the one that is held and charged. */
const ofCache = ({ cache_control }: Cacheable, at: string): Failure | undefined =>
  cache_control?.ttl === "1h"
    ? unsupported(`${at === "" ? "" : `${at}.`}cache_control.ttl`, "Only a ttl of 5m is offered")
    : undefined

/** Base64 may be broken into lines here, whose ends are taken out at once: a pattern that allows for them could be made to try again. */
const textOf = (data: string): string | undefined => textOfBase64(data.replaceAll(/\s+/g, ""))

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
  if (source.media_type !== "text/plain") {
    return unsupported(`${at}.source.media_type`, "Only documents of type text/plain are offered")
  }
  return textOf(source.data) === undefined ? invalid(`${at}.source.data`, "base64 of a text in UTF-8") : undefined
}

const ofBlock = (block: Block, at: string): Failure | undefined => {
  if (block.type === "thinking") {
    const unsigned = block.signature == null || block.signature === ""
    return unsigned ? undefined : unsupported(`${at}.signature`, "Signed thinking cannot be passed on; leave it out")
  }
  const cached = ofCache(block, at)
  if (cached !== undefined) return cached
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

/** The first value of a decoded request that is not offered. */
export const unsupportedValue = (wire: Wire): Failure | undefined =>
  ofCache(wire, "") ??
  firstOf(typeof wire.system === "string" ? undefined : wire.system, "system", ofBlock) ??
  firstOf(wire.messages, "messages", ({ content }, at) => firstOf<Content>(content, `${at}.content`, ofBlock)) ??
  firstOf(wire.tools, "tools", ofCache)
