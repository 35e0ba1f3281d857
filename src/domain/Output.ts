import type { ReasoningData, ToolCall } from "./Conversation.ts"
import { Pieces } from "./Pieces.ts"
import type { PromptUsage, TokenUsage } from "./Usage.ts"

/** Why a model stopped. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter"

/** The data of a block of reasoning that lets it be sent back. */
export interface ReasoningMark {
  /** As the provider's adapter gives it; callers never see it. */
  readonly data?: ReasoningData
  /** The block with its data, sealed. Callers get this and send it back. */
  readonly seal?: string
}

/**
 * What a provider sends, piece by piece, in one algebra for all of them. A tool call is started once with its index, id and
 * name; its arguments follow as text. `Finish` and `Usage` come at most once each, in either order, after all content.
 * `PromptUsage` comes before all content where a provider counts the prompt at once, again where it counts it otherwise later, and
 * counts where no `Usage` follows.
 */
export type OutputEvent =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Reasoning"; readonly text: string }
  /** Ends a block of reasoning, which may have no text. */
  | ({ readonly _tag: "ReasoningEnd" } & ReasoningMark)
  | { readonly _tag: "Refusal"; readonly text: string }
  | { readonly _tag: "ToolStart"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly _tag: "ToolDelta"; readonly index: number; readonly text: string }
  /** Token log-probabilities exactly as an OpenAI-shaped provider sent them. */
  | { readonly _tag: "Logprobs"; readonly content: ReadonlyArray<unknown> }
  | { readonly _tag: "Finish"; readonly reason: FinishReason; readonly stopSequence?: string | undefined }
  | { readonly _tag: "Usage"; readonly usage: TokenUsage }
  | { readonly _tag: "PromptUsage"; readonly usage: PromptUsage }
  /** What was taken out of the prompt, in Anthropic's words. It comes anywhere before `Finish`. */
  | { readonly _tag: "ContextEdits"; readonly applied: ReadonlyArray<object> }

/** A run of an answer: this many characters of one of its texts, or its next tool call. */
export interface Run extends ReasoningMark {
  readonly kind: "reasoning" | "text" | "refusal" | "tool"
  readonly length: number
}

/** Whether a run or an event of reasoning carries data. */
const isMarked = ({ data, seal }: ReasoningMark): boolean => data !== undefined || seal !== undefined

const markOf = ({ data, seal }: ReasoningMark): ReasoningMark => ({
  ...(data === undefined ? {} : { data }),
  ...(seal === undefined ? {} : { seal })
})

/** A whole answer: the fold of its events. */
export interface Output {
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  readonly toolCalls: ReadonlyArray<ToolCall>
  /**
   * The order in which it came. Absent for the usual order, which is all reasoning, all text, a refusal and the calls, when no
   * reasoning carries data.
   */
  readonly order?: ReadonlyArray<Run>
  readonly logprobs: ReadonlyArray<unknown> | undefined
  /** Absent when the stream ended without saying. */
  readonly finish: FinishReason | undefined
  /** The stop sequence that ended it, if the provider names it. */
  readonly stopSequence?: string | undefined
  /** Absent when the provider reported none. */
  readonly usage: TokenUsage | undefined
  /** What was taken out of the prompt, in Anthropic's words. */
  readonly contextEdits?: ReadonlyArray<object>
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

/** Why a model stopped, with the stop sequence if the provider names it. */
export const finishEvent = (reason: FinishReason, stopSequence: string | undefined): OutputEvent =>
  stopSequence === undefined ? { _tag: "Finish", reason } : { _tag: "Finish", reason, stopSequence }

/** Whether an event carries something a caller can see. */
export const isContent = ({ _tag }: OutputEvent): boolean =>
  _tag !== "Finish" && _tag !== "Usage" && _tag !== "PromptUsage" && _tag !== "ContextEdits"

/**
 * Whether an event is a part of an answer. After the first such event, no fallback is possible. Log-probabilities alone are no
 * part: hosts give that of the token that ends an empty answer.
 */
export const isAnswerPart = (event: OutputEvent): boolean =>
  isContent(event) && event._tag !== "Logprobs" && event._tag !== "ReasoningEnd"

/** Whether anything at all was produced. */
export const isEmpty = (output: Output): boolean =>
  output.text === "" && output.reasoning === "" && output.refusal === "" && output.toolCalls.length === 0

const USUAL: ReadonlyArray<Run["kind"]> = ["reasoning", "text", "refusal", "tool"]

/** Whether each kind of run except calls comes at most once, in the usual order, and none carries data. */
const isUsual = (runs: ReadonlyArray<Run>): boolean =>
  runs.every((run, at) => {
    const { kind } = run
    const before = runs[at - 1]
    if (isMarked(run)) return false
    if (before === undefined || (kind === "tool" && before.kind === "tool")) return true
    return USUAL.indexOf(before.kind) < USUAL.indexOf(kind)
  })

/** Collects events into a whole answer; grows only with the answer itself. */
export class OutputFold {
  readonly #runs: Array<ReasoningMark & { readonly kind: Run["kind"]; length: number }> = []
  readonly #text = new Pieces()
  readonly #reasoning = new Pieces()
  readonly #refusal = new Pieces()
  readonly #tools: Map<number, { readonly id: string; readonly name: string; readonly text: Pieces }> = new Map()
  #logprobs: Array<unknown> | undefined
  #finish: FinishReason | undefined
  #stopSequence: string | undefined
  #usage: TokenUsage | undefined
  #contextEdits: ReadonlyArray<object> | undefined
  /** The UTF-16 units of everything collected so far, a cheap measure of its size. */
  length = 0

