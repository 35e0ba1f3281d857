import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { search } from "../../../src/providers/sandbox/Search.ts"
import type { SearchWork } from "../../../src/domain/Work.ts"
import { searchWork, workCall } from "../work.ts"

const find = (query: string, more: Partial<SearchWork> = {}, steering?: string) =>
  Effect.map(search("up", workCall({ steering }), searchWork({ queries: [query], ...more })), ({ results }) => results)

const titles = (query: string, more: Partial<SearchWork> = {}) =>
  Effect.map(find(query, more), (results) => results.map(({ title }) => title))

const hosts = (query: string, more: Partial<SearchWork> = {}) =>
  Effect.map(find(query, more), (results) => [...new Set(results.map(({ url }) => new URL(url).hostname))])

describe("the sandbox's search", () => {
  it.effect("returns the page that answers the query first", () =>
    Effect.gen(function* () {
      for (const [query, title] of [
        ["How far away is the Moon?", "The Moon"],
        ["capital of France", "Paris, capital of France"],
        ["idempotency key", "Repeating a request with an idempotency key"],
        ["how do bees tell where flowers are", "How honey bees find flowers"],
        ["Sauerteig", "Brot backen mit Sauerteig"],
        ["富士山は日本で最も高い山で", "富士山"]
      ] as const) {
        assert.strictEqual((yield* titles(query))[0], title)
      }
      assert.deepStrictEqual(yield* titles("xyzzyplugh"), [])
    })
  )

  it.effect("returns as many results as requested per query", () =>
    Effect.gen(function* () {
      assert.lengthOf(yield* find("the", { maxResults: 20 }), 20)
      assert.lengthOf(yield* find("the", { maxResults: 1 }), 1)
      const both = yield* find("", { queries: ["espresso", "marathon"], maxResults: 1 })
      assert.deepStrictEqual(
        both.map(({ queryIndex, title }) => [queryIndex, title]),
        [
          [0, "Espresso and other coffee"],
          [1, "The marathon"]
        ]
      )
    })
  )

  it.effect("filters by domain, language and mode", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* hosts("moon", { domains: ["science.example"] }), ["science.example"])
      assert.notInclude(yield* hosts("moon", { withoutDomains: ["science.example"] }), "science.example")
      assert.isAbove((yield* hosts("moon", { domains: ["example"] })).length, 1)
      assert.deepStrictEqual(yield* hosts("moon", { domains: ["ence.example"] }), [])
      assert.deepStrictEqual(yield* titles("Mond Erde", { languages: ["de"] }), ["Der Mond"])
      assert.deepStrictEqual(yield* hosts("bees", { mode: "academic" }), ["journals.example"])
      assert.deepStrictEqual(yield* hosts("revenue", { mode: "sec" }), ["filings.example"])
    })
  )

  it.effect("filters by dates, both inclusive", () =>
    Effect.gen(function* () {
      const on = (publishedAfter: string, publishedBefore: string) =>
        titles("Moon Apollo", { publishedAfter, publishedBefore })
      assert.deepStrictEqual(yield* on("2019-07-16", "2019-07-16"), ["The first landing on the Moon"])
      assert.deepStrictEqual(yield* on("2019-07-17", "2019-07-19"), [])
      const updated = { updatedAfter: "2024-04-08", updatedBefore: "2024-04-08" }
      const [moon] = yield* find("Moon", updated)
      assert.deepInclude(moon, { title: "The Moon", date: "2019-07-20", lastUpdated: "2024-04-08" })
    })
  )

  it.effect("finds recent pages at any time", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2031-05-06T12:00:00Z"))
      const recent = (recency: SearchWork["recency"]) => Effect.map(titles("sandbox", { recency }), (all) => all.length)
      assert.deepStrictEqual(yield* titles("sandbox", { recency: "hour" }), ["Status of the sandbox"])
      const counts = [yield* recent("hour"), yield* recent("day"), yield* recent("week"), yield* recent("month")]
      assert.deepStrictEqual(counts, [1, 2, 3, 4])
      const [status] = yield* find("status of the sandbox", { recency: "hour" })
      assert.strictEqual(status?.date, "2031-05-06")
    })
  )

  it.effect("prefers the pages of a country, and returns snippets of the requested size", () =>
    Effect.gen(function* () {
      const [first] = yield* titles("capital", { country: "JP" })
      assert.strictEqual(first, "Tokyo, capital of Japan")
      assert.strictEqual((yield* titles("capital", { country: "FR" }))[0], "Paris, capital of France")
      const snippet = (contextSize: SearchWork["contextSize"]) =>
        Effect.map(find("Gutenberg", { contextSize }), ([page]) => page?.snippet)
      assert.strictEqual(yield* snippet("low"), "Johannes Gutenberg printed with movable type in Mainz around 1450.")
      assert.isAbove((yield* snippet("high"))!.length, (yield* snippet("low"))!.length)
    })
  )

  it.effect("returns nothing, or fails, when steered so", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* find("moon", {}, "fault=empty"), [])
      assert.strictEqual((yield* Effect.flip(find("moon", {}, "fault=error"))).fault._tag, "ServerError")
    })
  )
})
