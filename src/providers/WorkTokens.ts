/** Tokens of embeddings and of reranking: bounds before anything is asked, counts where a provider reports none. */
import { type TokenBound, TokenSum } from "../domain/TokenBound.ts"
import { countTokens } from "../domain/Tokens.ts"
import type { EmbedWork, RerankWork } from "./Work.ts"

/** What a model puts around a text: marks of its begin and end, the sentence that makes it a query or a document. */
const TOKENS_PER_TEXT = 32

type Input = EmbedWork["inputs"][number]

/** No tokenizer of the catalogue makes more tokens of a text than it has bytes. */
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

/** The tokens that embedding these inputs takes, close to what the model counts and not below it. */
export const embedBound = ({ inputs }: Pick<EmbedWork, "inputs">): TokenBound => {
  const bound = new TokenSum().tokens(inputs.length * TOKENS_PER_TEXT)
  for (const input of inputs) addInput(bound, input)
  return bound
}

/** The texts of a list are counted together where they are many: each call of the tokenizer costs as much as a few words. */
const COUNTED_APART = 64

/** The tokens of these inputs, counted. */
export const countEmbed = ({ inputs }: Pick<EmbedWork, "inputs">): number =>
  inputs.length > COUNTED_APART && typeof inputs[0] === "string"
    ? countTokens(inputs.join("\n"))
    : sum<Input>(inputs, countOf)

/** What has to fit a model's window together: a bound of its tokens, and its tokens, counted when they are first asked for. */
export interface Longest {
  readonly bound: number
  readonly tokens: () => number
  /** How many times what its model counts `tokens` may be. */
  readonly excess: number
}

/** A text has up to a twentieth more tokens by our count than by that of its model; JSON has most. */
const TEXT_EXCESS = 1.06

/** Whether it may fit a window of so many tokens. What callers have cut to a window to the last token must not fail by our count. */
export const fits = ({ bound, excess, tokens }: Longest, window: number): boolean =>
  bound <= window || tokens() <= window * excess

const longestOf = (inputs: EmbedWork["inputs"], beside = ""): Longest => {
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

/** The longest input. To count them all would keep everybody else waiting; the provider has the last word on the others. */
export const longestInput = ({ inputs }: Pick<EmbedWork, "inputs">): Longest => longestOf(inputs)

/** The tokens that a reranking takes, in the same way: the query is read with every document. */
export const rerankBound = ({ documents, query }: Pick<RerankWork, "query" | "documents">): TokenBound => {
  const bound = new TokenSum().tokens(TOKENS_PER_TEXT).text(query).times(documents.length)
  for (const document of documents) bound.text(document)
  return bound
}

/** The tokens of a reranking, counted as Voyage bills them: those of the query for each document, and those of the documents. */
export const countRerank = ({ documents, query }: Pick<RerankWork, "query" | "documents">): number =>
  countTokens(query) * documents.length + countEmbed({ inputs: documents })

/** The query with the longest document, which are read together. */
export const longestPair = ({ documents, query }: Pick<RerankWork, "query" | "documents">): Longest =>
  longestOf(documents, query)
