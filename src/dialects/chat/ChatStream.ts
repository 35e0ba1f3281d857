/** Encodes a paid stream as OpenAI's chat completion chunks. */
import type { ErrorBody } from "../../../schemas/Errors.ts"
import type { ChatCompletionChunk } from "../../../schemas/inference/ChatCompletions.ts"
import type { Failure } from "../../domain/Failure.ts"
import { usdFromNano } from "../../domain/Money.ts"
import type { FinishReason, OutputEvent } from "../../domain/Output.ts"
import type { Answer, StreamItem } from "../../domain/Answer.ts"
import type { StreamEncoder, StreamOpening } from "../StreamEncoder.ts"
import { completionId, reasoningDetailOf, extrasOf, logprobsOf, paidUsageOf } from "./ChatEncode.ts"

type Delta = ChatCompletionChunk["choices"][number]["delta"]

const DONE = "data: [DONE]\n\n"
const TEXT_HEAD = ',"choices":[{"index":0,"delta":{"content":'
const FIRST_TEXT_HEAD = ',"choices":[{"index":0,"delta":{"role":"assistant","content":'
const TEXT_TAIL = '},"finish_reason":null,"logprobs":null}]}\n\n'

/** A comment, which clients ignore. */
export const KEEP_ALIVE = ": svc-processing\n\n"

const finishing = (finish: FinishReason): string => `{"index":0,"delta":{},"finish_reason":"${finish}","logprobs":null}`

/** Encodes one stream. Text frames are built around a constant frame, because there is one for every token. */
export class ChatStreamEncoder implements StreamEncoder {
  readonly #head: string
  /** The part of a text frame before its text. */
  readonly #textHead: string
  readonly #includeUsage: boolean
  readonly #requestId: string
  readonly #describe: (failure: Failure) => ErrorBody["error"]
  #started = false
  /** Whether a reasoning block with text is open. */
  #reasons = false
  #details = 0

  /** With `includeUsage`, the last frame has OpenAI's own form without choices. */
  constructor(options: StreamOpening & { readonly includeUsage: boolean }) {
    const { created, model, requestId } = options
    const id = completionId(requestId)
    this.#head = `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)}`
    this.#textHead = this.#head + TEXT_HEAD
    this.#requestId = requestId
    this.#includeUsage = options.includeUsage
    this.#describe = options.describe
  }

  /** The frames of one item. */
  encode(item: StreamItem): string {
    switch (item._tag) {
      case "Events":
        return this.#events(item.events)
      case "KeepAlive":
        return KEEP_ALIVE
      case "End":
        return this.#end(item.answer)
      case "Error":
        return this.#error(item)
    }
  }

  #events(events: ReadonlyArray<OutputEvent>): string {
    let frames = ""
    for (const event of events) frames += this.#event(event)
    return frames
  }

  #choice(delta: Delta, finish: FinishReason | "error" | null, logprobs?: ReadonlyArray<unknown>): string {
    const started = this.#started
    this.#started = true
    return JSON.stringify({
      index: 0,
      delta: started ? delta : { role: "assistant", ...("content" in delta ? {} : { content: "" }), ...delta },
      finish_reason: finish,
      logprobs: logprobsOf(logprobs)
    })
  }

  #frame(choices: string, more = ""): string {
    return `${this.#head},"choices":[${choices}]${more}}\n\n`
  }

  #event(event: OutputEvent): string {
    switch (event._tag) {
      case "Text":
        return this.#text(event.text)
      case "Reasoning":
        this.#reasons = true
        return this.#frame(this.#choice({ reasoning: event.text, reasoning_content: event.text }, null))
      case "ReasoningEnd": {
        const text = this.#reasons ? "" : undefined
        this.#reasons = false
        if (event.seal === undefined) return ""
        return this.#frame(
          this.#choice({ reasoning_details: [reasoningDetailOf(this.#details++, event.seal, text)] }, null)
        )
      }
      case "Refusal":
        return this.#frame(this.#choice({ refusal: event.text }, null))
      case "Logprobs":
        return this.#frame(this.#choice({}, null, event.content))
      case "ToolStart": {
        const call = { name: event.name, arguments: "" }
        const delta = { tool_calls: [{ index: event.index, id: event.id, type: "function" as const, function: call }] }
        return this.#frame(this.#choice(delta, null))
      }
      case "ToolDelta": {
        const delta = { tool_calls: [{ index: event.index, function: { arguments: event.text } }] }
        return this.#frame(this.#choice(delta, null))
      }
      case "Finish":
      case "Usage":
      case "PromptUsage":
      case "ContextEdits":
        return ""
    }
  }

  #text(text: string): string {
    const head = this.#started ? this.#textHead : this.#head + FIRST_TEXT_HEAD
    this.#started = true
    return head + JSON.stringify(text) + TEXT_TAIL
  }

  #end(answer: Answer): string {
    const finish = answer.output.finish ?? "stop"
    const last = { usage: paidUsageOf(answer), ...extrasOf(answer) }
    const stopped = finishing(finish)
    const finished = this.#frame(this.#started ? stopped : this.#choice({}, finish))
    return `${finished}${this.#frame(this.#includeUsage ? "" : stopped, `,${JSON.stringify(last).slice(1, -1)}`)}${DONE}`
  }

  #error({ cost, failure }: Extract<StreamItem, { readonly _tag: "Error" }>): string {
    const last = {
      ...(cost === undefined ? {} : { cost_usd: usdFromNano(cost) }),
      request_id: this.#requestId,
      error: this.#describe(failure)
    }
    const error = JSON.stringify(last).slice(1, -1)
    return `${this.#frame(this.#choice({ content: "" }, "error"), `,${error}`)}${DONE}`
  }
}
