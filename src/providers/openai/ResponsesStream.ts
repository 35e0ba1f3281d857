import type { FinishReason, OutputEvent } from "../../domain/Output.ts"
import type { TokenUsage } from "../../domain/Usage.ts"
import { errorIn, faultOfNoObject } from "../wire/EventFault.ts"
import { faultIn } from "./Failure.ts"
import { type JsonObject, listOf, objectOf, parseJson, textIn } from "../wire/Json.ts"
import type { ProviderFault } from "../ProviderError.ts"
import type { SseEvent } from "../wire/Sse.ts"
import { type FrameReader, SseFold } from "../wire/SseFold.ts"
import { toolCallId } from "../wire/ToolCallId.ts"
import { argumentsOf, isCut, NO_ARGUMENTS } from "./ChatDecode.ts"
import {
  endOf,
  eventsOfItem,
  endOfReasoning,
  faultOfResponse,
  finishOfResponse,
  isAside,
  isCall,
  usageOfResponse
} from "./ResponsesDecode.ts"

interface Call {
  readonly index: number
  readonly id: string | undefined
  /** The arguments received so far. */
  argumentText: string
}

/**
 * Reads the events of `POST /responses` (https://platform.openai.com/docs/api-reference/responses-streaming). Its last event contains the
 * whole response, from which only the end and the usage are taken, because the content arrived before in pieces.
 */
class ResponsesFrames implements FrameReader {
  readonly #requestId: string
  readonly #out: Array<OutputEvent>
  #fault: ProviderFault | undefined
  readonly #calls: Map<unknown, Call> = new Map()
  /** The output positions of commentary items, and their text. */
  readonly #asides: Set<unknown> = new Set()
  #aside = ""
  #answered = false
  #done = false
  /** The output positions with content. */
  readonly #seen: Set<unknown> = new Set()
  /** The number of calls. */
  #count = 0
  #finish: FinishReason | undefined
  #usage: TokenUsage | undefined

  constructor(requestId: string, out: Array<OutputEvent>) {
    this.#requestId = requestId
    this.#out = out
  }

  get done(): boolean {
    return this.#done
  }

  get stopped(): boolean {
    return this.#done
  }

  get fault(): ProviderFault | undefined {
    return this.#fault
  }

  end(): ReadonlyArray<OutputEvent> {
    const bare = isCut(this.#finish)
      ? []
      : [...this.#calls.values()].filter(({ argumentText }) => argumentText.trim() === "")
    const deltas = bare.map(({ index }) => ({ _tag: "ToolDelta", index, text: NO_ARGUMENTS }) as const)
    const only = this.#answered || this.#calls.size > 0 || this.#aside === "" ? [] : [this.#aside]
    const texts = only.map((text) => ({ _tag: "Text", text }) as const)
    return [...deltas, ...texts, ...endOf(this.#finish, this.#usage)]
  }

  read({ data, event: name }: SseEvent, ending: boolean): void {
    if (data === "[DONE]") return
    const event = objectOf(parseJson(data))
    if (event === undefined) this.#fault = faultOfNoObject(data, name, ending)
    // A response that arrived as a whole contains its error.
    else if (event["object"] === "response" && event["type"] === undefined) this.#onEnd(event)
    else {
      const error = errorIn(event, name)
      const type = textIn(event, "type") ?? name
      this.#fault = error === undefined ? (type === "" ? faultIn(event) : undefined) : faultOfResponse({ error })
      if (this.#fault === undefined) this.#onEvent(event, type)
    }
  }

  #onEvent(event: JsonObject, type: string): void {
    const delta = textIn(event, "delta")
    const place = placeOf(event)
    switch (type) {
      case "response.output_text.delta":
        return this.#sayText(place, delta)
      case "response.output_text.done":
        return this.#unlessSaid(place, () => this.#sayText(place, textIn(event, "text")))
      case "response.refusal.delta":
        return this.#say("Refusal", delta, place)
      case "response.refusal.done":
        return this.#unlessSaid(place, () => this.#say("Refusal", textIn(event, "refusal"), place))
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
        return this.#say("Reasoning", delta, place)
      case "response.reasoning_text.done":
      case "response.reasoning_summary_text.done":
        return this.#unlessSaid(place, () => this.#say("Reasoning", textIn(event, "text"), place))
      case "response.function_call_arguments.delta":
        return this.#argue(this.#calls.get(place), delta)
      case "response.function_call_arguments.done":
        return this.#argueAll(this.#calls.get(place), argumentsOf(event["arguments"]))
      case "response.output_item.added":
        return this.#onItem(place, objectOf(event["item"]) ?? {})
      case "response.output_item.done":
        return this.#onItem(place, objectOf(event["item"]) ?? {}, true)
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#onEnd(objectOf(event["response"]) ?? {})
    }
  }

  #sayText(place: unknown, text: string | undefined): void {
    if (!this.#asides.has(place)) return this.#say("Text", text, place)
    this.#aside += text ?? ""
    this.#say("Reasoning", text, place)
  }

  #say(_tag: "Text" | "Refusal" | "Reasoning", text: string | undefined, place: unknown): void {
    if (text === undefined) return
    this.#out.push({ _tag, text })
    this.#seen.add(place)
    if (_tag !== "Reasoning") this.#answered = true
  }

  /** Hosts that send no deltas send an item's whole content at its end. */
  #unlessSaid(place: unknown, say: () => void): void {
    if (!this.#seen.has(place)) say()
  }

  #argue(call: Call | undefined, text: string | undefined): void {
    if (call === undefined || text === undefined) return
    call.argumentText += text
    this.#out.push({ _tag: "ToolDelta", index: call.index, text })
  }

  /** The arguments of a call that have not been emitted yet. */
  #argueAll(call: Call | undefined, all: string): void {
    if (call !== undefined && all.length > call.argumentText.length && all.startsWith(call.argumentText)) {
      this.#argue(call, all.slice(call.argumentText.length))
    }
  }

  /** An item arrives twice: when it begins, and complete when it ends. */
  #onItem(place: unknown, item: JsonObject, isWhole = false): void {
    if (isAside(item)) this.#asides.add(place)
    if (isCall(item)) return this.#argueAll(this.#callOf(place, item), argumentsOf(item["arguments"]))
    if (!isWhole) return
    this.#unlessSaid(place, () => this.#sayItem(place, item))
    this.#out.push(...endOfReasoning(item))
  }

