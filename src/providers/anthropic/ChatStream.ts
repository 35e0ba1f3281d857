import { finishEvent, type OutputEvent } from "../../domain/Output.ts"
import type { ChatFold } from "../HttpChat.ts"
import type { ProviderFault } from "../Provider.ts"
import { SseParser } from "../Sse.ts"
import { toolCallId } from "../ToolCallId.ts"
import { argumentsOf, editsIn, finishOf, promptUsageOf, refusalOf, usageOf } from "./ChatDecode.ts"
import { faultOfError } from "./Failure.ts"
import { countIn, type JsonObject, objectOf, parsedExact, textIn } from "../Json.ts"

interface ToolSlot {
  readonly index: number
  /** What the start of the block said of the input, which counts when no delta says more. */
  readonly input: unknown
  told: boolean
}

/**
 * The fold of a stream's bytes into output events. Usage is reported twice, at the start and, as totals, at the end; the
 * last word on each count holds. Without the end there is none but that of the prompt, which the start has told.
 */
export class ChatStreamFold implements ChatFold {
  readonly #requestId: string
  readonly #parser = new SseParser((event) => this.#onData(event.data))
  #out: Array<OutputEvent> = []
  #fault: ProviderFault | undefined
  #toolCount = 0
  /** The tool calls whose blocks are open, by the index of the block. */
  #openTools: Map<unknown, ToolSlot> = new Map()
  #stop: string | undefined
  #stopSequence: string | undefined
  #usage: JsonObject = {}
  #usageIsFinal = false
  #done = false

  constructor(requestId: string) {
    this.#requestId = requestId
  }

  /** The host has said that nothing more comes. */
  get done(): boolean {
    return this.#done
  }

  /** The host has said that the model stopped; what is lost after that is at most the usage. */
  get stopped(): boolean {
    return this.#done || this.#stop !== undefined
  }

  /** What went wrong inside the stream, to be raised after the events that came before it. */
  get fault(): ProviderFault | undefined {
    return this.#fault
  }

  /** The events these bytes complete. */
  push(bytes: Uint8Array): ReadonlyArray<OutputEvent> {
    if (!this.#parser.push(bytes)) this.#fault ??= { _tag: "Malformed", detail: "an event of the stream is too long" }
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** The events that close a stream which ended in order. */
  end(): ReadonlyArray<OutputEvent> {
    const out: Array<OutputEvent> = []
    const finish = finishOf(this.#stop, this.#toolCount > 0)
    if (finish !== undefined) out.push(finishEvent(finish, this.#stopSequence))
    const usage = this.#usageIsFinal ? usageOf(this.#usage) : undefined
    if (usage !== undefined) out.push({ _tag: "Usage", usage })
    return out
  }

  #onData(data: string): void {
    if (this.#done || this.#fault !== undefined || data === "") return
    const event = objectOf(parsedExact(data))
    if (event === undefined) this.#fault = { _tag: "Malformed", detail: "an event of the stream is not a JSON object" }
    else if (event["error"] !== undefined && event["error"] !== null) this.#fault = faultOfError(event["error"])
    else this.#onEvent(event)
  }

  #onEvent(event: JsonObject): void {
    switch (event["type"]) {
      case "message_start":
        return this.#onStart(objectOf(objectOf(event["message"])?.["usage"]))
      case "content_block_start":
        return this.#onBlock(event["index"], objectOf(event["content_block"]) ?? {})
      case "content_block_delta":
        return this.#onDelta(event["index"], objectOf(event["delta"]) ?? {})
      case "content_block_stop":
        return this.#closeTool(event["index"])
      case "message_delta":
        return this.#onStop(event)
      case "message_stop":
        this.#closeTools()
        this.#done = true
    }
  }

  #onStart(usage: JsonObject | undefined): void {
    this.#onUsage(usage)
    const prompt = promptUsageOf(usage)
    if (prompt !== undefined) this.#out.push({ _tag: "PromptUsage", usage: prompt })
  }

  #onBlock(blockIndex: unknown, block: JsonObject): void {
    if (block["type"] === "text") this.#onText("Text", textIn(block, "text"))
    if (block["type"] === "thinking") this.#onText("Reasoning", textIn(block, "thinking"))
    const name = textIn(block, "name")
    if (block["type"] !== "tool_use" || name === undefined) return
    const index = this.#toolCount++
    const id = textIn(block, "id") ?? toolCallId(this.#requestId, index)
    this.#closeTool(blockIndex)
    this.#openTools.set(blockIndex, { index, input: block["input"], told: false })
    this.#out.push({ _tag: "ToolStart", index, id, name })
  }

  #onDelta(blockIndex: unknown, delta: JsonObject): void {
    if (delta["type"] === "text_delta") return this.#onText("Text", textIn(delta, "text"))
    if (delta["type"] === "thinking_delta") return this.#onText("Reasoning", textIn(delta, "thinking"))
    const tool = this.#openTools.get(blockIndex)
    const text = textIn(delta, "partial_json")
    if (delta["type"] !== "input_json_delta" || tool === undefined || text === undefined) return
    tool.told = true
    this.#out.push({ _tag: "ToolDelta", index: tool.index, text })
  }

  #onText(tag: "Text" | "Reasoning", text: string | undefined): void {
    if (text !== undefined) this.#out.push({ _tag: tag, text })
  }

  #closeTool(blockIndex: unknown): void {
    const tool = this.#openTools.get(blockIndex)
    if (tool === undefined) return
    this.#openTools.delete(blockIndex)
    // A call without arguments has no deltas, yet callers parse what they get.
    if (!tool.told) this.#out.push({ _tag: "ToolDelta", index: tool.index, text: argumentsOf(tool.input) })
  }

  #closeTools(): void {
    for (const blockIndex of [...this.#openTools.keys()]) this.#closeTool(blockIndex)
  }

  #onStop(event: JsonObject): void {
    this.#closeTools()
    const delta = objectOf(event["delta"]) ?? {}
    this.#out.push(...editsIn(event))
    const refusal = refusalOf(delta)
    if (refusal !== "") this.#out.push({ _tag: "Refusal", text: refusal })
    this.#stop = textIn(delta, "stop_reason") ?? this.#stop
    this.#stopSequence = textIn(delta, "stop_sequence") ?? this.#stopSequence
    this.#onUsage(event["usage"])
    this.#usageIsFinal ||= countIn(objectOf(event["usage"]), "output_tokens") !== undefined
  }

  #onUsage(value: unknown): void {
    const counts = Object.entries(objectOf(value) ?? {}).filter(([, count]) => count !== null)
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) }
  }
}
