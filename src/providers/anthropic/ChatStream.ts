import { finishEvent, type OutputEvent } from "../../domain/Output.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { faultOfNoObject } from "../wire/EventFault.ts"
import { countIn, type JsonObject, objectOf, parseJsonExact, textIn } from "../wire/Json.ts"
import type { SseEvent } from "../wire/Sse.ts"
import { type FrameReader, SseFold } from "../wire/SseFold.ts"
import { toolCallId } from "../wire/ToolCallId.ts"
import { argumentsOf, editsIn, endOfThinking, finishOf, promptUsageOf, refusalOf, usageOf } from "./ChatDecode.ts"
import { faultIn } from "./Failure.ts"
import { redactedData, signatureData } from "./Thinking.ts"

/** An event of the stream, as far as it is used. `block` is the index of its content block. */
type StreamEvent =
  | { readonly _tag: "Start"; readonly usage: JsonObject | undefined }
  | { readonly _tag: "Text" | "Reasoning"; readonly text: string }
  | { readonly _tag: "Thinking"; readonly block: unknown; readonly signature: string }
  | { readonly _tag: "Redacted"; readonly data: string | undefined }
  | { readonly _tag: "Signature"; readonly block: unknown; readonly text: string }
  | {
      readonly _tag: "Tool"
      readonly block: unknown
      readonly id: string | undefined
      readonly name: string
      readonly input: unknown
    }
  | { readonly _tag: "Arguments"; readonly block: unknown; readonly text: string }
  | { readonly _tag: "BlockEnd"; readonly block: unknown }
  | {
      readonly _tag: "Stop"
      readonly reason: string | undefined
      readonly sequence: string | undefined
      readonly refusal: string
      readonly edits: ReadonlyArray<OutputEvent>
      readonly usage: JsonObject | undefined
    }
  | { readonly _tag: "End" }

/** An open tool call. `input` is the input at the start of its block, which counts when no delta follows. */
interface OpenTool {
  readonly index: number
  readonly input: unknown
  readonly streamed: boolean
}

/** What is known of a stream. */
export interface StreamState {
  readonly toolCount: number
  /** Tool calls of the open blocks, by block index. */
  readonly tools: ReadonlyMap<unknown, OpenTool>
  /** Thinking signatures of the open blocks, by block index. */
  readonly signatures: ReadonlyMap<unknown, string>
  readonly stop: string | undefined
  readonly stopSequence: string | undefined
  /** Usage arrives twice: at the start, and as totals at the end. The last value of each count is used. */
  readonly usage: JsonObject
  /** Without the end, only the prompt's usage from the start is known. */
  readonly usageIsFinal: boolean
  readonly done: boolean
}

/** The state before the first event. */
const startState: StreamState = {
  toolCount: 0,
  tools: new Map(),
  signatures: new Map(),
  stop: undefined,
  stopSequence: undefined,
  usage: {},
  usageIsFinal: false,
  done: false
}

type Step = readonly [state: StreamState, events: ReadonlyArray<OutputEvent>]

const NONE: ReadonlyArray<OutputEvent> = []

const inserted = <V>(map: ReadonlyMap<unknown, V>, key: unknown, value: V): ReadonlyMap<unknown, V> =>
  new Map(map).set(key, value)

const without = <V>(map: ReadonlyMap<unknown, V>, key: unknown): ReadonlyMap<unknown, V> =>
  new Map([...map].filter(([other]) => other !== key))

const withUsage = (state: StreamState, usage: JsonObject | undefined): StreamState => {
  const counts = Object.entries(usage ?? {}).filter(
    ([name, count]) => count !== null && (count !== 0 || state.usage[name] === undefined)
  )
  return counts.length === 0 ? state : { ...state, usage: { ...state.usage, ...Object.fromEntries(counts) } }
}

/** A call without arguments has no deltas, but callers parse the arguments. */
const argumentsWithoutDeltas = ({ index, input, streamed }: OpenTool): ReadonlyArray<OutputEvent> =>
  streamed ? NONE : [{ _tag: "ToolDelta", index, text: argumentsOf(input) }]

const closeTool = (state: StreamState, block: unknown): Step => {
  const tool = state.tools.get(block)
  if (tool === undefined) return [state, NONE]
  return [{ ...state, tools: without(state.tools, block) }, argumentsWithoutDeltas(tool)]
}

