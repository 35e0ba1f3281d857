import { assert, describe, it } from "@effect/vitest"
import { encodeSearch, lackOf } from "../../../src/providers/tavily/Search.ts"
import type { SearchWork } from "../../../src/domain/Work.ts"
import { searchWork } from "../work.ts"

const NOW = Date.parse("2026-03-10T15:00:00Z")

const encoded = (more: Partial<SearchWork>, depth: "basic" | "advanced" = "basic") =>
  encodeSearch("tea", depth, searchWork(more), NOW) as Record<string, unknown>

describe("a search request for Tavily", () => {
  it("contains only the given options", () => {
    assert.deepStrictEqual(encoded({}), { query: "tea", topic: "general", search_depth: "basic", max_results: 10 })
  })

  it("uses Tavily's country names", () => {
    const named = (country: string) => encoded({ country })["country"]
    assert.strictEqual(named("US"), "united states")
    assert.strictEqual(named("GB"), "united kingdom")
    assert.strictEqual(named("CZ"), "czech republic")
    assert.strictEqual(named("TR"), "turkey")
    assert.strictEqual(named("KR"), "south korea")
  })

  it("requests passages by context size, when several are possible", () => {
    const passages = (contextSize: SearchWork["contextSize"]) =>
      encoded({ contextSize }, "advanced")["chunks_per_source"]
    assert.deepStrictEqual([passages("low"), passages("medium"), passages("high")], [1, 2, 3])
  })

  it("starts on the later of the recency and the caller's date", () => {
    const start = (more: Partial<SearchWork>) => encoded(more)["start_date"]
    assert.strictEqual(start({ recency: "day" }), "2026-03-09")
    assert.strictEqual(start({ recency: "week" }), "2026-03-03")
    assert.strictEqual(start({ recency: "month" }), "2026-02-07")
    assert.strictEqual(start({ recency: "year" }), "2025-03-09")
    assert.strictEqual(start({ publishedAfter: "2020-01-01" }), "2020-01-01")
    assert.strictEqual(start({ recency: "week", publishedAfter: "2020-01-01" }), "2026-03-03")
    assert.strictEqual(start({ recency: "week", publishedAfter: "2026-03-08" }), "2026-03-08")
    assert.strictEqual(encoded({ publishedBefore: "2021-01-01" })["end_date"], "2021-01-01")
  })

  it("is rejected by field when Tavily does not support the option", () => {
    const lacks: ReadonlyArray<readonly [Partial<SearchWork>, string | undefined]> = [
      [{}, undefined],
      [{ country: "DE", recency: "day", domains: ["a.example"], publishedAfter: "2020-01-01" }, undefined],
      [{ country: "AQ" }, "country"],
      [{ languages: ["de"] }, "search_language_filter"],
      [{ recency: "hour" }, "search_recency_filter"],
      [{ updatedAfter: "2020-01-01" }, "last_updated_after_filter"],
      [{ updatedBefore: "2020-01-01" }, "last_updated_before_filter"],
      [{ mode: "sec" }, "search_mode"]
    ]
    for (const [more, param] of lacks) assert.strictEqual(lackOf(searchWork(more)), param)
  })
})
