/** The tools that search, embed and rerank. */
import { Effect, Schema } from "effect"
import { Api } from "../../schemas/Api.ts"
import { Count, sized, textOf } from "../../schemas/Bounds.ts"
import { ModelString } from "../../schemas/Ids.ts"
import { EmbeddingsRequest } from "../../schemas/inference/Embeddings.ts"
import { RerankRequest, RerankResult } from "../../schemas/inference/Rerank.ts"
import { SearchRequest, SearchResponse } from "../../schemas/inference/Search.ts"
import { BalanceWarning } from "../../schemas/Routing.ts"
import { decoder } from "../dialects/Decode.ts"
import { decodeEmbeddings } from "../dialects/embeddings/EmbeddingsDecode.ts"
import { afterList, beforeList } from "../dialects/embeddings/EmbeddingsEncode.ts"
import { decodeRerank } from "../dialects/rerank/RerankDecode.ts"
import { encodeRerank } from "../dialects/rerank/RerankEncode.ts"
import { encodeSearch } from "../dialects/search/SearchEncode.ts"
import { wholeRequest } from "../http/handlers/Embeddings.ts"
import { rerankRequest } from "../http/handlers/Rerank.ts"
import { searches } from "../http/handlers/Search.ts"
import { Work } from "../inference/Work.ts"
import { AnswerMemory } from "../providers/pool/AnswerMemory.ts"
import { makePaidRequest, callCostOf } from "./Paying.ts"
import { costFields, type ToolOf } from "./Tool.ts"

const search = SearchRequest.fields

const SearchInput = Schema.Struct({
  query: search.query.annotateKey({ description: "The question, or up to five that are each charged." }),
  model: search.model.annotateKey({
    description: "A search engine from `list_models`. Leave it out for the usual one."
  }),
  max_results: search.max_results.annotateKey({ description: "Pages for each query, 10 unless given." }),
  max_tokens: search.max_tokens.annotateKey({ description: "The most tokens of all snippets together." }),
  country: search.country.annotateKey({ description: "Prefer pages of this country, as two letters." }),
  search_domain_filter: search.search_domain_filter.annotateKey({
    description: "Only pages of these domains; with `-` before one, no pages of it."
  }),
  search_recency_filter: search.search_recency_filter.annotateKey({ description: "Only pages this new." }),
  search_mode: search.search_mode.annotateKey({ description: "`academic` for papers, `sec` for company filings." })
})

/** The results as text, which takes a model fewer tokens than JSON. */
const foundText = ({ results }: SearchResponse): string =>
  results.length === 0
    ? "Nothing was found."
    : results
        .map(({ date, snippet, title, url }, index) =>
          [`${index + 1}. ${title}`, url, ...(date === undefined ? [] : [date]), snippet].join("\n")
        )
        .join("\n\n")

const searchTool = Effect.gen(function* () {
  const { decode, find } = yield* searches
  const paidRequest = yield* makePaidRequest
  return {
    name: "search",
    title: "Search the web",
    description:
      "Search the web and get titles, addresses and snippets of current pages. Use it for facts that are newer than your training or need a source. Costs money by query.",
    input: SearchInput,
    output: SearchResponse,
    kind: "paid",
    openWorld: true,
    like: Api.groups.search.endpoints.search,
    run: (call) =>
      Effect.gen(function* () {
        const decoded = yield* Effect.fromResult(decode(call.body, call.principal))
        const answer = yield* find(yield* paidRequest(call, decoded.model), decoded.work)
        const structured = encodeSearch(answer, decoded)
        const content = [{ type: "text", text: foundText(structured) }] as const
        return { structured, content, cost: callCostOf(structured, answer.replayed) }
      })
  } satisfies ToolOf
})

/** The most texts of one call: their vectors go into a model's context. */
const MAX_TEXTS = 100

const embed = EmbeddingsRequest.fields
const EmbeddedText = textOf(1, 1_000_000)

