import { at, type Entry, mediaModels } from "../Entry.ts"

const embedding = mediaModels("embedding")
const rerank = mediaModels("rerank")
const search = mediaModels("search")

const embeddingParameters = ["dimensions", "encoding_format", "input_type", "truncation"]
const rerankParameters = ["top_n", "return_documents", "truncation"]
const searchParameters = [
  "max_results",
  "max_tokens",
  "max_tokens_per_page",
  "country",
  "search_domain_filter",
  "search_recency_filter",
  "search_after_date_filter",
  "search_before_date_filter",
  "search_context_size"
]

const openai = { vendor: "openai", brand: "OpenAI" }
const voyage = { vendor: "voyage", brand: "Voyage AI" }

export const embeddingModels: ReadonlyArray<Entry> = [
  embedding({
    ...openai,
    id: "text-embedding-3-small",
    name: "text-embedding-3-small",
    released: "2024-01-25",
    context: 8_192,
    parameters: ["dimensions", "encoding_format"],
    about: "Embeddings of up to 1,536 dimensions at low cost.",
    at: [at("openai", "text-embedding-3-small"), at("azure", "text-embedding-3-small")]
  }),
  embedding({
    ...openai,
    id: "text-embedding-3-large",
    name: "text-embedding-3-large",
    released: "2024-01-25",
    context: 8_192,
    parameters: ["dimensions", "encoding_format"],
    about: "Embeddings of up to 3,072 dimensions.",
    at: [at("openai", "text-embedding-3-large"), at("azure", "text-embedding-3-large")]
  }),
  embedding({
    ...voyage,
    id: "voyage-4-large",
    name: "Voyage 4 Large",
    released: "2026-01-15",
    context: 32_000,
    parameters: embeddingParameters,
    about: "Voyage's best general and multilingual embeddings; one vector space for the whole fourth series.",
    at: [at("voyage", "voyage-4-large")]
  }),
  embedding({
    ...voyage,
    id: "voyage-4",
    name: "Voyage 4",
    released: "2026-01-15",
    context: 32_000,
    parameters: embeddingParameters,
    about: "General embeddings between quality and cost.",
    at: [at("voyage", "voyage-4")]
  }),
  embedding({
    ...voyage,
    id: "voyage-4-lite",
    name: "Voyage 4 Lite",
    released: "2026-01-15",
    context: 32_000,
    parameters: embeddingParameters,
    about: "Embeddings for the lowest latency and cost.",
    at: [at("voyage", "voyage-4-lite")]
  })
]

export const rerankModels: ReadonlyArray<Entry> = [
  rerank({
    ...voyage,
    id: "rerank-2.5",
    name: "Rerank 2.5",
    released: "2025-08-11",
    context: 32_000,
    parameters: rerankParameters,
    about: "Reranker that follows instructions, tuned for quality.",
    at: [at("voyage", "rerank-2.5")]
  }),
  rerank({
    ...voyage,
    id: "rerank-2.5-lite",
    name: "Rerank 2.5 Lite",
    released: "2025-08-11",
    context: 32_000,
    parameters: rerankParameters,
    about: "Reranker that follows instructions, tuned for latency.",
    at: [at("voyage", "rerank-2.5-lite")]
  })
]

export const searchModels: ReadonlyArray<Entry> = [
  search({
    id: "tavily-search",
    name: "Tavily Search",
    vendor: "tavily",
    brand: "Tavily",
    released: "2023-11-01",
    parameters: searchParameters,
    about: "Web search that returns passages chosen for language models.",
    at: [at("tavily", "basic")]
  }),
  search({
    id: "tavily-search-advanced",
    name: "Tavily Search Advanced",
    vendor: "tavily",
    brand: "Tavily",
    released: "2023-11-01",
    parameters: searchParameters,
    about: "Tavily search with more passages per source.",
    at: [at("tavily", "advanced")]
  }),
  search({
    id: "sonar-search",
    name: "Sonar Search",
    vendor: "perplexity",
    brand: "Perplexity",
    released: "2025-09-25",
    parameters: searchParameters,
    about: "Ranked web results with extracts from Perplexity's index.",
    at: [at("perplexity", "search")]
  })
]
