/** Authentication, host checks, rate limits and sessions in front of the MCP server, on the whole gateway. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { request as rawRequest } from "node:http"
import { openSession, rpcHeaders, send } from "../support/Mcp.ts"
import { json, startService } from "../support/Service.ts"

const list = { jsonrpc: "2.0", id: 7, method: "tools/list" }

/** Returns the HTTP status of a JSON-RPC error, the code of the envelope in it, and its id. */
const errorOf = (response: Response) =>
  Effect.map(json(response), ({ error, id, jsonrpc }) => {
    assert.strictEqual(jsonrpc, "2.0")
    return [response.status, error.data.error.code, id]
  })

/** Returns the status of a request with any `Host`, which `fetch` cannot set. */
const statusWithHost = (origin: string, headers: Record<string, string>, body: object) =>
  Effect.promise(
    () =>
      new Promise<number>((resolve, reject) => {
        const request = rawRequest(`${origin}/mcp`, { method: "POST", headers: { ...rpcHeaders, ...headers } })
        request.on("response", (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        })
        request.on("error", reject).end(JSON.stringify(body))
      })
  )

describe("/mcp", () => {
  it.live(
    "answers 401 with WWW-Authenticate and the envelope in a JSON-RPC error to a request without a valid key",
    () =>
      Effect.gen(function* () {
        const { account, origin } = yield* startService()
        const none = yield* send(origin, undefined, list)
        assert.strictEqual(none.headers.get("www-authenticate"), "Bearer")
        assert.deepStrictEqual(yield* errorOf(none), [401, "missing_api_key", null])
        const bad = yield* send(origin, `svc_sk_${"A".repeat(43)}`, list)
        assert.strictEqual(bad.headers.get("www-authenticate"), "Bearer")
        assert.deepStrictEqual(yield* errorOf(bad), [401, "invalid_api_key", null])
        const { managementKey } = yield* account()
        assert.deepStrictEqual(yield* errorOf(yield* send(origin, managementKey, list)), [403, "wrong_key_kind", null])
      }).pipe(Effect.scoped)
  )

  it.live("accepts the key as `x-api-key`", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      const session = yield* openSession(origin, inferenceKey)
      const headers = { "x-api-key": inferenceKey, "mcp-session-id": session }
      const response = yield* send(origin, undefined, list, headers)
      assert.strictEqual(response.status, 200)
      assert.isAbove((yield* json(response)).result.tools.length, 5)
      const bearer = yield* send(origin, undefined, list, { ...headers, "x-api-key": `Bearer ${inferenceKey}` })
      assert.match((yield* json(bearer)).error.message, /^`x-api-key` must be the key alone/)
    }).pipe(Effect.scoped)
  )

  it.live("rejects a revoked key at once", () =>
    Effect.gen(function* () {
      const { account, keys, origin } = yield* startService()
      const { account: owner, inferenceKey } = yield* account()
      const headers = { "mcp-session-id": yield* openSession(origin, inferenceKey) }
      const balance = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_balance", arguments: {} } }
      const before = yield* json(yield* send(origin, inferenceKey, balance, headers))
      assert.strictEqual(before.result.structuredContent.balance_usd, 100)
      const page = { limit: 1, cursor: undefined }
      const { rows } = yield* keys.list({ accountId: owner.id, kind: "inference" }, page)
      yield* keys.revoke(rows[0]!.id, { type: "operator", id: "test" })
      for (const message of [list, balance]) {
        const answer = yield* send(origin, inferenceKey, message, headers)
        const [status, code] = yield* errorOf(answer)
        assert.deepStrictEqual([status, code], [401, "invalid_api_key"])
      }
    }).pipe(Effect.scoped)
  )

  it.live("answers 403 to a foreign Host and a foreign Origin", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService({ PUBLIC_URL: "https://api.example.com" })
      const { inferenceKey } = yield* account()
      const session = yield* openSession(origin, inferenceKey)
      const own = { authorization: `Bearer ${inferenceKey}`, "mcp-session-id": session }
      const statusOf = (headers: Record<string, string>) => statusWithHost(origin, { ...own, ...headers }, list)
      assert.strictEqual(yield* statusOf({ host: "evil.example.org" }), 403)
      assert.strictEqual(yield* statusOf({ host: "api.example.com" }), 200)
      assert.strictEqual(yield* statusOf({ host: "localhost:1" }), 200)
      assert.strictEqual(yield* statusOf({ origin: "https://evil.example.org" }), 403)
      assert.strictEqual(yield* statusOf({ origin: "https://api.example.com" }), 200)
      assert.strictEqual(yield* statusOf({ origin: "http://localhost:6274" }), 200)
    }).pipe(Effect.scoped)
  )

  it.live("counts messages against the default rate limit of the key, and calls against that of their operation", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService({ RATE_LIMIT_SCALE: "0.05" })
      const { inferenceKey } = yield* account()
      const headers = { "mcp-session-id": yield* openSession(origin, inferenceKey) }
      const ping = { jsonrpc: "2.0", id: 3, method: "ping" }
      const second = yield* send(origin, inferenceKey, ping, headers)
      assert.match(second.headers.get("ratelimit-policy") ?? "", /^"default"/)
      assert.strictEqual((yield* send(origin, inferenceKey, ping, headers)).status, 200)
      const over = yield* send(origin, inferenceKey, ping, headers)
      assert.isNotNull(over.headers.get("retry-after"))
      assert.deepStrictEqual(yield* errorOf(over), [429, "rate_limit_exceeded", 3])
      const call = { jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "get_balance", arguments: {} } }
      const { result } = yield* json(yield* send(origin, inferenceKey, call, headers))
      assert.isTrue(result.isError)
      assert.strictEqual(result._meta.error.code, "rate_limit_exceeded")
      assert.isTrue(result._meta.retry)
      assert.isAbove(result._meta.retry_after_seconds, 0)
    }).pipe(Effect.scoped)
  )

  it.live("continues a session that this node does not know, and ends one when its client asks", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      const foreign = { "mcp-session-id": "of-another-node", "mcp-protocol-version": "2025-06-18" }
      const continued = yield* send(origin, inferenceKey, list, foreign)
      assert.strictEqual(continued.headers.get("mcp-protocol-version"), "2025-06-18")
      assert.isAbove((yield* json(continued)).result.tools.length, 5)
      const end = (headers: Record<string, string>) =>
        Effect.promise(() =>
          fetch(`${origin}/mcp`, { method: "DELETE", headers: { authorization: `Bearer ${inferenceKey}`, ...headers } })
        )
      assert.strictEqual((yield* end(foreign)).status, 204)
      assert.deepStrictEqual(yield* errorOf(yield* send(origin, inferenceKey, list, foreign)), [404, "not_found", 7])
      assert.strictEqual((yield* end({})).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("answers refusals of its library with the envelope, the header about retries and the code of JSON-RPC", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      const session = { "mcp-session-id": yield* openSession(origin, inferenceKey) }
      const refused = (message: object, headers: Record<string, string>) =>
        Effect.gen(function* () {
          const response = yield* send(origin, inferenceKey, message, headers)
          const { error, id } = yield* json(response)
          assert.strictEqual(id, 7)
          assert.sameMembers(Object.keys(error), ["code", "message", "data"])
          assert.strictEqual(error.message, error.data.error.message)
          return [response.status, response.headers.get("x-should-retry"), error.code, error.message]
        })
      assert.deepStrictEqual(yield* refused(list, {}), [
        400,
        "false",
        -32_600,
        "`MCP-Session-Id` is required; send initialize to open a session."
      ])
      const other = { ...session, "mcp-protocol-version": "1999" }
      const [status, , code, message] = yield* refused(list, other)
      assert.deepStrictEqual([status, code], [400, -32_022])
      assert.match(message, /^`MCP-Protocol-Version` must be one of 2026-07-28, .*; got "1999"\.$/)
      assert.deepStrictEqual(yield* refused({ ...list, method: "tools/call", params: { name: "nothing" } }, session), [
        200,
        null,
        -32_602,
        "There is no tool nothing."
      ])
      assert.deepStrictEqual(yield* refused({ ...list, method: "tools/call", params: {} }, session), [
        200,
        null,
        -32_602,
        "`name` is required."
      ])
    }).pipe(Effect.scoped)
  )

  it.live("answers invalid messages in JSON-RPC, and other HTTP methods with the allowed ones", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      const broken = yield* send(origin, inferenceKey, "{")
      assert.strictEqual(broken.status, 400)
      assert.strictEqual((yield* json(broken)).error.code, -32_700)
      const text = yield* send(origin, inferenceKey, list, { "content-type": "text/plain" })
      assert.deepStrictEqual(yield* errorOf(text), [415, "unsupported_media_type", null])
      const deaf = yield* send(origin, inferenceKey, list, { accept: "application/json" })
      assert.deepStrictEqual(yield* errorOf(deaf), [400, "validation_error", 7])
      const read = yield* Effect.promise(() => fetch(`${origin}/mcp`))
      assert.strictEqual(read.headers.get("allow"), "POST, DELETE")
      assert.deepStrictEqual(yield* errorOf(read), [405, "method_not_allowed", null])
    }).pipe(Effect.scoped)
  )
})