const closeTools = (state: StreamState): Step =>
  state.tools.size === 0
    ? [state, NONE]
    : [{ ...state, tools: startState.tools }, [...state.tools.values()].flatMap(argumentsWithoutDeltas)]

const closeThinking = (state: StreamState, block: unknown): Step => {
  const signature = state.signatures.get(block)
  if (signature === undefined) return [state, NONE]
  const events = endOfThinking(signatureData(signature || undefined))
  return [{ ...state, signatures: without(state.signatures, block) }, events]
}

const startTool = (state: StreamState, event: StreamEvent & { readonly _tag: "Tool" }, requestId: string): Step => {
  const [closed, events] = closeTool(state, event.block)
  const index = state.toolCount
  const tools = inserted(closed.tools, event.block, { index, input: event.input, streamed: false })
  const id = event.id ?? toolCallId(requestId, index)
  return [{ ...closed, tools, toolCount: index + 1 }, [...events, { _tag: "ToolStart", index, id, name: event.name }]]
}

const addArguments = (state: StreamState, block: unknown, text: string): Step => {
  // Some hosts number a block differently here than at its start. Then it can only be the last one.
  const [key, tool] = state.tools.has(block)
    ? [block, state.tools.get(block)]
    : ([...state.tools].at(-1) ?? [block, undefined])
  if (tool === undefined) return [state, NONE]
  const tools = tool.streamed ? state.tools : inserted(state.tools, key, { ...tool, streamed: true })
  return [tools === state.tools ? state : { ...state, tools }, [{ _tag: "ToolDelta", index: tool.index, text }]]
}

const stop = (state: StreamState, event: StreamEvent & { readonly _tag: "Stop" }): Step => {
  const [closed, events] = closeTools(state)
  const refusals: ReadonlyArray<OutputEvent> = event.refusal === "" ? NONE : [{ _tag: "Refusal", text: event.refusal }]
  return [
    {
      ...withUsage(closed, event.usage),
      stop: event.reason ?? state.stop,
      stopSequence: event.sequence ?? state.stopSequence,
      usageIsFinal: state.usageIsFinal || countIn(event.usage, "output_tokens") !== undefined
    },
    [...events, ...event.edits, ...refusals]
  ]
}

/** The state after an event, and the output events that it causes. */
export const step = (state: StreamState, event: StreamEvent, requestId: string): Step => {
  switch (event._tag) {
    case "Start": {
      const usage = promptUsageOf(event.usage)
      return [withUsage(state, event.usage), usage === undefined ? NONE : [{ _tag: "PromptUsage", usage }]]
    }
    case "Text":
    case "Reasoning":
      return [state, [event]]
    case "Thinking":
      return [{ ...state, signatures: inserted(state.signatures, event.block, event.signature) }, NONE]
    case "Redacted":
      return [state, endOfThinking(redactedData(event.data))]
    case "Signature": {
      const text = (state.signatures.get(event.block) ?? "") + event.text
      return [{ ...state, signatures: inserted(state.signatures, event.block, text) }, NONE]
    }
    case "Tool":
      return startTool(state, event, requestId)
    case "Arguments":
      return addArguments(state, event.block, event.text)
    case "BlockEnd": {
      const [thought, signed] = closeThinking(state, event.block)
      const [closed, called] = closeTool(thought, event.block)
      return [closed, [...signed, ...called]]
    }
    case "Stop":
      return stop(state, event)
    case "End": {
      const [closed, events] = closeTools(state)
      return [{ ...closed, done: true }, events]
    }
  }
}

const textEvents = (_tag: "Text" | "Reasoning", text: string | undefined): ReadonlyArray<StreamEvent> =>
  text === undefined ? [] : [{ _tag, text }]

const blockEvents = (block: unknown, content: JsonObject): ReadonlyArray<StreamEvent> => {
  switch (content["type"]) {
    case "text":
      return textEvents("Text", textIn(content, "text"))
    case "thinking": {
      const signature = textIn(content, "signature") ?? ""
      return [...textEvents("Reasoning", textIn(content, "thinking")), { _tag: "Thinking", block, signature }]
    }
    case "redacted_thinking":
      return [{ _tag: "Redacted", data: textIn(content, "data") }]
    case "tool_use": {
      const name = textIn(content, "name")
      return name === undefined
        ? []
        : [{ _tag: "Tool", block, id: textIn(content, "id"), name, input: content["input"] }]
    }
    default:
      return []
  }
}

