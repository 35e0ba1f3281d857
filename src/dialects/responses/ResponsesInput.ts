/** Converts the items of a Responses input to the messages of a conversation. */
import { Result, Schema } from "effect"
import { atMost, TOOLS_MAX } from "../../../schemas/Bounds.ts"
import {
  ResponsesCallOutput,
  ResponsesCustomOutput,
  ResponsesInputMessage,
  type ResponsesInputPart,
  ResponsesAssistantMessage,
  ResponsesReasoningInput
} from "../../../schemas/inference/Responses.ts"
import {
  ResponsesAdditionalTools,
  ResponsesFunctionCall,
  ResponsesCustomCall,
  ResponsesToolSearchCall,
  ResponsesSearchOutput
} from "../../../schemas/inference/ResponsesTools.ts"
import type { Message, Part, ReasoningPart, TextPart, ToolCall, ToolResult } from "../../domain/Conversation.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { type PdfAllowance, pdfAllowance } from "../../domain/PdfPages.ts"
import { decoder, objectOf, within } from "../Decode.ts"
import { unsupportedParameter } from "../chat/Foreign.ts"
import { detailOf } from "../Images.ts"
import { isPdf, pdfOfUrl } from "../Pdfs.ts"
import { ReasoningUnsealer } from "../ReasoningUnsealer.ts"
import { textOfFile } from "../TextFiles.ts"
import { customArguments } from "./CustomInput.ts"
import { isReasoningReference, itemTypes } from "./ItemTypes.ts"
import type { Toolbox } from "./ResponsesTools.ts"

const loose = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => decoder(schema, { strict: false, whole: "" })

const decodeMessage = loose(ResponsesInputMessage)
const decodeAssistantMessage = loose(ResponsesAssistantMessage)
const decodeReasoning = loose(ResponsesReasoningInput)
const decodeCall = loose(ResponsesFunctionCall)
const decodeOutput = loose(ResponsesCallOutput)
const decodeCustomCall = loose(ResponsesCustomCall)
const decodeCustomOutput = loose(ResponsesCustomOutput)
const decodeSearchCall = loose(ResponsesToolSearchCall)
/** Their tools are decoded one by one. */
const anyTools = { tools: Schema.Array(Schema.Unknown).check(atMost(TOOLS_MAX)) }
const decodeAdditional = loose(Schema.Struct({ ...ResponsesAdditionalTools.fields, ...anyTools }))
const decodeFound = loose(Schema.Struct({ ...ResponsesSearchOutput.fields, ...anyTools }))

type CallOutput = Omit<typeof ResponsesCallOutput.Type, "type">

const roles = ["user", "system", "developer", "assistant"]

const text = (value: string): TextPart => ({ type: "text", text: value })

const partOf = (part: ResponsesInputPart, at: string, allowance: PdfAllowance): Result.Result<Part, Failure> => {
  switch (part.type) {
    case "input_text":
      return Result.succeed(text(part.text))
    case "input_file": {
      const { file_data: data, filename: name } = part
      const field = `${at}.file_data`
      return isPdf(data)
        ? pdfOfUrl(data, { field, name, allowance })
        : Result.map(textOfFile(data, name ?? undefined, field), text)
    }
    case "input_image": {
      const { detail, image_url: url } = part
      return Result.succeed({ type: "image", url, detail: detailOf(detail), field: `${at}.image_url` })
    }
  }
}

/** The parts of a prompt. `at` is the path of their list. */
const partsOf = (
  content: string | ReadonlyArray<ResponsesInputPart>,
  at: string,
  allowance: PdfAllowance
): Result.Result<ReadonlyArray<Part>, Failure> => {
  if (typeof content === "string") return Result.succeed([text(content)])
  const parts: Array<Part> = []
  for (const [index, one] of content.entries()) {
    const part = partOf(one, `${at}[${index}]`, allowance)
    if (Result.isFailure(part)) return Result.fail(part.failure)
    parts.push(part.success)
  }
  return Result.succeed(parts)
}

const assistantParts = (content: typeof ResponsesAssistantMessage.Type.content): ReadonlyArray<TextPart> =>
  typeof content === "string"
    ? [text(content)]
    : content.map((part) => text(part.type === "refusal" ? part.refusal : part.text))

/** The text of a reasoning item, for providers that accept only text back. */
const thoughtIn = ({ content, summary }: typeof ResponsesReasoningInput.Type): string => {
  const textsIn = (parts: ReadonlyArray<Readonly<Record<string, unknown>>> | null | undefined) =>
    (parts ?? []).flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : [])).join("\n\n")
  return textsIn(content) || textsIn(summary)
}

