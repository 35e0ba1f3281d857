/** Encodes a paid stream as the events of OpenAI's Responses API. */
import type { ErrorBody } from "../../../schemas/Errors.ts"
import type { Failure } from "../../domain/Failure.ts"
import type { OutputEvent } from "../../domain/Output.ts"
import type { Answer, StreamItem } from "../../domain/Answer.ts"
import { KEEP_ALIVE } from "../chat/ChatStream.ts"
import type { StreamEncoder, StreamOpening } from "../StreamEncoder.ts"
import { StreamedCall } from "./ResponsesCalls.ts"
import type { Echo } from "./ResponsesDecode.ts"
import { encodeBegun, encodeFailed, encodeResponse } from "./ResponsesEncode.ts"
import { type Emit, MessageItem, ReasoningItem, type StreamedItem } from "./ResponsesItems.ts"

/**
 * Encodes one stream. A text or reasoning item closes when another item begins. Calls stay open until the end, because their arguments
 * may arrive interleaved. The content is kept for the complete answer at the end.
 */
export class ResponsesStreamEncoder implements StreamEncoder {
  readonly #opening: StreamOpening
  readonly #echo: Echo
  readonly #describe: (failure: Failure) => ErrorBody["error"]
  /** In the order of their indexes. */
  readonly #items: Array<StreamedItem> = []
  readonly #open: Set<StreamedItem> = new Set()
  readonly #calls: Map<number, StreamedCall> = new Map()
  #message: MessageItem | undefined
  #reasoning: ReasoningItem | undefined
  #sequence = 0
  #frames = ""

  constructor(options: StreamOpening & { readonly echo: Echo }) {
    this.#opening = options
    this.#echo = options.echo
    this.#describe = options.describe
  }

  /** The frames of one item. */
  encode(item: StreamItem): string {
    if (item._tag === "KeepAlive") return KEEP_ALIVE
    this.#frames = ""
    if (this.#sequence === 0) this.#begin()
    if (item._tag === "Events") this.#events(item.events)
    else if (item._tag === "End") this.#end(item.answer)
    else this.#error(item)
    return this.#frames
  }

  readonly #emit: Emit = (type, members) => {
    this.#frames += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${members}}\n\n`
  }

  #begin(): void {
    const response = `"response":${JSON.stringify(encodeBegun(this.#opening, this.#echo))}`
    this.#emit("response.created", response)
    this.#emit("response.in_progress", response)
  }

  /** Log-probabilities belong to the text right before them. */
  #events(events: ReadonlyArray<OutputEvent>): void {
    for (let index = 0; index < events.length; index++) {
      const event = events[index]
      const next = events[index + 1]
      if (event?._tag === "Text" && next?._tag === "Logprobs") {
        this.#openMessage().say(event.text, next.content)
        index++
      } else if (event !== undefined) this.#event(event)
    }
  }

  #event(event: OutputEvent): void {
    switch (event._tag) {
      case "Text":
        return this.#openMessage().say(event.text, [])
      case "Refusal":
        return this.#openMessage().refuse(event.text)
      case "Reasoning":
        return this.#thought().think(event.text)
      case "ReasoningEnd":
        return this.#sign(event.seal)
      case "Logprobs":
        return this.#message?.weigh(event.content)
      case "ToolStart": {
        this.#quiet()
        const { toolForms } = this.#echo
        const { requestId } = this.#opening
        const call = this.#added(new StreamedCall(this.#emit, requestId, this.#items.length, event, toolForms))
        this.#calls.set(event.index, call)
        return
      }
      case "ToolDelta":
        return this.#calls.get(event.index)?.argue(event.text)
      case "Finish":
      case "Usage":
      case "PromptUsage":
      case "ContextEdits":
        return
    }
  }

  #added<I extends StreamedItem>(item: I): I {
    this.#items.push(item)
    this.#open.add(item)
    return item
  }

  #openMessage(): MessageItem {
    if (this.#message !== undefined) return this.#message
    this.#quiet()
    this.#message = this.#added(new MessageItem(this.#emit, this.#opening.requestId, this.#items.length))
    return this.#message
  }

  #thought(): ReasoningItem {
    if (this.#reasoning !== undefined) return this.#reasoning
    this.#quiet()
    this.#reasoning = this.#added(new ReasoningItem(this.#emit, this.#opening.requestId, this.#items.length))
    return this.#reasoning
  }

  /** A seal ends its item. If the client did not ask for seals, the item ends without one. */
  #sign(seal: string | undefined): void {
    const shown = this.#echo.encryptsReasoning === true ? seal : undefined
    if (shown !== undefined) this.#thought().sign(shown)
    if (this.#reasoning !== undefined) this.#quiet()
  }

  /** Closes the text or reasoning item, because another item begins. */
  #quiet(): void {
    const item = this.#message ?? this.#reasoning
    if (item === undefined) return
    item.close("completed")
    this.#open.delete(item)
    this.#message = undefined
    this.#reasoning = undefined
  }

  #end(answer: Answer): void {
    const response = encodeResponse(answer, this.#echo, (status) => {
      for (const item of this.#open) item.close(item === this.#items.at(-1) ? status : "completed")
      return this.#items.map((item) => item.whole())
    })
    const warning = answer.balanceWarning
    const beside =
      warning === undefined
        ? ""
        : `,"balance_warning":${JSON.stringify({ warning: "low_balance", threshold: warning })}`
    this.#emit(`response.${response.status}`, `"response":${JSON.stringify(response)}${beside}`)
  }

  /** Some clients read only `response.failed`, and others only `error`, which comes last. */
  #error({ cost, failure }: Extract<StreamItem, { readonly _tag: "Error" }>): void {
    const described = this.#describe(failure)
    const { code, message, param } = described
    this.#emit(
      "response.failed",
      `"response":${JSON.stringify(encodeFailed(this.#opening, this.#echo, described, cost))}`
    )
    this.#emit("error", JSON.stringify({ code, message, param }).slice(1, -1))
  }
}
