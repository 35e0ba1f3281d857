/** The tools of Anthropic's Messages request, and the choice among them. */
import { Schema } from "effect"
import { atMost, integer, JsonObject, orNull, ToolName } from "../Bounds.ts"
import { cacheable } from "./MessagesCache.ts"

const beside = {
  /** No effect: all tools are loaded. */
  defer_loading: orNull(Schema.Boolean),
  /** Must contain `direct`: only the model calls tools, and no code that a server runs. */
  allowed_callers: orNull(Schema.Array(Schema.String).check(atMost(16))),
  ...cacheable
}

/** A tool that the client defines. */
export const MessagesCustomTool = Schema.Struct({
  /** `custom`, or absent. */
  type: orNull(Schema.Literal("custom")),
  /** 1 to 256 letters, digits, underscores and dashes. */
  name: ToolName,
  /** What the tool does, from which the model decides when to call it. */
  description: orNull(Schema.String),
  /** The JSON Schema of the input, an object. */
  input_schema: JsonObject,
  /** Up to 64 examples of the input. The model reads them with the description. */
  input_examples: orNull(Schema.Array(JsonObject).check(atMost(64))),
  /** Whether the input must conform to `input_schema`, where the provider can ensure that. */
  strict: orNull(Schema.Boolean),
  /** No effect: input is always streamed as it arrives. */
  eager_input_streaming: orNull(Schema.Boolean),
  ...beside
}).annotate({ identifier: "MessagesCustomTool" })

/**
 * A tool that Anthropic's API defines by its type and the client runs. Anthropic receives it unchanged. Other providers receive a
 * function with the tool's published input.
 */
export const MessagesTypedTool = Schema.Struct({
  /** `bash`, `text_editor`, `memory` or `computer` with the date of its version, such as `bash_20250124`. */
  type: Schema.String.check(
    Schema.isPattern(/^(bash|text_editor|memory|computer)_\d{8}$/, {
      message: "must be bash_*, text_editor_*, memory_* or computer_*"
    })
  ),
  /** 1 to 256 letters, digits, underscores and dashes. */
  name: ToolName,
  /** For a text editor: the maximum number of characters that `view` shows. */
  max_characters: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  /** For a computer: the width of its screen in pixels. */
  display_width_px: orNull(integer(1, 100_000)),
  /** For a computer: the height of its screen in pixels. */
  display_height_px: orNull(integer(1, 100_000)),
  /** For a computer: the number of its X11 display. */
  display_number: orNull(integer(0, 100_000)),
  /** For a computer: whether the model may zoom into the screen. Default: false. */
  enable_zoom: orNull(Schema.Boolean),
  /** Whether the input must conform to the tool's published schema, where the provider can ensure that. */
  strict: orNull(Schema.Boolean),
  ...beside
}).annotate({ identifier: "MessagesTypedTool" })
export type MessagesTypedTool = typeof MessagesTypedTool.Type

/** A tool that the client runs. */
export const MessagesTool = Schema.Union([MessagesCustomTool, MessagesTypedTool]).annotate({
  identifier: "MessagesTool"
})

const single = {
  /** Whether an answer calls one tool at most. Default: false. */
  disable_parallel_tool_use: orNull(Schema.Boolean)
}

/**
 * Whether the model calls tools, and which. `auto`, the default: the model decides. `none`: it calls none. `any`: it calls at least one.
 * `tool`: it calls the named one.
 */
export const MessagesToolChoice = Schema.Union([
  Schema.Struct({ type: Schema.Literal("auto"), ...single }),
  Schema.Struct({ type: Schema.Literal("any"), ...single }),
  Schema.Struct({
    type: Schema.Literal("tool"),
    /** The name of a declared tool. */
    name: Schema.String,
    ...single
  }),
  Schema.Struct({ type: Schema.Literal("none") })
]).annotate({ identifier: "MessagesToolChoice" })
