import { Schema } from "effect"
import { Count, integer, sized, textOf, Usd } from "../Bounds.ts"
import { ModelString, RequestId } from "../Ids.ts"
import { BalanceWarning } from "../Routing.ts"

const listOf = <S extends Schema.Top>(element: S, minimum: number, maximum: number) =>
  Schema.Array(element).check(...sized(minimum, maximum, "items"))

const orNull = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const Query = textOf(1, 2048)

const Day = Schema.String.check(
  Schema.isPattern(/^(0?[1-9]|1[0-2])\/(0?[1-9]|[12]\d|3[01])\/\d{4}$/, { message: "a day as MM/DD/YYYY" })
)

const Domain = Schema.String.check(
  Schema.isPattern(/^-?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/i, {
    message: "a domain such as example.com, with - before one that is not wanted"
  }),
  Schema.isMaxLength(254, { message: "at most 254 characters" })
)

const Tokens = integer(1, 1_000_000)

/**
 * One question to a search engine, or up to five that are answered and charged together. It may hold nothing that is not known,
 * and a null counts as absent. Days are whole and in UTC, and both of a span belong to it. A page without a known date is in no
 * span.
 */
export const SearchRequest = Schema.Struct({
  query: Schema.Union([Query, listOf(Query, 1, 5)]),
  /** The first search engine that the key's routing admits where it is not said. */
  model: orNull(ModelString),
  /** Of each query; 10 where it is not said. */
  max_results: orNull(integer(1, 20)),
  /** Of all snippets together, at four characters each: what follows is left out. */
  max_tokens: orNull(Tokens),
  /** Of one snippet, at four characters each: what follows is cut. */
  max_tokens_per_page: orNull(Tokens),
  /** Prefers pages of this country, as ISO 3166-1 names it in two letters. */
  country: orNull(Schema.String.check(Schema.isPattern(/^[A-Za-z]{2}$/, { message: "a country's two letters" }))),
  /** Pages of these domains and those below them alone; of none of those with `-` before them. */
  search_domain_filter: orNull(listOf(Domain, 0, 20)),
  /** Pages in these languages alone, as ISO 639-1 names them in two letters. */
  search_language_filter: orNull(
    listOf(Schema.String.check(Schema.isPattern(/^[A-Za-z]{2}$/, { message: "a language's two letters" })), 0, 20)
  ),
  /** Pages published within so much time. */
  search_recency_filter: orNull(Schema.Literals(["hour", "day", "week", "month", "year"])),
  search_after_date_filter: orNull(Day),
  search_before_date_filter: orNull(Day),
  last_updated_after_filter: orNull(Day),
  last_updated_before_filter: orNull(Day),
  /** `web` where it is not said. */
  search_mode: orNull(Schema.Literals(["web", "academic", "sec"])),
  /** How much of each page is given, where the engine lets one choose; `medium` where it is not said. */
  search_context_size: orNull(Schema.Literals(["low", "medium", "high"]))
}).annotate({ identifier: "SearchRequest" })
export type SearchRequest = typeof SearchRequest.Type

/** A page that answers, best first. Dates are `YYYY-MM-DD`. */
export const SearchResult = Schema.Struct({
  title: Schema.String,
  url: Schema.String,
  snippet: Schema.String,
  date: Schema.optionalKey(Schema.String),
  last_updated: Schema.optionalKey(Schema.String),
  /** Which of the queries it answers, where they came as a list. */
  query_index: Schema.optionalKey(Count)
}).annotate({ identifier: "SearchResult" })

/** What was found, query by query. `cost_usd` is charged on success only, for each query. */
export const SearchResponse = Schema.Struct({
  id: Schema.String,
  results: Schema.Array(SearchResult),
  /** The moment of the answer, ISO 8601. */
  server_time: Schema.String,
  model: ModelString,
  provider: Schema.String,
  cost_usd: Usd,
  request_id: RequestId,
  balance_warning: Schema.optionalKey(BalanceWarning)
}).annotate({ identifier: "SearchResponse" })
export type SearchResponse = typeof SearchResponse.Type
