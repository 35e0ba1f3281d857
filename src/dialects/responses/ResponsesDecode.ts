/** Decodes OpenAI's Responses request to the canonical conversation. */
import { Result, Schema } from "effect"
import { MESSAGES_MAX, sized, TOOLS_MAX } from "../../../schemas/Bounds.ts"
import { ResponsesReasoning, ResponsesRequest } from "../../../schemas/inference/Responses.ts"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import type { Conversation, Message, OutputFormat, Reasoning, Sampling, ToolChoice } from "../../domain/Conversation.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { MAX_PROBLEMS, NOT_AN_OBJECT, REQUIRED } from "../../domain/SchemaProblems.ts"
import type { RoutingPolicy } from "../../domain/Plan.ts"
import type { OpenReasoning } from "../../domain/Reasoning.ts"
import { allowTools } from "../AllowedTools.ts"
import { ignoredMembers } from "../chat/Foreign.ts"
import { decoder, objectOf, within, withModel } from "../Decode.ts"
import { effortOf } from "../Effort.ts"
import { checkImages } from "../Images.ts"
import { checkPages } from "../Pdfs.ts"
import { checkSchema, schemaFormat } from "../OutputSchema.ts"
import { applyPreset } from "../ApplyPreset.ts"
import { ignoredAuto, saysAuto } from "../Router.ts"
import { ignoredRouting } from "../Routing.ts"
import { ReasoningUnsealer } from "../ReasoningUnsealer.ts"
import type { DecodedChatRequest, DecodedRequest } from "../DecodedRequest.ts"
import { isReasoningReference } from "./ItemTypes.ts"
import { firstUnsupported, foreignMembers } from "./ResponsesForeign.ts"
import { ignoredInside } from "./ResponsesIgnored.ts"
import { addTools, messagesOf } from "./ResponsesInput.ts"
import { isHosted, Toolbox, type ToolForms } from "./ResponsesTools.ts"

type Body = Readonly<Record<string, unknown>>

/** Items and tools are decoded one by one, so that errors refer to the declared type of each. */
const Wire = Schema.Struct({
  ...ResponsesRequest.fields,
  input: Schema.optionalKey(
    Schema.NullOr(Schema.Union([Schema.String, Schema.Array(Schema.Unknown).check(...sized(1, MESSAGES_MAX, "items"))]))
  ),
  tools: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Unknown).check(...sized(0, TOOLS_MAX, "items"))))
})
type Wire = typeof Wire.Type

/** The fields of a request that its answer repeats. */
export interface Echo {
  readonly instructions: string | null
  readonly maxOutputTokens: number | null
  readonly metadata: Readonly<Record<string, string>>
  readonly parallelToolCalls: boolean
  /** The tools that the model's functions represent, if the request declares any. */
  readonly toolForms?: ToolForms
  /** Whether reasoning items contain their encrypted content. */
  readonly encryptsReasoning?: boolean
}

/** A decoded request. */
export interface DecodedResponses extends DecodedRequest {
  readonly echo: Echo
}

const fields = new Set(Object.keys(ResponsesRequest.fields))
const decodeWire = decoder(Wire, { strict: false })
const decodeReasoning = decoder(ResponsesReasoning, { strict: true, whole: "" })

const LOGPROBS = "message.output_text.logprobs"
const ENCRYPTED = "reasoning.encrypted_content"

/** A complete answer cannot contain log-probabilities, so they are not requested either. */
const showsLogprobs = (wire: Wire): boolean => wire.stream === true && wire.include?.includes(LOGPROBS) === true

const conversationMessages = (
  wire: Wire,
  toolbox: Toolbox,
  unsealer: ReasoningUnsealer
): Result.Result<ReadonlyArray<Message>, Failure> =>
  Result.map(wire.input == null ? Result.succeed([]) : messagesOf(wire.input, toolbox, unsealer), (messages) =>
    wire.instructions == null
      ? messages
      : [{ role: "system", content: [{ type: "text", text: wire.instructions }] }, ...messages]
  )

