/** Tools of OpenAI's Responses API, the choice among them, and the items for calls and results. */
import { Schema } from "effect"
import { atMost, JsonObject, orNull, sized, ToolName, TOOLS_MAX } from "../Bounds.ts"

/** The name and the description of a tool. */
const about = {
  /** 1 to 256 letters, digits, underscores and dashes. */
  name: ToolName,
  /** What the tool does, from which the model decides when to call it. */
  description: orNull(Schema.String)
}

const deferred = {
  /** No effect: all tools are loaded. */
  defer_loading: orNull(Schema.Boolean)
}

/** A function that the model may call. */
export const ResponsesFunctionTool = Schema.Struct({
  type: Schema.Literal("function"),
  ...about,
  /** The JSON Schema of the arguments. Default: no arguments. */
  parameters: orNull(JsonObject),
  /** Whether the arguments must conform to `parameters`, where the provider can ensure that. */
  strict: orNull(Schema.Boolean),
  ...deferred
}).annotate({ identifier: "ResponsesFunctionTool" })

/**
 * A tool with one text as its input. The model sees a function with one string `input`, and its call is returned as a `custom_tool_call`.
 * A grammar is part of the function's description; the gateway does not enforce it.
 */
export const ResponsesCustomTool = Schema.Struct({
  type: Schema.Literal("custom"),
  ...about,
  /** The format of the input. Default: any text. */
  format: orNull(
    Schema.Union([
      Schema.Struct({ type: Schema.Literal("text") }),
      Schema.Struct({
        type: Schema.Literal("grammar"),
        /** The language of `definition`. */
        syntax: Schema.Literals(["lark", "regex"]),
        /** The grammar. */
        definition: Schema.String
      })
    ])
  ),
  ...deferred
}).annotate({ identifier: "ResponsesCustomTool" })

/** Tools under a common name. The model sees each as `namespace__name`; its call contains the two separately. */
export const ResponsesNamespaceTool = Schema.Struct({
  type: Schema.Literal("namespace"),
  /** 1 to 256 letters, digits, underscores and dashes. */
  name: ToolName,
  /** What the tools are for. The model reads it with the first of them. */
  description: orNull(Schema.String),
  /** At most 512. */
  tools: Schema.Array(Schema.Union([ResponsesFunctionTool, ResponsesCustomTool])).check(atMost(TOOLS_MAX))
}).annotate({ identifier: "ResponsesNamespaceTool" })

/** A search for tools. With `execution: "client"` the client runs it, and the model sees a function. */
export const ResponsesToolSearchTool = Schema.Struct({
  type: Schema.Literal("tool_search"),
  /** Without `client`, the search is left out of the request, because all tools are loaded. */
  execution: orNull(Schema.Literals(["client", "server"])),
  /** What the search finds. */
  description: orNull(Schema.String),
  /** The JSON Schema of the arguments. Default: a `query` and a `limit`. */
  parameters: orNull(JsonObject)
}).annotate({ identifier: "ResponsesToolSearchTool" })

/** Types of tools that only OpenAI's servers run. A version may follow the name. */
export const HOSTED_TOOLS = [
  "web_search",
  "web_search_preview",
  "file_search",
  "computer",
  "computer_use",
  "computer_use_preview",
  "code_interpreter",
  "image_generation",
  "mcp",
  "programmatic_tool_calling"
] as const

/** A tool that only OpenAI's servers run. It is left out and listed in `X-Svc-Ignored-Parameters` as `tools[3]`. */
export const ResponsesHostedTool = Schema.Struct({
  /** The type, which a version may follow, such as `web_search_2025_08_26`. */
  type: Schema.Union([
    Schema.Literals(HOSTED_TOOLS),
    Schema.String.check(Schema.isPattern(/^web_search(_preview)?_\d{4}_\d{2}_\d{2}$/))
  ])
}).annotate({ identifier: "ResponsesHostedTool" })

/** A tool that the model may call. */
export const ResponsesTool = Schema.Union([
  ResponsesFunctionTool,
  ResponsesCustomTool,
  ResponsesNamespaceTool,
  ResponsesToolSearchTool,
  ResponsesHostedTool
]).annotate({ identifier: "ResponsesTool" })
export type ResponsesTool = typeof ResponsesTool.Type

const named = {
  /** The name of a declared tool. */
  name: Schema.String,
  /** The namespace of the tool, if it is in one. */
  namespace: orNull(Schema.String)
}
const FunctionReference = Schema.Struct({ type: Schema.Literal("function"), ...named })
const CustomReference = Schema.Struct({ type: Schema.Literal("custom"), ...named })
const SearchReference = Schema.Struct({ type: Schema.Literal("tool_search") })
const NamespaceReference = Schema.Struct({
  type: Schema.Literal("namespace"),
  /** The name of a declared namespace: all its tools. */
  name: Schema.String
})

