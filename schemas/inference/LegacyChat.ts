import { Schema } from "effect"
import { sized } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { ChatCompletion, ChatCompletionRequest } from "./ChatCompletions.ts"
import { RichContent, reasoningFields, TextContent } from "./ChatMessages.ts"

/** A message of the legacy chat: a role and its content. Only messages of users may contain images and files. */
export const LegacyChatMessage = Schema.Union([
  Schema.Struct({ role: Schema.Literal("system"), content: TextContent }),
  Schema.Struct({ role: Schema.Literal("developer"), content: TextContent }),
  Schema.Struct({ role: Schema.Literal("user"), content: RichContent }),
  Schema.Struct({ role: Schema.Literal("assistant"), content: TextContent, ...reasoningFields })
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
 * The legacy chat request. Unknown fields are rejected. Each field means the same as in a chat completion, and a null counts as absent.
 * It supports neither streaming nor tools.
 */
export const LegacyChatRequest = Schema.Struct({
  /** A model id, a fallback chain of up to 15 ids separated by commas, or a preset as `@slug`. */
  model: ModelString,
  /** 1 to 100 messages. */
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
  /** The session to which the answered request is added: its `session_id` or its id. */
  session_id,
  routing
}).annotate({ identifier: "LegacyChatRequest" })
export type LegacyChatRequest = typeof LegacyChatRequest.Type

/** A complete answer of the legacy chat. */
export const LegacyChatCompletion = Schema.Struct({
  ...ChatCompletion.fields,
  /**
   * Whether the answer comes from the cache, because the account and the project sent the same request before. Such an answer is free:
   * its usage has no tokens, its routing no provider attempts, and its request id no receipt.
   */
  cached: Schema.Boolean
}).annotate({ identifier: "LegacyChatCompletion" })
export type LegacyChatCompletion = typeof LegacyChatCompletion.Type
