import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { makeTavily } from "../../../src/providers/tavily/Tavily.ts"
import type { SearchWork } from "../../../src/domain/Work.ts"
import { upstream } from "../upstream.ts"
import { searchWork, workCall } from "../work.ts"

type Said = readonly [status: number, body: unknown, headers?: Record<string, string>]

const asked = (work: Partial<SearchWork>, answer: (query: string) => Said, depth = "basic") =>
  Effect.gen(function* () {
    const seen: Array<Record<string, unknown>> = []
    const { origin } = yield* upstream((request, response) => {
      const pieces: Array<Buffer> = []
      request.on("data", (piece: Buffer) => pieces.push(piece))
      request.on("end", () => {
        const body = JSON.parse(Buffer.concat(pieces).toString())
        seen.push(body)
        const [status, said, headers] = answer(body.query)
        response.writeHead(status, { "content-type": "application/json", ...headers })
        response.end(typeof said === "string" ? said : JSON.stringify(said))
      })
    })
    const { search } = yield* makeTavily({ id: "up", baseUrl: `${origin}/`, apiKey: Redacted.make("tvly-planted") })
    return { seen, run: search!(workCall({}, depth), searchWork(work)) }
  })

const page = (more: object = {}) => ({ title: "T", url: "https://example.com/", content: "C", score: 1, ...more })

const faultOf = (...said: Said) =>
  Effect.flatMap(
    asked({}, () => said),
    ({ run }) => Effect.map(Effect.flip(run), ({ fault }) => fault)
  )

layer(Outbound.layer, { excludeTestServices: true })("Tavily", (it) => {
  it.effect("returns pages in the order of the queries, with title, URL, snippet and date", () =>
    Effect.gen(function* () {
      const pages = (query: string): Said => [
        200,
        {
          results: [
            page({ title: query, published_date: "Tue, 05 Nov 2024 08:00:00 GMT" }),
            page({ title: "", published_date: "lately" }),
            page({ url: undefined }),
            "nothing"
          ]
        }
      ]
      const { run, seen } = yield* asked({ queries: ["a", "b"] }, pages, "advanced")
      const found = (queryIndex: number, query: string) => [
        { title: query, url: "https://example.com/", snippet: "C", date: "2024-11-05", queryIndex },
        { title: "https://example.com/", url: "https://example.com/", snippet: "C", queryIndex }
      ]
      assert.deepStrictEqual(yield* run, { results: [...found(0, "a"), ...found(1, "b")] })
      assert.deepStrictEqual(new Set(seen.map(({ search_depth }) => search_depth)), new Set(["advanced"]))
    }).pipe(Effect.scoped)
  )

  it.effect("returns no more than requested", () =>
    Effect.gen(function* () {
      const { run, seen } = yield* asked({ maxResults: 2 }, () => [200, { results: [page(), page(), page()] }])
      assert.lengthOf((yield* run).results, 2)
      assert.deepInclude(seen[0], { max_results: 2, search_depth: "basic" })
    }).pipe(Effect.scoped)
  )

  it.effect("is not called for unsupported options", () =>
    Effect.gen(function* () {
      const { run, seen } = yield* asked({ mode: "academic" }, () => [200, { results: [] }])
      assert.deepInclude((yield* Effect.flip(run)).fault, { _tag: "Refused", param: "search_mode" })
      assert.lengthOf(seen, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("fails when one of several queries fails", () =>
    Effect.gen(function* () {
      const { run } = yield* asked({ queries: ["a", "b"] }, (query) =>
        query === "a" ? [200, { results: [page()] }] : [503, { detail: "busy" }]
      )
      assert.strictEqual((yield* Effect.flip(run)).fault._tag, "ServerError")
    }).pipe(Effect.scoped)
  )

  it.effect("reads Tavily's errors as faults", () =>
    Effect.gen(function* () {
      const detail = { detail: { error: "bad for tvly-planted" } }
      assert.deepStrictEqual(yield* faultOf(400, detail), {
        _tag: "Refused",
        status: 400,
        detail: "bad for [secret]"
      })
      assert.deepInclude(yield* faultOf(422, { detail: [{ msg: "too long", loc: ["query"] }] }), { detail: "too long" })
      assert.deepInclude(yield* faultOf(404, "<html>"), { detail: "status 404" })
      for (const status of [401, 403]) assert.strictEqual((yield* faultOf(status, detail))._tag, "Unauthorized")
      // The plan or budget is used up: waiting does not help, and the caller is not at fault.
      for (const status of [432, 433]) assert.strictEqual((yield* faultOf(status, detail))._tag, "Unauthorized")
      assert.deepStrictEqual(yield* faultOf(429, detail, { "retry-after": "9" }), {
        _tag: "RateLimited",
        retryAfterSeconds: 9
      })
      assert.strictEqual((yield* faultOf(500, detail))._tag, "ServerError")
      for (const body of ["{", [], { results: "none" }]) {
        assert.strictEqual((yield* faultOf(200, body))._tag, "Malformed")
      }
    }).pipe(Effect.scoped)
  )
})
