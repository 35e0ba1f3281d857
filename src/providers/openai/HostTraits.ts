/** What a host accepts and returns in OpenAI's chat format, by its kind and the operator's quirks. */
import type { EffortWord, HostKind, HostQuirks } from "../../platform/config/HostQuirks.ts"
import type { HostWire } from "../../platform/config/ProvidersFile.ts"
import type { Candidate } from "../../domain/Plan.ts"
import type { Effort } from "./Effort.ts"

/** What is known of a kind of host beyond the operator's quirks. */
export interface HostTraits extends HostQuirks {
  /** Fields that the host rejects, or that change its behaviour, and that are therefore not sent. */
  readonly omits?: ReadonlyArray<string>
  /** Fields that are sent to models that reason. */
  readonly adds?: Readonly<Record<string, unknown>>
  /** False when `tool_choice` accepts no named tool. */
  readonly namedChoice?: false
  /** False when `response_format` accepts a schema but no plain `json_object`. */
  readonly jsonObject?: false
  /** The value of `thinking.type` that turns reasoning on, if it is not `enabled`. */
  readonly thinkingOn?: string
}

/** The traits of an unknown host. */
export const NO_TRAITS: HostTraits = {}

const SAMPLERS_OF_OPEN_MODELS = ["top_k", "min_p", "repetition_penalty"]

/** What a model family accepts at every host. gpt-oss always reasons, as do these models of MiniMax, Z.ai and Moonshot. */
const ofFamily = (upstreamId: string): HostTraits => {
  const id = upstreamId.toLowerCase()
  if (id.includes("gpt-oss")) return { reasoning_off: false, efforts: ["low", "medium", "high"] }
  if (/minimax-m[12]/.test(id)) return { reasoning_off: false, efforts: [] }
  if (/glm-5[.p][3-9]/.test(id)) return { reasoning_off: false, efforts: ["low", "high", "max"] }
  if (/kimi-k2-thinking|deepseek-r1|qwq/.test(id)) return { reasoning_off: false }
  return NO_TRAITS
}

const isQwen = (upstreamId: string): boolean => /qwen|qwq/i.test(upstreamId)

/** Moonshot's newer models reject every temperature but their default. */
const samplesItself = (upstreamId: string): boolean => /^kimi-k(?:2\.[5-9]|[3-9])/.test(upstreamId)

/** Z.ai's models before 5.2 can only reason or not. */
const ofZai = (upstreamId: string): HostTraits =>
  /^glm-(?:5\.[2-9]|[6-9])/.test(upstreamId) ? { efforts: ["low", "high", "max"] } : { efforts: [] }

const KINDS: Readonly<Record<HostKind, (upstreamId: string) => HostTraits>> = {
  // https://api-docs.deepseek.com/guides/thinking_mode: the host accepts every effort and maps it itself.
  deepseek: () => ({
    efforts: ["minimal", "low", "medium", "high", "xhigh", "max"],
    reasoning_off: "thinking",
    reasoning_field: "reasoning_content"
  }),
  // https://console.groq.com/docs/reasoning and https://console.groq.com/docs/openai
  groq: (upstreamId) => ({
    efforts: isQwen(upstreamId) ? ["none", "default"] : ["low", "medium", "high"],
    reasoning_off: "reasoning_effort",
    reasoning_field: "reasoning",
    max_tokens_field: "max_completion_tokens",
    omits: [...SAMPLERS_OF_OPEN_MODELS, "logprobs", "top_logprobs"],
    ...(isQwen(upstreamId) ? { adds: { reasoning_format: "parsed" } } : {})
  }),
  // https://docs.together.ai/docs/reasoning-overview
  together: () => ({ efforts: [], reasoning_off: "reasoning", reasoning_field: "reasoning" }),
  // https://docs.fireworks.ai/guides/reasoning
  fireworks: () => ({
    efforts: ["none", "low", "medium", "high"],
    reasoning_off: "reasoning_effort",
    reasoning_field: "reasoning_content"
  }),
  // https://openrouter.ai/docs/use-cases/reasoning-tokens
  openrouter: () => ({
    efforts: ["minimal", "low", "medium", "high", "xhigh"],
    reasoning_off: "reasoning",
    reasoning_field: "reasoning_details"
  }),
  // https://docs.ollama.com/api/openai-compatibility
  ollama: () => ({
    efforts: ["none", "low", "medium", "high"],
    reasoning_off: "reasoning_effort",
    reasoning_field: "reasoning"
  }),
  // https://docs.vllm.ai/en/latest/features/reasoning_outputs.html
  vllm: () => ({ efforts: [], reasoning_off: "chat_template_kwargs", reasoning_field: "reasoning_content" }),
  // https://lmstudio.ai/docs/developer/openai-compat
  lmstudio: () => ({
    efforts: [],
    reasoning_off: "chat_template_kwargs",
    think_tags: true,
    namedChoice: false,
    jsonObject: false
  }),
  // https://platform.kimi.ai/docs/api/chat
  moonshot: (upstreamId) => ({
    efforts: [],
    reasoning_off: "thinking",
    reasoning_field: "reasoning_content",
    omits: [
      ...SAMPLERS_OF_OPEN_MODELS,
      ...(samplesItself(upstreamId) ? ["temperature", "top_p", "frequency_penalty", "presence_penalty"] : [])
    ]
  }),
  // https://docs.z.ai/api-reference/llm/chat-completion
  zai: (upstreamId) => ({
    ...ofZai(upstreamId),
    reasoning_off: "thinking",
    reasoning_field: "reasoning_content",
    stream_options: false,
    omits: ["frequency_penalty", "presence_penalty", "strict"]
  }),
  // https://platform.minimax.io/docs/api-reference/text-openai-api
  minimax: () => ({
    efforts: [],
    reasoning_off: "thinking",
    thinkingOn: "adaptive",
    reasoning_field: "reasoning_details",
    max_tokens_field: "max_completion_tokens",
    think_tags: true,
    omits: ["frequency_penalty", "presence_penalty", "parallel_tool_calls", "seed", "strict"],
    adds: { reasoning_split: true }
  }),
  // https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle: OpenAI's own wire.
  azure: () => NO_TRAITS
}