/** The tools of the request and of its input items. */
const toolboxOf = (wire: Wire): Result.Result<Toolbox, Failure> => {
  const toolbox = new Toolbox()
  const failed =
    toolbox.addAll(wire.tools ?? [], { at: "tools", replaces: false }) ?? addTools(toolbox, wire.input ?? "")
  return failed === undefined ? Result.succeed(toolbox) : Result.fail(failed)
}

const toolChoiceOf = (choice: Wire["tool_choice"], toolbox: Toolbox): ToolChoice => {
  if (choice == null) return { type: "auto" }
  if (typeof choice === "string") return { type: choice }
  if (choice.type === "allowed_tools") return { type: choice.mode }
  return { type: "tool", name: toolbox.namesIn(choice)[0] ?? "" }
}

const formatOf = (text: Wire["text"]): OutputFormat => {
  const format = text?.format
  if (format == null || format.type === "text") return { type: "text" }
  if (format.type === "json_object") return { type: "json_object" }
  return schemaFormat(format, "text.format.schema")
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const samplingOf = (wire: Wire): Sampling => {
  const sampling: Writable<Sampling> = {}
  if (wire.temperature != null) sampling.temperature = wire.temperature
  if (wire.top_p != null) sampling.topP = wire.top_p
  if (wire.top_k != null) sampling.topK = wire.top_k
  if (wire.frequency_penalty != null) sampling.frequencyPenalty = wire.frequency_penalty
  if (wire.presence_penalty != null) sampling.presencePenalty = wire.presence_penalty
  if (wire.text?.verbosity != null) sampling.verbosity = wire.text.verbosity
  if (showsLogprobs(wire)) {
    sampling.logprobs = true
    if (wire.top_logprobs != null) sampling.topLogprobs = wire.top_logprobs
  }
  return sampling
}

const reasoningOf = (wire: Wire): Reasoning | undefined => {
  if (wire.reasoning == null) return undefined
  const { effort, enabled, max_tokens } = wire.reasoning
  if (effort == null && enabled == null && max_tokens == null) return undefined
  return { effort: effortOf(effort), maxTokens: max_tokens ?? undefined, enabled: enabled ?? undefined }
}

const optional = [
  "temperature",
  "top_p",
  "top_k",
  "frequency_penalty",
  "presence_penalty",
  "tool_choice",
  "parallel_tool_calls"
] as const

const parametersOf = (wire: Wire, { tools }: Toolbox): ReadonlyArray<string> => {
  const names: Array<string> = optional.filter((name) => wire[name] != null)
  if (tools.length > 0) names.push("tools")
  if (wire.text?.format != null) names.push("response_format")
  if (reasoningOf(wire) !== undefined) names.push("reasoning")
  if (showsLogprobs(wire)) names.push("logprobs", ...(wire.top_logprobs == null ? [] : ["top_logprobs"]))
  if (wire.text?.format?.type === "json_schema") names.push("structured_outputs")
  if (wire.text?.verbosity != null) names.push("verbosity")
  return names
}

/**
 * The conversation with the tools that may be called, which may come from a preset. Fails when the choice names a tool that does not
 * exist.
 */
const chosen = (
  conversation: Conversation,
  choice: Wire["tool_choice"],
  toolbox: Toolbox
): Result.Result<Conversation, Failure> => {
  if (choice == null || choice === "auto" || choice === "none") return Result.succeed(conversation)
  const { tools } = conversation
  if (tools.length === 0) return Result.fail(invalid("tool_choice", "requires `tools`"))
  if (choice === "required") return Result.succeed(conversation)
  if (choice.type === "allowed_tools") {
    const names = choice.tools.flatMap((tool) => toolbox.namesIn(tool))
    return Result.map(allowTools(tools, names, "tool_choice.tools"), (allowed) => ({ ...conversation, tools: allowed }))
  }
  const [name = ""] = toolbox.namesIn(choice)
  return tools.some((tool) => tool.name === name)
    ? Result.succeed(conversation)
    : Result.fail(invalid("tool_choice.name", `must name a declared tool; got ${name}`))
}

/** Tools in a choice that are left out. */
const leftOut = (choice: Wire["tool_choice"]): ReadonlyArray<string> =>
  choice == null || typeof choice === "string" || choice.type !== "allowed_tools"
    ? []
    : choice.tools.flatMap((tool, index) => (isHosted(tool.type) ? [`tool_choice.tools[${index}]`] : []))

/** References to reasoning, which this service does not store. */
const unkept = (input: Wire["input"]): ReadonlyArray<string> =>
  input == null || typeof input === "string"
    ? []
    : input.flatMap((item, index) => (isReasoningReference(item) ? [`input[${index}]`] : []))

/** Known fields without effect here. */
const idle = (wire: Wire): ReadonlyArray<string> => {
  const logprobs = showsLogprobs(wire)
  const wordy = (["summary", "generate_summary"] as const).filter((name) => {
    const word = wire.reasoning?.[name]
    return word === "concise" || word === "detailed"
  })
  return [
    ...(wire.max_tool_calls == null ? [] : ["max_tool_calls"]),
    ...(wire.stream_options == null ? [] : ["stream_options"]),
    ...(wire.user == null || wire.safety_identifier == null ? [] : ["safety_identifier"]),
    ...(wire.truncation === "auto" ? ["truncation"] : []),
    ...(wire.top_logprobs == null || logprobs ? [] : ["top_logprobs"]),
    ...(wire.reasoning?.context == null ? [] : ["reasoning.context"]),
    ...wordy.map((name) => `reasoning.${name}`),
    ...(wire.include ?? [])
      .filter((name) => name !== ENCRYPTED && (name !== LOGPROBS || !logprobs))
      .map((name) => `include.${name}`)
  ]
}

const ignoredOf = (
  body: Body,
  wire: Wire,
  { model, models }: DecodedChatRequest,
  { ignored }: Toolbox,
  preset: PresetConfig | undefined
): ReadonlyArray<string> => {
  const filled = { ...body, model, models, router: saysAuto(body) ? body["router"] : preset?.router }
  const auto = ignoredAuto(filled).filter((path) => Object.hasOwn(body, path.split(".", 1)[0] ?? path))
  const left = [...unkept(wire.input), ...ignored, ...leftOut(wire.tool_choice)]
  const unknown = [...ignoredMembers(body, fields, foreignMembers), ...ignoredInside(body)]
  return [...left, ...unknown, ...idle(wire), ...auto, ...ignoredRouting(body)]
}

const decodeBody = (
  body: Body,
  wire: Wire,
  toolbox: Toolbox,
  preset: PresetConfig | undefined,
  base: RoutingPolicy | undefined,
  unsealer: ReasoningUnsealer
): Result.Result<DecodedChatRequest, Failure> => {
  const messages = conversationMessages(wire, toolbox, unsealer)
  if (Result.isFailure(messages)) return Result.fail(messages.failure)
  const format = formatOf(wire.text)
  const schema = format.type === "json_schema" ? checkSchema(format.schema, "text.format.schema") : undefined
  const problem = checkImages(messages.success) ?? checkPages(messages.success) ?? schema
  if (problem !== undefined) return Result.fail(problem)
  const conversation: Conversation = {
    messages: messages.success,
    tools: toolbox.tools,
    toolChoice: toolChoiceOf(wire.tool_choice, toolbox),
    parallelToolCalls: wire.parallel_tool_calls ?? undefined,
    format,
    sampling: samplingOf(wire),
    reasoning: reasoningOf(wire),
    maxOutputTokens: wire.max_output_tokens ?? undefined,
    user: wire.user ?? wire.safety_identifier ?? undefined,
    ...(wire.prompt_cache_key == null ? {} : { cacheKey: wire.prompt_cache_key })
  }
  const decoded = applyPreset(
    body,
    {
      model: wire.model ?? undefined,
      models: wire.models ?? undefined,
      conversation,
      parameters: parametersOf(wire, toolbox),
      stream: wire.stream === true,
      budgetCents: wire.budget_cents ?? undefined,
      sessionId: wire.session_id ?? undefined,
      saysFormat: wire.text?.format != null,
      saysTools: wire.tools != null || toolbox.tools.length > 0,
      saysToolChoice: wire.tool_choice != null
    },
    preset,
    base
  )
  return Result.flatMap(decoded, (filled) =>
    Result.map(chosen(filled.conversation, wire.tool_choice, toolbox), (choosing) => ({
      ...filled,
      conversation: choosing
    }))
  )
}

/** `reasoning` rejects unknown fields, unlike the request around it. */
const checkReasoning = (body: Body): Failure | undefined =>
  body["reasoning"] == null
    ? undefined
    : Result.getOrUndefined(Result.flip(within("reasoning", decodeReasoning(body["reasoning"]))))

const echoOf = (wire: Wire, { forms }: Toolbox): Echo => ({
  instructions: wire.instructions ?? null,
  maxOutputTokens: wire.max_output_tokens ?? null,
  metadata: wire.metadata ?? {},
  parallelToolCalls: wire.parallel_tool_calls ?? true,
  ...(forms.size === 0 ? {} : { toolForms: forms }),
  ...(wire.include?.includes(ENCRYPTED) === true ? { encryptsReasoning: true } : {})
})

/**
 * Decodes a request for a token count, which may omit the input. `preset` is the preset it names. Errors name each invalid field, and
 * nothing is dropped silently. `open` opens reasoning that the client sends back.
 */
export const decodePrompt = (
  body: unknown,
  preset: PresetConfig | undefined,
  base?: RoutingPolicy,
  open?: OpenReasoning
): Result.Result<DecodedResponses, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return Result.fail(invalid("body", NOT_AN_OBJECT))
  const foreign = firstUnsupported(object)
  if (foreign !== undefined) return Result.fail(foreign)
  return Result.flatMap(decodeWire(object), (wire) => {
    const closed = checkReasoning(object)
    if (closed !== undefined) return Result.fail(closed)
    const toolbox = toolboxOf(wire)
    if (Result.isFailure(toolbox)) return Result.fail(toolbox.failure)
    const unsealer = new ReasoningUnsealer(open)
    return Result.map(decodeBody(object, wire, toolbox.success, preset, base, unsealer), (decoded) => ({
      ...decoded,
      echo: echoOf(wire, toolbox.success),
      ignored: [...ignoredOf(object, wire, decoded, toolbox.success, preset), ...unsealer.foreign]
    }))
  })
}

/** Decodes a request body with the fields of its preset filled in. `base` is the routing when neither says. */
export const decodeResponses = (
  body: unknown,
  preset: PresetConfig | undefined,
  base?: RoutingPolicy,
  open?: OpenReasoning
): Result.Result<DecodedResponses, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return decodePrompt(body, preset, base, open)
  const foreign = firstUnsupported(object)
  if (foreign !== undefined) return Result.fail(foreign)
  const wrong = Result.getOrUndefined(Result.flip(withModel(object, withInput(object))))
  return wrong === undefined ? withModel(object, decodePrompt(body, preset, base, open)) : Result.fail(wrong)
}

/** Reports a missing input before other errors. */
const withInput = (body: Body): Result.Result<unknown, Failure> => {
  if (body["input"] != null) return Result.succeed(body)
  const reason = Result.getOrUndefined(Result.flip(decodeWire(body)))?.reason
  const others = reason?._tag === "ValidationError" ? reason.problems.slice(0, MAX_PROBLEMS - 2) : []
  return Result.fail(invalid("input", REQUIRED, ...others))
}
