/** The items of a response's input, as the messages of a conversation. */
import { Result, type Schema } from "effect"
import {
  ResponsesCallOutput,
  ResponsesInputMessage,
  type ResponsesInputPart,
  ResponsesSaidCall,
  ResponsesSaidMessage
} from "../../../schemas/inference/Responses.ts"
import type { Message, Part, TextPart, ToolCall } from "../../domain/Conversation.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { decoder, objectOf, within } from "../Decode.ts"
import { textOfFile } from "../TextFiles.ts"

const loose = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => decoder(schema, { strict: false, whole: "" })

const decodeMessage = loose(ResponsesInputMessage)
const decodeSaid = loose(ResponsesSaidMessage)
const decodeCall = loose(ResponsesSaidCall)
const decodeOutput = loose(ResponsesCallOutput)

const roles = ["user", "system", "developer", "assistant"]
const types = ["message", "reasoning", "function_call", "function_call_output"]

const text = (value: string): TextPart => ({ type: "text", text: value })

const partOf = (part: ResponsesInputPart, at: string): Result.Result<Part, Failure> => {
  switch (part.type) {
    case "input_text":
      return Result.succeed(text(part.text))
    case "input_file":
      return Result.map(textOfFile(part.file_data, part.filename ?? undefined, `${at}.file_data`), text)
    case "input_image": {
      const { detail, image_url: url } = part
      return Result.succeed({ type: "image", url, detail: detail ?? "auto", field: `${at}.image_url` })
    }
  }
}

/** The parts of a prompt; `at` is where their list stands. */
const partsOf = (
  content: string | ReadonlyArray<ResponsesInputPart>,
  at: string
): Result.Result<ReadonlyArray<Part>, Failure> => {
  if (typeof content === "string") return Result.succeed([text(content)])
  const parts: Array<Part> = []
  for (const [index, one] of content.entries()) {
    const part = partOf(one, `${at}.${index}`)
    if (Result.isFailure(part)) return Result.fail(part.failure)
    parts.push(part.success)
  }
  return Result.succeed(parts)
}

const saidParts = (content: typeof ResponsesSaidMessage.Type.content): ReadonlyArray<TextPart> =>
  typeof content === "string"
    ? [text(content)]
    : content.map((part) => text(part.type === "refusal" ? part.refusal : part.text))

/** Puts items together: what the assistant says and calls in a row is one message. */
class Turns {
  readonly messages: Array<Message> = []
  /** The message of the assistant that still grows; it is the last one. */
  #open: { readonly content: Array<TextPart>; readonly toolCalls: Array<ToolCall> } | undefined

  push(message: Message): void {
    this.#close()
    this.messages.push(message)
  }

  /** A message without calls is as it was sent; one that comes after calls is of the same turn as they are. */
  say(content: ReadonlyArray<TextPart>): void {
    if (this.#open !== undefined && this.#open.toolCalls.length > 0) {
      for (const part of content) this.#open.content.push(part)
      return
    }
    this.#close()
    this.#open = { content: [...content], toolCalls: [] }
  }

  call(call: ToolCall): void {
    this.#open ??= { content: [], toolCalls: [] }
    this.#open.toolCalls.push(call)
  }

  all(): ReadonlyArray<Message> {
    this.#close()
    return this.messages
  }

  #close(): void {
    if (this.#open !== undefined) this.messages.push({ role: "assistant", ...this.#open })
    this.#open = undefined
  }
}

/** Puts a message to the turns; there may be a thousand, so that no generator runs for each. */
const addMessage = (turns: Turns, item: unknown, at: string): Result.Result<void, Failure> => {
  const role = objectOf(item)?.["role"]
  if (role === "assistant") {
    return Result.map(within(at, decodeSaid(item)), ({ content }) => turns.say(saidParts(content)))
  }
  if (typeof role !== "string" || !roles.includes(role)) {
    return Result.fail(invalid(`${at}.role`, `one of ${roles.join(", ")}`))
  }
  return Result.flatMap(within(at, decodeMessage(item)), (message) =>
    Result.map(partsOf(message.content, `${at}.content`), (content) =>
      turns.push(
        message.role === "user"
          ? { role: "user", content }
          : { role: "system", content: content.filter((part) => part.type === "text") }
      )
    )
  )
}

const addItem = (turns: Turns, item: unknown, at: string): Result.Result<void, Failure> => {
  switch (objectOf(item)?.["type"]) {
    case undefined:
    case "message":
      return addMessage(turns, item, at)
    case "reasoning":
      return Result.void
    case "function_call":
      return Result.map(within(at, decodeCall(item)), ({ arguments: said, call_id: id, name }) =>
        turns.call({ id, name, arguments: said })
      )
    case "function_call_output":
      return Result.flatMap(within(at, decodeOutput(item)), ({ call_id: toolCallId, output }) =>
        Result.map(partsOf(output, `${at}.output`), (content) => turns.push({ role: "tool", toolCallId, content }))
      )
    default:
      return Result.fail(invalid(`${at}.type`, `one of ${types.join(", ")}`))
  }
}

/** The messages that an input stands for; wrong fields of the first wrong item are named. */
export const messagesOf = (input: string | ReadonlyArray<unknown>): Result.Result<ReadonlyArray<Message>, Failure> => {
  if (typeof input === "string") return Result.succeed([{ role: "user", content: [text(input)] }])
  const turns = new Turns()
  for (let index = 0; index < input.length; index++) {
    const added = addItem(turns, input[index], `input.${index}`)
    if (Result.isFailure(added)) return Result.fail(added.failure)
  }
  const messages = turns.all()
  return messages.length === 0
    ? Result.fail(invalid("input", "at least one item that is not reasoning"))
    : Result.succeed(messages)
}
