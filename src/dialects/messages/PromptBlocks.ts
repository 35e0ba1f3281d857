/** The blocks of a message's prompt, as parts of the canonical conversation. */
import { Result } from "effect"
import type { MessagesCountRequest } from "../../../schemas/inference/Messages.ts"
import type { Cacheable, ImagePart, Message, Part, TextPart } from "../../domain/Conversation.ts"
import type { Failure } from "../../domain/Failure.ts"
import type { PdfAllowance } from "../../domain/PdfPages.ts"
import { PDF_TYPE, pdfOfBase64 } from "../Pdfs.ts"
import { type DocumentBlock, documentText, searchResultText, withoutLineBreaks } from "./Foreign.ts"

type WireMessage = MessagesCountRequest["messages"][number]
/** The blocks of a message of a role. */
export type Blocks<R extends WireMessage["role"]> = Exclude<
  Extract<WireMessage, { readonly role: R }>["content"],
  string
>[number]
type UserBlock = Blocks<"user">
type ResultBlock = Extract<UserBlock, { readonly type: "tool_result" }>
type PromptBlock = Exclude<UserBlock, ResultBlock>
type ImageBlock = Extract<PromptBlock, { readonly type: "image" }>
type TextBlock = Extract<PromptBlock, { readonly type: "text" }>
type InnerBlock = Exclude<NonNullable<ResultBlock["content"]>, string>[number]

const breakpoint: Cacheable = { cacheBreakpoint: true }
const none: Cacheable = {}

/** What has been read of the files of a request. */
export interface FilesRead {
  readonly allowance: PdfAllowance
  readonly failures: Array<Failure>
}

/** What `cache_control` says of a block. */
export const cacheableOf = ({ cache_control }: Pick<TextBlock, "cache_control">): Cacheable => {
  if (cache_control == null) return none
  const { scope, ttl } = cache_control
  if (ttl !== "1h" && scope == null) return breakpoint
  return {
    ...breakpoint,
    ...(ttl === "1h" ? { cacheTtl: ttl } : {}),
    ...(scope == null ? {} : { cacheScope: scope })
  }
}

/** A block of text as a part. */
export const textPart = (block: TextBlock): TextPart => ({ type: "text", text: block.text, ...cacheableOf(block) })

/** A text or its blocks as parts. */
export const textParts = (content: string | ReadonlyArray<TextBlock>): ReadonlyArray<TextPart> => {
  if (typeof content !== "string") return content.map(textPart)
  return content === "" ? [] : [{ type: "text", text: content }]
}

const imagePart = (block: ImageBlock, at: string): ImagePart => {
  const { source } = block
  const [url, member] =
    source.type === "url" ? [source.url, "url"] : [`data:${source.media_type};base64,${source.data}`, "data"]
  return { type: "image", url, detail: "auto", field: `${at}.source.${member}`, ...cacheableOf(block) }
}

/** A document of text, or a PDF file; one that cannot be read is put to the failures, and leaves no text. */
const documentPart = (block: DocumentBlock, at: string, files: FilesRead): Part => {
  const { context, source, title } = block
  if (source.type !== "base64" || source.media_type !== PDF_TYPE) {
    return { type: "text", text: documentText(block), ...cacheableOf(block) }
  }
  const about = { field: `${at}.source.data`, name: title, context, allowance: files.allowance }
  // After a failure no more are read: the request is refused.
  const pdf = files.failures.length === 0 ? pdfOfBase64(withoutLineBreaks(source.data), about) : undefined
  if (pdf === undefined) return { type: "text", text: "" }
  if (Result.isSuccess(pdf)) return { ...pdf.success, ...cacheableOf(block) }
  files.failures.push(pdf.failure)
  return { type: "text", text: "" }
}

const promptPart = (block: PromptBlock, at: string, files: FilesRead): Part => {
  switch (block.type) {
    case "text":
      return textPart(block)
    case "image":
      return imagePart(block, at)
    case "document":
      return documentPart(block, at, files)
    case "search_result":
      return { type: "text", text: searchResultText(block), ...cacheableOf(block) }
  }
}

/** A block of a tool's result. A tool that a search found is in the request already, so the model only reads its name. */
const resultPart = (block: InnerBlock, at: string, files: FilesRead): Part =>
  block.type === "tool_reference"
    ? { type: "text", text: `Found the tool ${block.tool_name}.`, ...cacheableOf(block) }
    : promptPart(block, at, files)

const resultOf = (block: ResultBlock, at: string, files: FilesRead): Message => {
  const { content, is_error, tool_use_id } = block
  return {
    role: "tool",
    toolCallId: tool_use_id,
    content:
      content == null || typeof content === "string"
        ? textParts(content ?? "")
        : content.map((one, index) => resultPart(one, `${at}.content[${index}]`, files)),
    ...(is_error === true ? { isError: true } : {}),
    ...cacheableOf(block)
  }
}

/**
 * The messages of a user's turn, with the failures of its files put to `files`. Results answer the calls before them, so they come
 * first, wherever they stand in their turn.
 */
export const userMessages = (
  content: string | ReadonlyArray<UserBlock>,
  at: string,
  files: FilesRead
): ReadonlyArray<Message> => {
  if (typeof content === "string") return [{ role: "user", content: textParts(content) }]
  const results: Array<Message> = []
  const parts: Array<Part> = []
  content.forEach((block, index) => {
    const field = `${at}.content[${index}]`
    if (block.type === "tool_result") results.push(resultOf(block, field, files))
    else parts.push(promptPart(block, field, files))
  })
  return parts.length === 0 ? results : [...results, { role: "user", content: parts }]
}