/** A reasoning block, encrypted or as text; undefined for an empty one, and for one that another service encrypted. */
const thoughtOf = (
  item: typeof ResponsesReasoningInput.Type,
  at: string,
  unsealer: ReasoningUnsealer
): ReasoningPart | undefined => {
  const { encrypted_content: seal } = item
  if (seal != null && seal !== "") return unsealer.read(seal, `${at}.encrypted_content`)
  const thought = thoughtIn(item)
  return thought === "" ? undefined : { text: thought }
}

interface Turn {
  readonly content: Array<TextPart>
  readonly toolCalls: Array<ToolCall>
  readonly reasoning: Array<ReasoningPart>
}

const lengthOf = (content: ReadonlyArray<TextPart>): number => content.reduce((sum, part) => sum + part.text.length, 0)

/** Groups items: consecutive reasoning, text and calls of the assistant form one message. */
class Turns {
  readonly messages: Array<Message> = []
  readonly toolbox: Toolbox
  readonly unsealer: ReasoningUnsealer
  readonly allowance = pdfAllowance()
  /** The assistant's message that still grows. It is the last one. */
  #open: Turn | undefined
  /** Reasoning that belongs to the next item. */
  #thoughts: Array<ReasoningPart> = []

  constructor(toolbox: Toolbox, unsealer: ReasoningUnsealer) {
    this.toolbox = toolbox
    this.unsealer = unsealer
  }

  push(message: Message): void {
    this.#close()
    this.messages.push(message)
  }

  /** A tool may answer one call more than once, which most hosts reject, so its answers are joined. */
  answer(result: ToolResult): void {
    this.#close()
    const since = this.messages.findLastIndex(({ role }) => role !== "tool") + 1
    const at = this.messages.findIndex(
      (message, index) => index >= since && message.role === "tool" && message.toolCallId === result.toolCallId
    )
    const before = this.messages[at]
    if (before?.role !== "tool") this.messages.push(result)
    else this.messages[at] = { ...before, content: [...before.content, ...result.content] }
  }

  /** A message without calls stays as it was sent. One after calls belongs to the same turn. */
  say(content: ReadonlyArray<TextPart>): void {
    const thoughts = this.#thoughts
    this.#thoughts = []
    if (this.#open?.toolCalls.length === 0) this.#close()
    this.#thoughts = thoughts
    const { content: grown } = this.#grown()
    for (const part of content) grown.push(part)
  }

  call(call: ToolCall): void {
    this.#grown().toolCalls.push(call)
  }

  think(part: ReasoningPart): void {
    this.#thoughts.push(part)
  }

  all(): ReadonlyArray<Message> {
    this.#close()
    return this.messages
  }

  #grown(): Turn {
    this.#open ??= { content: [], toolCalls: [], reasoning: [] }
    const { content, reasoning, toolCalls } = this.#open
    for (const part of this.#thoughts) {
      reasoning.push({ ...part, place: { text: lengthOf(content), calls: toolCalls.length } })
    }
    this.#thoughts = []
    return this.#open
  }

  /** Reasoning alone is not a message. */
  #close(): void {
    if (this.#open !== undefined) {
      const { content, reasoning, toolCalls } = this.#grown()
      this.messages.push({ role: "assistant", content, toolCalls, ...(reasoning.length === 0 ? {} : { reasoning }) })
    }
    this.#open = undefined
    this.#thoughts = []
  }
}

/** Adds a message to the turns. There may be a thousand, so this uses no generator for each. */
const addMessage = (turns: Turns, item: unknown, at: string): Result.Result<void, Failure> => {
  const role = objectOf(item)?.["role"]
  if (role === "assistant") {
    return Result.map(within(at, decodeAssistantMessage(item)), ({ content }) => turns.say(assistantParts(content)))
  }
  if (typeof role !== "string" || !roles.includes(role)) {
    return Result.fail(invalid(`${at}.role`, `must be one of ${roles.join(", ")}`))
  }
  return Result.flatMap(within(at, decodeMessage(item)), (message) =>
    Result.flatMap(partsOf(message.content, `${at}.content`, turns.allowance), (content) => {
      const pdf = message.role === "user" ? undefined : content.find((part) => part.type === "pdf")
      if (pdf !== undefined) {
        return Result.fail(
          unsupportedParameter(pdf.field, `PDF files in messages of role ${message.role} are not supported`)
        )
      }
      turns.push(
        message.role === "user"
          ? { role: "user", content }
          : { role: "system", content: content.filter((part) => part.type === "text") }
      )
      return Result.void
    })
  )
}

const addCall = (turns: Turns, item: unknown, at: string): Result.Result<void, Failure> =>
  Result.map(within(at, decodeCall(item)), ({ arguments: input, call_id: id, name, namespace }) =>
    turns.call({ id, name: turns.toolbox.nameOf(namespace, name), arguments: input })
  )

const addCustomCall = (turns: Turns, item: unknown, at: string): Result.Result<void, Failure> =>
  Result.map(within(at, decodeCustomCall(item)), ({ call_id: id, input, name, namespace }) =>
    turns.call({ id, name: turns.toolbox.nameOf(namespace, name), arguments: customArguments(input) })
  )

