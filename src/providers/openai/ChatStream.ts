import { finishEvent, type FinishReason, isAnswerPart, type OutputEvent } from "../../domain/Output.ts"
import { laterUsage, type TokenUsage } from "../../domain/Usage.ts"
import { PromptReports } from "../wire/PromptReports.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { ERROR_EVENT, faultOfNoObject } from "../wire/EventFault.ts"
import type { SseEvent } from "../wire/Sse.ts"
import { type FrameReader, SseFold } from "../wire/SseFold.ts"
import {
  argumentsOf,
  reasoningEnd,
  faultOfChoice,
  finishOf,
  isCut,
  NO_ARGUMENTS,
  type ReadOptions,
  stopSequenceOf,
  usageOf
} from "./ChatDecode.ts"
import { faultIn } from "./Failure.ts"
import { type JsonObject, listOf, objectOf, parseJson, parseJsonExact, textIn } from "../wire/Json.ts"
import { toolCallId } from "../wire/ToolCallId.ts"
import { isPlain, probeOf, templateOf, textBetween, type TextTemplate } from "./TextTemplate.ts"
import { ReasoningFold } from "./ReasoningFold.ts"
import { textOf } from "./ReasoningFields.ts"

/**
 * Template learning starts after this many texts, because it does not pay for short streams. It ends after a few attempts, because some
 * hosts write each chunk differently, for example with padding.
 */
const LEARN_AFTER_TEXTS = 1
const MAX_LESSONS = 3

interface ToolSlot {
  readonly index: number
  id: string | undefined
  name: string | undefined
  /** The data that the host needs back with the call. */
  extra: JsonObject | undefined
  /** Arguments that arrived before the name. The start event must carry the name. */
  early: string
  /** The arguments received so far. */
  argumentText: string
}

const noCall = { id: undefined, name: undefined, extra: undefined, early: "", argumentText: "" }

/** The call's part of one delta. */
interface CallDelta {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly text: string
}

/**
 * Reads the chunks of a stream. It keeps the finish and the usage until the end, because hosts send them early, late or
 * with every chunk; the last one counts. When the end is missing, only the prompt's usage is reported.
 */
class ChatFrames implements FrameReader {
  readonly #requestId: string
  readonly #out: Array<OutputEvent>
  #fault: ProviderFault | undefined
  #tools: Array<ToolSlot> = []
  /** The position of the first call in a delta with calls that have no index. */
  #listed = 0
  #byWireIndex: Map<number, ToolSlot> = new Map()
  #finish: string | undefined
  #stopSequence: string | undefined
  #usage: TokenUsage | undefined
  readonly #prompt = new PromptReports()
  readonly #reasoning: ReasoningFold
  #done = false
  /** Whether any content has arrived. */
  #spoke = false
  #template: TextTemplate | undefined
  #texts = 0
  #lessons = 0

  constructor(requestId: string, options: ReadOptions | undefined, out: Array<OutputEvent>) {
    this.#requestId = requestId
    this.#out = out
    this.#reasoning = new ReasoningFold(options)
  }

  /** Whether the host has said that nothing more follows. */
  get done(): boolean {
    return this.#done
  }

  /** Whether the host has said that the model stopped. Only the usage can be lost after that. */
  get stopped(): boolean {
    return this.#done || this.#finish !== undefined
  }

  /** The fault inside the stream, to be raised after the events before it. */
  get fault(): ProviderFault | undefined {
    return this.#fault
  }

