/** Tokens of embeddings and of reranking: bounds before anything is asked, counts where a provider reports none. */
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

/** An upper bound of the tokens that embedding these inputs takes. */
export const embedBound = ({ inputs }: Pick<EmbedWork, "inputs">): number =>
  sum<Input>(inputs, boundOf) + inputs.length * TOKENS_PER_TEXT

/** The texts of a list are counted together where they are many: each call of the tokenizer costs as much as a few words. */
const COUNTED_APART = 64

/** The tokens of these inputs, counted. */
export const countEmbed = ({ inputs }: Pick<EmbedWork, "inputs">): number =>
  inputs.length > COUNTED_APART && typeof inputs[0] === "string"
    ? countTokens(inputs.join("\n"))
    : sum<Input>(inputs, countOf)

/** The longest of a list, by its bound; the first of those that are equally long. */
const longestOf = <A extends Input>(
  inputs: ReadonlyArray<A>
): { readonly input: A; readonly bound: number } | undefined => {
  let longest: { readonly input: A; readonly bound: number } | undefined
  for (const input of inputs) {
    const bound = boundOf(input)
    if (longest === undefined || bound > longest.bound) longest = { input, bound }
  }
  return longest
}

/**
 * The tokens of the longest input, where it is too long for a window; undefined where it fits. The others are left to the
 * provider to refuse: to count thousands would keep everybody else waiting.
 */
export const tooLongFor = (window: number, { inputs }: Pick<EmbedWork, "inputs">): number | undefined => {
  const longest = longestOf<Input>(inputs)
  if (longest === undefined || longest.bound <= window) return undefined
  const tokens = countOf(longest.input)
  return tokens > window ? tokens : undefined
}

/** An upper bound of the tokens that a reranking takes: the query is read with every document. */
export const rerankBound = ({ documents, query }: Pick<RerankWork, "query" | "documents">): number =>
  sum(documents, boundOf) + documents.length * (boundOf(query) + TOKENS_PER_TEXT)

/** The tokens of a reranking, counted as Voyage bills them: those of the query for each document, and those of the documents. */
export const countRerank = ({ documents, query }: Pick<RerankWork, "query" | "documents">): number =>
  countTokens(query) * documents.length + countEmbed({ inputs: documents })

/** The tokens of the query with the longest document, where they are too long for a window; undefined where they fit. */
export const pairTooLongFor = (
  window: number,
  { documents, query }: Pick<RerankWork, "query" | "documents">
): number | undefined => {
  const longest = longestOf(documents)
  if (longest === undefined || boundOf(query) + longest.bound <= window) return undefined
  const tokens = countOf(query) + countOf(longest.input)
  return tokens > window ? tokens : undefined
}
