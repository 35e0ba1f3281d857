import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { SearchResponse } from "../../../schemas/inference/Search.ts"
import { decodeSearch } from "../../../src/dialects/search/SearchDecode.ts"
import { encodeSearch, type SearchAnswer } from "../../../src/dialects/search/SearchEncode.ts"

const asked = (more: object = {}) => Result.getOrThrow(decodeSearch({ query: "tea", ...more }))

const page = (snippet: string, queryIndex = 0) => ({
  title: "Tea",
  url: "https://example.com/tea",
  snippet,
  queryIndex
})

const answer = (results: SearchAnswer["value"]["results"]): SearchAnswer => ({
  value: { results },
  requestId: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  created: 1_700_000_000,
  resolvedModel: "tavily-search",
  provider: "tavily",
  cost: 8_000_000n,
  balanceWarning: undefined
})

const snippets = (results: SearchAnswer["value"]["results"], more: object) =>
  encodeSearch(answer(results), asked(more)).results.map(({ snippet }) => snippet)

describe("the answer to a search", () => {
  it("contains the results and their cost", () => {
    const found = { ...page("A leaf in water."), date: "2024-01-02", lastUpdated: "2024-03-04" }
    const body = encodeSearch({ ...answer([found]), balanceWarning: "$5.00" }, asked())
    assert.deepStrictEqual(body, {
      id: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
      results: [
        {
          title: "Tea",
          url: "https://example.com/tea",
          snippet: "A leaf in water.",
          date: "2024-01-02",
          last_updated: "2024-03-04"
        }
      ],
      server_time: "2023-11-14T22:13:20.000Z",
      model: "tavily-search",
      provider: "tavily",
      cost_usd: 0.008,
      request_id: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
      balance_warning: { warning: "low_balance", threshold: "$5.00" }
    })
    Schema.decodeUnknownSync(SearchResponse, { onExcessProperty: "error" })(body)
  })

  it("has the index of each result's query when the request has a list of queries", () => {
    const results = [page("one"), page("two", 1)]
    const indexes = (query: unknown) =>
      encodeSearch(answer(results), asked({ query })).results.map(({ query_index }) => query_index)
    assert.deepStrictEqual(indexes(["tea", "coffee"]), [0, 1])
    assert.deepStrictEqual(indexes("tea"), [undefined, undefined])
  })

  it("cuts its snippets to the limits of tokens per page and in total", () => {
    const results = [page("12345678"), page("12345678"), page("12345678")]
    assert.deepStrictEqual(snippets(results, { max_tokens_per_page: 1 }), ["1234", "1234", "1234"])
    assert.deepStrictEqual(snippets(results, { max_tokens: 3 }), ["12345678", "1234"])
    assert.deepStrictEqual(snippets(results, { max_tokens: 2 }), ["12345678"])
    assert.deepStrictEqual(snippets(results, { max_tokens: 100 }), ["12345678", "12345678", "12345678"])
    assert.deepStrictEqual(snippets([page("123😀")], { max_tokens_per_page: 1 }), ["123"])
  })
})
