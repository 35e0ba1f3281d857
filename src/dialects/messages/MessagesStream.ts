/** A paid stream as Anthropic's events. */
import type { MessagesBlock, MessagesStreamEvent } from "../../../schemas/inference/Messages.ts"
import { eventsOf, OutputFold, type OutputEvent } from "../../domain/Output.ts"
import { noTokens } from "../../domain/Usage.ts"
import type { Answer } from "../../inference/Answer.ts"
import type { StreamItem } from "../../inference/StreamFlow.ts"
import { extrasOf } from "../chat/ChatEncode.ts"
import type { StreamEncoder, StreamOpening } from "../StreamEncoder.ts"
import { argumentsOf, editsOf, inputOf, messageId, stopOf, usageOf } from "./MessagesEncode.ts"
import { encodeMessagesError } from "./MessagesFailure.ts"

const frame = (event: MessagesStreamEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

const PING = frame({ type: "ping" })
const STOP = frame({ type: "message_stop" })
const DELTA_TAIL = "}}\n\n"

/** What can be said in the midst of an answer; a refusal is a text of its own. */
type Kind = "thinking" | "text" | "refusal"

const SIGNATURE = '{"type":"signature_delta","signature":'

const blocks: Readonly<Record<Kind, MessagesBlock>> = {
  thinking: { type: "thinking", thinking: "", signature: "" },
  text: { type: "text", text: "" },
  refusal: { type: "text", text: "" }
}

const deltas: Readonly<Record<Kind | "tool", string>> = {
  thinking: '{"type":"thinking_delta","thinking":',
  text: '{"type":"text_delta","text":',
  refusal: '{"type":"text_delta","text":',
  tool: '{"type":"input_json_delta","partial_json":'
}

/** The block that is open: there is one at most. */
interface Open {
  readonly kind: Kind | "tool" | "redacted"
  /** Of a tool call: its index among those of the answer, and its arguments so far. */
  readonly call: number
  readonly text: Array<string>
  /** What its arguments are, as far as their first character says it. */
  form: "blank" | "object" | "other"
  /** All of a delta's frame before its text. */
  readonly head: string
}

type ToolStart = Extract<OutputEvent, { readonly _tag: "ToolStart" }>

/**
 * Encodes one stream. One block is open at a time: Anthropic's clients put deltas where their index says, but hand out the last
 * block begun when any block ends, and start a tool when the next block begins. So a call that comes while another's arguments
 * are not whole waits, with all that follows it, for the end of the answer. Delta frames are put together around a constant
 * head, since there is one for every token.
 */
export class MessagesStreamEncoder implements StreamEncoder {
  readonly #opening: StreamOpening
  readonly #inputTokens: number
  readonly #showsThinking: boolean
  readonly #editsContext: boolean
  #started = false
  #blocks = 0
  #open: Open | undefined
  #called = false
  #refused = false
  /** Seals without a text, until a tool is called. */
  #seals: Array<string> = []
  #waiting: OutputFold | undefined
  /** Nothing more comes, so that there is nothing to wait for. */
  #whole = false

  /** `inputTokens` is an estimate, said before the exact count is known. */
  constructor(
    options: StreamOpening & {
      readonly inputTokens: number
      readonly showsThinking: boolean
      readonly editsContext?: boolean
    }
  ) {
    this.#opening = options
    this.#inputTokens = options.inputTokens
    this.#showsThinking = options.showsThinking
    this.#editsContext = options.editsContext === true
  }

  /** The frames of one item. */
  encode(item: StreamItem): string {
    switch (item._tag) {
      case "Events": {
        let frames = this.#start()
        for (const event of item.events) frames += this.#event(event)
        return frames
      }
      case "KeepAlive":
        return this.#start() + PING
      case "End":
        return this.#start() + this.#end(item.answer)
      case "Error": {
        const { describe, requestId } = this.#opening
        return frame({ type: "error", error: encodeMessagesError(describe(item.failure)), request_id: requestId })
      }
    }
  }

  #start(): string {
    if (this.#started) return ""
    this.#started = true
    const { model, requestId } = this.#opening
    return frame({
      type: "message_start",
      message: {
        id: messageId(requestId),
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: usageOf({ ...noTokens, input: this.#inputTokens })
      }
    })
  }

  #event(event: OutputEvent): string {
    switch (event._tag) {
      case "Text":
        return this.#say("text", event)
      case "Reasoning":
        return this.#say("thinking", event)
      case "ReasoningEnd":
        return event.seal === undefined || this.#waits(event) ? "" : this.#sign(event.seal)
      case "Refusal":
        return this.#say("refusal", event)
      case "ToolStart":
        return this.#waits(event) ? "" : this.#startTool(event)
      case "ToolDelta": {
        const open = this.#open
        if (open?.kind === "tool" && open.call === event.index) {
          return this.#argue(open, event.text)
        }
        // Of a call that has ended, nothing but blanks can come.
        this.#waiting?.push(event)
        return ""
      }
      case "Logprobs":
      case "Finish":
      case "Usage":
      case "PromptUsage":
      case "ContextEdits":
        return ""
    }
  }

  #say(kind: Kind, event: Extract<OutputEvent, { readonly text: string }>): string {
    const open = this.#open
    const shown = kind !== "thinking" || this.#showsThinking
    if (open?.kind === kind) return shown ? this.#delta(open, event.text) : ""
    if (event.text === "" || this.#waits(event)) return ""
    const closing = this.#close()
    const [starting, begun] = this.#begin(kind, blocks[kind])
    return closing + starting + (shown ? this.#delta(begun, event.text) : "")
  }

  /** A seal ends its block; one without a block is a block of its own. */
  #sign(seal: string): string {
    const open = this.#open
    if (open?.kind === "thinking") return this.#deltaOf(SIGNATURE, seal) + this.#close()
    if (this.#blocks > 0 && !this.#called) {
      this.#seals.push(seal)
      return ""
    }
    return this.#close() + this.#begin("redacted", { type: "redacted_thinking", data: seal })[0] + this.#close()
  }

  #signed(): string {
    const seals = this.#seals
    this.#seals = []
    return seals.map((seal) => this.#sign(seal)).join("")
  }

  /** An object is said as it comes. What is none waits for the end of its call, to be put into one as in a whole answer. */
  #argue(open: Open, text: string): string {
    open.text.push(text)
    if (open.form === "object") return this.#delta(open, text)
    if (open.form === "other") return ""
    const said = text.trimStart()
    if (said === "") return ""
    open.form = said.startsWith("{") ? "object" : "other"
    return open.form === "object" ? this.#delta(open, open.text.join("")) : ""
  }

  #headOf(index: number, delta: string): string {
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${delta}`
  }

  /** A delta of the block that is open. */
  #deltaOf(delta: string, text: string): string {
    return this.#headOf(this.#blocks - 1, delta) + JSON.stringify(text) + DELTA_TAIL
  }

  #delta({ head }: Open, text: string): string {
    return text === "" ? "" : head + JSON.stringify(text) + DELTA_TAIL
  }

  /** Keeps an event that has to wait for the arguments of the open call. */
  #waits(event: OutputEvent): boolean {
    const open = this.#open
    if (this.#whole) return false
    if (this.#waiting === undefined) {
      if (open?.kind !== "tool" || argumentsOf(open.text.join("")) !== undefined) return false
      this.#waiting = new OutputFold()
    }
    this.#waiting.push(event)
    return true
  }

  #startTool({ id, index, name }: ToolStart): string {
    this.#called = true
    const signed = this.#signed()
    return signed + this.#close() + this.#begin("tool", { type: "tool_use", id, name, input: {} }, index)[0]
  }

  #begin(kind: Open["kind"], content_block: MessagesBlock, call = -1): readonly [string, Open] {
    const index = this.#blocks++
    const head = this.#headOf(index, kind === "redacted" ? "" : deltas[kind])
    const open: Open = { kind, call, text: [], form: "blank", head }
    this.#open = open
    if (kind === "refusal") this.#refused = true
    return [frame({ type: "content_block_start", index, content_block }), open]
  }

  #close(): string {
    const open = this.#open
    if (open === undefined) return ""
    this.#open = undefined
    const held = open.form === "other" ? this.#delta(open, JSON.stringify(inputOf(open.text.join("")))) : ""
    return held + frame({ type: "content_block_stop", index: this.#blocks - 1 })
  }

  #end(answer: Answer): string {
    this.#whole = true
    let frames = this.#close()
    const waiting = this.#waiting
    this.#waiting = undefined
    for (const event of waiting === undefined ? [] : eventsOf(waiting.output())) {
      frames += event._tag === "ToolStart" ? this.#startTool(event) : this.#event(event)
    }
    // Of the answer itself no more than its end may have been kept.
    const last = frame({
      type: "message_delta",
      delta: stopOf(answer.output, { refused: this.#refused, called: this.#called }),
      usage: usageOf(answer.usage),
      ...editsOf(answer.output, this.#editsContext),
      ...extrasOf(answer)
    })
    return frames + this.#close() + last + STOP
  }
}
