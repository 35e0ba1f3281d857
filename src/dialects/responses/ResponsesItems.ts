/** The items of a streamed response. Each emits its own events and keeps its content. */
import type { ResponsesOutputItem } from "../../../schemas/inference/ResponsesAnswer.ts"
import type { ResponsesStreamEvent, ResponsesStreamItem } from "../../../schemas/inference/ResponsesEvents.ts"
import { Pieces } from "../../domain/Pieces.ts"
import { itemId, outputText, reasoningItem } from "./ItemParts.ts"

/** Emits an event. `members` is the JSON of its fields besides type and sequence number, without braces. */
export type Emit = (type: ResponsesStreamEvent["type"], members: string) => void

/** The status of a complete or cut off output item. */
export type ItemStatus = ResponsesOutputItem["status"]

/** An item that is being streamed. */
export interface StreamedItem {
  readonly index: number
  /** Ends the item. */
  readonly close: (status: ItemStatus) => void
  /** The item in the form of the complete answer, after it was closed. */
  readonly whole: () => ResponsesOutputItem
}

export const membersOf = (value: object): string => JSON.stringify(value).slice(1, -1)

export const emitItem = (
  emit: Emit,
  type: "response.output_item.added" | "response.output_item.done",
  index: number,
  item: ResponsesStreamItem
): void => emit(type, membersOf({ output_index: index, item }))

interface Part {
  readonly type: "output_text" | "refusal"
  readonly text: Pieces
  readonly logprobs: Array<unknown>
}

/** The model's text. There is one event for every token, so the text is put between constant parts. */
export class MessageItem implements StreamedItem {
  readonly index: number
  readonly #emit: Emit
  readonly #id: string
  readonly #parts: Array<Part> = []
  #delta = ""
  #status: ItemStatus = "completed"

  constructor(emit: Emit, requestId: string, index: number) {
    this.index = index
    this.#emit = emit
    this.#id = itemId("message", requestId, index)
    emitItem(emit, "response.output_item.added", index, { ...this.#head, status: "in_progress", content: [] })
  }

  get #head() {
    return { id: this.#id, type: "message", role: "assistant" } as const
  }

  /** A piece of text with the log-probabilities of its tokens. */
  say(text: string, logprobs: ReadonlyArray<unknown>): void {
    const part = this.#part("output_text")
    part.text.add(text)
    if (logprobs.length === 0) {
      return this.#emit("response.output_text.delta", `${this.#delta}${JSON.stringify(text)},"logprobs":[]`)
    }
    for (const one of logprobs) part.logprobs.push(one)
    const delta = `${this.#delta}${JSON.stringify(text)},"logprobs":${JSON.stringify(logprobs)}`
    this.#emit("response.output_text.delta", delta)
  }

  /** Log-probabilities of text that was already sent. If the last event was not text, they describe nothing visible and are dropped. */
  weigh(logprobs: ReadonlyArray<unknown>): void {
    if (this.#parts.at(-1)?.type === "output_text") this.say("", logprobs)
  }

  refuse(text: string): void {
    this.#part("refusal").text.add(text)
    this.#emit("response.refusal.delta", `${this.#delta}${JSON.stringify(text)}`)
  }

  close(status: ItemStatus): void {
    this.#closePart()
    this.#status = status
    const content = this.#parts.map((part) => this.#shown(part))
    emitItem(this.#emit, "response.output_item.done", this.index, { ...this.#head, status, content })
  }

  whole(): ResponsesOutputItem {
    return { ...this.#head, status: this.#status, content: this.#parts.map(({ text }) => outputText(text.text)) }
  }

  #shown({ text, type }: Pick<Part, "text" | "type">) {
    return type === "refusal" ? { type, refusal: text.text } : outputText(text.text)
  }

  get #place() {
    return { item_id: this.#id, output_index: this.index, content_index: this.#parts.length - 1 }
  }

  #part(type: Part["type"]): Part {
    const last = this.#parts.at(-1)
    if (last?.type === type) return last
    this.#closePart()
    const part: Part = { type, text: new Pieces(), logprobs: [] }
    this.#parts.push(part)
    this.#delta = `${membersOf(this.#place)},"delta":`
    this.#emit("response.content_part.added", membersOf({ ...this.#place, part: this.#shown(part) }))
    return part
  }

  #closePart(): void {
    const part = this.#parts.at(-1)
    if (part === undefined) return
    const text = part.text.text
    if (part.type === "refusal") this.#emit("response.refusal.done", membersOf({ ...this.#place, refusal: text }))
    else this.#emit("response.output_text.done", membersOf({ ...this.#place, text, logprobs: part.logprobs }))
    this.#emit("response.content_part.done", membersOf({ ...this.#place, part: this.#shown(part) }))
  }
}

/** The model's reasoning, as a summary with one part. */
export class ReasoningItem implements StreamedItem {
  readonly index: number
  readonly #emit: Emit
  readonly #id: string
  readonly #text = new Pieces()
  readonly #place: string
  #begun = false
  #seal: string | undefined
  #status: ItemStatus = "completed"

  constructor(emit: Emit, requestId: string, index: number) {
    this.index = index
    this.#emit = emit
    this.#id = itemId("reasoning", requestId, index)
    this.#place = membersOf({ item_id: this.#id, output_index: index, summary_index: 0 })
    emitItem(emit, "response.output_item.added", index, {
      id: this.#id,
      type: "reasoning",
      status: "in_progress",
      summary: []
    })
  }

  get #part() {
    return { type: "summary_text", text: this.#text.text } as const
  }

  think(text: string): void {
    if (!this.#begun) {
      this.#begun = true
      this.#emit("response.reasoning_summary_part.added", `${this.#place},"part":${JSON.stringify(this.#part)}`)
    }
    this.#text.add(text)
    this.#emit("response.reasoning_summary_text.delta", `${this.#place},"delta":${JSON.stringify(text)}`)
  }

  /** Sets the item's encrypted content, which it has once it is closed. */
  sign(seal: string): void {
    this.#seal = seal
  }

  close(status: ItemStatus): void {
    this.#status = status
    if (this.#begun) {
      const part = this.#part
      this.#emit("response.reasoning_summary_text.done", `${this.#place},"text":${JSON.stringify(part.text)}`)
      this.#emit("response.reasoning_summary_part.done", `${this.#place},"part":${JSON.stringify(part)}`)
    }
    emitItem(this.#emit, "response.output_item.done", this.index, this.whole())
  }

  whole() {
    const head = { id: this.#id, type: "reasoning" as const, status: this.#status }
    return reasoningItem(head, this.#text.text, this.#seal)
  }
}
