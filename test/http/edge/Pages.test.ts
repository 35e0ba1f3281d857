import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { assertCommonHeaders, assertEnvelope } from "../envelope.ts"
import { serve } from "../serve.ts"
import { client } from "../wire.ts"

const routes = HttpRouter.add("GET", "/fine", HttpServerResponse.text("fine"))

const served = Effect.gen(function* () {
  const { logged, origin } = yield* serve(routes)
  return { logged, send: yield* client(origin) }
})

describe("the edge, for requests without an operation", () => {
  it.live("answers a preflight without a key and without counting it", () =>
    Effect.gen(function* () {
      const { send } = yield* served
      const ask = { origin: "https://app.example", "access-control-request-method": "POST" }
      for (const path of ["/api/v1/chat/completions", "/api/v1/nothing"]) {
        const { headers, status, text } = yield* send({ method: "OPTIONS", path, headers: ask })
        assert.deepStrictEqual([status, text], [204, ""])
        assertCommonHeaders(headers, path)
        assert.strictEqual(headers["access-control-allow-origin"], "*")
        assert.include(headers["access-control-allow-methods"], "POST")
        assert.match(headers["access-control-allow-headers"] ?? "", /\*, Authorization/)
        assert.strictEqual(headers["x-ratelimit-remaining"], headers["x-ratelimit-limit"])
      }
      const outside = yield* send({ method: "OPTIONS", path: "/fine", headers: ask })
      assert.strictEqual(outside.status, 404)
      assert.isUndefined(outside.headers["access-control-allow-origin"])
    }).pipe(Effect.scoped)
  )

  it.live("counts unknown paths against the client's address, up to the limit", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(routes, { env: { RATE_LIMIT_SCALE: "0.05" } })
      const send = yield* client(origin)
      const seen = []
      for (const path of ["/nothing", "/api/v1/models/%ff", "/nothing", "/nothing"]) {
        const got = yield* send({ path })
        seen.push([got.status, assertEnvelope(got, path).error.code, got.headers["x-ratelimit-remaining"]])
      }
      assert.deepStrictEqual(seen, [
        [404, "unknown_route", "2"],
        [404, "not_found", "1"],
        [404, "unknown_route", "0"],
        [429, "rate_limit_exceeded", "0"]
      ])
      const refused = yield* send({ method: "DELETE", path: "/api/v1/models" })
      assert.strictEqual(refused.status, 429)
      assert.isAtLeast(Number(refused.headers["retry-after"]), Number(refused.headers["x-ratelimit-reset"]))
    }).pipe(Effect.scoped)
  )
})