  #sayItem(place: unknown, item: JsonObject): void {
    for (const event of eventsOfItem({ ...item, phase: null })) {
      if (event._tag === "Text") this.#sayText(place, event.text)
      else if (event._tag === "Refusal" || event._tag === "Reasoning") this.#say(event._tag, event.text, place)
    }
  }

  /** A call is identified by its id, or by its position when either side has no id. */
  #callOf(place: unknown, item: JsonObject): Call {
    const id = textIn(item, "call_id")
    const here = this.#calls.get(place)
    const isHere = here !== undefined && (id === undefined || here.id === undefined || here.id === id)
    const known = isHere ? here : [...this.#calls.values()].find((call) => id !== undefined && call.id === id)
    if (known !== undefined) return known
    const call = { index: this.#count++, id, argumentText: "" }
    // Hosts that do not count reuse a position. It then belongs to the newer call.
    if (here !== undefined) this.#calls.set(Symbol("former"), here)
    this.#calls.set(place, call)
    const name = textIn(item, "name") ?? ""
    this.#out.push({ _tag: "ToolStart", index: call.index, id: id ?? toolCallId(this.#requestId, call.index), name })
    return call
  }

  /** Some hosts send everything, or the calls, only in the final response. */
  #onEnd(response: JsonObject): void {
    const fault = faultOfResponse(response)
    if (fault === undefined) this.#onItems(listOf(response["output"]).map((item) => objectOf(item) ?? {}))
    this.#fault = fault
    this.#finish = finishOfResponse(response, this.#calls.size > 0)
    this.#usage = usageOfResponse(response["usage"])
    this.#done = fault === undefined
  }

  #onItems(items: ReadonlyArray<JsonObject>): void {
    const isSilent = this.#seen.size === 0
    const calls = [...this.#calls.values()].toSorted((one, other) => one.index - other.index)
    let count = 0
    items.forEach((item, place) => {
      if (!isCall(item)) return isSilent ? this.#onItem(place, item, true) : undefined
      const call = calls[count++]
      if (call === undefined) this.#onItem(place, item, true)
      else this.#argueAll(call, argumentsOf(item["arguments"]))
    })
  }
}

/** The output position of an event's item. Hosts that do not count positions give the item's id. */
const placeOf = (event: JsonObject): unknown =>
  event["output_index"] ?? event["item_id"] ?? objectOf(event["item"])?.["id"]

/** Folds a stream of OpenAI's Responses API. */
export const responsesFold = (requestId: string): SseFold => new SseFold((out) => new ResponsesFrames(requestId, out))