const addOutput = (turns: Turns, item: unknown, at: string): Result.Result<void, Failure> => {
  const decode = objectOf(item)?.["type"] === "function_call_output" ? decodeOutput : decodeCustomOutput
  return Result.flatMap(within<CallOutput>(at, decode(item)), ({ call_id: toolCallId, name, namespace, output }) => {
    if (toolCallId == null && name == null) return Result.fail(invalid(`${at}.call_id`, "must be the id of a call"))
    return Result.map(partsOf(output, `${at}.output`, turns.allowance), (content) => {
      if (toolCallId != null) return turns.answer({ role: "tool", toolCallId, content })
      // No provider takes a result without a call, so the model reads it as a message.
      const tool = [namespace, name].filter((part) => part != null).join(".")
      turns.push({ role: "user", content: [text(`Output of ${tool}:`), ...content] })
    })
  })
}

/** A search without an id was run by a server, and has no place in the conversation. */
const addSearch = (turns: Turns, item: unknown, at: string): Result.Result<void, Failure> =>
  Result.map(within(at, decodeSearchCall(item)), ({ arguments: input, call_id: id }) => {
    const text = typeof input === "string" ? input : JSON.stringify(input ?? {})
    if (id != null) turns.call({ id, name: turns.toolbox.searchName, arguments: text })
  })

/** The model sees the names of the tools that were found, and may call them. */
const addFound = (turns: Turns, item: unknown, at: string): Result.Result<void, Failure> =>
  Result.map(within(at, decodeFound(item)), ({ call_id: toolCallId, tools }) => {
    if (toolCallId == null) return
    const found = tools.map((tool) => {
      const { description, name } = objectOf(tool) ?? {}
      return { name, description }
    })
    turns.answer({ role: "tool", toolCallId, content: [text(JSON.stringify({ tools: found }))] })
  })

const addReasoning = (turns: Turns, item: unknown, index: number): Result.Result<void, Failure> =>
  Result.map(within(`input[${index}]`, decodeReasoning(item)), (wire) => {
    const part = thoughtOf(wire, `input[${index}]`, turns.unsealer)
    if (part !== undefined) turns.think(part)
  })

const addItem = (turns: Turns, item: unknown, index: number): Result.Result<void, Failure> => {
  const at = `input[${index}]`
  switch (objectOf(item)?.["type"]) {
    case undefined:
    case "message":
      return addMessage(turns, item, at)
    case "reasoning":
      return addReasoning(turns, item, index)
    case "additional_tools":
      return Result.void
    case "function_call":
      return addCall(turns, item, at)
    case "custom_tool_call":
      return addCustomCall(turns, item, at)
    case "function_call_output":
    case "custom_tool_call_output":
      return addOutput(turns, item, at)
    case "tool_search_call":
      return addSearch(turns, item, at)
    case "tool_search_output":
      return addFound(turns, item, at)
    default:
      if (isReasoningReference(item)) return Result.void
      return Result.fail(invalid(`${at}.type`, `must be one of ${itemTypes.join(", ")}`))
  }
}

/** Adds the tools that input items declare. */
export const addTools = (toolbox: Toolbox, input: string | ReadonlyArray<unknown>): Failure | undefined => {
  if (typeof input === "string") return undefined
  for (let index = 0; index < input.length; index++) {
    const type = objectOf(input[index])?.["type"]
    if (type !== "additional_tools" && type !== "tool_search_output") continue
    const at = `input[${index}]`
    const decode = type === "additional_tools" ? decodeAdditional : decodeFound
    const item = within<{ readonly tools: ReadonlyArray<unknown> }>(at, decode(input[index]))
    if (Result.isFailure(item)) return item.failure
    const failed = toolbox.addAll(item.success.tools, { at: `${at}.tools`, replaces: true })
    if (failed !== undefined) return failed
  }
  return undefined
}

/** The messages of an input, or the invalid fields of the first invalid item. `unsealer` opens the reasoning that the items contain. */
export const messagesOf = (
  input: string | ReadonlyArray<unknown>,
  toolbox: Toolbox,
  unsealer: ReasoningUnsealer = new ReasoningUnsealer()
): Result.Result<ReadonlyArray<Message>, Failure> => {
  if (typeof input === "string") return Result.succeed([{ role: "user", content: [text(input)] }])
  const turns = new Turns(toolbox, unsealer)
  for (let index = 0; index < input.length; index++) {
    const added = addItem(turns, input[index], index)
    if (Result.isFailure(added)) return Result.fail(added.failure)
  }
  const messages = turns.all()
  return messages.length === 0
    ? Result.fail(invalid("input", "must contain at least one item that is not reasoning"))
    : Result.succeed(messages)
}
