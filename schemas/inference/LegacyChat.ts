import { Schema } from "effect"
import { sized } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { ChatCompletion, ChatCompletionRequest, RichContent, saidReasoning, TextContent } from "./ChatCompletions.ts"

/** A message of the legacy chat: a role and what was said. */
export const LegacyChatMessage = Schema.Union([
  Schema.Struct({ role: Schema.Literal("system"), content: TextContent }),
  Schema.Struct({ role: Schema.Literal("developer"), content: TextContent }),
  Schema.Struct({ role: Schema.Literal("user"), content: RichContent }),
  Schema.Struct({ role: Schema.Literal("assistant"), content: TextContent, ...saidReasoning })
]).annotate({ identifier: "LegacyChatMessage" })

const {
  budget_cents,
  frequency_penalty,
  max_tokens,
  presence_penalty,
  routing,
  seed,
  session_id,
  stop,
  temperature,
  top_p,
  user
} = ChatCompletionRequest.fields

/**
 * The legacy chat request. Nothing but these fields is allowed; each means what it means to a chat completion, and a null counts
 * as absent. It is never streamed and takes no tools.
 */
export const LegacyChatRequest = Schema.Struct({
  /** A model id, a fallback chain of up to 15 ids joined by commas, or a preset as `@slug`. */
  model: ModelString,
  messages: Schema.Array(LegacyChatMessage).check(...sized(1, 100, "items")),
  budget_cents,
  max_tokens,
  temperature,
  top_p,
  frequency_penalty,
  presence_penalty,
  seed,
  stop,
  user,
  /** A session that the answered request is added to: its `session_id` or its id. */
  session_id,
  routing
}).annotate({ identifier: "LegacyChatRequest" })
export type LegacyChatRequest = typeof LegacyChatRequest.Type

/**
 * A whole answer. One with `cached: true` was given before to the same question of the same account and project: it is free, has
 * no tokens in its usage and no provider attempts in its routing, a request id of its own and no receipt.
 */
export const LegacyChatCompletion = Schema.Struct({
  ...ChatCompletion.fields,
  cached: Schema.Boolean
}).annotate({ identifier: "LegacyChatCompletion" })
export type LegacyChatCompletion = typeof LegacyChatCompletion.Type
