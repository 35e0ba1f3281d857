import type { Conversation, Part, PdfPart, ReasoningPart } from "./Conversation.ts"
import type { Model } from "./Model.ts"
import { inlineRefs } from "./SchemaRefs.ts"
import { addTraits, noTraits, TRAITS } from "./TextTraits.ts"
import { type Vocabulary, weights } from "./TokenWeights.ts"

/** Framing of a message in any known chat template: role and separators. */
const TOKENS_PER_MESSAGE = 8

/** Framing of a tool or a tool call, which templates write as JSON within tags. */
const TOKENS_PER_TOOL = 16

/** The tokens that a chat template adds once. */
const TOKENS_PER_PROMPT = 32

/** The system message that the template of gpt-oss adds beside the caller's. */
const TOKENS_OF_HARMONY = 96

/** The hidden instructions some vendors add when tools are offered (Anthropic documents up to 813). */
const TOKENS_FOR_TOOLS = 1_024

/** The words that ask for the form of the answer when the model takes no schema. */
const TOKENS_FOR_FORMAT = 256

/**
 * The most that a vendor bills for one image, except for models with their own figure in the catalogue. The largest documented are
 * 6,404 for four tiles of Llama, 6,192 for 24 tiles of Gemini and 4,784 for Claude.
 */
export const TOKENS_PER_IMAGE = 8_192

/** The properties of a model that decide how many tokens a prompt has. */
export type TokenModel = Pick<Model, "id" | "vendor" | "modality"> & Partial<Pick<Model, "tokensPerImage">>

/** The most tokens that something can have, which depends on the model that reads it. */
export interface TokenBound {
  readonly at: (model: TokenModel) => number
  /** For the model that counts most. */
  readonly most: number
}

/** A bound that is the same for all models. */
export const fixedBound = (tokens: number): TokenBound => ({ at: () => tokens, most: tokens })

const all = Object.keys(weights) as ReadonlyArray<Vocabulary>

/** Vocabularies in use today. An unknown model counts as the one that counts most. */
const published: ReadonlyArray<Vocabulary> = ["o200k", "llama", "qwen", "deepseek", "tekken", "gemini"]

/** Vendors' published vocabularies, and for the others the nearest in size and languages. */
const ofVendor: Readonly<Record<string, ReadonlyArray<Vocabulary>>> = {
  openai: ["o200k"],
  anthropic: ["claudeNew"],
  google: ["gemini"],
  deepseek: ["deepseek"],
  mistral: ["tekken"],
  "meta-llama": ["llama"],
  perplexity: ["llama"],
  qwen: ["qwen"],
  xiaomi: ["qwen"],
  microsoft: ["o200k", "cl100k"],
  nvidia: ["tekken", "llama"],
  cohere: ["gemini", "tekken"],
  xai: ["o200k"],
  moonshotai: ["deepseek"],
  "z-ai": ["deepseek", "qwen"],
  minimax: ["o200k", "deepseek"]
}

/** Models of Anthropic that were made before it changed its vocabulary with Opus 4.7. */
const OLDER_CLAUDE = /^claude-(?:opus|sonnet|haiku)-4-[0-6]$/

/** The candidates for a model's vocabulary: its own, or the nearest published ones. */
const vocabulariesOf = ({ id, modality, vendor }: TokenModel): ReadonlyArray<Vocabulary> => {
  if (OLDER_CLAUDE.test(id)) return ["claude"]
  if (vendor === "openai" && modality === "embedding") return ["cl100k"]
  return ofVendor[vendor] ?? published
}

const harmonyOf = ({ id }: TokenModel): number => (id.includes("gpt-oss") ? TOKENS_OF_HARMONY : 0)

const presentIn = (traits: Uint32Array): ReadonlyArray<number> => {
  const present: Array<number> = []
  for (let trait = 0; trait < TRAITS; trait++) if (traits[trait] !== 0) present.push(trait)
  return present
}

/**
 * Sums up how many tokens texts have. For ordinary text the figure is between the model's own count and one and a half times that. It
 * is a weighted sum of the traits of the texts. It never exceeds their bytes, since the tokenizers of all models are byte-level or
 * fall back to bytes. Counting with a vocabulary would take a hundred times as long.
 */
export class TokenSum implements TokenBound {
  #traits = noTraits()
  #bytes = 0
  #fixed = 0
  /** The traits that the texts have: a short text has few of them. */
  #present: ReadonlyArray<number> | undefined

