import type { Conversation } from "../../domain/Conversation.ts"
import type { Modality } from "../../domain/Model.ts"
import type { Output, OutputEvent } from "../../domain/Output.ts"
import { promptTokens, type TokenUsage } from "../../domain/Usage.ts"
import type { Metrics } from "../../platform/telemetry/Metrics.ts"
import { providerName } from "../../platform/telemetry/ProviderMetrics.ts"
import { type Attributes, type Span, type Trace, traceHeaders } from "../../platform/telemetry/Tracing.ts"
import type { ChatCall, Provider, WorkCall } from "../Provider.ts"
import type { ProviderFault } from "../ProviderError.ts"
import type { WorkOperation } from "../../domain/Work.ts"

/** The operation of a call. */
export type Operation = "chat" | WorkOperation

/**
 * The `gen_ai.operation.name` of an operation. The GenAI conventions define chat, embeddings and retrieval. They have no name for
 * reranking, speech, images and videos, so these are the names in common use.
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

/** The operation that each model modality serves. */
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

/** The labels of an attempt's record. */
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

/** Chat parameters under the names of the GenAI conventions. Stop sequences are omitted because they are the caller's text. */
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

/** The conventions count cached tokens as input tokens. */
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

/** Why an attempt failed, as one of a few words. */
const errorTypeOf = (fault: ProviderFault | undefined): string => fault?._tag ?? "Empty"

/** Records one call to one provider in the metrics and, if its trace is recorded, as a span. Only the first outcome counts. */
export class AttemptRecord {
  readonly #facts: AttemptFacts
  readonly #span: Span | undefined
  readonly #startedAt = performance.now()
  #ended = false
  /** What has arrived of a chat answer: all of it, or the events until its first content. */
  arrived: Output | ReadonlyArray<OutputEvent> | undefined

  constructor(facts: AttemptFacts) {
    this.#facts = facts
    this.#span = begin(facts)
  }

  /**
   * The headers that give the provider its trace context: this attempt's span, or the caller's context if the trace is not recorded
   * here.
   */
  get traceHeaders(): Readonly<Record<string, string>> | undefined {
    const context = this.#span?.context ?? this.#facts.trace?.from
    return context === undefined ? undefined : traceHeaders(context)
  }

  /** Records the first content of a stream. */
  firstContent(): void {
    this.#span?.set({ "gen_ai.response.time_to_first_chunk": (performance.now() - this.#startedAt) / 1_000 })
  }

  /** Records the usage and finish that a stream reports at its end. */
  note(events: ReadonlyArray<OutputEvent>): void {
    if (this.#span === undefined) return
    for (const event of events) {
      if (event._tag === "Finish") this.#span.set({ "gen_ai.response.finish_reasons": [event.reason] })
      else if (event._tag === "Usage") this.#span.set(usageAttributes(event.usage))
    }
  }

  /** Records an answer to work other than chat. `promptTokens` is undefined when the provider does not report them. */
  worked(promptTokens: number | undefined): void {
    this.#span?.set({ "gen_ai.usage.input_tokens": promptTokens })
    this.served()
  }

  /** Records a complete answer or stream. */
  served(output?: Output): void {
    if (this.#span !== undefined && output !== undefined) {
      const { finish, usage } = output
      if (finish !== undefined) this.#span.set({ "gen_ai.response.finish_reasons": [finish] })
      if (usage !== undefined) this.#span.set(usageAttributes(usage))
    }
    this.#end("served", "served", undefined)
  }

  /** Records an attempt without content. Without a fault, the answer was empty. */
  failed(fault: ProviderFault | undefined, outcome: "failed" | "failed_over"): void {
    this.#end("failed", outcome, errorTypeOf(fault))
  }

  /** Records a stream that broke after its first content, when no other provider can take over. */
  broke(fault: ProviderFault): void {
    this.#end("failed", "failed", errorTypeOf(fault))
  }

  /** Records an attempt that the gateway stopped, because the client disconnected or the service is stopping. */
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
