/** Members within the items, tools and choices of a response's request that this service does not know. */
import { Schema } from "effect"
import {
  ResponsesCallOutput,
  ResponsesCustomOutput,
  ResponsesInputFile,
  ResponsesInputImage,
  ResponsesInputMessage,
  ResponsesInputText,
  ResponsesRequest,
  ResponsesAssistantMessage,
  ResponsesReasoningInput
} from "../../../schemas/inference/Responses.ts"
import {
  ResponsesAdditionalTools,
  ResponsesCustomTool,
  ResponsesFunctionTool,
  ResponsesNamespaceTool,
  ResponsesFunctionCall,
  ResponsesCustomCall,
  ResponsesToolSearchCall,
  ResponsesSearchOutput,
  ResponsesToolSearchTool
} from "../../../schemas/inference/ResponsesTools.ts"
import { ignoredWithin } from "../Members.ts"

/** Members that items have where they come from an answer, and that a client sends back with them. They ask for nothing. */
const itemFields = { id: Schema.Unknown, status: Schema.Unknown }

/** The fields of a tool search and of its tools, which in an answer also have `execution`. */
const run = { ...itemFields, execution: Schema.Unknown }

const inputParts = [ResponsesInputText, ResponsesInputImage, ResponsesInputFile] as const

/** A part of an answer has annotations and log-probabilities, which no provider takes back. */
const AssistantText = Schema.Struct({
  type: Schema.Literals(["output_text", "input_text"]),
  text: Schema.Unknown,
  annotations: Schema.Unknown,
  logprobs: Schema.Unknown
})
const Refusal = Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.Unknown })

const partsOf = <S extends ReadonlyArray<Schema.Top>>(parts: S) =>
  Schema.Union([Schema.String, Schema.Array(Schema.Union(parts))])

const prompt = partsOf(inputParts)

/** A tool that only OpenAI's own servers run is named as a whole, so that its members are not. */
const tools = Schema.Array(
  Schema.Union([ResponsesFunctionTool, ResponsesCustomTool, ResponsesNamespaceTool, ResponsesToolSearchTool])
)

const Item = Schema.Union([
  Schema.Struct({ ...ResponsesInputMessage.fields, ...itemFields, content: prompt }),
  Schema.Struct({ ...ResponsesAssistantMessage.fields, ...itemFields, content: partsOf([AssistantText, Refusal]) }),
  Schema.Struct({ ...ResponsesReasoningInput.fields, ...itemFields }),
  Schema.Struct({ ...ResponsesFunctionCall.fields, ...itemFields }),
  Schema.Struct({ ...ResponsesCallOutput.fields, ...itemFields, output: prompt }),
  Schema.Struct({ ...ResponsesCustomCall.fields, ...itemFields }),
  Schema.Struct({ ...ResponsesCustomOutput.fields, ...itemFields, output: prompt }),
  // They contain the role that declares the tools, which no model receives.
  Schema.Struct({ ...ResponsesAdditionalTools.fields, ...itemFields, role: Schema.Unknown, tools }),
  Schema.Struct({ ...ResponsesToolSearchCall.fields, ...run }),
  Schema.Struct({ ...ResponsesSearchOutput.fields, ...run, tools })
])

const references = [
  Schema.Struct({ type: Schema.Literals(["function", "custom"]), name: Schema.Unknown, namespace: Schema.Unknown }),
  Schema.Struct({ type: Schema.Literal("tool_search") }),
  Schema.Struct({ type: Schema.Literal("namespace"), name: Schema.Unknown })
] as const

const AllowedTools = Schema.Struct({
  type: Schema.Literal("allowed_tools"),
  mode: Schema.Unknown,
  tools: Schema.Array(Schema.Union(references))
})

const Known = Schema.Struct({
  input: Schema.Union([Schema.String, Schema.Array(Item)]),
  tools,
  tool_choice: Schema.Union([...references, AllowedTools]),
  text: ResponsesRequest.fields.text,
  stream_options: ResponsesRequest.fields.stream_options
})

/** Names the members inside a request that are ignored, 32 at most, by their paths: `input[2].content[0].foo`. */
export const ignoredInside = ignoredWithin(Known.ast, Object.keys(Known.fields))
