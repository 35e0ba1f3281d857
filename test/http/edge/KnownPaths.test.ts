import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, json, post, startService } from "../../support/Service.ts"
import { client, Line, parse } from "../wire.ts"

const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }

describe("a request without an operation", () => {
  it.live("gets a hint to the API and to the probable operation", () =>
    Effect.gen(function* () {
      const { origin } = yield* startService()
      for (const [path, hint] of [
        ["/api/v1/mcp", "the MCP server is at /mcp"],
        ["/v1/mcp", "the MCP server is at /mcp"],
        ["/v1/chat/completions", "this operation is at /api/v1/chat/completions"],
        ["/chat/completions", "this operation is at /api/v1/chat/completions"],
        ["/api/chat/completions", "this operation is at /api/v1/chat/completions"],
        ["/api/v1/v1/messages", "this operation is at /api/v1/messages"],
        ["/api/v1/completions", "send `messages` to /api/v1/chat/completions"],
        ["/api/v1/images/edits", "send `image` as a URL to /api/v1/images/generations"],
        ["/api/v1/messages/batches", "batches are at /api/v1/batches, in OpenAI's form"],
        ["/v1/responses/resp_1/cancel", "the gateway stores no responses"],
        ["/api/v1/moderations", "the gateway does not offer this operation"],
        ["/v1/no/such/path", "the API is below /api/v1"]
      ] as const) {
        const response = yield* post(`${origin}${path}`, "k", chat)
        const { error } = yield* json(response)
        assert.deepStrictEqual([response.status, error.code], [404, "unknown_route"], path)
        assert.include(error.message, hint)
      }
      const { error } = yield* Effect.flatMap(get(`${origin}/api/v1/no/such/path`, "k"), json)
      assert.notInclude(error.message, ";")
    }).pipe(Effect.scoped)
  )

  it.live("gets an error that Anthropic's clients can read below a wrong base URL", () =>
    Effect.gen(function* () {
      const { origin } = yield* startService()
      for (const path of [
        "/messages",
        "/v1/messages",
        "/api/messages",
        "/api/v1/v1/messages",
        "/gateway/v1/messages",
        "/api/v1/v1/messages/count_tokens",
        "/v1/messages/batches"
      ]) {
        const response = yield* post(`${origin}${path}`, "k", chat)
        const body = yield* json(response)
        assert.deepStrictEqual(
          [response.status, body.type, body.error.type, body.error.code, body.request_id],
          [404, "error", "not_found_error", "unknown_route", response.headers.get("request-id")],
          path
        )
      }
      for (const path of ["/v1/chat/completions", "/api/v1/no/such/path"]) {
        assert.notProperty(yield* Effect.flatMap(post(`${origin}${path}`, "k", chat), json), "type", path)
      }
    }).pipe(Effect.scoped)
  )

  it.live("gets 404 for an unknown model, however many slashes its id has", () =>
    Effect.gen(function* () {
      const { api } = yield* startService()
      for (const id of ["no-such-model", "a/b", "a/b/c", "a/b/c/d"]) {
        const response = yield* get(`${api}/models/${id}`, "k")
        assert.deepStrictEqual([response.status, (yield* json(response)).error.code], [404, "not_found"], id)
      }
    }).pipe(Effect.scoped)
  )

  it.live("gets 405 with the allowed methods on a known path", () =>
    Effect.gen(function* () {
      const { origin } = yield* startService()
      const ask = yield* client(origin)
      for (const method of ["TRACE", "PROPFIND", "PUT", "OPTIONS", "QUERY"]) {
        for (const [path, allow] of [
          ["/api/v1/chat/completions", "POST"],
          ["/api/v1/models/gpt-4o", "GET, HEAD"],
          ["/api/v1/openapi.json", "GET, HEAD"]
        ] as const) {
          const got = yield* ask({ method, path })
          assert.deepStrictEqual([got.status, got.headers["allow"]], [405, allow], `${method} ${path}`)
          assert.strictEqual(JSON.parse(got.text).error.code, "method_not_allowed")
        }
      }
      assert.strictEqual((yield* ask({ method: "TRACE", path: "/api/v1/nothing" })).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("gets the error envelope for HTTP/1.1 without a Host header", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const body = JSON.stringify(chat)
      const head = `authorization: Bearer ${inferenceKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
      const ask = (version: string, path: string) =>
        Effect.gen(function* () {
          const line = yield* Line.open(service.origin)
          line.write(`POST ${path} HTTP/${version}\r\n${head}\r\nconnection: close\r\n\r\n${body}`)
          return parse(yield* line.take((text) => text.includes("}") && text.endsWith("}")))
        }).pipe(Effect.scoped)
      for (const path of ["/api/v1/chat/completions", "/api/v1/messages", "/nothing"]) {
        const got = yield* ask("1.1", path)
        const { error } = JSON.parse(got.text)
        assert.deepStrictEqual([got.status, error.code, error.param], [400, "validation_error", "Host"], path)
        assert.match(got.headers["x-request-id"] ?? "", /^req_/)
      }
      assert.strictEqual((yield* ask("1.0", "/api/v1/chat/completions")).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("gets the nearest id and the list of models for an unknown model", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const ask = (path: string, body: object) =>
        Effect.map(Effect.flatMap(post(`${service.api}${path}`, inferenceKey, body), json), ({ error }) => error)
      const { messages } = chat
      for (const [path, body, id] of [
        ["/chat/completions", { model: "gpt-4o-mimi", messages }, "gpt-4o-mini"],
        ["/messages", { model: "gpt-4o-mimi", max_tokens: 5, messages }, "gpt-4o-mini"],
        ["/responses", { model: "gpt-4o-mimi", input: "hello" }, "gpt-4o-mini"],
        ["/embeddings", { model: "text-embeding-3-smal", input: "hello" }, "text-embedding-3-small"]
      ] as const) {
        const { message } = yield* ask(path, body)
        assert.include(message, `Did you mean ${id}?`, path)
        assert.include(message, "/models", path)
      }
      const { code, message } = yield* ask("/chat/completions", { model: "no-such-model", messages })
      assert.strictEqual(code, "unknown_model")
      assert.notInclude(message, "Did you mean")
      assert.include(message, "/models")
    }).pipe(Effect.scoped)
  )
})
