/** Encodes tool calls of a response, each as an item of the kind that the request declares for its tool. */
import type {
  ResponsesCallItem,
  ResponsesCustomCallItem,
  ResponsesSearchItem
} from "../../../schemas/inference/ResponsesTools.ts"
import type { ToolCall } from "../../domain/Conversation.ts"
import { parseWithin } from "../../domain/ExactJson.ts"
import { Pieces } from "../../domain/Pieces.ts"
import { objectOf } from "../Decode.ts"
import { customInputOf, CustomInputReader } from "./CustomInput.ts"
import { itemId } from "./ItemParts.ts"
import { type Emit, emitItem, type ItemStatus, membersOf, type StreamedItem } from "./ResponsesItems.ts"
import type { ToolForm, ToolForms } from "./ResponsesTools.ts"

type CallItem = ResponsesCallItem | ResponsesCustomCallItem | ResponsesSearchItem

/** Item types by the kind of tool that a function represents. */
const types = { function: "function_call", custom: "custom_tool_call", search: "tool_search_call" } as const

const plain = (name: string): ToolForm => ({ kind: "function", name })

/** The arguments of a search as an object. Other arguments are the query itself. */
const searchArguments = (text: string): Readonly<Record<string, unknown>> => {
  if (text.trim() === "") return {}
  try {
    return objectOf(parseWithin(text)) ?? { query: text }
  } catch {
    return { query: text }
  }
}

const itemOf = (
  { kind, name, namespace }: ToolForm,
  { arguments: text, id: call_id }: Pick<ToolCall, "arguments" | "id">,
  { id, status }: { readonly id: string; readonly status: ItemStatus },
  input = customInputOf
): CallItem => {
  const named = namespace === undefined ? { name } : { name, namespace }
  switch (kind) {
    case "function":
      return { id, type: types[kind], status, call_id, ...named, arguments: text }
    case "custom":
      return { id, type: types[kind], status, call_id, ...named, input: input(text) }
    case "search":
      return { id, type: types[kind], status, call_id, execution: "client", arguments: searchArguments(text) }
  }
}

/** A call of a complete answer as the item at `index`. */
export const callItemOf = (
  call: ToolCall,
  forms: ToolForms | undefined,
  requestId: string,
  index: number
): CallItem => {
  const form = forms?.get(call.name) ?? plain(call.name)
  return itemOf(form, call, { id: itemId(types[form.kind], requestId, index), status: "completed" })
}

/** A tool call that is being streamed. */
export class StreamedCall implements StreamedItem {
  readonly index: number
  readonly #emit: Emit
  readonly #form: ToolForm
  readonly #id: string
  readonly #callId: string
  readonly #arguments = new Pieces()
  readonly #place: string
  readonly #reader = new CustomInputReader()
  /** The part of a custom tool's input that has been sent. */
  readonly #deltas = new Pieces()
  #status: ItemStatus = "completed"

  constructor(
    emit: Emit,
    requestId: string,
    index: number,
    call: { readonly id: string; readonly name: string },
    forms: ToolForms | undefined
  ) {
    this.index = index
    this.#emit = emit
    this.#form = forms?.get(call.name) ?? plain(call.name)
    this.#id = itemId(types[this.#form.kind], requestId, index)
    this.#callId = call.id
    this.#place = membersOf({ item_id: this.#id, output_index: index })
    emitItem(emit, "response.output_item.added", index, { ...this.whole(), status: "in_progress" })
  }

  /** Handles a piece of the arguments. */
  argue(text: string): void {
    this.#arguments.add(text)
    if (this.#form.kind === "function") {
      this.#emit("response.function_call_arguments.delta", `${this.#place},"delta":${JSON.stringify(text)}`)
    } else if (this.#form.kind === "custom") this.#tell(this.#reader.push(text))
  }

  close(status: ItemStatus): void {
    if (this.#form.kind === "custom") this.#tell(this.#input(this.#arguments.text).slice(this.#deltas.text.length))
    this.#status = status
    const item = this.whole()
    if (item.type === "function_call") {
      const done = membersOf({ name: item.name, arguments: item.arguments })
      this.#emit("response.function_call_arguments.done", `${this.#place},${done}`)
    } else if (item.type === "custom_tool_call") {
      this.#emit("response.custom_tool_call_input.done", `${this.#place},"input":${JSON.stringify(item.input)}`)
    }
    emitItem(this.#emit, "response.output_item.done", this.index, item)
  }

  whole(): CallItem {
    const call = { id: this.#callId, arguments: this.#arguments.text }
    return itemOf(this.#form, call, { id: this.#id, status: this.#status }, (text) => this.#input(text))
  }

  /** The whole input, which starts with the part that has been sent. */
  #input(text: string): string {
    const input = text === "" ? "" : customInputOf(text)
    return input.startsWith(this.#deltas.text) ? input : this.#deltas.text
  }

  #tell(text: string): void {
    if (text === "") return
    this.#deltas.add(text)
    this.#emit("response.custom_tool_call_input.delta", `${this.#place},"delta":${JSON.stringify(text)}`)
  }
}
