/** Decodes Anthropic's Messages request to the canonical conversation. */
import { Result } from "effect"
import { MessagesCountRequest, MessagesRequest } from "../../../schemas/inference/Messages.ts"
import type { MessagesCustomTool } from "../../../schemas/inference/MessagesTools.ts"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import type {
  AssistantMessage,
  ContextEdit,
  Conversation,
  Message,
  OutputFormat,
  Reasoning,
  ReasoningPart,
  Sampling,
  TextPart,
  Tool,
  ToolCall,
  ToolChoice
} from "../../domain/Conversation.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { NOT_AN_OBJECT } from "../../domain/SchemaProblems.ts"
import { pdfAllowance } from "../../domain/PdfPages.ts"
import type { RoutingPolicy } from "../../domain/Plan.ts"
import type { OpenReasoning } from "../../domain/Reasoning.ts"
import { decoder, objectOf, withModel } from "../Decode.ts"
import { effortOf } from "../Effort.ts"
import { checkImages } from "../Images.ts"
import { checkSchema } from "../OutputSchema.ts"
import { checkPages } from "../Pdfs.ts"
import { type RequestContent, applyPreset } from "../ApplyPreset.ts"
import { ignoredAuto } from "../Router.ts"
import { ignoredRouting } from "../Routing.ts"
import { ReasoningUnsealer } from "../ReasoningUnsealer.ts"
import type { DecodedRequest } from "../DecodedRequest.ts"
import { firstUnsupported, foreignThinking, unsupportedValue } from "./Foreign.ts"
import { type Blocks, cacheableOf, type FilesRead, textPart, textParts, userMessages } from "./PromptBlocks.ts"
import { functionOf } from "./TypedTools.ts"

type Wire = MessagesCountRequest

/** A decoded request. */
export interface DecodedMessages extends DecodedRequest {
  /** Whether the answer contains the text of its thinking. */
  readonly showsThinking: boolean
  /** Whether the request asks for edits of its prompt, so that its answer lists those made. */
  readonly editsContext: boolean
}

const decodeWhole = decoder(MessagesRequest, { strict: false })
const decodeUncapped = decoder(MessagesCountRequest, { strict: false })

const callOf = (block: Extract<Blocks<"assistant">, { readonly type: "tool_use" }>): ToolCall => ({
  id: block.id,
  name: block.name,
  arguments: JSON.stringify(block.input),
  ...cacheableOf(block)
})

type AssistantBlock = Blocks<"assistant">

/** A thinking block, sealed or as text; undefined for an empty one, and for one with a foreign seal. */
const thoughtOf = (
  block: Extract<AssistantBlock, { readonly type: "thinking" | "redacted_thinking" }>,
  at: string,
  unsealer: ReasoningUnsealer
): ReasoningPart | undefined => {
  if (block.type === "redacted_thinking") return unsealer.read(block.data, `${at}.data`)
  const { signature, thinking } = block
  if (signature != null && signature !== "") return unsealer.read(signature, `${at}.signature`)
  return thinking === "" ? undefined : { text: thinking }
}

const assistantMessage = (
  content: string | ReadonlyArray<AssistantBlock>,
  at: string,
  unsealer: ReasoningUnsealer
): AssistantMessage => {
  if (typeof content === "string") return { role: "assistant", content: textParts(content), toolCalls: [] }
  const texts: Array<TextPart> = []
  const toolCalls: Array<ToolCall> = []
  const reasoning: Array<ReasoningPart> = []
  let text = 0
  content.forEach((block, index) => {
    if (block.type === "text") {
      texts.push(textPart(block))
      text += block.text.length
    } else if (block.type === "tool_use") toolCalls.push(callOf(block))
    else {
      const part = thoughtOf(block, `${at}.content[${index}]`, unsealer)
      if (part !== undefined) reasoning.push({ ...part, place: { text, calls: toolCalls.length } })
    }
  })
  return { role: "assistant", content: texts, toolCalls, ...(reasoning.length === 0 ? {} : { reasoning }) }
}

const messagesOf = (
  { messages, system }: Wire,
  unsealer: ReasoningUnsealer,
  files: FilesRead
): ReadonlyArray<Message> => {
  const before = textParts(system ?? "")
  const all: Array<Message> = before.length === 0 ? [] : [{ role: "system", content: before }]
  messages.forEach((message, index) => {
    switch (message.role) {
      case "user":
        all.push(...userMessages(message.content, `messages[${index}]`, files))
        return
      case "assistant":
        all.push(assistantMessage(message.content, `messages[${index}]`, unsealer))
        return
      case "system":
        all.push({ role: "system", content: textParts(message.content) })
    }
  })
  return all
}

/** The description contains the examples of the input, because no other API has a field for them. */
const descriptionOf = ({ description, input_examples }: typeof MessagesCustomTool.Type): string | undefined => {
  if (input_examples == null || input_examples.length === 0) return description ?? undefined
  const examples = ["Examples of the input:", ...input_examples.map((example) => JSON.stringify(example))].join("\n")
  return description == null || description === "" ? examples : `${description}\n\n${examples}`
}