  /** The last events of a stream that ended correctly. */
  end(): ReadonlyArray<OutputEvent> {
    const out: Array<OutputEvent> = []
    const finish: FinishReason | undefined = finishOf(
      this.#finish,
      this.#tools.some((tool) => tool.name !== undefined)
    )
    out.push(...this.#reasoning.end(isCut(finish)))
    for (const { index, name, argumentText } of isCut(finish) ? [] : this.#tools) {
      if (name !== undefined && argumentText.trim() === "") out.push({ _tag: "ToolDelta", index, text: NO_ARGUMENTS })
    }
    if (finish !== undefined) out.push(finishEvent(finish, this.#stopSequence))
    if (this.#usage !== undefined) out.push({ _tag: "Usage", usage: this.#usage })
    return out
  }

  read({ data, event }: SseEvent, ending: boolean): void {
    if (data === "[DONE]") {
      this.#done = true
      return
    }
    const text = this.#template && textBetween(this.#template, data)
    if (text !== undefined && event !== ERROR_EVENT) this.#reasoning.text(text, this.#out)
    else this.#parse(data, event, ending)
  }

  #parse(data: string, event = "", ending = false): void {
    const before = this.#out.length
    const chunk = objectOf(parseJsonExact(data))
    this.#fault = chunk === undefined ? faultOfNoObject(data, event, ending) : faultIn(chunk, event)
    if (chunk !== undefined && this.#fault === undefined) this.#onChunk(chunk)
    const earlier = this.#out[before]
    if (earlier?._tag === "Text" && ++this.#texts > LEARN_AFTER_TEXTS && isPlain(earlier.text))
      this.#learn(data, earlier.text)
  }

  #learn(data: string, text: string): void {
    if (this.#lessons === MAX_LESSONS) return
    this.#lessons += 1
    const template = templateOf(data, text)
    if (template === undefined || !ChatFrames.#saysOnlyItsText(template)) return
    this.#template = template
  }

  /** Whether the events consist of this text only. */
  #saysOnly(text: string): boolean {
    const [first, more] = this.#out
    const isText = first?._tag === "Text" && first.text === text && more === undefined
    return isText && !this.stopped && this.#usage === undefined && this.#fault === undefined && this.#tools.length === 0
  }

  /**
   * Whether such data contains nothing but its text. Then data that differs from it only in plain characters of that text contains the
   * other text. To JSON, both are characters of the same string, so the text can be read without parsing.
   */
  static #saysOnlyItsText(template: TextTemplate): boolean {
    const probe = probeOf(template)
    const frames = new ChatFrames("", undefined, [])
    frames.#parse(probe.data)
    return frames.#saysOnly(probe.text)
  }

  #onChunk(chunk: JsonObject): void {
    const usage = usageOf(chunk["usage"])
    if (usage !== undefined) this.#onUsage(usage)
    const choice = objectOf(listOf(chunk["choices"])[0])
    if (choice === undefined) return
    // Hosts that do not stream send the whole message as one event, and some that do repeat it after the deltas.
    const delta = objectOf(choice["delta"]) ?? (this.#spoke ? undefined : objectOf(choice["message"]))
    if (delta !== undefined) this.#onDelta(delta)
    this.#spoke ||= this.#out.some(isAnswerPart)
    const logprobs = listOf(objectOf(choice["logprobs"])?.["content"])
    if (logprobs.length > 0) this.#out.push({ _tag: "Logprobs", content: logprobs })
    this.#fault = faultOfChoice(choice)
    if (this.#fault !== undefined) return
    this.#finish = textIn(choice, "finish_reason") ?? this.#finish
    this.#stopSequence = stopSequenceOf(choice) ?? this.#stopSequence
  }

  /** Usage that arrives before the finish may be the only one. */
  #onUsage(usage: TokenUsage): void {
    this.#usage = laterUsage(this.#usage, usage)
    if (!this.stopped) this.#out.push(...this.#prompt.by(this.#usage))
  }

  #onDelta(delta: JsonObject): void {
    this.#reasoning.delta(delta, this.#out)
    const text = textOf(delta["content"])
    if (text !== "") this.#reasoning.text(text, this.#out)
    const refusal = textIn(delta, "refusal")
    if (refusal !== undefined) {
      this.#reasoning.over(this.#out)
      this.#out.push({ _tag: "Refusal", text: refusal })
    }
    this.#onTools(listOf(delta["tool_calls"]).map((call) => objectOf(call) ?? {}))
    const legacy = objectOf(delta["function_call"])
    if (legacy !== undefined) this.#onTool({ index: 0, function: legacy })
  }

  /** Calls that share an index, or have none, are identified by their positions in the list. */
  #onTools(calls: ReadonlyArray<JsonObject>): void {
    const isPlaced = calls.length < 2 || new Set(calls.map(({ index }) => indexOf(index))).size === calls.length
    calls.forEach((call, place) => this.#onTool(call, isPlaced ? undefined : place))
  }

  #onTool(call: JsonObject, place?: number): void {
    const made = objectOf(call["function"]) ?? {}
    const id = textIn(call, "id")
    const name = textIn(made, "name")
    const text = argumentsOf(made["arguments"])
    const slot = this.#slotOf(indexOf(call["index"]), { id, name, text }, place)
    slot.argumentText += text
    if (slot.name === undefined) {
      slot.id ??= id
      slot.extra ??= objectOf(call["extra_content"])
      slot.early += text
      if (name !== undefined) this.#startTool(slot, name)
    } else if (text !== "") {
      this.#out.push({ _tag: "ToolDelta", index: slot.index, text })
    }
  }

  #startTool(slot: ToolSlot, name: string): void {
    slot.name = name
    slot.id ??= toolCallId(this.#requestId, slot.index)
    this.#reasoning.over(this.#out)
    this.#out.push(...reasoningEnd(slot.extra && { call: slot.id, extra: slot.extra }))
    this.#out.push({ _tag: "ToolStart", index: slot.index, id: slot.id, name })
    if (slot.early !== "") this.#out.push({ _tag: "ToolDelta", index: slot.index, text: slot.early })
    slot.early = ""
  }

  /**
   * A delta belongs to the call with its index. When the host omits the index, or gives every call the same one, the delta's content
   * decides.
   */
  #slotOf(index: number | undefined, delta: CallDelta, place: number | undefined): ToolSlot {
    const known = this.#known(index, delta, place)
    const isUnplaced = index === undefined || place !== undefined
    if (known !== undefined && !isOther(known, delta, isUnplaced)) return known
    if (place === 0) this.#listed = this.#tools.length
    const slot: ToolSlot = { ...noCall, index: this.#tools.length }
    this.#tools.push(slot)
    if (index !== undefined) this.#byWireIndex.set(index, slot)
    return slot
  }

  #known(index: number | undefined, { id }: CallDelta, place: number | undefined): ToolSlot | undefined {
    if (place === undefined && index !== undefined) return this.#byWireIndex.get(index)
    if (id !== undefined) return this.#tools.find((slot) => slot.id === id)
    return place === undefined ? this.#tools.at(-1) : this.#tools[this.#listed + place]
  }
}

/** Folds a stream of OpenAI's chat completions. */
export const chatStreamFold = (requestId: string, options?: ReadOptions): SseFold =>
  new SseFold((out) => new ChatFrames(requestId, options, out))

/** Some hosts send an index as text. */
const indexOf = (index: unknown): number | undefined =>
  typeof index === "string" && /^\d{1,6}$/.test(index) ? Number(index) : typeof index === "number" ? index : undefined

/**
 * Whether a delta begins another call. Some hosts repeat the name in each delta. Without an id, only a call with arguments that are
 * complete does not continue.
 */
const isOther = (slot: ToolSlot, { id, name, text }: CallDelta, unplaced: boolean): boolean => {
  if (name === undefined) return false
  if (id !== undefined) return slot.id !== undefined && slot.id !== id
  if (slot.name === undefined) return false
  if (unplaced && slot.name !== name) return true
  return text.trimStart().startsWith("{") && objectOf(parseJson(slot.argumentText)) !== undefined
}
