import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeSearch } from "../../../src/dialects/search/SearchDecode.ts"

const decoded = (body: unknown) => Result.getOrThrow(decodeSearch(body))

const problemsOf = (body: unknown) => {
  const result = decodeSearch(body)
  if (Result.isSuccess(result) || result.failure.reason._tag !== "ValidationError")
    throw new Error("the decoder accepted it")
  return result.failure.reason.problems.map(({ field, message }) => `${field}: ${message}`)
}

describe("a search request", () => {
  it("has defaults for everything but the query", () => {
    assert.deepStrictEqual(decoded({ query: "tea" }), {
      model: undefined,
      several: false,
      maxTokens: undefined,
      work: {
        queries: ["tea"],
        maxResults: 10,
        maxTokensPerPage: undefined,
        country: undefined,
        languages: [],
        domains: [],
        withoutDomains: [],
        recency: undefined,
        publishedAfter: undefined,
        publishedBefore: undefined,
        updatedAfter: undefined,
        updatedBefore: undefined,
        mode: "web",
        contextSize: "medium"
      }
    })
  })

  it("keeps every field", () => {
    const all = decoded({
      query: ["tea", "coffee"],
      model: "tavily-search",
      max_results: 3,
      max_tokens: 100,
      max_tokens_per_page: 50,
      country: "de",
      search_domain_filter: ["Example.com", "-bad.example.org"],
      search_language_filter: ["EN"],
      search_recency_filter: "week",
      search_after_date_filter: "1/2/2024",
      search_before_date_filter: "12/31/2024",
      last_updated_after_filter: "02/29/2024",
      last_updated_before_filter: "02/29/2024",
      search_mode: "academic",
      search_context_size: "high"
    })
    assert.deepStrictEqual(all, {
      model: "tavily-search",
      several: true,
      maxTokens: 100,
      work: {
        queries: ["tea", "coffee"],
        maxResults: 3,
        maxTokensPerPage: 50,
        country: "DE",
        languages: ["en"],
        domains: ["example.com"],
        withoutDomains: ["bad.example.org"],
        recency: "week",
        publishedAfter: "2024-01-02",
        publishedBefore: "2024-12-31",
        updatedAfter: "2024-02-29",
        updatedBefore: "2024-02-29",
        mode: "academic",
        contextSize: "high"
      }
    })
  })

  it("treats null like an absent field, as Perplexity does", () => {
    const members = ["model", "max_results", "max_tokens", "max_tokens_per_page", "country"]
    const filters = ["domain", "language", "recency", "after_date", "before_date"].map(
      (name) => `search_${name}_filter`
    )
    const others = ["last_updated_after_filter", "last_updated_before_filter", "search_mode", "search_context_size"]
    const nulls = Object.fromEntries([...members, ...filters, ...others].map((name) => [name, null]))
    assert.deepStrictEqual(decoded({ query: "tea", ...nulls }), decoded({ query: "tea" }))
  })

  it("distinguishes a list of one query from a single query", () => {
    assert.isTrue(decoded({ query: ["tea"] }).several)
  })

  it("is rejected for fields that are out of bounds", () => {
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ query: "" }, "query"],
      [{ query: [] }, "query"],
      [{ query: ["1", "2", "3", "4", "5", "6"] }, "query"],
      [{ query: "x".repeat(2_049) }, "query"],
      [{ max_results: 0 }, "max_results"],
      [{ max_results: 21 }, "max_results"],
      [{ max_tokens: 0 }, "max_tokens"],
      [{ max_tokens_per_page: 1.5 }, "max_tokens_per_page"],
      [{ country: "Germany" }, "country"],
      [{ search_domain_filter: ["https://example.com/x"] }, "search_domain_filter[0]"],
      [{ search_domain_filter: Array.from({ length: 21 }, () => "example.com") }, "search_domain_filter"],
      [{ search_language_filter: ["english"] }, "search_language_filter[0]"],
      [{ search_recency_filter: "decade" }, "search_recency_filter"],
      [{ search_after_date_filter: "2024-01-01" }, "search_after_date_filter"],
      [{ search_before_date_filter: "02/30/2024" }, "search_before_date_filter"],
      [
        { last_updated_after_filter: "01/02/2024", last_updated_before_filter: "01/01/2024" },
        "last_updated_before_filter"
      ],
      [{ search_mode: "images" }, "search_mode"],
      [{ search_context_size: "huge" }, "search_context_size"],
      [{ topic: "news" }, "topic"]
    ]
    for (const [member, field] of wrong) {
      const problems = problemsOf({ query: "tea", ...member })
      assert.isTrue(problems[0]?.startsWith(`${field}: `), `${JSON.stringify(member)} gave ${problems.join("; ")}`)
    }
    assert.match(problemsOf({})[0] ?? "", /^query: /)
  })
})
