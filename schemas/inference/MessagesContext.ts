/** Edits of the prompt before the model reads it, as Anthropic's Messages request has them. */
import { Schema } from "effect"
import { atMost, integer, orNull } from "../Bounds.ts"

const ofTokens = Schema.Struct({
  type: Schema.Literal("input_tokens"),
  /** A number of tokens of the prompt. */
  value: integer(0, Number.MAX_SAFE_INTEGER)
})
const ofToolUses = Schema.Struct({
  type: Schema.Literal("tool_uses"),
  /** A number of tool calls. */
  value: integer(0, Number.MAX_SAFE_INTEGER)
})
const editType = (kind: string) => Schema.String.check(Schema.isPattern(new RegExp(`^${kind}_\\d{8}$`)))

/** Removes old tool results from the prompt once it is long enough. */
export const MessagesClearToolUses = Schema.Struct({
  /** `clear_tool_uses` with the date of its version. */
  type: editType("clear_tool_uses"),
  /** The size of the prompt from which on results are removed. Default: 100,000 tokens. */
  trigger: orNull(Schema.Union([ofTokens, ofToolUses])),
  /** How many of the latest results stay. Default: three. */
  keep: orNull(ofToolUses),
  /** The minimum number of tokens to remove. */
  clear_at_least: orNull(ofTokens),
  /** The names of tools whose results stay, at most 512. */
  exclude_tools: orNull(Schema.Array(Schema.String).check(atMost(512))),
  /** Whether the input of the calls is removed as well, for all tools or for the named ones. Default: false. */
  clear_tool_inputs: orNull(Schema.Union([Schema.Boolean, Schema.Array(Schema.String).check(atMost(512))]))
}).annotate({ identifier: "MessagesClearToolUses" })

/** Removes the thinking of earlier turns from the prompt. */
export const MessagesClearThinking = Schema.Struct({
  /** `clear_thinking` with the date of its version. */
  type: editType("clear_thinking"),
  /** How many of the latest turns keep their thinking. Default: one. */
  keep: orNull(
    Schema.Union([
      Schema.Literal("all"),
      Schema.Struct({ type: Schema.Literal("all") }),
      Schema.Struct({
        type: Schema.Literal("thinking_turns"),
        /** A number of turns. */
        value: integer(1, Number.MAX_SAFE_INTEGER)
      })
    ])
  )
}).annotate({ identifier: "MessagesClearThinking" })

/** Asks the provider to summarize a long conversation. The gateway does not pass this on, so `applied_edits` never contains it. */
export const MessagesCompact = Schema.Struct({
  /** `compact` with the date of its version. */
  type: editType("compact"),
  /** No effect. */
  trigger: orNull(ofTokens),
  /** No effect. */
  pause_after_compaction: orNull(Schema.Boolean),
  /** No effect. */
  instructions: orNull(Schema.String)
}).annotate({ identifier: "MessagesCompact" })

/** The parts to remove from the prompt before the model reads it. */
export const MessagesContextManagement = Schema.Struct({
  /** The edits in their order, at most 16. */
  edits: orNull(
    Schema.Array(Schema.Union([MessagesClearToolUses, MessagesClearThinking, MessagesCompact])).check(atMost(16))
  )
}).annotate({ identifier: "MessagesContextManagement" })