/** Vendors of models that reason unless their chat template turns it off. */
const HYBRID_VENDORS: ReadonlySet<string> = new Set(["deepseek", "z-ai", "qwen", "moonshotai"])

/** Templates use one of the two names and ignore the other. */
const templated = (on: boolean) => ({ chat_template_kwargs: { enable_thinking: on, thinking: on } })

/**
 * An unknown host is usually the operator's own server, where the chat template is the reliable way. The switch is sent only to turn
 * reasoning off, so a host that rejects the field rejects no other request.
 */
const ofVendor = ({ model }: Candidate): HostTraits =>
  HYBRID_VENDORS.has(model.vendor) ? { reasoning_off: templated(false) } : NO_TRAITS

const resolve = ({ kind, modelQuirks, quirks }: HostWire, candidate: Candidate): HostTraits => {
  const { upstreamId } = candidate.offer
  const known = kind === undefined ? ofVendor(candidate) : KINDS[kind](upstreamId)
  const own = modelQuirks.get(candidate.model.id)
  return {
    ...known,
    ...ofFamily(upstreamId),
    ...quirks,
    ...own,
    ...(quirks.headers === undefined && own?.headers === undefined
      ? {}
      : { headers: { ...quirks.headers, ...own?.headers } })
  }
}

/** The traits of a host for each of its models, cached per catalogue model. */
export const traitsOfHost = (wire: HostWire): ((candidate: Candidate) => HostTraits) => {
  const known = new Map<string, HostTraits>()
  return (candidate) => {
    let traits = known.get(candidate.model.id)
    if (traits === undefined) known.set(candidate.model.id, (traits = resolve(wire, candidate)))
    return traits
  }
}

/** Fields that turn reasoning off. */
export const reasoningOffFields = ({ reasoning_off: how }: HostTraits): object | undefined => {
  switch (how) {
    case undefined:
    case false:
    case "reasoning_effort":
      return undefined
    case "thinking":
      return { thinking: { type: "disabled" } }
    case "enable_thinking":
      return { enable_thinking: false }
    case "chat_template_kwargs":
      return templated(false)
    case "reasoning":
      return { reasoning: { enabled: false } }
    default:
      return how
  }
}

/** Fields that turn reasoning on, beside the effort. */
export const reasoningOnFields = (
  { reasoning_off: how, thinkingOn = "enabled" }: HostTraits,
  effort: EffortWord | undefined
): object | undefined => {
  switch (how) {
    case "thinking":
      return { thinking: { type: thinkingOn } }
    case "enable_thinking":
      return { enable_thinking: true }
    case "chat_template_kwargs":
      return templated(true)
    case "reasoning":
      return effort === undefined ? { reasoning: { enabled: true } } : undefined
    default:
      return undefined
  }
}

/** What a host accepts of OpenAI's chat format. */
export interface ChatWireOptions {
  /** `openai` for api.openai.com and similar hosts, which reject unknown fields; `compatible` for hosts of open models. */
  readonly flavour: "openai" | "compatible"
  /** The reasoning efforts that a model accepts at the host, if not all. The nearest one is sent, or none if the list is empty. */
  readonly efforts?: ((upstreamId: string) => ReadonlyArray<Effort>) | undefined
  /** How the host differs for a model from others of its flavour. */
  readonly traitsOf?: ((candidate: Candidate) => HostTraits) | undefined
}
