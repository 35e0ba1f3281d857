/** A request of a dialect other than chat's, filled up from a preset, which is kept in the words of chat. */
import { Result } from "effect"
import type { PresetConfig } from "../../schemas/management/Presets.ts"
import type { Conversation } from "../domain/Conversation.ts"
import type { Failure } from "../domain/Failure.ts"
import type { RoutingPolicy } from "../domain/Plan.ts"
import { presetNamed } from "../router/Chain.ts"
import { decodeChat } from "./chat/ChatDecode.ts"
import { instructed, presetPolicy } from "./chat/Preset.ts"
import { decodeAuto, saysAuto } from "./Router.ts"
import { decodePolicy } from "./Routing.ts"
import type { ChatWish } from "./Wish.ts"

/** What a request says itself, but for its routing. */
export interface Said extends Omit<ChatWish, "policy" | "auto"> {
  readonly sessionId: string | undefined
  /** It says the format of its answer, be it plain text. */
  readonly saysFormat: boolean
  /** It says its tools, be it that there are none. */
  readonly saysTools: boolean
  /** It says its choice of tools, be it the model's own. */
  readonly saysToolChoice: boolean
}

/** What a format is called among the parameters. */
const formats = new Set(["response_format", "structured_outputs"])

/** What a preset says beside its instructions: a chat without a conversation. */
const wishOfPreset = (config: PresetConfig): Result.Result<ChatWish, Failure> =>
  decodeChat({ ...config, messages: [{ role: "user", content: "" }] })

/** What the request says goes before what the preset says; its tools come with its own choice among them. */
const filled = (
  { conversation: said, saysFormat, saysToolChoice, saysTools }: Said,
  preset: Conversation,
  config: PresetConfig
): Conversation => ({
  ...said,
  messages: instructed(said.messages, config),
  ...(saysTools ? {} : { tools: preset.tools, toolChoice: saysToolChoice ? said.toolChoice : preset.toolChoice }),
  parallelToolCalls: said.parallelToolCalls ?? preset.parallelToolCalls,
  format: saysFormat ? said.format : preset.format,
  sampling: { ...preset.sampling, ...said.sampling },
  reasoning: said.reasoning ?? preset.reasoning,
  maxOutputTokens: said.maxOutputTokens ?? preset.maxOutputTokens
})

/** The models of a request that names its preset in `model` are the preset's, unless it lists others. */
const modelsOf = (said: ChatWish, preset: ChatWish): Pick<ChatWish, "model" | "models"> => {
  const model = presetNamed(said.model) === undefined ? said.model : undefined
  if (model === undefined && said.models === undefined) return { model: preset.model, models: preset.models }
  return { model, models: said.models }
}

/**
 * The wish of a request that says so much itself. `body` holds its `routing`, `provider` and `router`; `config` is that of the
 * preset it names, where it names one, and `base` how it is routed where neither says.
 */
export const wishOf = (
  body: Readonly<Record<string, unknown>>,
  whole: Said,
  config: PresetConfig | undefined,
  base?: RoutingPolicy
): Result.Result<ChatWish, Failure> => {
  const { saysFormat, saysToolChoice: _, saysTools: __, sessionId, ...said } = whole
  const policy = Result.flatMap(presetPolicy(config, base), (before) => decodePolicy(body, before))
  if (Result.isFailure(policy)) return Result.fail(policy.failure)
  const options = decodeAuto(body)
  if (Result.isFailure(options)) return Result.fail(options.failure)
  const own: ChatWish = { ...said, policy: policy.success, auto: { options: options.success, sessionId } }
  if (config === undefined) return Result.succeed(own)
  return Result.map(wishOfPreset(config), (preset) => ({
    ...own,
    ...modelsOf(own, preset),
    conversation: filled(whole, preset.conversation, config),
    parameters: [
      ...new Set([...said.parameters, ...preset.parameters.filter((name) => !(saysFormat && formats.has(name)))])
    ],
    budgetCents: said.budgetCents ?? preset.budgetCents,
    auto: saysAuto(body) ? own.auto : { ...own.auto, options: preset.auto.options }
  }))
}
