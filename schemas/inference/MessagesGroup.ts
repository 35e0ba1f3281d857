import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { MessagesAccess, MessagesEnvelope } from "../Access.ts"
import {
  MessagesConflictError,
  MessagesIdempotencyError,
  MessagesInsufficientCreditsError,
  MessagesNotFoundError,
  MessagesTimeoutError,
  MessagesUpstreamError
} from "../MessagesErrors.ts"
import { operation } from "../Operation.ts"
import { idempotency, StreamFrame } from "./ChatGroup.ts"
import { MessagesCountRequest, MessagesRequest } from "./Messages.ts"
import { MessagesAnswer, MessagesTokenCount } from "./MessagesAnswer.ts"

const versions = {
  /** Sent by Anthropic's clients; no effect. */
  "anthropic-version": Schema.optional(Schema.String),
  /** Passed on to Anthropic; no effect elsewhere. */
  "anthropic-beta": Schema.optional(Schema.String)
}

/** Anthropic's Messages API with any text model. */
export class MessagesGroup extends HttpApiGroup.make("messages")
  .add(
    HttpApiEndpoint.post("messages", "/messages", {
      headers: { ...idempotency, ...versions },
      payload: MessagesRequest,
      success: [MessagesAnswer, HttpApiSchema.StreamSse({ events: StreamFrame })],
      error: [
        MessagesInsufficientCreditsError,
        MessagesNotFoundError,
        MessagesConflictError,
        MessagesIdempotencyError,
        MessagesUpstreamError,
        MessagesTimeoutError
      ]
    }).annotateMerge(operation("messages", "Create a message", { limit: "default", charge: "tokens" })),
    HttpApiEndpoint.post("countTokens", "/messages/count_tokens", {
      headers: versions,
      payload: MessagesCountRequest,
      success: MessagesTokenCount,
      error: MessagesNotFoundError
    }).annotateMerge(
      operation("messages.count_tokens", "Count the tokens of a message", {
        limit: "default",
        charge: "free",
        safe: true
      })
    )
  )
  .middleware(MessagesAccess)
  .middleware(MessagesEnvelope) {}