const deltaEvents = (block: unknown, delta: JsonObject): ReadonlyArray<StreamEvent> => {
  switch (delta["type"]) {
    case "text_delta":
      return textEvents("Text", textIn(delta, "text"))
    case "thinking_delta":
      return textEvents("Reasoning", textIn(delta, "thinking"))
    case "signature_delta":
      return [{ _tag: "Signature", block, text: textIn(delta, "signature") ?? "" }]
    case "input_json_delta": {
      const text = textIn(delta, "partial_json")
      return text === undefined ? [] : [{ _tag: "Arguments", block, text }]
    }
    default:
      return []
  }
}

const stopEvent = (event: JsonObject): StreamEvent => {
  const delta = objectOf(event["delta"]) ?? {}
  return {
    _tag: "Stop",
    reason: textIn(delta, "stop_reason"),
    sequence: textIn(delta, "stop_sequence"),
    refusal: refusalOf(delta),
    edits: editsIn(event),
    usage: objectOf(event["usage"])
  }
}

/** Hosts that do not stream send the whole message as one event. */
const messageEvents = (message: JsonObject): ReadonlyArray<StreamEvent> => {
  const { content, usage } = message
  if (!Array.isArray(content)) return []
  return [
    { _tag: "Start", usage: objectOf(usage) },
    ...content.flatMap((block, index) => [
      ...blockEvents(index, objectOf(block) ?? {}),
      { _tag: "BlockEnd", block: index } as const
    ]),
    stopEvent({ delta: message, usage }),
    { _tag: "End" }
  ]
}

/** Decodes the data of a frame (https://docs.anthropic.com/en/api/messages-streaming). */
const eventsOf = (data: JsonObject, type: string): ReadonlyArray<StreamEvent> => {
  switch (type) {
    case "message":
      return messageEvents(data)
    case "message_start":
      return [{ _tag: "Start", usage: objectOf(objectOf(data["message"])?.["usage"]) }]
    case "content_block_start":
      return blockEvents(data["index"], objectOf(data["content_block"]) ?? {})
    case "content_block_delta":
      return deltaEvents(data["index"], objectOf(data["delta"]) ?? {})
    case "content_block_stop":
      return [{ _tag: "BlockEnd", block: data["index"] }]
    case "message_delta":
      return [stopEvent(data)]
    case "message_stop":
      return [{ _tag: "End" }]
    default:
      return []
  }
}

class ChatFrames implements FrameReader {
  readonly #requestId: string
  readonly #out: Array<OutputEvent>
  #state = startState
  fault: ProviderFault | undefined

  constructor(requestId: string, out: Array<OutputEvent>) {
    this.#requestId = requestId
    this.#out = out
  }

  get done(): boolean {
    return this.#state.done
  }

  get stopped(): boolean {
    return this.#state.done || this.#state.stop !== undefined
  }

  read({ data, event: name }: SseEvent, ending: boolean): void {
    // Hosts that also implement OpenAI's API end this stream with OpenAI's `[DONE]`.
    if (data === "[DONE]") return
    const object = objectOf(parseJsonExact(data))
    this.fault = object === undefined ? faultOfNoObject(data, name, ending) : faultIn(object, name)
    if (object === undefined || this.fault !== undefined) return
    for (const event of eventsOf(object, textIn(object, "type") ?? name)) {
      const [state, events] = step(this.#state, event, this.#requestId)
      this.#state = state
      this.#out.push(...events)
    }
  }

  end(): ReadonlyArray<OutputEvent> {
    const { stop, stopSequence, toolCount, usage, usageIsFinal } = this.#state
    const finish = finishOf(stop, toolCount > 0)
    const total = usageIsFinal ? usageOf(usage) : undefined
    return [
      ...(finish === undefined ? [] : [finishEvent(finish, stopSequence)]),
      ...(total === undefined ? [] : [{ _tag: "Usage", usage: total } as const])
    ]
  }
}

/** Folds a stream of Anthropic's Messages API. */
export const chatStreamFold = (requestId: string): SseFold => new SseFold((out) => new ChatFrames(requestId, out))