  push(event: OutputEvent): void {
    switch (event._tag) {
      case "Text":
        this.#run("text", event.text.length)
        this.#text.add(event.text)
        return
      case "Reasoning":
        this.#run("reasoning", event.text.length)
        this.#reasoning.add(event.text)
        return
      case "ReasoningEnd":
        this.#mark(markOf(event))
        return
      case "Refusal":
        this.#run("refusal", event.text.length)
        this.#refusal.add(event.text)
        return
      case "ToolStart":
        this.length += event.name.length
        if (!this.#tools.has(event.index)) this.#runs.push({ kind: "tool", length: 0 })
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
      case "PromptUsage":
        return
      case "ContextEdits":
        this.#contextEdits = event.applied
        return
    }
  }

  get finish(): FinishReason | undefined {
    return this.#finish
  }

  get usage(): TokenUsage | undefined {
    return this.#usage
  }

  #run(kind: Run["kind"], length: number): void {
    if (length === 0) return
    this.length += length
    const last = this.#runs.at(-1)
    if (last?.kind === kind && !isMarked(last)) last.length += length
    else this.#runs.push({ kind, length })
  }

  #mark(mark: ReasoningMark): void {
    if (!isMarked(mark)) return
    this.length += (mark.seal ?? "").length + (mark.data === undefined ? 0 : JSON.stringify(mark.data).length)
    const last = this.#runs.at(-1)
    if (last?.kind === "reasoning" && !isMarked(last)) this.#runs[this.#runs.length - 1] = { ...last, ...mark }
    else this.#runs.push({ kind: "reasoning", length: 0, ...mark })
  }

  output(): Output {
    return {
      text: this.#text.text,
      reasoning: this.#reasoning.text,
      refusal: this.#refusal.text,
      toolCalls: [...this.#tools.values()].map(({ id, name, text }) => ({ id, name, arguments: text.text })),
      ...(isUsual(this.#runs) ? {} : { order: this.#runs.map((run) => ({ ...run })) }),
      logprobs: this.#logprobs,
      finish: this.#finish,
      ...(this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence }),
      usage: this.#usage,
      ...(this.#contextEdits === undefined ? {} : { contextEdits: this.#contextEdits })
    }
  }
}

/** A run of a whole answer with its content. */
export type OutputPiece =
  | ({ readonly kind: "reasoning"; readonly text: string } & ReasoningMark)
  | { readonly kind: "text" | "refusal"; readonly text: string }
  | { readonly kind: "tool"; readonly call: ToolCall }

const usualOrder = ({ reasoning, refusal, text, toolCalls }: Output): ReadonlyArray<Run> => [
  { kind: "reasoning", length: reasoning.length },
  { kind: "text", length: text.length },
  { kind: "refusal", length: refusal.length },
  ...toolCalls.map(() => ({ kind: "tool", length: 0 }) as const)
]

/** The content of a whole answer, in the order in which it came. */
export const outputPieces = (output: Output): ReadonlyArray<OutputPiece> => {
  const at = { reasoning: 0, text: 0, refusal: 0, tool: 0 }
  return (output.order ?? usualOrder(output)).flatMap((run): ReadonlyArray<OutputPiece> => {
    const { kind, length } = run
    const start = at[kind]
    if (kind === "tool") {
      at.tool += 1
      const call = output.toolCalls[start]
      return call === undefined ? [] : [{ kind, call }]
    }
    at[kind] += length
    if (length === 0 && !isMarked(run)) return []
    const text = output[kind].slice(start, start + length)
    return kind === "reasoning" ? [{ kind, text, ...markOf(run) }] : [{ kind, text }]
  })
}

const events = { text: "Text", refusal: "Refusal" } as const

/** The events of a whole answer, so that one encoder serves both stored and streamed answers. */
export const eventsOf = (output: Output): ReadonlyArray<OutputEvent> => {
  const pieces = outputPieces(output)
  // Of everything shown, only text has log-probabilities.
  const weighed = output.logprobs === undefined ? -1 : pieces.findLastIndex(({ kind }) => kind === "text")
  const all: Array<OutputEvent> = []
  let calls = 0
  const weigh = () => all.push({ _tag: "Logprobs", content: output.logprobs ?? [] })
  pieces.forEach((one, at) => {
    if (one.kind === "tool") {
      const index = calls++
      const { arguments: text, id, name } = one.call
      all.push({ _tag: "ToolStart", index, id, name })
      if (text !== "") all.push({ _tag: "ToolDelta", index, text })
    } else if (one.kind === "reasoning") {
      if (one.text !== "") all.push({ _tag: "Reasoning", text: one.text })
      if (isMarked(one)) all.push({ _tag: "ReasoningEnd", ...markOf(one) })
    } else all.push({ _tag: events[one.kind], text: one.text })
    if (at === weighed) weigh()
  })
  if (output.logprobs !== undefined && weighed === -1) weigh()
  if (output.contextEdits !== undefined) all.push({ _tag: "ContextEdits", applied: output.contextEdits })
  if (output.finish !== undefined) all.push(finishEvent(output.finish, output.stopSequence))
  if (output.usage !== undefined) all.push({ _tag: "Usage", usage: output.usage })
  return all
}
