import type { SearchResponse } from "../../../schemas/inference/Search.ts"
import { type Nano, usdFromNano } from "../../domain/Money.ts"
import type { SearchResults } from "../../domain/Work.ts"
import type { DecodedSearch } from "./SearchDecode.ts"

/** The results of a request, and its facts. */
export interface SearchAnswer {
  readonly value: SearchResults
  readonly requestId: string
  /** Unix time in seconds. */
  readonly created: number
  readonly resolvedModel: string
  readonly provider: string
  readonly cost: Nano
  readonly balanceWarning: string | undefined
}

/** A token counts as four characters, because no tokenizer is used for snippets. */
const CHARACTERS_PER_TOKEN = 4

/** Cuts a text without splitting a surrogate pair. */
const cut = (text: string, characters: number): string =>
  text.length <= characters ? text : text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, "")

/** The results with snippets that fit the caller's token limit. The first one that does not fit is cut, and the others are omitted. */
const fitted = (
  { results }: SearchResults,
  { maxTokens, work: { maxTokensPerPage = Infinity } }: Pick<DecodedSearch, "maxTokens" | "work">
): SearchResults["results"] => {
  let left = (maxTokens ?? Infinity) * CHARACTERS_PER_TOKEN
  return results.flatMap((result) => {
    if (left <= 0) return []
    const snippet = cut(result.snippet, Math.min(left, maxTokensPerPage * CHARACTERS_PER_TOKEN))
    left -= snippet.length
    return [{ ...result, snippet }]
  })
}

/** The body of the response. */
export const encodeSearch = (answer: SearchAnswer, decoded: DecodedSearch): SearchResponse => ({
  id: answer.requestId,
  results: fitted(answer.value, decoded).map(({ date, lastUpdated, queryIndex, snippet, title, url }) => ({
    title,
    url,
    snippet,
    ...(date === undefined ? {} : { date }),
    ...(lastUpdated === undefined ? {} : { last_updated: lastUpdated }),
    ...(decoded.several ? { query_index: queryIndex } : {})
  })),
  server_time: new Date(answer.created * 1_000).toISOString(),
  model: answer.resolvedModel,
  provider: answer.provider,
  cost_usd: usdFromNano(answer.cost),
  request_id: answer.requestId,
  ...(answer.balanceWarning === undefined
    ? {}
    : { balance_warning: { warning: "low_balance", threshold: answer.balanceWarning } })
})
