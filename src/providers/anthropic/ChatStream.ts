import { finishEvent, type OutputEvent } from "../../domain/Output.ts"
import type { ChatFold } from "../wire/EventSource.ts"
import { faultOfNoObject } from "../wire/EventFault.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { type SseEvent, SseParser } from "../wire/Sse.ts"
import { toolCallId } from "../wire/ToolCallId.ts"
import { argumentsOf, editsIn, endOfThinking, finishOf, promptUsageOf, refusalOf, usageOf } from "./ChatDecode.ts"
import { faultIn } from "./Failure.ts"
import { countIn, type JsonObject, objectOf, parsedExact, textIn } from "../wire/Json.ts"
import { redactedData, signatureData } from "./Thinking.ts"

interface ToolSlot {
  readonly index: number
  /** The input at the start of the block, which counts when no delta follows. */
  readonly input: unknown
  told: boolean
}

/**
 * Folds a stream's bytes into output events. Usage arrives twice: at the start, and as totals at the end. The last value of each count
 * is used. When the end is missing, only the prompt's usage from the start is known.
 */
export class ChatStreamFold implements ChatFold {
  readonly #requestId: string
  readonly #parser = new SseParser((event) => this.#onData(event))
  #out: Array<OutputEvent> = []
  #fault: ProviderFault | undefined
  #toolCount = 0
  /** Tool calls of the open blocks, by block index. */
  #openTools: Map<unknown, ToolSlot> = new Map()
  /** Thinking signatures of the open blocks, by block index. */
  readonly #signatures: Map<unknown, string> = new Map()
  #stop: string | undefined
  #stopSequence: string | undefined
  #usage: JsonObject = {}
  #usageIsFinal = false
  #done = false
  #ending = false

  constructor(requestId: string) {
    this.#requestId = requestId
  }

  /** Whether the host has said that nothing more follows. */
  get done(): boolean {
    return this.#done
  }

  /** Whether the host has said that the model stopped. Only the usage can be lost after that. */
  get stopped(): boolean {
    return this.#done || this.#stop !== undefined
  }

  /** The fault inside the stream, to be raised after the events before it. */
  get fault(): ProviderFault | undefined {
    return this.#fault
  }

  /** The events that these bytes complete. */
  push(bytes: Uint8Array): ReadonlyArray<OutputEvent> {
    if (!this.#parser.push(bytes)) this.#fault ??= { _tag: "Malformed", detail: "an event of the stream is too long" }
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** The event that the end of the body completes. A truncated event is dropped. */
  flush(): ReadonlyArray<OutputEvent> {
    this.#ending = true
    this.#parser.end()
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** The last events of a stream that ended correctly. */
  end(): ReadonlyArray<OutputEvent> {
    const out: Array<OutputEvent> = []
    const finish = finishOf(this.#stop, this.#toolCount > 0)
    if (finish !== undefined) out.push(finishEvent(finish, this.#stopSequence))
    const usage = this.#usageIsFinal ? usageOf(this.#usage) : undefined
    if (usage !== undefined) out.push({ _tag: "Usage", usage })
    return out
  }

  #onData({ data, event: name }: SseEvent): void {
    // Hosts that also implement OpenAI's API end this stream with OpenAI's `[DONE]`.
    if (this.#done || this.#fault !== undefined || data === "" || data === "[DONE]") return
    const event = objectOf(parsedExact(data))
    this.#fault = event === undefined ? faultOfNoObject(data, name, this.#ending) : faultIn(event, name)
    if (event !== undefined && this.#fault === undefined) this.#onEvent(event, textIn(event, "type") ?? name)
  }

  #onEvent(event: JsonObject, type: string): void {
    switch (type) {
      case "message":
        return this.#onMessage(event)
      case "message_start":
        return this.#onStart(objectOf(objectOf(event["message"])?.["usage"]))
      case "content_block_start":
        return this.#onBlock(event["index"], objectOf(event["content_block"]) ?? {})
      case "content_block_delta":
        return this.#onDelta(event["index"], objectOf(event["delta"]) ?? {})
      case "content_block_stop":
        this.#closeThinking(event["index"])
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

  /** Hosts that do not stream send the whole message as one event. */
  #onMessage(message: JsonObject): void {
    if (!Array.isArray(message["content"])) return
    this.#onStart(objectOf(message["usage"]))
    message["content"].forEach((block, index) => {
      this.#onBlock(index, objectOf(block) ?? {})
      this.#closeThinking(index)
    })
    this.#onStop({ delta: message, usage: message["usage"] })
    this.#done = true
  }

  #onBlock(blockIndex: unknown, block: JsonObject): void {
    if (block["type"] === "text") this.#onText("Text", textIn(block, "text"))
    if (block["type"] === "thinking") {
      this.#onText("Reasoning", textIn(block, "thinking"))
      this.#signatures.set(blockIndex, textIn(block, "signature") ?? "")
    }
    if (block["type"] === "redacted_thinking") this.#out.push(...endOfThinking(redactedData(textIn(block, "data"))))
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
    if (delta["type"] === "signature_delta") return this.#onSignature(blockIndex, textIn(delta, "signature"))
    // Some hosts number a block differently here than at its start. Then it can only be the last one.
    const tool = this.#openTools.get(blockIndex) ?? [...this.#openTools.values()].at(-1)
    const text = textIn(delta, "partial_json")
    if (delta["type"] !== "input_json_delta" || tool === undefined || text === undefined) return
    tool.told = true
    this.#out.push({ _tag: "ToolDelta", index: tool.index, text })
  }

  #onText(tag: "Text" | "Reasoning", text: string | undefined): void {
    if (text !== undefined) this.#out.push({ _tag: tag, text })
  }

  #onSignature(blockIndex: unknown, signature: string | undefined): void {
    this.#signatures.set(blockIndex, (this.#signatures.get(blockIndex) ?? "") + (signature ?? ""))
  }

  #closeThinking(blockIndex: unknown): void {
    this.#out.push(...endOfThinking(signatureData(this.#signatures.get(blockIndex) || undefined)))
    this.#signatures.delete(blockIndex)
  }

  #closeTool(blockIndex: unknown): void {
    const tool = this.#openTools.get(blockIndex)
    if (tool === undefined) return
    this.#openTools.delete(blockIndex)
    // A call without arguments has no deltas, but callers parse the arguments.
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
    const counts = Object.entries(objectOf(value) ?? {}).filter(
      ([name, count]) => count !== null && (count !== 0 || this.#usage[name] === undefined)
    )
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) }
  }
}
