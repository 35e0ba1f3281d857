/** The messages of a chat request in the words of the canonical conversation. */
import { Result } from "effect"
import type { CacheControl, ChatCompletionRequest } from "../../../schemas/inference/ChatCompletions.ts"
import type { Cacheable, Message, Part, TextPart } from "../../domain/Conversation.ts"
import type { Failure } from "../../domain/Failure.ts"
import { textOfFile } from "../TextFiles.ts"

type WireMessage = ChatCompletionRequest["messages"][number]
type ContentOf<Role extends WireMessage["role"]> = Extract<WireMessage, { readonly role: Role }>["content"]
type WirePart = Exclude<ContentOf<"user">, string>[number]

/** What a `cache_control` says of the part it stands on. */
export const breakpointOf = (control: typeof CacheControl.Type | null | undefined): Cacheable =>
  control == null ? {} : { cacheBreakpoint: true, ...(control.ttl === "1h" ? { cacheTtl: "1h" } : {}) }

/** The messages, or the first file in them that cannot be read. */
export const messagesOf = (messages: ReadonlyArray<WireMessage>): Result.Result<ReadonlyArray<Message>, Failure> => {
  const read: Array<Message> = []
  for (const [index, message] of messages.entries()) {
    const one = messageOf(message, `messages.${index}`)
    if (Result.isFailure(one)) return Result.fail(one.failure)
    read.push(one.success)
  }
  return Result.succeed(read)
}

const namedOf = (name: string | null | undefined) => (name == null || name === "" ? {} : { name })

const messageOf = (message: WireMessage, at: string): Result.Result<Message, Failure> => {
  switch (message.role) {
    case "system":
    case "developer":
      return Result.succeed({ role: "system", content: textParts(message.content), ...namedOf(message.name) })
    case "user":
      return Result.map(richParts(message.content, at), (content) => ({
        role: "user",
        content,
        ...namedOf(message.name)
      }))
    case "assistant": {
      const toolCalls = (message.tool_calls ?? []).map(({ function: call, id }) => ({ id, ...call }))
      return Result.succeed({ role: "assistant", content: saidParts(message), toolCalls, ...namedOf(message.name) })
    }
    case "tool":
      return Result.map(richParts(message.content, at), (content) => ({
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

/** A refusal of an earlier answer stands beside its content, which is then empty. */
const saidParts = ({ content, refusal }: Extract<WireMessage, { readonly role: "assistant" }>): Array<TextPart> => {
  const parts = textParts(content)
  if (refusal == null || refusal === "") return parts
  return [...parts.filter((part) => part.text !== ""), { type: "text", text: refusal }]
}

const richParts = (content: ContentOf<"user">, at: string): Result.Result<ReadonlyArray<Part>, Failure> => {
  if (typeof content === "string") return Result.succeed([{ type: "text", text: content }])
  const parts: Array<Part> = []
  for (const [index, part] of content.entries()) {
    const one = richPart(part, `${at}.content.${index}`)
    if (Result.isFailure(one)) return Result.fail(one.failure)
    parts.push(one.success)
  }
  return Result.succeed(parts)
}

const richPart = (part: WirePart, at: string): Result.Result<Part, Failure> => {
  const breakpoint = breakpointOf(part.cache_control)
  switch (part.type) {
    case "text":
      return Result.succeed({ type: "text", text: part.text, ...breakpoint })
    case "image_url": {
      const { detail, url } = part.image_url
      return Result.succeed({
        type: "image",
        url,
        detail: detail ?? "auto",
        field: `${at}.image_url.url`,
        ...breakpoint
      })
    }
    case "file": {
      const { file_data, filename } = part.file
      const text = textOfFile(file_data, filename ?? undefined, `${at}.file.file_data`)
      return Result.map(text, (words) => ({ type: "text", text: words, ...breakpoint }))
    }
  }
}
