import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { failure } from "../../../src/domain/Failure.ts"
import { assertCommonHeaders, assertEnvelope } from "../envelope.ts"
import { serve } from "../serve.ts"
import { client } from "../wire.ts"

const SECRET = "the password is swordfish"

/** Other ways to write a path that the router takes for the same, and one or two that it does not. */
const spellingsOf = (path: string): ReadonlyArray<string> => [
  path,
  ...[...path].flatMap((letter, at) => {
    const [before, after] = [path.slice(0, at), path.slice(at + 1)]
    if (letter === "/")
      return [`${before}//${after}`, `${before}////${after}`, ...(at === 0 ? [] : [`${before}/%2f${after}`])]
    const hex = letter.charCodeAt(0).toString(16)
    return [`${before}%${hex}${after}`, `${before}%${hex.toUpperCase()}${after}`]
  }),
  [...path].map((letter) => (letter === "/" ? "//" : `%${letter.charCodeAt(0).toString(16)}`)).join(""),
  `${path}/`,
  `${path}?a=%ff`,
  `${path};a=b`,
  `http://elsewhere.example${path}`,
  `http://elsewhere.example/${path.replace("/api", "/%61pi")}`
]

const routes = Layer.mergeAll(
  HttpRouter.add("GET", "/api/v1/fine", HttpServerResponse.text("fine")),
  HttpRouter.add("GET", "/fine", HttpServerResponse.text("fine")),
  HttpRouter.add("GET", "/api/v1/dies", Effect.die(new Error(SECRET))),
  ...(["management", "console", "payments"] as const).flatMap((area) => [
    HttpRouter.add("GET", `/api/v1/${area}/secret`, HttpServerResponse.text(SECRET)),
    HttpRouter.add("GET", `/api/v1/${area}/dies`, Effect.die(new Error(SECRET))),
    HttpRouter.add("POST", `/api/v1/${area}/dies`, Effect.die(new Error(SECRET)))
  ]),
  HttpRouter.add("POST", "/api/v1/dies", Effect.die(new Error(SECRET))),
  HttpRouter.add("GET", "/dies", Effect.die(new Error(SECRET))),
  HttpRouter.add("GET", "/fails", Effect.die(failure({ _tag: "StoreUnavailable" }, new Error(SECRET)))),
  HttpRouter.add(
    "POST",
    "/echo",
    Effect.map(
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => Effect.orDie(request.text)),
      (text) => HttpServerResponse.text(text)
    )
  )
)

const served = Effect.gen(function* () {
  const { logged, origin } = yield* serve(routes)
  return { logged, send: yield* client(origin) }
})

