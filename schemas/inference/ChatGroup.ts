import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import {
  ConflictError,
  IdempotencyError,
  InsufficientCreditsError,
  NotFoundError,
  TimeoutError,
  UpstreamError
} from "../Errors.ts"
import { operation } from "../Operation.ts"
import { ChatCompletion, ChatCompletionRequest } from "./ChatCompletions.ts"
import { CostEstimate, EstimateRequest, WorkEstimateRequest } from "./Estimate.ts"
import { PresetChatRequest } from "./PresetChat.ts"

/**
 * A stream event. For chat, `data` is a `ChatCompletionChunk` as JSON, or `[DONE]`. For the other formats, it is a `MessagesStreamEvent`
 * or a `ResponsesStreamEvent` as JSON, and `event` is its type.
 */
export const StreamFrame = Schema.Struct({
  id: Schema.optional(Schema.String),
  event: Schema.String,
  data: Schema.String
})

/** The headers of an operation that a client can safely repeat. */
export const idempotency = {
  /** Makes repeating the request safe: it is executed and charged once. 1 to 255 characters, kept for 24 hours. */
  "idempotency-key": Schema.optional(Schema.String)
}

/** The errors that only a paid operation of this kind can return. */
export const paidErrors = [
  InsufficientCreditsError,
  NotFoundError,
  ConflictError,
  IdempotencyError,
  UpstreamError,
  TimeoutError
] as const

/** Chat with any text model, and cost estimates. */
export class ChatGroup extends HttpApiGroup.make("chat")
  .add(
    HttpApiEndpoint.post("chatCompletions", "/chat/completions", {
      headers: idempotency,
      payload: ChatCompletionRequest,
      success: [ChatCompletion, HttpApiSchema.StreamSse({ events: StreamFrame })],
      error: paidErrors
    }).annotateMerge(operation("chat.completions", "Create a chat completion", { limit: "default", charge: "tokens" })),
    HttpApiEndpoint.post("presetChatCompletions", "/presets/:slug/chat/completions", {
      // Any text is allowed: an invalid slug is simply an unknown preset, which is a 404.
      params: {
        /** The slug of a preset. */
        slug: Schema.String
      },
      headers: idempotency,
      payload: PresetChatRequest,
      success: [ChatCompletion, HttpApiSchema.StreamSse({ events: StreamFrame })],
      error: paidErrors
    }).annotateMerge(
      operation("presets.chat.completions", "Create a chat completion with a preset", {
        limit: "default",
        charge: "tokens"
      })
    ),
    HttpApiEndpoint.post("estimate", "/estimate", {
      payload: Schema.Union([EstimateRequest, WorkEstimateRequest]),
      success: CostEstimate,
      error: NotFoundError
    }).annotateMerge(
      operation("estimate", "Estimate the cost of a request", { limit: "default", charge: "free", safe: true })
    )
  )
  .middleware(InferenceAccess) {}
