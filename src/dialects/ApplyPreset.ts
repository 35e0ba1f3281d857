/** Applies a preset, which is stored in chat completions format, to a request of another dialect. */
import { Result } from "effect"
import type { PresetConfig } from "../../schemas/management/Presets.ts"
import type { Conversation } from "../domain/Conversation.ts"
import type { Failure } from "../domain/Failure.ts"
import type { RoutingPolicy } from "../domain/Plan.ts"
import { presetNamed } from "../domain/Chain.ts"
import { decodeChat } from "./chat/ChatDecode.ts"
import { withInstructions, presetPolicy } from "./chat/Preset.ts"
import { decodeAuto, saysAuto } from "./Router.ts"
import { decodePolicy } from "./Routing.ts"
import type { DecodedChatRequest } from "./DecodedRequest.ts"

/** The request's own content, without its routing. */
export interface RequestContent extends Omit<DecodedChatRequest, "policy" | "auto"> {
  readonly sessionId: string | undefined
  /** Whether the request sets the format of its answer, even if it is plain text. */
  readonly saysFormat: boolean
  /** Whether the request sets its tools, even to none. */
  readonly saysTools: boolean
  /** Whether the request sets its tool choice, even to automatic. */
  readonly saysToolChoice: boolean
}

/** Names of the response format among the parameters. */
const formats = new Set(["response_format", "structured_outputs"])

/** Decodes a preset without its instructions as a chat request without a conversation. */
const decodePreset = (config: PresetConfig): Result.Result<DecodedChatRequest, Failure> => {
  const { instructions: _, ...fields } = config
  return decodeChat({ ...fields, messages: [{ role: "user", content: "" }] })
}

/** The request's own settings override the preset's. Its tools come with its own tool choice. */
const filled = (
  { conversation: request, saysFormat, saysToolChoice, saysTools }: RequestContent,
  preset: Conversation,
  config: PresetConfig
): Conversation => ({
  ...request,
  messages: withInstructions(request.messages, config),
  ...(saysTools ? {} : { tools: preset.tools, toolChoice: saysToolChoice ? request.toolChoice : preset.toolChoice }),
  parallelToolCalls: request.parallelToolCalls ?? preset.parallelToolCalls,
  format: saysFormat ? request.format : preset.format,
  sampling: { ...preset.sampling, ...request.sampling },
  reasoning: request.reasoning ?? preset.reasoning,
  maxOutputTokens: request.maxOutputTokens ?? preset.maxOutputTokens
})

/** When `model` names the preset, the models are the preset's, unless the request lists others. */
const modelsOf = (
  request: DecodedChatRequest,
  preset: DecodedChatRequest
): Pick<DecodedChatRequest, "model" | "models"> => {
  const model = presetNamed(request.model) === undefined ? request.model : undefined
  if (model === undefined && request.models === undefined) return { model: preset.model, models: preset.models }
  return { model, models: request.models }
}

/**
 * Merges a request with the preset it names, if any. `body` contains its `routing`, `provider` and `router`, `config` is the
 * configuration of the preset, and `base` the routing when neither says.
 */
export const applyPreset = (
  body: Readonly<Record<string, unknown>>,
  whole: RequestContent,
  config: PresetConfig | undefined,
  base?: RoutingPolicy
): Result.Result<DecodedChatRequest, Failure> => {
  const { saysFormat, saysToolChoice: _, saysTools: __, sessionId, ...content } = whole
  const policy = Result.flatMap(presetPolicy(config, base), (before) => decodePolicy(body, before))
  if (Result.isFailure(policy)) return Result.fail(policy.failure)
  const options = decodeAuto(body)
  if (Result.isFailure(options)) return Result.fail(options.failure)
  const own: DecodedChatRequest = { ...content, policy: policy.success, auto: { options: options.success, sessionId } }
  if (config === undefined) return Result.succeed(own)
  return Result.map(decodePreset(config), (preset) => ({
    ...own,
    ...modelsOf(own, preset),
    conversation: filled(whole, preset.conversation, config),
    parameters: [
      ...new Set([...content.parameters, ...preset.parameters.filter((name) => !(saysFormat && formats.has(name)))])
    ],
    budgetCents: content.budgetCents ?? preset.budgetCents,
    auto: saysAuto(body) ? own.auto : { ...own.auto, options: preset.auto.options }
  }))
}
