import type { SearchResponse } from "../../../schemas/inference/Search.ts"
import { type Nano, usdFromNano } from "../../domain/Money.ts"
import type { Found } from "../../providers/Work.ts"
import type { DecodedSearch } from "./SearchDecode.ts"

/** What was found for a request, and the facts of the request beside it. */
export interface SearchAnswer {
  readonly value: Found
  readonly requestId: string
  /** Unix time in seconds. */
  readonly created: number
  readonly resolvedModel: string
  readonly provider: string
  readonly cost: Nano
  readonly balanceWarning: string | undefined
}

/** Nobody's tokenizer is asked about a snippet: a token is four characters. */
const CHARACTERS_PER_TOKEN = 4

/** Half a character is none. */
const cut = (text: string, characters: number): string =>
  text.length <= characters ? text : text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, "")

/** The results whose snippets fit what the caller has room for; the first one that does not fit is cut, the others left out. */
const fitted = (
  { results }: Found,
  { maxTokens, work: { maxTokensPerPage = Infinity } }: Pick<DecodedSearch, "maxTokens" | "work">
): Found["results"] => {
  let left = (maxTokens ?? Infinity) * CHARACTERS_PER_TOKEN
  return results.flatMap((result) => {
    if (left <= 0) return []
    const snippet = cut(result.snippet, Math.min(left, maxTokensPerPage * CHARACTERS_PER_TOKEN))
    left -= snippet.length
    return [{ ...result, snippet }]
  })
}

/** The body of the answer. */
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
