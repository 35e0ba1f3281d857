/** Tools of OpenAI's Responses API, the choice among them, and the items for calls and results. */
import { Schema } from "effect"
import { atMost, sized, ToolName, TOOLS_MAX } from "../Bounds.ts"

const orNull = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const JsonObject = Schema.Record(Schema.String, Schema.Unknown)

/** A function that the model may call. All functions are loaded: `defer_loading` has no effect. */
export const ResponsesFunctionTool = Schema.Struct({
  type: Schema.Literal("function"),
  name: ToolName,
  description: orNull(Schema.String),
  /** The JSON Schema of the arguments. */
  parameters: orNull(JsonObject),
  strict: orNull(Schema.Boolean),
  defer_loading: orNull(Schema.Boolean)
}).annotate({ identifier: "ResponsesFunctionTool" })

/**
 * A tool with one text as its input. The model sees a function with one string `input`, and its call is returned as a `custom_tool_call`.
 * A grammar is part of the function's description; the gateway does not enforce it.
 */
export const ResponsesCustomTool = Schema.Struct({
  type: Schema.Literal("custom"),
  name: ToolName,
  description: orNull(Schema.String),
  format: orNull(
    Schema.Union([
      Schema.Struct({ type: Schema.Literal("text") }),
      Schema.Struct({
        type: Schema.Literal("grammar"),
        syntax: Schema.Literals(["lark", "regex"]),
        definition: Schema.String
      })
    ])
  ),
  defer_loading: orNull(Schema.Boolean)
}).annotate({ identifier: "ResponsesCustomTool" })

/** Tools under a common name. The model sees each as `namespace__name`; its call contains the two separately. */
export const ResponsesNamespaceTool = Schema.Struct({
  type: Schema.Literal("namespace"),
  name: ToolName,
  description: orNull(Schema.String),
  tools: Schema.Array(Schema.Union([ResponsesFunctionTool, ResponsesCustomTool])).check(atMost(TOOLS_MAX))
}).annotate({ identifier: "ResponsesNamespaceTool" })

/** A search for tools. With `execution: "client"` the client runs it, and the model sees a function. */
export const ResponsesToolSearchTool = Schema.Struct({
  type: Schema.Literal("tool_search"),
  /** Without `client`, the search is left out of the request, because all tools are loaded. */
  execution: orNull(Schema.Literals(["client", "server"])),
  description: orNull(Schema.String),
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
  "mcp"
] as const

/** A tool that only OpenAI's servers run. It is left out and listed in `X-Svc-Ignored-Parameters` as `tools[3]`. */
export const ResponsesHostedTool = Schema.Struct({
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

/** `namespace` is the namespace of the tool, if it is in one. */
const named = { name: Schema.String, namespace: orNull(Schema.String) }
const FunctionReference = Schema.Struct({ type: Schema.Literal("function"), ...named })
const CustomReference = Schema.Struct({ type: Schema.Literal("custom"), ...named })
const SearchReference = Schema.Struct({ type: Schema.Literal("tool_search") })
const NamespaceReference = Schema.Struct({ type: Schema.Literal("namespace"), name: Schema.String })

/** A tool of the request. One that only OpenAI's servers run is left out. */
export const ResponsesToolReference = Schema.Union([
  FunctionReference,
  CustomReference,
  SearchReference,
  NamespaceReference,
  ResponsesHostedTool
])
export type ResponsesToolReference = typeof ResponsesToolReference.Type

/** Whether the model calls tools, and which. */
export const ResponsesToolChoice = Schema.Union([
  Schema.Literals(["auto", "none", "required"]),
  FunctionReference,
  CustomReference,
  SearchReference,
  Schema.Struct({
    type: Schema.Literal("allowed_tools"),
    mode: Schema.Literals(["auto", "required"]),
    /** The model sees only these tools. */
    tools: Schema.Array(ResponsesToolReference).check(...sized(1, TOOLS_MAX, "items"))
  })
]).annotate({ identifier: "ResponsesToolChoice" })
export type ResponsesToolChoice = typeof ResponsesToolChoice.Type

// --- items of the input

/** Tools in addition to those of `tools`. */
export const ResponsesAdditionalTools = Schema.Struct({
  type: Schema.Literal("additional_tools"),
  tools: Schema.Array(ResponsesTool).check(atMost(TOOLS_MAX))
}).annotate({ identifier: "ResponsesAdditionalTools" })

/** A tool call of an earlier answer. */
export const ResponsesSaidCall = Schema.Struct({
  type: Schema.Literal("function_call"),
  call_id: Schema.String,
  name: Schema.String,
  namespace: orNull(Schema.String),
  /** JSON text, as the model wrote it. */
  arguments: Schema.String
}).annotate({ identifier: "ResponsesSaidCall" })

/** A custom tool call of an earlier answer. */
export const ResponsesSaidCustomCall = Schema.Struct({
  type: Schema.Literal("custom_tool_call"),
  call_id: Schema.String,
  name: Schema.String,
  namespace: orNull(Schema.String),
  input: Schema.String
}).annotate({ identifier: "ResponsesSaidCustomCall" })

/** A search for tools of an earlier answer. */
export const ResponsesSaidSearch = Schema.Struct({
  type: Schema.Literal("tool_search_call"),
  call_id: orNull(Schema.String),
  arguments: Schema.Unknown
}).annotate({ identifier: "ResponsesSaidSearch" })

/** The tools that a search found. The model may call them from then on. */
export const ResponsesSearchOutput = Schema.Struct({
  type: Schema.Literal("tool_search_output"),
  call_id: orNull(Schema.String),
  tools: Schema.Array(ResponsesTool).check(atMost(TOOLS_MAX))
}).annotate({ identifier: "ResponsesSearchOutput" })

// --- items of the output

const called = {
  id: Schema.String,
  status: Schema.Literals(["completed", "incomplete"]),
  call_id: Schema.String
}

/** A tool call of the model. Send its result back with the same `call_id`. */
export const ResponsesCallItem = Schema.Struct({
  ...called,
  type: Schema.Literal("function_call"),
  name: Schema.String,
  /** Only for a tool that the request declares in a namespace. */
  namespace: Schema.optionalKey(Schema.String),
  arguments: Schema.String
}).annotate({ identifier: "ResponsesCallItem" })
export type ResponsesCallItem = typeof ResponsesCallItem.Type

/** A call of a custom tool; only when the request declares one. */
export const ResponsesCustomCallItem = Schema.Struct({
  ...called,
  type: Schema.Literal("custom_tool_call"),
  name: Schema.String,
  namespace: Schema.optionalKey(Schema.String),
  input: Schema.String
}).annotate({ identifier: "ResponsesCustomCallItem" })
export type ResponsesCustomCallItem = typeof ResponsesCustomCallItem.Type

/** A search for tools that the client should run; only when the request declares the search. */
export const ResponsesSearchItem = Schema.Struct({
  ...called,
  type: Schema.Literal("tool_search_call"),
  execution: Schema.Literal("client"),
  arguments: JsonObject
}).annotate({ identifier: "ResponsesSearchItem" })
export type ResponsesSearchItem = typeof ResponsesSearchItem.Type
