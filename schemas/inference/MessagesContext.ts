/** Edits of the prompt before the model reads it, as Anthropic's Messages request has them. */
import { Schema } from "effect"
import { atMost, integer } from "../Bounds.ts"

const orNull = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const ofTokens = Schema.Struct({ type: Schema.Literal("input_tokens"), value: integer(0, Number.MAX_SAFE_INTEGER) })
const ofToolUses = Schema.Struct({ type: Schema.Literal("tool_uses"), value: integer(0, Number.MAX_SAFE_INTEGER) })
const editType = (kind: string) => Schema.String.check(Schema.isPattern(new RegExp(`^${kind}_\\d{8}$`)))

/** Removes old tool results from the prompt once it is long enough. */
export const MessagesClearToolUses = Schema.Struct({
  type: editType("clear_tool_uses"),
  /** The size from which on results are removed. Default: 100,000 tokens. */
  trigger: orNull(Schema.Union([ofTokens, ofToolUses])),
  /** How many of the latest results stay. Default: three. */
  keep: orNull(ofToolUses),
  /** The minimum number of tokens to remove. */
  clear_at_least: orNull(ofTokens),
  exclude_tools: orNull(Schema.Array(Schema.String).check(atMost(512))),
  /** Whether the input of the calls is removed as well, for all tools or for the named ones. */
  clear_tool_inputs: orNull(Schema.Union([Schema.Boolean, Schema.Array(Schema.String).check(atMost(512))]))
}).annotate({ identifier: "MessagesClearToolUses" })

/** Removes the thinking of earlier turns from the prompt. */
export const MessagesClearThinking = Schema.Struct({
  type: editType("clear_thinking"),
  keep: orNull(
    Schema.Union([
      Schema.Literal("all"),
      Schema.Struct({ type: Schema.Literal("all") }),
      Schema.Struct({ type: Schema.Literal("thinking_turns"), value: integer(1, Number.MAX_SAFE_INTEGER) })
    ])
  )
}).annotate({ identifier: "MessagesClearThinking" })

/** Asks the provider to summarize a long conversation. The gateway does not pass this on, so `applied_edits` never contains it. */
export const MessagesCompact = Schema.Struct({
  type: editType("compact"),
  trigger: orNull(ofTokens),
  pause_after_compaction: orNull(Schema.Boolean),
  instructions: orNull(Schema.String)
}).annotate({ identifier: "MessagesCompact" })

/** The parts to remove from the prompt before the model reads it. */
export const MessagesContextManagement = Schema.Struct({
  edits: orNull(
    Schema.Array(Schema.Union([MessagesClearToolUses, MessagesClearThinking, MessagesCompact])).check(atMost(16))
  )
}).annotate({ identifier: "MessagesContextManagement" })
