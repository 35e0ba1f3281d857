import { Schema } from "effect"
import { atMost, integer, JsonObject, MESSAGES_MAX, Metadata, orNull, sized, textOf, TOOLS_MAX } from "../Bounds.ts"
import { endUserFields, modelFields, routingFields, samplingFields } from "./RequestFields.ts"
import {
  ResponsesAdditionalTools,
  ResponsesFunctionCall,
  ResponsesCustomCall,
  ResponsesToolSearchCall,
  ResponsesSearchOutput,
  ResponsesTool,
  ResponsesToolChoice
} from "./ResponsesTools.ts"

/** Text of a prompt. */
export const ResponsesInputText = Schema.Struct({
  type: Schema.Literal("input_text"),
  /** The text. */
  text: Schema.String
}).annotate({ identifier: "ResponsesInputText" })

/** An image of a prompt. File ids are not supported. */
export const ResponsesInputImage = Schema.Struct({
  type: Schema.Literal("input_image"),
  /** An https URL, or a data URL with base64. */
  image_url: Schema.String,
  /** Default: `auto`. `original` means `high`, because the full-size image has no cost limit. */
  detail: orNull(Schema.Literals(["auto", "low", "high", "original"]))
}).annotate({ identifier: "ResponsesInputImage" })

/**
 * A PDF file, for models with vision of Anthropic, Google and OpenAI; or a file of text, which every model reads after a line with the
 * file's name. Ids and URLs of files are not supported.
 */
export const ResponsesInputFile = Schema.Struct({
  type: Schema.Literal("input_file"),
  /**
   * A data URL with base64, at most 20 MiB: of type `application/pdf`, or of type `text/…` or `application/json` in UTF-8. The PDF
   * files of a request may have 100 pages in all.
   */
  file_data: Schema.String,
  /** The name under which the model sees the file, at most 256 characters. */
  filename: orNull(textOf(0, 256))
}).annotate({ identifier: "ResponsesInputFile" })

/** A part of a prompt. */
export const ResponsesInputPart = Schema.Union([ResponsesInputText, ResponsesInputImage, ResponsesInputFile])
export type ResponsesInputPart = typeof ResponsesInputPart.Type

/** A text of the assistant in an earlier answer. */
export const ResponsesAssistantPart = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("output_text"),
    /** The text. */
    text: Schema.String
  }),
  Schema.Struct({
    type: Schema.Literal("input_text"),
    /** The text. */
    text: Schema.String
  }),
  Schema.Struct({
    type: Schema.Literal("refusal"),
    /** The text of a refusal. */
    refusal: Schema.String
  })
])

const Parts = Schema.NonEmptyArray(ResponsesInputPart).check(atMost(512))

/** A message of the prompt. Only messages of users may contain images and PDF files. */
export const ResponsesInputMessage = Schema.Struct({
  type: Schema.optionalKey(Schema.Literal("message")),
  /** The speaker. `system` and `developer` mean the same. */
  role: Schema.Literals(["user", "system", "developer"]),
  /** A text, or 1 to 512 parts. */
  content: Schema.Union([Schema.String, Parts])
}).annotate({ identifier: "ResponsesInputMessage" })

/** A message of the assistant, from an earlier answer or written by the client. */
export const ResponsesAssistantMessage = Schema.Struct({
  type: Schema.optionalKey(Schema.Literal("message")),
  role: Schema.Literal("assistant"),
  /** A text, or at most 512 parts. */
  content: Schema.Union([Schema.String, Schema.Array(ResponsesAssistantPart).check(atMost(512))])
}).annotate({ identifier: "ResponsesSaidMessage" })

/**
 * Reasoning of an earlier answer. Send it back with its `encrypted_content`, and a model of the same provider continues from it. An
 * item with content that this service did not encrypt for the same account is ignored.
 */
export const ResponsesReasoningInput = Schema.Struct({
  type: Schema.Literal("reasoning"),
  /** The `encrypted_content` of the item in the answer, unchanged. It overrides the two texts. */
  encrypted_content: orNull(Schema.String),
  /** The text of the reasoning, for providers that accept it as text. */
  summary: orNull(Schema.Array(JsonObject)),
  /** The same in full, as some hosts give it. It overrides `summary`. */
  content: orNull(Schema.Array(JsonObject))
}).annotate({ identifier: "ResponsesSaidReasoning" })

const output = {
  /** The id of the call. An agent's own report that answers no call has none, and names its tool instead. */
  call_id: orNull(Schema.String),
  /** The name of the tool. Required without `call_id`, and has no effect otherwise. */
  name: orNull(Schema.String),
  /** The namespace of that tool. */
  namespace: orNull(Schema.String),
  /** A text, or 1 to 512 parts. */
  output: Schema.Union([Schema.String, Parts])
}

/** The result of a tool call. */
export const ResponsesCallOutput = Schema.Struct({
  type: Schema.Literal("function_call_output"),
  ...output
}).annotate({ identifier: "ResponsesCallOutput" })

/** The result of a custom tool call. */
export const ResponsesCustomOutput = Schema.Struct({
  type: Schema.Literal("custom_tool_call_output"),
  ...output
}).annotate({ identifier: "ResponsesCustomOutput" })

/**
 * One item of a conversation. The `id` and `status` of an item from an answer have no effect. The gateway lists other unknown members in
 * `X-Svc-Ignored-Parameters`.
 */
