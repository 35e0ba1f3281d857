import type { Conversation } from "../domain/Conversation.ts"
import type { Modality } from "../domain/Model.ts"
import type { Output, OutputEvent } from "../domain/Output.ts"
import { promptTokens, type TokenUsage } from "../domain/Usage.ts"
import { type Metrics, providerName } from "../platform/Metrics.ts"
import { type Attributes, type Span, type Trace, traceHeaders } from "../platform/Tracing.ts"
import type { ChatCall, Provider, ProviderFault } from "./Provider.ts"
import type { WorkCall, WorkOperation } from "./Work.ts"

/** What a call is for. */
export type Operation = "chat" | WorkOperation

/**
 * `gen_ai.operation.name` of an operation. Chat, embeddings and retrieval are the GenAI conventions' own; for reranking, speech,
 * images and videos they have none, so these are the names in common use.
 */
export const operationNames: Readonly<Record<Operation, string>> = {
  chat: "chat",
  embeddings: "embeddings",
  rerank: "rerank",
  speech: "text_to_speech",
  search: "retrieval",
  images: "image_generation",
  videos: "video_generation"
}

/** What models of a modality are asked for. */
export const operationOf = {
  text: "chat",
  embedding: "embeddings",
  rerank: "rerank",
  audio: "speech",
  image: "images",
  image_edit: "images",
  search: "search",
  video: "videos"
} as const satisfies Record<Modality, Operation>

/** What an attempt is recorded by. */
export interface AttemptFacts {
  readonly metrics: Metrics
  readonly trace: Trace | undefined
  readonly provider: Provider
  readonly operation: Operation
  readonly call: WorkCall
  readonly index: number
  readonly stream: boolean
}

const isChat = (call: WorkCall): call is ChatCall => "conversation" in call

const speech: Attributes = { "gen_ai.output.type": "speech" }

/** Parameters of chat as the GenAI conventions have them. Stop sequences are left out: they are the caller's words. */
const chatAttributes = ({ format, sampling }: Conversation, maxOutputTokens: number, stream: boolean): Attributes => ({
  "gen_ai.request.stream": stream,
  "gen_ai.output.type": format.type === "text" ? "text" : "json",
  "gen_ai.request.max_tokens": maxOutputTokens,
  "gen_ai.request.temperature": sampling.temperature,
  "gen_ai.request.top_p": sampling.topP,
  "gen_ai.request.top_k": sampling.topK,
  "gen_ai.request.frequency_penalty": sampling.frequencyPenalty,
  "gen_ai.request.presence_penalty": sampling.presencePenalty
})

/** The conventions count cached tokens among the input. */
const usageAttributes = (usage: TokenUsage): Attributes => ({
  "gen_ai.usage.input_tokens": promptTokens(usage),
  "gen_ai.usage.cache_read.input_tokens": usage.cached,
  "gen_ai.usage.cache_creation.input_tokens": usage.cacheWrite,
  "gen_ai.usage.output_tokens": usage.output,
  "gen_ai.usage.reasoning.output_tokens": usage.reasoning
})

const begin = ({ call, index, operation, provider, stream, trace }: AttemptFacts): Span | undefined => {
  const parent = trace?.span
  if (parent === undefined) return undefined
  const { model, offer } = call.candidate
  const name = operationNames[operation]
  const span = parent.child(`${name} ${model.id}`, "client", {
    "gen_ai.operation.name": name,
    "gen_ai.provider.name": providerName(provider.id),
    "gen_ai.request.model": model.id,
    "server.address": provider.server?.address,
    "server.port": provider.server?.port,
    "svc.provider": provider.id,
    "svc.upstream_model": offer.upstreamId,
    "svc.attempt.index": index
  })
  if (isChat(call)) return span.set(chatAttributes(call.conversation, call.maxOutputTokens, stream))
  return operation === "speech" ? span.set(speech) : span
}

/** Why an attempt failed, in one word of few. */
const errorTypeOf = (fault: ProviderFault | undefined): string => fault?._tag ?? "Empty"

/** One call to one provider, in the metrics and, where its trace is recorded, as a span. It ends once, as first told. */
export class AttemptRecord {
  readonly #facts: AttemptFacts
  readonly #span: Span | undefined
  readonly #startedAt = performance.now()
  #ended = false

  constructor(facts: AttemptFacts) {
    this.#facts = facts
    this.#span = begin(facts)
  }

  /** What tells the provider of the trace: this attempt's place in it, or, of one not recorded here, the caller's as it came. */
  get traceHeaders(): Readonly<Record<string, string>> | undefined {
    const context = this.#span?.context ?? this.#facts.trace?.from
    return context === undefined ? undefined : traceHeaders(context)
  }

  /** The first content of a stream has come. */
  firstContent(): void {
    this.#span?.set({ "gen_ai.response.time_to_first_chunk": (performance.now() - this.#startedAt) / 1_000 })
  }

  /** Takes what a stream says of itself at its end. */
  note(events: ReadonlyArray<OutputEvent>): void {
    if (this.#span === undefined) return
    for (const event of events) {
      if (event._tag === "Finish") this.#span.set({ "gen_ai.response.finish_reasons": [event.reason] })
      else if (event._tag === "Usage") this.#span.set(usageAttributes(event.usage))
    }
  }

  /** The answer to other work than chat came, with so many prompt tokens; undefined where its provider does not say. */
  worked(promptTokens: number | undefined): void {
    this.#span?.set({ "gen_ai.usage.input_tokens": promptTokens })
    this.served()
  }

  /** The answer came, or all of the stream. */
  served(output?: Output): void {
    if (this.#span !== undefined && output !== undefined) {
      const { finish, usage } = output
      if (finish !== undefined) this.#span.set({ "gen_ai.response.finish_reasons": [finish] })
      if (usage !== undefined) this.#span.set(usageAttributes(usage))
    }
    this.#end("served", "served", undefined)
  }

  /** It gave nothing; without a fault it answered nothing. */
  failed(fault: ProviderFault | undefined, outcome: "failed" | "failed_over"): void {
    this.#end("failed", outcome, errorTypeOf(fault))
  }

  /** It broke off after content had come, so that nobody else could be asked. */
  broke(fault: ProviderFault): void {
    this.#end("failed", "failed", errorTypeOf(fault))
  }

  /** We hung up: the caller had gone, or the service stops. */
  cancelled(): void {
    this.#end("cancelled", "cancelled", undefined)
  }

  #end(counted: "served" | "failed" | "cancelled", outcome: string, errorType: string | undefined): void {
    if (this.#ended) return
    this.#ended = true
    const { call, metrics, operation, provider } = this.#facts
    metrics.attempt({
      operation: operationNames[operation],
      provider: provider.id,
      model: call.candidate.model.id,
      outcome: counted,
      errorType,
      durationMs: performance.now() - this.#startedAt
    })
    if (this.#span === undefined) return
    this.#span.set({ "svc.attempt.outcome": outcome })
    if (errorType !== undefined) this.#span.fail(errorType)
    this.#span.end()
  }
}