const toolsOf = (tools: Wire["tools"]): ReadonlyArray<Tool> =>
  (tools ?? []).map((tool) => {
    const { name, strict } = tool
    const base = { name, strict: strict ?? undefined, ...cacheableOf(tool) }
    if ("input_schema" in tool) {
      const { input_schema: parameters } = tool
      const open = strict === true && !isClosed(parameters) ? ({ isOpen: true } as const) : {}
      return { ...base, ...open, description: descriptionOf(tool), parameters }
    }
    const { allowed_callers: _, cache_control: __, defer_loading: ___, ...typed } = tool
    return { ...base, ...functionOf(tool), typed }
  })

const contextEditsOf = (management: Wire["context_management"]): ReadonlyArray<ContextEdit> =>
  (management?.edits ?? []).map((wire) => ({
    kind: wire.type.replace(/_\d+$/, "") as ContextEdit["kind"],
    wire
  }))

/** Edits that no provider is asked for. A provider bills a compaction beside the answer, which no hold would cover. */
const uncompacted = ({ contextEdits = [] }: Conversation): ReadonlyArray<string> =>
  contextEdits.flatMap(({ kind }, index) => (kind === "compact" ? [`context_management.edits[${index}]`] : []))

const toolChoiceOf = (choice: Wire["tool_choice"]): ToolChoice => {
  if (choice == null) return { type: "auto" }
  if (choice.type === "tool") return { type: "tool", name: choice.name }
  return { type: choice.type === "any" ? "required" : choice.type }
}

const parallelOf = (choice: Wire["tool_choice"]): boolean | undefined => {
  const single = choice == null || choice.type === "none" ? undefined : choice.disable_parallel_tool_use
  return single == null ? undefined : !single
}

/**
 * Whether all objects of a schema require all their members and allow no others. Hosts with optional strictness reject strict mode for
 * any other schema.
 */
const isClosed = (schema: unknown): boolean => {
  if (Array.isArray(schema)) return schema.every(isClosed)
  const object = objectOf(schema)
  if (object === undefined) return true
  const { additionalProperties, properties, required, type } = object
  if (type === "object" || objectOf(properties) !== undefined) {
    if (additionalProperties !== false) return false
    const listed = new Set(Array.isArray(required) ? required : [])
    if (!Object.keys(objectOf(properties) ?? {}).every((name) => listed.has(name))) return false
  }
  return Object.values(object).every(isClosed)
}

/** This wire format has neither a name for a format nor a strictness flag: it is strict wherever that is possible. */
const formatOf = ({ output_config, output_format }: Wire): OutputFormat => {
  const format = output_config?.format ?? output_format
  if (format == null) return { type: "text" }
  const { schema } = format
  return {
    type: "json_schema",
    name: "output",
    schema,
    strict: isClosed(schema) ? true : undefined,
    field: output_config?.format == null ? "output_format.schema" : "output_config.format.schema"
  }
}

/** The limits of a schema apply in both fields. */
const checkFormat = ({ output_config, output_format }: Wire): Failure | undefined =>
  checkSchema(output_config?.format?.schema, "output_config.format.schema") ??
  checkSchema(output_format?.schema, "output_format.schema")

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const samplingOf = (wire: Wire): Sampling => {
  const sampling: Writable<Sampling> = {}
  if (wire.temperature != null) sampling.temperature = wire.temperature
  if (wire.top_p != null) sampling.topP = wire.top_p
  if (wire.top_k != null) sampling.topK = wire.top_k
  // An explicit empty list overrides the preset's.
  if (wire.stop_sequences != null) sampling.stop = wire.stop_sequences
  return sampling
}

const reasoningOf = ({ output_config, thinking }: Wire): Reasoning | undefined => {
  const effort = output_config?.effort
  if (thinking == null && effort == null) return undefined
  return {
    effort: effortOf(effort),
    maxTokens: thinking?.type === "enabled" ? thinking.budget_tokens : undefined,
    enabled: thinking == null ? undefined : thinking.type !== "disabled",
    ...(effort == null ? {} : { ofAnswer: true })
  }
}

/** The optional parameters that are set, by the catalogue's names. */
const parametersOf = (wire: Wire, { format, parallelToolCalls, reasoning, sampling }: Conversation) => {
  const set: Readonly<Record<string, boolean>> = {
    temperature: sampling.temperature !== undefined,
    top_p: sampling.topP !== undefined,
    top_k: sampling.topK !== undefined,
    stop: sampling.stop !== undefined && sampling.stop.length > 0,
    tools: wire.tools != null,
    tool_choice: wire.tool_choice != null,
    parallel_tool_calls: parallelToolCalls !== undefined,
    response_format: format.type !== "text",
    structured_outputs: format.type === "json_schema",
    reasoning: reasoning !== undefined
  }
  return Object.keys(set).filter((name) => set[name])
}

