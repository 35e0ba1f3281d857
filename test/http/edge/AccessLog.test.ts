import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { inOneLine } from "../../../src/http/edge/AccessLog.ts"
import { get, json, post, startService } from "../../support/Service.ts"

interface Line {
  readonly message: string
  readonly annotations: Readonly<Record<string, unknown>>
}

/** Waits for the lines of requests; asks again whenever one comes. */
const collector = () => {
  const lines: Array<Line> = []
  let told = () => {}
  const logger = Logger.make<unknown, void>((entry) => {
    const { annotations, message } = Logger.formatStructured.log(entry)
    lines.push({ annotations, message: String(message) })
    told()
  })
  const lineOf = (id: string) =>
    Effect.callback<Line["annotations"]>((resume) => {
      told = () => {
        const found = lines.find(({ annotations }) => annotations["request_id"] === id && "method" in annotations)
        if (found !== undefined) resume(Effect.succeed(found.annotations))
      }
      told()
    })
  return { lineOf, lines, logger }
}

const idOf = (response: Response) => response.headers.get("x-request-id") ?? ""
const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "PROMPTWORD" }] }

const watched = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const { lineOf, lines, logger } = collector()
    const service = yield* startService({ LOG_LEVEL: "info", LOG_FORMAT: "json", ...env }, [logger])
    const { inferenceKey } = yield* service.account(10)
    const ask = (path: string, body: object, headers: Record<string, string> = {}) =>
      Effect.gen(function* () {
        const response = yield* post(`${service.api}${path}`, inferenceKey, body, headers)
        const text = yield* Effect.promise(() => response.text())
        return { line: yield* lineOf(idOf(response)), response, text }
      })
    const receipt = (id: unknown) => Effect.flatMap(get(`${service.api}/requests/${String(id)}`, inferenceKey), json)
    return { ask, inferenceKey, lineOf, lines, receipt, service }
  })

