/** The size of work other than chat: upper bounds of its tokens before the call, and counts when a provider reports none. */
import type { Nano } from "./Money.ts"
import type { RoutingPolicy } from "./Plan.ts"
import type { Modality } from "./Model.ts"
import { type TokenBound, TokenSum } from "./TokenBound.ts"
import { countTokens } from "./Tokens.ts"
import type { EmbedWork, RerankWork } from "./Work.ts"

/** The tokens that a model adds to a text: start and end marks, and the sentence that makes it a query or a document. */
const TOKENS_PER_TEXT = 32

/** The size of work other than chat, as far as its plan and its hold depend on it. */
export interface WorkSize {
  /** The maximum usage, which the hold covers: prompt tokens, or units of the model's price. */
  readonly bound:
    | { readonly kind: "tokens"; readonly prompt: TokenBound }
    | { readonly kind: "units"; readonly units: number }
  /** Whether the input fits a context window of this many tokens. Absent: the input is truncated to fit, or cannot be too long. */
  readonly fits?: ((contextWindow: number) => boolean) | undefined
  /** The pixels of each image. Absent: no images, or the model decides. */
  readonly pixels?: number | undefined
  /** The estimated tokens of the input, and its field, for the error when it fits no model. */
  readonly promptTokens?: (() => number) | undefined
  readonly param?: string | undefined
}

/** The parts of a request that determine its plan and its hold. Videos are charged elsewhere, by the same rule. */
export interface WorkPreparation extends WorkSize {
  /** The model that the client named. */
  readonly model: string
  readonly modality: Exclude<Modality, "text">
  readonly policy: RoutingPolicy
  /** The highest cost that the caller allows: providers that could cost more are left out. */
  readonly maxCost?: Nano | undefined
}

type Input = EmbedWork["inputs"][number]

/** No tokenizer of the catalogue produces more tokens than a text has bytes. */
const boundOf = (input: Input): number => (typeof input === "string" ? Buffer.byteLength(input, "utf8") : input.length)

const countOf = (input: Input): number => (typeof input === "string" ? countTokens(input) : input.length)

const sum = <A>(items: ReadonlyArray<A>, of: (item: A) => number): number => {
  let total = 0
  for (const item of items) total += of(item)
  return total
}

const addInput = (bound: TokenSum, input: Input): void => {
  if (typeof input === "string") bound.text(input)
  else bound.tokens(input.length)
}

/** An upper bound for the tokens of these inputs, close to the model's own count. */
export const embedBound = ({ inputs }: Pick<EmbedWork, "inputs">): TokenBound => {
  const bound = new TokenSum().tokens(inputs.length * TOKENS_PER_TEXT)
  for (const input of inputs) addInput(bound, input)
  return bound
}

/** From this many texts on, they are counted together: each call of the tokenizer costs as much as a few words. */
const COUNTED_APART = 64

/** Counts the tokens of these inputs. */
export const countEmbed = ({ inputs }: Pick<EmbedWork, "inputs">): number =>
  inputs.length > COUNTED_APART && typeof inputs[0] === "string"
    ? countTokens(inputs.join("\n"))
    : sum<Input>(inputs, countOf)

/**
 * Inputs that must fit a model's context window together: an upper bound of their tokens, and their count, which is computed when first
 * needed.
 */
export interface LongestInput {
  readonly bound: number
  readonly tokens: () => number
  /** How much larger than the model's own count `tokens` may be, as a factor. */
  readonly excess: number
}

/** Our count of a text is up to a twentieth higher than its model's. JSON has the largest difference. */
const TEXT_EXCESS = 1.06

/**
 * Whether the inputs may fit a context window of this many tokens. Inputs that a caller has truncated to the exact window must not fail
 * because of our count.
 */
export const fits = ({ bound, excess, tokens }: LongestInput, window: number): boolean =>
  bound <= window || tokens() <= window * excess

const longestOf = (inputs: EmbedWork["inputs"], beside = ""): LongestInput => {
  let longest: Input = ""
  let most = 0
  for (const input of inputs) {
    const bound = boundOf(input)
    if (bound > most) [longest, most] = [input, bound]
  }
  let counted: number | undefined
  return {
    bound: most + boundOf(beside),
    tokens: () => (counted ??= countOf(longest) + countOf(beside)),
    excess: typeof longest === "string" ? TEXT_EXCESS : 1
  }
}

/** The longest input. Counting all of them would delay all other requests; the provider checks the others. */
export const longestInput = ({ inputs }: Pick<EmbedWork, "inputs">): LongestInput => longestOf(inputs)

/** An upper bound for the tokens of a reranking: the model reads the query with every document. */
export const rerankBound = ({ documents, query }: Pick<RerankWork, "query" | "documents">): TokenBound => {
  const bound = new TokenSum().tokens(TOKENS_PER_TEXT).text(query).times(documents.length)
  for (const document of documents) bound.text(document)
  return bound
}

/** Counts the tokens of a reranking the way Voyage bills them: the query once per document, plus the documents. */
export const countRerank = ({ documents, query }: Pick<RerankWork, "query" | "documents">): number =>
  countTokens(query) * documents.length + countEmbed({ inputs: documents })

/** The query with the longest document, which the model reads together. */
export const longestPair = ({ documents, query }: Pick<RerankWork, "query" | "documents">): LongestInput =>
  longestOf(documents, query)