const contentOf = (wire: Wire, reasoning: ReasoningUnsealer, files: FilesRead): RequestContent => {
  const conversation: Conversation = {
    messages: messagesOf(wire, reasoning, files),
    tools: toolsOf(wire.tools),
    toolChoice: toolChoiceOf(wire.tool_choice),
    parallelToolCalls: parallelOf(wire.tool_choice),
    format: formatOf(wire),
    sampling: samplingOf(wire),
    reasoning: reasoningOf(wire),
    maxOutputTokens: wire.max_tokens ?? undefined,
    user: wire.user ?? wire.metadata?.user_id ?? undefined,
    ...(wire.cache_control?.ttl === "1h" ? { cacheTtl: "1h" } : {}),
    ...(wire.context_management == null ? {} : { contextEdits: contextEditsOf(wire.context_management) })
  }
  return {
    model: wire.model ?? undefined,
    models: wire.models ?? undefined,
    conversation,
    parameters: parametersOf(wire, conversation),
    stream: wire.stream === true,
    budgetCents: wire.budget_cents ?? undefined,
    sessionId: wire.session_id ?? undefined,
    saysFormat: conversation.format.type !== "text",
    saysTools: wire.tools != null,
    saysToolChoice: wire.tool_choice != null
  }
}

const checkNames = (tools: ReadonlyArray<Tool>): Failure | undefined => {
  const seen = new Set<string>()
  for (const [index, { name }] of tools.entries()) {
    if (seen.has(name)) return invalid(`tools[${index}].name`, `must be unique; another tool is also named ${name}`)
    seen.add(name)
  }
  return undefined
}

/** The tools may come from a preset. */
const checkChoice = ({ toolChoice: choice, tools }: Conversation): Failure | undefined => {
  if (choice.type === "auto" || choice.type === "none") return undefined
  if (tools.length === 0) return invalid("tool_choice", "requires `tools`")
  if (choice.type === "required" || tools.some(({ name }) => name === choice.name)) return undefined
  return invalid("tool_choice.name", `must name a declared tool; got ${choice.name}`)
}

const decodeBody = (
  body: unknown,
  decode: (body: unknown) => Result.Result<Wire, Failure>,
  config: PresetConfig | undefined,
  base?: RoutingPolicy,
  open?: OpenReasoning
): Result.Result<DecodedMessages, Failure> =>
  Result.gen(function* () {
    const object = objectOf(body)
    if (object === undefined) return yield* Result.fail(invalid("body", NOT_AN_OBJECT))
    const unoffered = firstUnsupported(object)
    if (unoffered !== undefined) return yield* Result.fail(unoffered)
    const wire = yield* withModel(object, decode(object))
    const unusable = unsupportedValue(wire) ?? checkFormat(wire)
    if (unusable !== undefined) return yield* Result.fail(unusable)
    const reasoning = new ReasoningUnsealer(open)
    const files: FilesRead = { allowance: pdfAllowance(), failures: [] }
    const content = contentOf(wire, reasoning, files)
    const { messages, tools } = content.conversation
    const [foreign] = reasoning.foreign
    const thought = foreign === undefined ? undefined : foreignThinking(foreign)
    const failed = thought ?? files.failures[0] ?? checkNames(tools) ?? checkImages(messages) ?? checkPages(messages)
    if (failed !== undefined) return yield* Result.fail(failed)
    const decoded = yield* applyPreset(object, content, config, base)
    const unmatched = checkChoice(decoded.conversation)
    if (unmatched !== undefined) return yield* Result.fail(unmatched)
    const { model, models } = decoded
    const idle = ignoredAuto({ ...object, model, models })
    return {
      ...decoded,
      policy: wire.cache_control == null ? decoded.policy : { ...decoded.policy, caching: "auto" as const },
      ignored: [...idle, ...ignoredRouting(object), ...uncompacted(decoded.conversation)],
      editsContext: wire.context_management != null,
      showsThinking: !(wire.thinking != null && "display" in wire.thinking && wire.thinking.display === "omitted")
    }
  })

/**
 * Decodes a request body with the fields of a preset filled in. `base` is the routing when neither says. Errors name each invalid or
 * unsupported field, and nothing is dropped silently. `open` opens reasoning that the client sends back.
 */
export const decodeMessages = (
  body: unknown,
  config?: PresetConfig,
  base?: RoutingPolicy,
  open?: OpenReasoning
): Result.Result<DecodedMessages, Failure> => decodeBody(body, decodeWhole, config, base, open)

/** Decodes a request for a token count, which may omit `max_tokens`. */
export const decodeCount = (
  body: unknown,
  config?: PresetConfig,
  open?: OpenReasoning
): Result.Result<DecodedMessages, Failure> => decodeBody(body, decodeUncapped, config, undefined, open)