const EmbedInput = Schema.Struct({
  model: embed.model.annotateKey({ description: "An embedding model from `list_models`." }),
  input: Schema.Union([EmbeddedText, Schema.Array(EmbeddedText).check(...sized(1, MAX_TEXTS, "items"))]).annotateKey({
    description: `A text, or up to ${MAX_TEXTS} texts.`
  }),
  dimensions: embed.dimensions.annotateKey({
    description: "The length of the vectors, where the model lets one choose."
  }),
  input_type: embed.input_type.annotateKey({ description: "Whether the texts are queries or documents." }),
  truncation: embed.truncation.annotateKey({ description: "Cut texts that are too long, where the model can." })
})

const EmbedOutput = Schema.Struct({
  model: ModelString,
  embeddings: Schema.Array(Schema.Array(Schema.Finite)),
  usage: Schema.Struct({ prompt_tokens: Count, total_tokens: Count }),
  ...costFields,
  balance_warning: Schema.optionalKey(BalanceWarning)
})

const decodeTexts = decoder(Schema.Struct({ input: EmbedInput.fields.input }), { strict: false })

const embedTool = Effect.gen(function* () {
  const work = yield* Work
  const memory = yield* AnswerMemory
  const paidRequest = yield* makePaidRequest
  return {
    name: "embed",
    title: "Embed texts",
    description:
      "Turn texts into vectors for semantic search, clustering or comparison. The vectors are long: use it to store or compute with them, not to read them. Costs money by tokens.",
    input: EmbedInput,
    output: EmbedOutput,
    kind: "paid",
    openWorld: true,
    like: Api.groups.embeddings.endpoints.embeddings,
    run: (call) =>
      Effect.gen(function* () {
        yield* Effect.fromResult(decodeTexts(call.body))
        const { model, work: asked } = yield* Effect.fromResult(decodeEmbeddings(call.body))
        const answer = yield* work.run(wholeRequest(memory, yield* paidRequest(call, model), asked))
        const text = `${beforeList(model)}${Buffer.from(answer.value.data).toString()}${afterList(answer)}`
        const { data, object: _, ...list } = JSON.parse(text) as EmbeddingsList
        const structured = { ...list, embeddings: data.map(({ embedding }) => embedding) }
        return { structured, cost: callCostOf(list, answer.replayed) }
      })
  } satisfies ToolOf
})

/** The list of embeddings as the API answers it. */
interface EmbeddingsList {
  readonly object: string
  readonly model: string
  readonly data: ReadonlyArray<{ readonly embedding: ReadonlyArray<number> }>
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number }
  readonly cost_usd: number
  readonly request_id: string
}

const rerank = RerankRequest.fields

const RerankInput = Schema.Struct({
  model: rerank.model.annotateKey({ description: "A rerank model from `list_models`." }),
  query: rerank.query.annotateKey({ description: "What the documents should be about." }),
  documents: rerank.documents.annotateKey({ description: "The texts to put in order." }),
  top_n: rerank.top_n.annotateKey({ description: "How many of the best to return; all unless given." }),
  return_documents: rerank.return_documents.annotateKey({ description: "Repeat the texts in the result." }),
  truncation: rerank.truncation.annotateKey({ description: "Cut documents that are too long." })
})

const rerankTool = Effect.gen(function* () {
  const work = yield* Work
  const paidRequest = yield* makePaidRequest
  return {
    name: "rerank",
    title: "Rerank documents",
    description:
      "Put documents in the order of their relevance to a query, with a score for each. Use it to pick the best of many search results or passages. Costs money by tokens.",
    input: RerankInput,
    output: RerankResult,
    kind: "paid",
    openWorld: true,
    like: Api.groups.rerank.endpoints.rerank,
    run: (call) =>
      Effect.gen(function* () {
        const decoded = yield* Effect.fromResult(decodeRerank(call.body))
        const answer = yield* work.run(rerankRequest(yield* paidRequest(call, decoded.model), decoded.work))
        const facts = { ...answer, results: answer.value.results, tokens: answer.used }
        const structured = encodeRerank(decoded, facts)
        return { structured, cost: callCostOf(structured, answer.replayed) }
      })
  } satisfies ToolOf
})

/** `search`, `embed` and `rerank`. */
export const retrievalTools = Effect.all([searchTool, embedTool, rerankTool])
