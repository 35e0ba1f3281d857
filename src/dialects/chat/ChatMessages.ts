/** Decodes the messages of a chat request to the canonical conversation. */
import { Result } from "effect"
import type { ChatCompletionRequest } from "../../../schemas/inference/ChatCompletions.ts"
import type { CacheControl } from "../../../schemas/inference/ChatMessages.ts"
import type { AssistantMessage, Cacheable, Message, Part, ReasoningPart, TextPart } from "../../domain/Conversation.ts"
import type { Failure } from "../../domain/Failure.ts"
import { type PdfAllowance, pdfAllowance } from "../../domain/PdfPages.ts"
import { detailOf } from "../Images.ts"
import { isPdf, pdfOfUrl } from "../Pdfs.ts"
import type { ReasoningUnsealer } from "../ReasoningUnsealer.ts"
import { textOfFile } from "../TextFiles.ts"

type WireMessage = ChatCompletionRequest["messages"][number]
type ContentOf<Role extends WireMessage["role"]> = Extract<WireMessage, { readonly role: Role }>["content"]
type AssistantWire = Extract<WireMessage, { readonly role: "assistant" }>
type WirePart = Exclude<ContentOf<"user">, string>[number]

/** The cache breakpoint of a part with `cache_control`. */
export const breakpointOf = (control: typeof CacheControl.Type | null | undefined): Cacheable =>
  control == null ? {} : { cacheBreakpoint: true, ...(control.ttl === "1h" ? { cacheTtl: "1h" } : {}) }

/** The messages, or the error of the first unreadable file in them. `unsealer` opens the reasoning that they contain. */
export const messagesOf = (
  messages: ReadonlyArray<WireMessage>,
  unsealer: ReasoningUnsealer
): Result.Result<ReadonlyArray<Message>, Failure> => {
  const read: Array<Message> = []
  const allowance = pdfAllowance()
  for (const [index, message] of messages.entries()) {
    const one =
      message.role === "assistant"
        ? Result.succeed(assistantOf(message, `messages[${index}].reasoning_details`, unsealer))
        : messageOf(message, `messages[${index}]`, allowance)
    if (Result.isFailure(one)) return Result.fail(one.failure)
    read.push(one.success)
  }
  return Result.succeed(read)
}

const namedOf = (name: string | null | undefined) => (name == null || name === "" ? {} : { name })

/**
 * Only details with a seal of this service are used, or the plain text if there are none. A stream sends a seal at the end of its
 * block, so a client's list may have it in a detail without a text; the seal contains the text as well.
 */
const reasoningOf = (message: AssistantWire, at: string, unsealer: ReasoningUnsealer): ReadonlyArray<ReasoningPart> => {
  const sealed = (message.reasoning_details ?? []).flatMap(({ data, signature, type }, index) => {
    const [seal, member] = type === "reasoning.encrypted" ? [data, "data"] : [signature, "signature"]
    if (typeof seal !== "string" || seal === "") return []
    const part = unsealer.read(seal, `${at}[${index}].${member}`)
    return part === undefined ? [] : [part]
  })
  if (sealed.length > 0) return sealed
  const text = message.reasoning_content || message.reasoning
  return text == null || text === "" ? [] : [{ text }]
}

const assistantOf = (message: AssistantWire, at: string, unsealer: ReasoningUnsealer): AssistantMessage => {
  const toolCalls = (message.tool_calls ?? []).map(({ function: call, id }) => ({ id, ...call }))
  const reasoning = reasoningOf(message, at, unsealer)
  return {
    role: "assistant",
    content: assistantParts(message),
    toolCalls,
    ...(reasoning.length === 0 ? {} : { reasoning }),
    ...namedOf(message.name)
  }
}

const messageOf = (
  message: Exclude<WireMessage, AssistantWire>,
  at: string,
  allowance: PdfAllowance
): Result.Result<Message, Failure> => {
  switch (message.role) {
    case "system":
    case "developer":
      return Result.succeed({ role: "system", content: textParts(message.content), ...namedOf(message.name) })
    case "user":
      return Result.map(richParts(message.content, at, allowance), (content) => ({
        role: "user",
        content,
        ...namedOf(message.name)
      }))
    case "tool":
      return Result.map(richParts(message.content, at, allowance), (content) => ({
        role: "tool",
        toolCallId: message.tool_call_id,
        content
      }))
  }
}

const textParts = (content: ContentOf<"system"> | ContentOf<"assistant">): Array<TextPart> => {
  if (content == null) return []
  if (typeof content === "string") return [{ type: "text", text: content }]
  return content.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text, ...breakpointOf(part.cache_control) }
      : { type: "text", text: part.refusal }
  )
}

/** A refusal in an earlier answer takes the place of its content, which is then empty. */
const assistantParts = ({ content, refusal }: AssistantWire): Array<TextPart> => {
  const parts = textParts(content)
  if (refusal == null || refusal === "") return parts
  return [...parts.filter((part) => part.text !== ""), { type: "text", text: refusal }]
}

const richParts = (
  content: ContentOf<"user">,
  at: string,
  allowance: PdfAllowance
): Result.Result<ReadonlyArray<Part>, Failure> => {
  if (typeof content === "string") return Result.succeed([{ type: "text", text: content }])
  const parts: Array<Part> = []
  for (const [index, part] of content.entries()) {
    const one = richPart(part, `${at}.content[${index}]`, allowance)
    if (Result.isFailure(one)) return Result.fail(one.failure)
    parts.push(one.success)
  }
  return Result.succeed(parts)
}

const richPart = (part: WirePart, at: string, allowance: PdfAllowance): Result.Result<Part, Failure> => {
  const breakpoint = breakpointOf(part.cache_control)
  switch (part.type) {
    case "text":
      return Result.succeed({ type: "text", text: part.text, ...breakpoint })
    case "image_url": {
      const { detail, url } = part.image_url
      return Result.succeed({
        type: "image",
        url,
        detail: detailOf(detail),
        field: `${at}.image_url.url`,
        ...breakpoint
      })
    }
    case "file": {
      const { file_data, filename } = part.file
      if (isPdf(file_data)) {
        const pdf = pdfOfUrl(file_data, { field: `${at}.file.file_data`, name: filename, allowance })
        return Result.map(pdf, (one) => ({ ...one, ...breakpoint }))
      }
      const text = textOfFile(file_data, filename ?? undefined, `${at}.file.file_data`)
      return Result.map(text, (words) => ({ type: "text", text: words, ...breakpoint }))
    }
  }
}