export const ResponsesInputItem = Schema.Union([
  ResponsesInputMessage,
  ResponsesAssistantMessage,
  ResponsesReasoningInput,
  ResponsesFunctionCall,
  ResponsesCallOutput,
  ResponsesCustomCall,
  ResponsesCustomOutput,
  ResponsesAdditionalTools,
  ResponsesToolSearchCall,
  ResponsesSearchOutput
])

/** The format of the answer's text: text, any JSON object, or JSON that conforms to a schema. */
export const ResponsesTextFormat = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text") }),
  Schema.Struct({ type: Schema.Literal("json_object") }),
  Schema.Struct({
    type: Schema.Literal("json_schema"),
    /** 1 to 64 characters. */
    name: textOf(1, 64),
    /** What the answer is, for the model. */
    description: orNull(Schema.String),
    /** The JSON Schema. */
    schema: orNull(JsonObject),
    /** Whether the answer must conform to the schema, where the provider can ensure that. */
    strict: orNull(Schema.Boolean)
  })
]).annotate({ identifier: "ResponsesTextFormat" })

/** How much a reasoning model thinks. Unknown fields are rejected. */
export const ResponsesReasoning = Schema.Struct({
  /** Default: the model's own. A model without the word uses the nearest one that it has. `max` means `xhigh`. */
  effort: orNull(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
  /** No effect: the answer always contains the reasoning that a provider shows. */
  summary: orNull(Schema.Literals(["auto", "concise", "detailed"])),
  /** The maximum number of reasoning tokens, for models with such a limit. */
  max_tokens: orNull(integer(0, Number.MAX_SAFE_INTEGER)),
  /** Whether the model reasons, for models that can do both. Default: the model's own. */
  enabled: orNull(Schema.Boolean),
  /** OpenAI's former name of `summary`. No effect. */
  generate_summary: orNull(Schema.Literals(["auto", "concise", "detailed"])),
  /** No effect: every model reasons in its standard mode. */
  mode: orNull(Schema.Literal("standard")),
  /** No effect: which earlier reasoning OpenAI's servers would read again. */
  context: orNull(Schema.Literals(["auto", "current_turn", "all_turns"]))
}).annotate({ identifier: "ResponsesReasoning" })

/**
 * OpenAI's Responses request, as far as it stores nothing between requests: the client sends the whole conversation each time. A null
 * counts as absent. The gateway ignores unknown fields and lists them in the `X-Svc-Ignored-Parameters` response header. It rejects
 * fields of that API that would change the answer and are not supported (`store: true`, `previous_response_id`, `background: true`,
 * `conversation`, `prompt`, file ids) with `unsupported_parameter`, and likewise fields that only another format has, such as
 * `max_tokens`. Tools that only OpenAI's servers run are left out and listed in that header.
 */
export const ResponsesRequest = Schema.Struct({
  ...modelFields,
  /** The user's text, or the items of a conversation: at most 1,000, or `MAX_MESSAGES` if the operator set it higher. */
  input: Schema.Union([Schema.String, Schema.Array(ResponsesInputItem).check(...sized(1, MESSAGES_MAX, "items"))]),
  /** A system message before all others. */
  instructions: orNull(Schema.String),
  /**
   * The maximum number of output tokens. Without a limit, the service chooses a ceiling and holds money for it as far as the balance
   * allows.
   */
  max_output_tokens: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  ...samplingFields,
  /** The number of alternatives to each token; only with the log-probabilities of a stream, see `include`. */
  top_logprobs: orNull(integer(0, 20)),
  /** The tools that the model may call, at most 512. */
  tools: orNull(Schema.Array(ResponsesTool).check(atMost(TOOLS_MAX))),
  tool_choice: orNull(ResponsesToolChoice),
  /** Whether an answer may call several tools. Default: the model's own. */
  parallel_tool_calls: orNull(Schema.Boolean),
  /** The format and the length of the answer's text. */
  text: orNull(
    Schema.Struct({
      format: orNull(ResponsesTextFormat),
      /** How detailed the answer is. Default: the model's own. */
      verbosity: orNull(Schema.Literals(["low", "medium", "high"]))
    })
  ),
  reasoning: orNull(ResponsesReasoning),
  /** Whether the answer is a stream of events. Default: false. */
  stream: orNull(Schema.Boolean),
  /**
   * `reasoning.encrypted_content` adds that member to reasoning items. `message.output_text.logprobs` affects only streams, because a
   * complete answer cannot contain log-probabilities. Other names have no effect.
   */
  include: orNull(Schema.Array(textOf(0, 64)).check(atMost(32))),
  /** A prompt is never truncated: `auto` has no effect. */
  truncation: orNull(Schema.Literals(["auto", "disabled"])),
  /** No effect: it limits calls of hosted tools, which do not exist here. */
  max_tool_calls: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  /** No effect. */
  stream_options: orNull(
    Schema.Struct({
      /** No effect: streams have no padding. */
      include_obfuscation: orNull(Schema.Boolean)
    })
  ),
  /** Up to 16 pairs that the answer repeats: keys of at most 64 characters, values of at most 512. */
  metadata: orNull(Metadata),
  ...endUserFields,
  ...routingFields
}).annotate({ identifier: "ResponsesRequest" })
export type ResponsesRequest = typeof ResponsesRequest.Type

const { input } = ResponsesRequest.fields

/** A Responses request for a token count. The model and the input may be absent. */
export const ResponsesTokensRequest = Schema.Struct({ ...ResponsesRequest.fields, input: orNull(input) }).annotate({
  identifier: "ResponsesTokensRequest"
})
