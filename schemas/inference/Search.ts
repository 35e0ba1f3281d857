import { Schema } from "effect"
import { Count, integer, orNull, sized, textOf, Usd } from "../Bounds.ts"
import { ModelString, RequestId } from "../Ids.ts"
import { BalanceWarning } from "../Routing.ts"

const listOf = <S extends Schema.Top>(element: S, minimum: number, maximum: number) =>
  Schema.Array(element).check(...sized(minimum, maximum, "items"))

const Query = textOf(1, 2048)

const Day = Schema.String.check(
  Schema.isPattern(/^(0?[1-9]|1[0-2])\/(0?[1-9]|[12]\d|3[01])\/\d{4}$/, { message: "must be a date as MM/DD/YYYY" })
)

const Domain = Schema.String.check(
  Schema.isPattern(/^-?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/i, {
    message: "must be a domain such as example.com, or -example.com to exclude it"
  }),
  Schema.isMaxLength(254, { message: "must have at most 254 characters" })
)

const Tokens = integer(1, 1_000_000)

/**
 * A query for a search engine, or up to five that are answered and charged together. Unknown fields are rejected, and a null counts as
 * absent. Days are whole days in UTC, and a range includes both of its days. A page without a known date is in no range.
 */
export const SearchRequest = Schema.Struct({
  /** A query, or up to five. Each has 1 to 2,048 characters. */
  query: Schema.Union([Query, listOf(Query, 1, 5)]),
  /** Default: the first search engine that the key's routing admits. */
  model: orNull(ModelString),
  /** The maximum number of results per query, 1 to 20. Default: 10. */
  max_results: orNull(integer(1, 20)),
  /** The limit for all snippets together, at four characters per token; the rest is left out. */
  max_tokens: orNull(Tokens),
  /** The limit for one snippet, at four characters per token; the rest is cut. */
  max_tokens_per_page: orNull(Tokens),
  /** Prefers pages of this country, a two-letter ISO 3166-1 code. */
  country: orNull(
    Schema.String.check(Schema.isPattern(/^[A-Za-z]{2}$/, { message: "must be a country's two letters" }))
  ),
  /** Only pages of these domains and their subdomains; a domain with `-` in front is excluded. */
  search_domain_filter: orNull(listOf(Domain, 0, 20)),
  /** Only pages in these languages, as two-letter ISO 639-1 codes. */
  search_language_filter: orNull(
    listOf(
      Schema.String.check(Schema.isPattern(/^[A-Za-z]{2}$/, { message: "must be a language's two letters" })),
      0,
      20
    )
  ),
  /** Only pages published within this time. */
  search_recency_filter: orNull(Schema.Literals(["hour", "day", "week", "month", "year"])),
  /** Only pages published on this day or later, as `MM/DD/YYYY`. */
  search_after_date_filter: orNull(Day),
  /** Only pages published on this day or earlier, as `MM/DD/YYYY`. */
  search_before_date_filter: orNull(Day),
  /** Only pages last changed on this day or later, as `MM/DD/YYYY`. */
  last_updated_after_filter: orNull(Day),
  /** Only pages last changed on this day or earlier, as `MM/DD/YYYY`. */
  last_updated_before_filter: orNull(Day),
  /** The kind of pages to search. Default: `web`. */
  search_mode: orNull(Schema.Literals(["web", "academic", "sec"])),
  /** How much of each page is returned, if the engine offers a choice. Default: `medium`. */
  search_context_size: orNull(Schema.Literals(["low", "medium", "high"]))
}).annotate({ identifier: "SearchRequest" })
export type SearchRequest = typeof SearchRequest.Type

/** A page. */
export const SearchResult = Schema.Struct({
  /** The title of the page. */
  title: Schema.String,
  /** The address of the page. */
  url: Schema.String,
  /** Text of the page that answers the query. */
  snippet: Schema.String,
  /** When it was published, as `YYYY-MM-DD`. */
  date: Schema.optionalKey(Schema.String),
  /** When it last changed, as `YYYY-MM-DD`. */
  last_updated: Schema.optionalKey(Schema.String),
  /** The index of the query that it answers, if there were several. */
  query_index: Schema.optionalKey(Count)
}).annotate({ identifier: "SearchResult" })

/** The results, query by query. */
export const SearchResponse = Schema.Struct({
  /** The id of the response. */
  id: Schema.String,
  /** The pages, query by query, best first. */
  results: Schema.Array(SearchResult),
  /** The time of the answer, ISO 8601. */
  server_time: Schema.String,
  /** The search engine that served. */
  model: ModelString,
  /** The provider that served. */
  provider: Schema.String,
  /** The charge in USD: per query, and only on success. */
  cost_usd: Usd,
  request_id: RequestId,
  balance_warning: Schema.optionalKey(BalanceWarning)
}).annotate({ identifier: "SearchResponse" })
export type SearchResponse = typeof SearchResponse.Type