  /** Adds a text. */
  text(text: string): this {
    this.#present = undefined
    this.#bytes += Buffer.byteLength(text, "utf8")
    addTraits(this.#traits, text)
    return this
  }

  /** Adds a known number of tokens. */
  tokens(tokens: number): this {
    this.#fixed += tokens
    return this
  }

  /** Multiplies the sum so far. */
  times(factor: number): this {
    this.#bytes *= factor
    this.#fixed *= factor
    this.#traits = this.#traits.map((count) => count * factor)
    return this
  }

  at(model: TokenModel): number {
    return this.#fixed + this.#textOf(vocabulariesOf(model))
  }

  get most(): number {
    return this.#fixed + this.#textOf(all)
  }

  #textOf(vocabularies: ReadonlyArray<Vocabulary>): number {
    let most = 0
    for (const vocabulary of vocabularies) most = Math.max(most, this.#weighed(vocabulary))
    return Math.min(this.#bytes, most)
  }

  #weighed(vocabulary: Vocabulary): number {
    const traits = this.#traits
    const weight = weights[vocabulary]
    const present = this.#present ?? presentIn(traits)
    this.#present = present
    let tokens = 0
    for (const trait of present) tokens += weight[trait]! * traits[trait]!
    return Math.ceil(tokens)
  }
}

/**
 * Providers bill a page of a PDF file as an image. This is the part of an image's bound that is left for the page's text. The largest
 * documented image of a page is Claude's with 4,784, to which Anthropic expects 1,500 to 3,000 tokens of text.
 */
export const TEXT_WITHIN_PAGE = 3_000

const addPdf = (sum: TokenSum, { context = "", name = "", pages, text }: PdfPart): void => {
  sum.tokens(pages * TOKENS_PER_IMAGE + Math.max(0, text - pages * TEXT_WITHIN_PAGE))
  sum.tokens(TOKENS_PER_TOOL).text(name).text(context)
}

const addPart = (sum: TokenSum, part: Part): void => {
  if (part.type === "text") sum.text(part.text)
  else if (part.type === "image") sum.tokens(TOKENS_PER_IMAGE)
  else addPdf(sum, part)
}

/** A token of reasoning takes more characters than this in a provider's encrypted data, which is base64. */
const SEALED_PER_TOKEN = 3

/** Providers bill the content of their own encrypted data. */
const addReasoning = (sum: TokenSum, { origin, text }: ReasoningPart): void => {
  sum.tokens(TOKENS_PER_MESSAGE).text(text)
  if (origin?.data !== undefined) sum.tokens(Math.ceil(JSON.stringify(origin.data).length / SEALED_PER_TOKEN))
}

const addMessages = (sum: TokenSum, { messages, tools }: Conversation): void => {
  let called = false
  for (const message of messages) {
    sum.tokens(TOKENS_PER_MESSAGE)
    for (const part of message.content) addPart(sum, part)
    const beside = message.role === "tool" ? message.toolCallId : (message.name ?? "")
    if (beside !== "") sum.text(beside)
    if (message.role !== "assistant") continue
    for (const part of message.reasoning ?? []) addReasoning(sum, part)
    for (const call of message.toolCalls) {
      sum.tokens(TOKENS_PER_TOOL).text(call.id).text(call.name).text(call.arguments)
      // Some hosts want the tools declared, each once.
      if (tools.length === 0) sum.tokens(TOKENS_PER_TOOL).text(call.name)
      called = true
    }
  }
  if (tools.length > 0 || called) sum.tokens(TOKENS_FOR_TOOLS)
}

/** The maker of models that get schemas without references, with each reference replaced by its target. */
const WITHOUT_REFS = "google"

class PromptSum implements TokenBound {
  readonly #sum = new TokenSum()
  /** Schemas with references, and the same without them. */
  readonly #referring = new TokenSum()
  readonly #inlined = new TokenSum()

  constructor(conversation: Conversation) {
    const sum = this.#sum
    sum.tokens(TOKENS_PER_PROMPT)
    addMessages(sum, conversation)
    for (const { description = "", name, parameters } of conversation.tools) {
      sum.tokens(TOKENS_PER_TOOL).text(name).text(description)
      if (parameters !== undefined) this.#schema(parameters)
    }
    const { format } = conversation
    if (format.type !== "text") sum.tokens(TOKENS_PER_TOOL + TOKENS_FOR_FORMAT)
    if (format.type === "json_schema") {
      sum.text(format.description ?? "")
      this.#schema(format.schema ?? {})
    }
  }

  #schema(schema: Readonly<Record<string, unknown>>): void {
    const text = JSON.stringify(schema)
    if (!text.includes('"$ref"')) {
      this.#sum.text(text)
      return
    }
    this.#referring.text(text)
    this.#inlined.text(JSON.stringify(inlineRefs(schema)))
  }

  at(model: TokenModel): number {
    const referring = this.#referring.at(model)
    const schemas = model.vendor === WITHOUT_REFS ? Math.max(referring, this.#inlined.at(model)) : referring
    return this.#sum.at(model) + schemas + harmonyOf(model)
  }

  get most(): number {
    return this.#sum.most + Math.max(this.#referring.most, this.#inlined.most) + TOKENS_OF_HARMONY
  }
}

/**
 * The bound of a conversation's prompt tokens, from the request alone. `TokenSum` counts the texts; images, tools and the chat
 * template count at the documented maxima above.
 */
export const promptBound = (conversation: Conversation): TokenBound => new PromptSum(conversation)

/** How large a prompt may be. */
export interface PromptSize {
  /** Its tokens, with images at the bound for all models but those with their own figure. */
  readonly prompt: TokenBound
  /** How many images it has, including pages of PDF files; none when absent. */
  readonly images?: number | undefined
}

/** The bound of a prompt for one model, since some bill an image at more than others. */
export const promptBoundAt = ({ images = 0, prompt }: PromptSize, model: TokenModel): number =>
  prompt.at(model) + images * Math.max(0, (model.tokensPerImage ?? TOKENS_PER_IMAGE) - TOKENS_PER_IMAGE)

/** How large a bound usually is as a multiple of the final count. */
const BOUND_PER_TOKEN = 1.25

/** A likely number of tokens when at most `bound` are possible. For estimates that are shown and for choices, never for money. */
export const likelyTokens = (bound: number): number => Math.floor(bound / BOUND_PER_TOKEN)

/** The bound of a text of which only a likely number of tokens is known. */
export const boundOfLikely = (tokens: number): number => Math.ceil(tokens * BOUND_PER_TOKEN)
