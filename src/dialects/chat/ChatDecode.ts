/** Decodes OpenAI's chat completion request to the canonical conversation. */
import { Result } from "effect"
import { ChatCompletionRequest } from "../../../schemas/inference/ChatCompletions.ts"
import { PresetChatRequest } from "../../../schemas/inference/PresetChat.ts"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import type { Conversation, OutputFormat, Reasoning, Sampling, Tool } from "../../domain/Conversation.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { MAX_PROBLEMS, NOT_AN_OBJECT, UNKNOWN } from "../../domain/SchemaProblems.ts"
import type { RoutingPolicy } from "../../domain/Plan.ts"
import type { OpenReasoning } from "../../domain/Reasoning.ts"
import { allowTools } from "../AllowedTools.ts"
import { decoder, objectOf, withModel } from "../Decode.ts"
import { decodeAuto, ignoredAuto } from "../Router.ts"
import { effortOf } from "../Effort.ts"
import { checkImages } from "../Images.ts"
import { checkPages } from "../Pdfs.ts"
import { ignoredWithin } from "../Members.ts"
import { checkSchema, schemaFormat } from "../OutputSchema.ts"
import { decodePolicy, ignoredRouting } from "../Routing.ts"
import { ReasoningUnsealer } from "../ReasoningUnsealer.ts"
import type { DecodedChatRequest, DecodedRequest } from "../DecodedRequest.ts"
import { breakpointOf, messagesOf } from "./ChatMessages.ts"
import { firstUnsupported, ignoredMembers } from "./Foreign.ts"
import { filledFrom, withInstructions, presetPolicy } from "./Preset.ts"

type Wire = Omit<ChatCompletionRequest, "messages">

/** A chat request: the fields of every dialect, and the form of its last frame. */
export interface DecodedChatCompletion extends DecodedChatRequest {
  readonly includeUsage: boolean
}

/** A decoded request. */
export interface DecodedChat extends DecodedChatCompletion, DecodedRequest {}

const fields = new Set(Object.keys(ChatCompletionRequest.fields))
const decodeWire = decoder(ChatCompletionRequest, { strict: false })
const decodePresetWire = decoder(PresetChatRequest, { strict: false })

const ignoredInside = ignoredWithin(ChatCompletionRequest.ast, [
  "messages",
  "tools",
  "tool_choice",
  "response_format",
  "stream_options"
])

/** Request fields that the service accepts and does not use. */
const withoutEffect = ["metadata"]

const reasoningMembers = new Set(["effort", "max_tokens", "enabled"])

const toolsOf = (tools: Wire["tools"]): ReadonlyArray<Tool> =>
  (tools ?? []).map(({ cache_control, function: tool }) => ({
    name: tool.name,
    description: tool.description ?? undefined,
    parameters: tool.parameters ?? undefined,
    strict: tool.strict ?? undefined,
    ...breakpointOf(cache_control)
  }))

/** The tools and the choice among them. With allowed tools, the model sees only those. */
const toolingOf = (wire: Wire): Result.Result<Pick<Conversation, "tools" | "toolChoice">, Failure> => {
  const tools = toolsOf(wire.tools)
  const choice = wire.tool_choice ?? "auto"
  if (tools.length === 0 && choice !== "auto" && choice !== "none") {
    return Result.fail(invalid("tool_choice", "requires `tools`"))
  }
  if (typeof choice === "string") return Result.succeed({ tools, toolChoice: { type: choice } })
  if (choice.type === "allowed_tools") {
    const { mode, tools: allowed } = choice.allowed_tools
    const names = allowed.map((tool) => tool.function.name)
    return Result.map(allowTools(tools, names, "tool_choice.allowed_tools.tools"), (some) => ({
      tools: some,
      toolChoice: { type: mode }
    }))
  }
  const { name } = choice.function
  return tools.some((tool) => tool.name === name)
    ? Result.succeed({ tools, toolChoice: { type: "tool", name } })
    : Result.fail(invalid("tool_choice.function.name", `must name a declared tool; got ${name}`))
}

const formatOf = (format: Wire["response_format"]): OutputFormat => {
  if (format == null || format.type === "text") return { type: "text" }
  if (format.type === "json_object") return { type: "json_object" }
  return schemaFormat(format.json_schema, "response_format.json_schema.schema")
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const samplingOf = (wire: Wire): Sampling => {
  const sampling: Writable<Sampling> = {}
  if (wire.temperature != null) sampling.temperature = wire.temperature
  if (wire.top_p != null) sampling.topP = wire.top_p
  if (wire.top_k != null) sampling.topK = wire.top_k
  if (wire.min_p != null) sampling.minP = wire.min_p
  if (wire.repetition_penalty != null) sampling.repetitionPenalty = wire.repetition_penalty
  if (wire.frequency_penalty != null) sampling.frequencyPenalty = wire.frequency_penalty
  if (wire.presence_penalty != null) sampling.presencePenalty = wire.presence_penalty
  if (wire.seed != null) sampling.seed = wire.seed
  if (wire.stop != null) sampling.stop = typeof wire.stop === "string" ? [wire.stop] : wire.stop
  if (wire.logprobs != null) sampling.logprobs = wire.logprobs
  if (wire.top_logprobs != null) sampling.topLogprobs = wire.top_logprobs
  if (wire.verbosity != null) sampling.verbosity = wire.verbosity
  return sampling
}

const reasoningOf = (wire: Wire): Reasoning | undefined => {
  if (wire.reasoning == null && wire.reasoning_effort == null) return undefined
  return {
    effort: effortOf(wire.reasoning?.effort ?? wire.reasoning_effort),
    maxTokens: wire.reasoning?.max_tokens ?? undefined,
    enabled: wire.reasoning?.enabled ?? undefined
  }
}

const optional = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "repetition_penalty",
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "stop",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "reasoning",
  "logprobs",
  "top_logprobs",
  "verbosity"
] as const

