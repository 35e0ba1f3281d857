/** Encodes a paid stream as Anthropic's events. */
import type { MessagesBlock, MessagesStreamEvent } from "../../../schemas/inference/MessagesAnswer.ts"
import { usdFromNano } from "../../domain/Money.ts"
import { eventsOf, OutputFold, type OutputEvent } from "../../domain/Output.ts"
import { noTokens } from "../../domain/Usage.ts"
import type { Answer, StreamItem } from "../../domain/Answer.ts"
import { extrasOf } from "../chat/ChatEncode.ts"
import type { StreamEncoder, StreamOpening } from "../StreamEncoder.ts"
import { argumentsOf, DIRECT, editsOf, inputOf, messageId, stopOf, usageOf } from "./MessagesEncode.ts"
import { encodeMessagesError } from "./MessagesFailure.ts"

const frame = (event: MessagesStreamEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

const PING = frame({ type: "ping" })
const STOP = frame({ type: "message_stop" })
const DELTA_TAIL = "}}\n\n"

/** The kinds of text in an answer. A refusal is a text block of its own. */
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

/** The open block. At most one block is open. */
interface OpenBlock {
  readonly kind: Kind | "tool" | "redacted"
  /** For a tool call: its index among the answer's calls, and its arguments so far. */
  readonly call: number
  readonly text: Array<string>
  /** The kind of its arguments, as far as their first character shows. */
  form: "blank" | "object" | "other"
  /** The part of a delta frame before its text. */
  readonly head: string
}

type ToolStart = Extract<OutputEvent, { readonly _tag: "ToolStart" }>

/**
 * Encodes one stream. Only one block is open at a time. Anthropic's clients apply deltas by index, but when any block ends they deliver
 * the last block that began, and they start a tool when the next block begins. So a call that arrives before another one's arguments
 * are complete waits, with everything after it, for the end of the answer. Delta frames are built around a constant head, because there
 * is one for every token.
 */
export class MessagesStreamEncoder implements StreamEncoder {
  readonly #opening: StreamOpening
  readonly #inputTokens: number
  readonly #showsThinking: boolean
  readonly #editsContext: boolean
  #started = false
  #blocks = 0
  #open: OpenBlock | undefined
  #called = false
  #refused = false
  /** Seals without text, until a tool is called. */
  #seals: Array<string> = []
  #waiting: OutputFold | undefined
  /** Whether the answer is complete, so that nothing needs to wait. */
  #whole = false

  /** `inputTokens` is an estimate, which is sent before the exact count is known. */
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
        const cost = item.cost === undefined ? {} : { cost_usd: usdFromNano(item.cost) }
        return frame({
          type: "error",
          error: encodeMessagesError(describe(item.failure)),
          request_id: requestId,
          ...cost
        })
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
        // A call that has ended receives nothing but whitespace.
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

  /** A seal ends its block. One without a block becomes a block of its own. */
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

  /**
   * The arguments of an object are sent as they arrive. Other arguments wait for the end of their call, to be put into an object as in
   * a complete answer.
   */
  #argue(open: OpenBlock, text: string): string {
    open.text.push(text)
    if (open.form === "object") return this.#delta(open, text)
    if (open.form === "other") return ""
    const start = text.trimStart()
    if (start === "") return ""
    open.form = start.startsWith("{") ? "object" : "other"
    return open.form === "object" ? this.#delta(open, open.text.join("")) : ""
  }

  #headOf(index: number, delta: string): string {
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${delta}`
  }

  /** A delta of the open block. */
  #deltaOf(delta: string, text: string): string {
    return this.#headOf(this.#blocks - 1, delta) + JSON.stringify(text) + DELTA_TAIL
  }

  #delta({ head }: OpenBlock, text: string): string {
    return text === "" ? "" : head + JSON.stringify(text) + DELTA_TAIL
  }

  /** Keeps an event that must wait for the arguments of the open call. */
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
    return (
      signed + this.#close() + this.#begin("tool", { type: "tool_use", id, name, input: {}, caller: DIRECT }, index)[0]
    )
  }

  #begin(kind: OpenBlock["kind"], content_block: MessagesBlock, call = -1): readonly [string, OpenBlock] {
    const index = this.#blocks++
    const head = this.#headOf(index, kind === "redacted" ? "" : deltas[kind])
    const open: OpenBlock = { kind, call, text: [], form: "blank", head }
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
    // Only the end of the answer may have been kept.
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