/** A tool of the request. One that only OpenAI's servers run is left out. */
export const ResponsesToolReference = Schema.Union([
  FunctionReference,
  CustomReference,
  SearchReference,
  NamespaceReference,
  ResponsesHostedTool
])
export type ResponsesToolReference = typeof ResponsesToolReference.Type

/**
 * Whether the model calls tools, and which. `auto`, the default: the model decides. `none`: it calls none. `required`: it calls at least
 * one. A tool: it calls that one.
 */
export const ResponsesToolChoice = Schema.Union([
  Schema.Literals(["auto", "none", "required"]),
  FunctionReference,
  CustomReference,
  SearchReference,
  Schema.Struct({
    type: Schema.Literal("allowed_tools"),
    /** Whether the model decides, or must call one of them. */
    mode: Schema.Literals(["auto", "required"]),
    /** The model sees only these tools, 1 to 512. */
    tools: Schema.Array(ResponsesToolReference).check(...sized(1, TOOLS_MAX, "items"))
  })
]).annotate({ identifier: "ResponsesToolChoice" })
export type ResponsesToolChoice = typeof ResponsesToolChoice.Type

// --- items of the input

/** Tools in addition to those of `tools`. */
export const ResponsesAdditionalTools = Schema.Struct({
  type: Schema.Literal("additional_tools"),
  /** At most 512. One with the name of an earlier tool replaces it. */
  tools: Schema.Array(ResponsesTool).check(atMost(TOOLS_MAX))
}).annotate({ identifier: "ResponsesAdditionalTools" })

const inputCallFields = {
  /** The `call_id` of the item with the result. */
  call_id: Schema.String,
  /** The name of the tool. */
  name: Schema.String,
  /** The namespace of the tool, if it is in one. */
  namespace: orNull(Schema.String)
}

/** A tool call of an earlier answer. */
export const ResponsesFunctionCall = Schema.Struct({
  type: Schema.Literal("function_call"),
  ...inputCallFields,
  /** JSON text, as the model wrote it. */
  arguments: Schema.String
}).annotate({ identifier: "ResponsesSaidCall" })

/** A custom tool call of an earlier answer. */
export const ResponsesCustomCall = Schema.Struct({
  type: Schema.Literal("custom_tool_call"),
  ...inputCallFields,
  /** The text that the model wrote. */
  input: Schema.String
}).annotate({ identifier: "ResponsesSaidCustomCall" })

/** A search for tools of an earlier answer. */
export const ResponsesToolSearchCall = Schema.Struct({
  type: Schema.Literal("tool_search_call"),
  /** The `call_id` of the item with the tools. A search without one was run by a server, and the gateway leaves it out. */
  call_id: orNull(Schema.String),
  /** What the model searched for. */
  arguments: Schema.Unknown
}).annotate({ identifier: "ResponsesSaidSearch" })

/** The tools that a search found. The model may call them from then on. */
export const ResponsesSearchOutput = Schema.Struct({
  type: Schema.Literal("tool_search_output"),
  /** The `call_id` of the search. */
  call_id: orNull(Schema.String),
  /** At most 512. One with the name of an earlier tool replaces it. */
  tools: Schema.Array(ResponsesTool).check(atMost(TOOLS_MAX))
}).annotate({ identifier: "ResponsesSearchOutput" })

// --- items of the output

const callFields = {
  /** The id of the item. */
  id: Schema.String,
  /** `incomplete`: the answer was cut short in this item. */
  status: Schema.Literals(["completed", "incomplete"]),
  /** The id of the call, which its result repeats. */
  call_id: Schema.String
}

/** A tool call of the model. Send its result back with the same `call_id`. */
export const ResponsesCallItem = Schema.Struct({
  ...callFields,
  type: Schema.Literal("function_call"),
  /** The name of the tool. */
  name: Schema.String,
  /** Only for a tool that the request declares in a namespace. */
  namespace: Schema.optionalKey(Schema.String),
  /** JSON text, as the model wrote it. It may be invalid or break the tool's schema. */
  arguments: Schema.String
}).annotate({ identifier: "ResponsesCallItem" })
export type ResponsesCallItem = typeof ResponsesCallItem.Type

/** A call of a custom tool; only when the request declares one. */
export const ResponsesCustomCallItem = Schema.Struct({
  ...callFields,
  type: Schema.Literal("custom_tool_call"),
  /** The name of the tool. */
  name: Schema.String,
  /** Only for a tool that the request declares in a namespace. */
  namespace: Schema.optionalKey(Schema.String),
  /** The text that the model wrote. */
  input: Schema.String
}).annotate({ identifier: "ResponsesCustomCallItem" })
export type ResponsesCustomCallItem = typeof ResponsesCustomCallItem.Type

/** A search for tools that the client should run; only when the request declares the search. */
export const ResponsesSearchItem = Schema.Struct({
  ...callFields,
  type: Schema.Literal("tool_search_call"),
  execution: Schema.Literal("client"),
  /** What the model searches for. */
  arguments: JsonObject
}).annotate({ identifier: "ResponsesSearchItem" })
export type ResponsesSearchItem = typeof ResponsesSearchItem.Type