const parametersOf = (wire: Wire): ReadonlyArray<string> => {
  const names: Array<string> = optional.filter((name) => wire[name] != null)
  if (wire.response_format?.type === "json_schema") names.push("structured_outputs")
  return names
}

/** `reasoning` rejects unknown fields, unlike the request around it. */
const checkReasoning = (body: Readonly<Record<string, unknown>>): Failure | undefined => {
  const reasoning = objectOf(body["reasoning"])
  if (reasoning === undefined) return undefined
  const names = Object.keys(reasoning).slice(0, MAX_PROBLEMS)
  const extra = names.filter((name) => !reasoningMembers.has(name))
  const [first, ...others] = extra.map((name) => ({
    field: `reasoning.${name}`,
    message: UNKNOWN
  }))
  return first === undefined ? undefined : invalid(first.field, first.message, ...others)
}

/**
 * Builds a chat request from decoded fields. `body` is the request with the fields of `preset` filled in, `base` is the routing when
 * neither says, and `unsealer` opens reasoning that the client sends back.
 */
export const chatFromWire = (
  body: Readonly<Record<string, unknown>>,
  wire: Wire,
  wireMessages: ChatCompletionRequest["messages"],
  preset: PresetConfig | undefined,
  base?: RoutingPolicy,
  unsealer: ReasoningUnsealer = new ReasoningUnsealer()
): Result.Result<DecodedChatCompletion, Failure> => {
  const closed = checkReasoning(body)
  if (closed !== undefined) return Result.fail(closed)
  const policy = Result.flatMap(presetPolicy(preset, base), (before) => decodePolicy(body, before))
  if (Result.isFailure(policy)) return Result.fail(policy.failure)
  const options = decodeAuto(body)
  if (Result.isFailure(options)) return Result.fail(options.failure)
  const tooling = toolingOf(wire)
  if (Result.isFailure(tooling)) return Result.fail(tooling.failure)
  const read = messagesOf(wireMessages, unsealer)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const messages = read.success
  const format = formatOf(wire.response_format)
  const schema = format.type === "json_schema" ? format.schema : undefined
  const problem =
    checkImages(messages) ?? checkPages(messages) ?? checkSchema(schema, "response_format.json_schema.schema")
  if (problem !== undefined) return Result.fail(problem)
  return Result.succeed({
    model: wire.model ?? undefined,
    models: wire.models ?? undefined,
    conversation: {
      messages: withInstructions(messages, preset),
      ...tooling.success,
      parallelToolCalls: wire.parallel_tool_calls ?? undefined,
      format,
      sampling: samplingOf(wire),
      reasoning: reasoningOf(wire),
      maxOutputTokens: wire.max_completion_tokens ?? wire.max_tokens ?? undefined,
      user: wire.user ?? wire.safety_identifier ?? undefined,
      ...(wire.prompt_cache_key == null ? {} : { cacheKey: wire.prompt_cache_key })
    },
    policy: policy.success,
    auto: { options: options.success, sessionId: wire.session_id ?? undefined },
    parameters: parametersOf(wire),
    stream: wire.stream === true,
    includeUsage: wire.stream_options?.include_usage === true,
    budgetCents: wire.budget_cents ?? undefined
  })
}

/**
 * Fields of `body` without effect. A schema drops what it does not know, so they are found in the body itself, as a part of decoding;
 * no code reads it afterwards. Whether `router` has an effect depends on the models, which may come from a preset.
 */
const ignoredOf = (
  body: Readonly<Record<string, unknown>>,
  filled: Readonly<Record<string, unknown>>
): ReadonlyArray<string> => {
  const idle = withoutEffect.filter((name) => body[name] != null)
  if (body["user"] != null && body["safety_identifier"] != null) idle.push("safety_identifier")
  const auto = ignoredAuto(filled).filter((path) => Object.hasOwn(body, path.split(".", 1)[0] ?? path))
  return [...ignoredMembers(body, fields), ...ignoredInside(body), ...idle, ...auto, ...ignoredRouting(body)]
}

/** The preset of a request, and whether the path names it. If so, the limits of presets apply to the request. */
export interface ChatPreset {
  readonly config: PresetConfig
  readonly byPath: boolean
}

/**
 * Decodes a request body with the fields of a preset filled in. `base` is the routing when neither says. Errors name each invalid
 * field, and nothing is dropped silently. `open` opens reasoning that the client sends back.
 */
export const decodeChat = (
  body: unknown,
  preset?: ChatPreset,
  base?: RoutingPolicy,
  open?: OpenReasoning
): Result.Result<DecodedChat, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return Result.fail(invalid("body", NOT_AN_OBJECT))
  const foreign = firstUnsupported(object)
  if (foreign !== undefined) return Result.fail(foreign)
  const config = preset?.config
  const filled = filledFrom(config, object)
  const decode = preset?.byPath === true ? decodePresetWire : decodeWire
  const unsealer = new ReasoningUnsealer(open)
  return Result.flatMap(withModel(filled, decode(filled)), (wire) =>
    Result.map(chatFromWire(filled, wire, wire.messages, config, base, unsealer), (decoded) => ({
      ...decoded,
      ignored: [...ignoredOf(object, filled), ...unsealer.foreign]
    }))
  )
}
