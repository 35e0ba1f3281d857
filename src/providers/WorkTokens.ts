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

/** The tokens of an input that is too long for a window; undefined where all fit. */
export const tooLongFor = (window: number, inputs: EmbedWork["inputs"]): number | undefined => {
  for (const input of inputs) {
    if (boundOf(input) <= window) continue
    const tokens = countOf(input)
    if (tokens > window) return tokens
  }
  return undefined
}

/** An upper bound of the tokens that a reranking takes: the query is read with every document. */
export const rerankBound = ({ documents, query }: Pick<RerankWork, "query" | "documents">): number =>
  sum(documents, boundOf) + documents.length * (boundOf(query) + TOKENS_PER_TEXT)

/** The tokens of a reranking, counted as Voyage bills them: those of the query for each document, and those of the documents. */
export const countRerank = ({ documents, query }: Pick<RerankWork, "query" | "documents">): number =>
  countTokens(query) * documents.length + countEmbed({ inputs: documents })

/** The tokens of the query with a document that is too long for a window; undefined where all fit. */
export const pairTooLongFor = (
  window: number,
  { documents, query }: Pick<RerankWork, "query" | "documents">
): number | undefined => {
  const bound = boundOf(query)
  let counted: number | undefined
  for (const document of documents) {
    if (bound + boundOf(document) <= window) continue
    const tokens = (counted ??= countOf(query)) + countOf(document)
    if (tokens > window) return tokens
  }
  return undefined
}