describe("the edge", () => {
  for (const path of ["/dies", "/api/v1/dies"]) {
    it.live(`answers a defect at ${path} with 500, and describes it only in the log`, () =>
      Effect.gen(function* () {
        const { logged, send } = yield* served
        const got = yield* send({ path })
        const { error } = assertEnvelope(got, path)
        assert.deepStrictEqual([got.status, error.type, error.code], [500, "api_error", "internal_error"])
        assert.notInclude(JSON.stringify(got), "swordfish")
        assert.lengthOf(logged, 1)
        assert.match(logged[0] ?? "", /^Error .*swordfish/)
      }).pipe(Effect.scoped)
    )
  }

  it.live("answers an uncaught failure by its kind, and logs the part for operators", () =>
    Effect.gen(function* () {
      const { logged, send } = yield* served
      const got = yield* send({ path: "/fails" })
      assert.strictEqual(assertEnvelope(got, "/fails").error.code, "store_unavailable")
      assert.strictEqual(got.status, 503)
      assert.strictEqual(got.headers["retry-after"], "2")
      assert.notInclude(JSON.stringify(got), "swordfish")
      assert.match(logged[0] ?? "", /^Warn .*StoreUnavailable/)
    }).pipe(Effect.scoped)
  )

  it.live("answers 413 for a large body in an unguarded handler", () =>
    Effect.gen(function* () {
      const { logged, send } = yield* served
      const got = yield* send({ method: "POST", path: "/echo", body: "x".repeat(2_000) })
      assert.strictEqual(assertEnvelope(got, "/echo").error.code, "request_too_large")
      assert.strictEqual(got.status, 413)
      assert.deepStrictEqual(logged, [])
    }).pipe(Effect.scoped)
  )

  it.live("adds an id and rate limits to every response, and CORS within the API only", () =>
    Effect.gen(function* () {
      const { send } = yield* served
      const ids = new Set<string | undefined>()
      for (const path of ["/fine", "/api/v1/fine", "/nothing", "/api/v1/nothing", "/api/v1", "/api/v1x"]) {
        const { headers } = yield* send({ path, headers: { "x-request-id": "mine", origin: "https://app.example" } })
        assertCommonHeaders(headers, path)
        ids.add(headers["x-request-id"])
        const inside = path === "/api/v1" || path.startsWith("/api/v1/")
        assert.strictEqual(headers["access-control-allow-origin"], inside ? "*" : undefined, path)
        const exposed = headers["access-control-expose-headers"] ?? ""
        assert.strictEqual(
          /X-Request-ID.* Request-ID/.test(exposed) && exposed.includes("X-RateLimit-Remaining"),
          inside,
          path
        )
        assert.strictEqual(headers["x-svc-sandbox"], "true", path)
      }
      assert.strictEqual(ids.size, 6)
    }).pipe(Effect.scoped)
  )

  it.live("keeps account data from caches and other sites, for every spelling of the path", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(routes, { env: { RATE_LIMIT_SCALE: "100" } })
      const send = yield* client(origin)
      const seen = new Map<string, number>()
      for (const area of ["management", "console", "payments"]) {
        for (const below of ["/secret", "/nothing", ""]) {
          for (const path of spellingsOf(`/api/v1/${area}${below}`)) {
            const { headers, status } = yield* send({ path, headers: { origin: "https://evil.example" } })
            seen.set(`${area} ${status}`, (seen.get(`${area} ${status}`) ?? 0) + 1)
            // With a slash that is none, it is another path.
            if (status === 404 && path.includes("%2f")) continue
            assert.strictEqual(headers["cache-control"], "no-store", path)
            assert.strictEqual(headers["access-control-allow-origin"], area === "console" ? undefined : "*", path)
          }
        }
      }
      for (const area of ["management", "console", "payments"]) assert.isAtLeast(seen.get(`${area} 200`) ?? 0, 40)
      const ask = { origin: "https://evil.example", "access-control-request-method": "POST" }
      for (const path of ["/api/v1/console", "/api/v1//console/secret", "/api/v1/%63onsole/secret"]) {
        const { headers } = yield* send({ method: "OPTIONS", path, headers: ask })
        assert.isUndefined(headers["access-control-allow-headers"], path)
      }
      for (const path of ["/api/v1/consoles", "/api/v1/managements/x"]) {
        const { headers } = yield* send({ path })
        assert.deepStrictEqual([headers["cache-control"], headers["access-control-allow-origin"]], [undefined, "*"])
      }
    }).pipe(Effect.scoped)
  )

  it.live("forbids automatic retries of account changes after any failure", () =>
    Effect.gen(function* () {
      const { send } = yield* served
      for (const [method, path, retry] of [
        ["POST", "/api/v1/management/dies", "false"],
        ["POST", "/api/v1//%6danagement/dies", "false"],
        ["POST", "/api/v1/console/dies", "false"],
        ["GET", "/api/v1/management/dies", "true"],
        ["HEAD", "/api/v1/management/dies", "true"],
        // Whoever tells of payments is to tell again.
        ["POST", "/api/v1/payments/dies", "true"],
        ["POST", "/api/v1/dies", "true"]
      ] as const) {
        const { headers, status } = yield* send({ method, path })
        assert.deepStrictEqual([status, headers["x-should-retry"]], [500, retry], `${method} ${path}`)
      }
      const { origin } = yield* serve(routes, { env: { RATE_LIMIT_SCALE: "0.01" } })
      const again = yield* client(origin)
      yield* again({ path: "/nothing" })
      const refused = yield* again({ method: "POST", path: "/api/v1/management/nothing" })
      assert.deepStrictEqual([refused.status, refused.headers["x-should-retry"]], [429, "true"])
    }).pipe(Effect.scoped)
  )

  it.live("has no sandbox header outside a sandbox", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(routes, { env: { SANDBOX: "off" } })
      const send = yield* client(origin)
      assert.isUndefined((yield* send({ path: "/fine" })).headers["x-svc-sandbox"])
    }).pipe(Effect.scoped)
  )
})
