import type { ToolCall } from "./Conversation.ts"
import { Pieces } from "./Pieces.ts"
import type { TokenUsage } from "./Usage.ts"

/** Why a model stopped. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter"

/**
 * What a provider sends, piece by piece, in one algebra for all of them. A tool call is started once with its index, id and
 * name; its arguments follow as text. `Finish` and `Usage` come at most once each, in either order, after all content.
 */
export type OutputEvent =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Reasoning"; readonly text: string }
  | { readonly _tag: "Refusal"; readonly text: string }
  | { readonly _tag: "ToolStart"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly _tag: "ToolDelta"; readonly index: number; readonly text: string }
  /** Token log-probabilities exactly as an OpenAI-shaped provider sent them. */
  | { readonly _tag: "Logprobs"; readonly content: ReadonlyArray<unknown> }
  | { readonly _tag: "Finish"; readonly reason: FinishReason; readonly stopSequence?: string | undefined }
  | { readonly _tag: "Usage"; readonly usage: TokenUsage }

/** A whole answer: the fold of its events. */
export interface Output {
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  readonly toolCalls: ReadonlyArray<ToolCall>
  readonly logprobs: ReadonlyArray<unknown> | undefined
  /** Absent when the stream ended without saying. */
  readonly finish: FinishReason | undefined
  /** The stop sequence that ended it, where the provider names it. */
  readonly stopSequence?: string | undefined
  /** Absent when the provider reported none. */
  readonly usage: TokenUsage | undefined
}

export const emptyOutput: Output = {
  text: "",
  reasoning: "",
  refusal: "",
  toolCalls: [],
  logprobs: undefined,
  finish: undefined,
  usage: undefined
}

/** Why a model stopped, with the stop sequence where the provider names it. */
export const finishEvent = (reason: FinishReason, stopSequence: string | undefined): OutputEvent =>
  stopSequence === undefined ? { _tag: "Finish", reason } : { _tag: "Finish", reason, stopSequence }

/** Whether an event carries something a caller can see; the first such event ends the chance of a fallback. */
export const isContent = (event: OutputEvent): boolean => event._tag !== "Finish" && event._tag !== "Usage"

/** Whether anything at all was produced. */
export const isEmpty = (output: Output): boolean =>
  output.text === "" && output.reasoning === "" && output.refusal === "" && output.toolCalls.length === 0

/** Collects events into a whole answer; grows only with the answer itself. */
export class OutputFold {
  readonly #text = new Pieces()
  readonly #reasoning = new Pieces()
  readonly #refusal = new Pieces()
  readonly #tools: Map<number, { readonly id: string; readonly name: string; readonly text: Pieces }> = new Map()
  #logprobs: Array<unknown> | undefined
  #finish: FinishReason | undefined
  #stopSequence: string | undefined
  #usage: TokenUsage | undefined
  /** UTF-16 units of all that has been collected, a cheap measure of its size. */
  length = 0

  push(event: OutputEvent): void {
    switch (event._tag) {
      case "Text":
        this.length += event.text.length
        this.#text.add(event.text)
        return
      case "Reasoning":
        this.length += event.text.length
        this.#reasoning.add(event.text)
        return
      case "Refusal":
        this.length += event.text.length
        this.#refusal.add(event.text)
        return
      case "ToolStart":
        this.length += event.name.length
        this.#tools.set(event.index, { id: event.id, name: event.name, text: new Pieces() })
        return
      case "ToolDelta":
        this.length += event.text.length
        this.#tools.get(event.index)?.text.add(event.text)
        return
      case "Logprobs":
        this.length += JSON.stringify(event.content).length
        this.#logprobs ??= []
        for (const entry of event.content) this.#logprobs.push(entry)
        return
      case "Finish":
        this.#finish = event.reason
        this.#stopSequence = event.stopSequence
        return
      case "Usage":
        this.#usage = event.usage
        return
    }
  }

  get finish(): FinishReason | undefined {
    return this.#finish
  }

  get usage(): TokenUsage | undefined {
    return this.#usage
  }

  output(): Output {
    return {
      text: this.#text.text,
      reasoning: this.#reasoning.text,
      refusal: this.#refusal.text,
      toolCalls: [...this.#tools.values()].map(({ id, name, text }) => ({ id, name, arguments: text.text })),
      logprobs: this.#logprobs,
      finish: this.#finish,
      ...(this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence }),
      usage: this.#usage
    }
  }
}

/** The events of a whole answer, so that one encoder serves an answer kept and an answer streamed. */
export const eventsOf = (output: Output): ReadonlyArray<OutputEvent> => {
  const events: Array<OutputEvent> = []
  if (output.reasoning !== "") events.push({ _tag: "Reasoning", text: output.reasoning })
  if (output.text !== "") events.push({ _tag: "Text", text: output.text })
  if (output.refusal !== "") events.push({ _tag: "Refusal", text: output.refusal })
  if (output.logprobs !== undefined) events.push({ _tag: "Logprobs", content: output.logprobs })
  output.toolCalls.forEach((call, index) => {
    events.push({ _tag: "ToolStart", index, id: call.id, name: call.name })
    if (call.arguments !== "") events.push({ _tag: "ToolDelta", index, text: call.arguments })
  })
  if (output.finish !== undefined) events.push(finishEvent(output.finish, output.stopSequence))
  if (output.usage !== undefined) events.push({ _tag: "Usage", usage: output.usage })
  return events
}