describe("the access log", () => {
  it.live("writes one line for each request, with the facts of its receipt", () =>
    Effect.gen(function* () {
      const { ask, inferenceKey, lineOf, lines, receipt, service } = yield* watched()
      const paid = [
        // The second comes from a remembered key, and goes straight from Node's server to the operation.
        yield* ask("/chat/completions", chat),
        yield* ask("/chat/completions", chat),
        yield* ask("/chat/completions", { ...chat, stream: true }),
        yield* ask("/messages", { ...chat, model: "claude-sonnet-4-6", max_tokens: 50 }),
        yield* ask("/embeddings", { model: "text-embedding-3-small", input: "PROMPTWORD" })
      ]
      for (const { line } of paid) {
        const { cost_usd, provider, usage } = yield* receipt(line["request_id"])
        assert.deepInclude(line, { method: "POST", status: 200, cost_usd, provider })
        assert.isAbove(Number(line["cost_usd"]), 0)
        assert.strictEqual(line["tokens_in"], usage.input_tokens)
        assert.isAtLeast(Number(line["ms"]), 0)
      }
      assert.deepStrictEqual(
        paid.map(({ line }) => [line["route"], line["model"]]),
        [
          ["/api/v1/chat/completions", "gpt-4o-mini"],
          ["/api/v1/chat/completions", "gpt-4o-mini"],
          ["/api/v1/chat/completions", "gpt-4o-mini"],
          ["/api/v1/messages", "claude-sonnet-4-6"],
          ["/api/v1/embeddings", "text-embedding-3-small"]
        ]
      )
      const free = yield* get(`${service.api}/requests/${String(paid[0]?.line["request_id"])}`, inferenceKey)
      const read = yield* lineOf(idOf(free))
      assert.deepInclude(read, { method: "GET", route: "/api/v1/requests/:request_id", status: 200 })
      assert.notProperty(read, "cost_usd")
      const ids = lines.map(({ annotations }) => annotations["request_id"]).filter((id) => id !== undefined)
      assert.strictEqual(new Set(ids).size, ids.length, "no request has two lines")
      const text = JSON.stringify(lines)
      for (const kept of ["PROMPTWORD", inferenceKey, "svc_sk_"]) assert.notInclude(text, kept)
    }).pipe(Effect.scoped)
  )

  it.live("describes why a request failed without quoting it", () =>
    Effect.gen(function* () {
      const { ask, lineOf, lines, service } = yield* watched()
      const failed = yield* ask("/chat/completions", chat, { "x-svc-sandbox": "fault=error" })
      assert.deepInclude(failed.line, { status: 502, model: "gpt-4o-mini", error: "upstream_error" })
      assert.match(String(failed.line["reason"]), /^no provider could serve the request \(\w+ answered 500/)
      const unknown = yield* ask("/chat/completions", { ...chat, model: "promptword-9" })
      assert.deepInclude(unknown.line, {
        status: 400,
        error: "unknown_model",
        reason: "the catalogue has no such model"
      })
      const stranger = yield* post(`${service.api}/chat/completions`, "svc_sk_PROMPTWORD", chat)
      assert.deepInclude(yield* lineOf(idOf(stranger)), { status: 401, error: "invalid_api_key" })
      const nowhere = yield* get(`${service.api}/PROMPTWORD`, "x")
      const line = yield* lineOf(idOf(nowhere))
      assert.deepInclude(line, { status: 404, error: "unknown_route" })
      assert.notProperty(line, "route")
      assert.notMatch(JSON.stringify(lines), /promptword/i)
    }).pipe(Effect.scoped)
  )

  it.live("contains the charge of a stream whose client disconnected", () =>
    Effect.gen(function* () {
      const { inferenceKey, lineOf, receipt, service } = yield* watched()
      const steering = { "x-svc-sandbox": "chunk_ms=50" }
      const response = yield* post(`${service.api}/chat/completions`, inferenceKey, { ...chat, stream: true }, steering)
      const reader = response.body!.getReader()
      yield* Effect.promise(() => reader.read())
      yield* Effect.promise(() => reader.cancel())
      const line = yield* lineOf(idOf(response))
      const { cost_usd } = yield* receipt(idOf(response))
      assert.deepInclude(line, { status: 200, client_left: true, cost_usd })
      assert.isAbove(cost_usd, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is not written at the log levels warn and above", () =>
    Effect.gen(function* () {
      const { lines, logger } = collector()
      const service = yield* startService({ LOG_LEVEL: "warn" }, [logger])
      const { inferenceKey } = yield* service.account(10)
      yield* Effect.flatMap(post(`${service.api}/chat/completions`, inferenceKey, chat), json)
      yield* get(`${service.api}/models`, inferenceKey)
      assert.deepStrictEqual(
        lines.filter(({ annotations }) => "method" in annotations),
        []
      )
    }).pipe(Effect.scoped)
  )

  it("has a one-line form for readers", () => {
    const none = { route: undefined, status: undefined, model: undefined, provider: undefined } as const
    const nothing = {
      tokens_in: undefined,
      tokens_out: undefined,
      cost_usd: undefined,
      client_left: undefined
    } as const
    const facts = {
      ...none,
      ...nothing,
      error: undefined,
      reason: undefined,
      method: "POST",
      ms: 12,
      request_id: "req_1"
    }
    assert.strictEqual(inOneLine(facts), "POST (no such route) (no response) 12 ms req_1")
    const paid = { ...facts, route: "/api/v1/messages", status: 200, model: "m", provider: "p" }
    assert.strictEqual(
      inOneLine({ ...paid, tokens_in: 4, tokens_out: 19, cost_usd: 0.000012, client_left: true }),
      "POST /api/v1/messages 200 m p 4+19 tokens $0.000012 12 ms req_1 (the client left)"
    )
    assert.strictEqual(
      inOneLine({ ...paid, status: 502, error: "upstream_error", reason: "openai answered 500" }),
      "POST /api/v1/messages 502 m p 12 ms req_1 upstream_error: openai answered 500"
    )
  })
})
