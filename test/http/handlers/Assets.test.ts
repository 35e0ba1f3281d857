import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { failure } from "../../../src/domain/Failure.ts"
import { serveAsset, IMMUTABLE } from "../../../src/http/handlers/Assets.ts"
import { serve } from "../serve.ts"
import { raw } from "../wire.ts"

const text = "Hello! ".repeat(1_000)

const stage = Effect.gen(function* () {
  const made = { text: 0, late: 0 }
  const asset = {
    contentType: "text/css; charset=utf-8",
    policy: "default-src 'none'",
    make: Effect.sync(() => (made.text++, Buffer.from(text)))
  }
  const late = Effect.suspend(() =>
    made.late++ === 0 ? Effect.fail(failure({ _tag: "InternalError" })) : Effect.succeed(Buffer.from("late"))
  )
  const routes = HttpRouter.use((router) =>
    Effect.gen(function* () {
      yield* router.add("GET", "/text", yield* serveAsset({ ...asset, vary: "accept" }))
      yield* router.add(
        "GET",
        "/font",
        yield* serveAsset({ ...asset, contentType: "font/woff2", cacheControl: IMMUTABLE })
      )
      yield* router.add("GET", "/late", yield* serveAsset({ ...asset, make: late }))
    })
  )
  return { made, ...(yield* serve(routes)) }
})

describe("an asset", () => {
  it.live("is sent in the best encoding that the client accepts, each encoding with its own ETag", () =>
    Effect.gen(function* () {
      const { made, origin } = yield* stage
      const get = (accepted: string | undefined, more: Record<string, string> = {}) =>
        raw(origin, "GET", "/text", { ...(accepted === undefined ? {} : { "accept-encoding": accepted }), ...more })
      const tags = new Set<string>()
      for (const [accepted, coding] of [
        [undefined, undefined],
        ["identity", undefined],
        ["gzip;q=0, br;q=0.0", undefined],
        ["gzip, deflate", "gzip"],
        ["GZIP;q=0.5", "gzip"],
        ["gzip, br;q=0", "gzip"],
        ["gzip, deflate, br, zstd", "br"]
      ] as const) {
        const { body, headers, status } = yield* get(accepted)
        assert.deepStrictEqual([status, headers["content-encoding"]], [200, coding], accepted)
        assert.strictEqual(headers["vary"], "accept-encoding, accept")
        assert.strictEqual(headers["content-length"], String(body.length))
        const plain = coding === "br" ? brotliDecompressSync(body) : coding === "gzip" ? gunzipSync(body) : body
        assert.strictEqual(plain.toString(), text)
        tags.add(String(headers["etag"]))
        const again = yield* get(accepted, { "if-none-match": `"x", W/${headers["etag"]}` })
        assert.deepStrictEqual([again.status, again.body.length, again.headers["etag"]], [304, 0, headers["etag"]])
      }
      assert.deepStrictEqual([tags.size, made.text], [3, 1])
    }).pipe(Effect.scoped)
  )

  it.live("answers HEAD without a body and with the headers of GET", () =>
    Effect.gen(function* () {
      const { origin } = yield* stage
      const [head, get] = [
        yield* raw(origin, "HEAD", "/text", { "accept-encoding": "gzip" }),
        yield* raw(origin, "GET", "/text", { "accept-encoding": "gzip" })
      ]
      assert.deepStrictEqual([head.status, head.body.length], [200, 0])
      for (const name of ["content-type", "content-length", "content-encoding", "etag", "content-security-policy"]) {
        assert.strictEqual(head.headers[name], get.headers[name], name)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is cached by browsers as its headers say, and is not compressed when that saves nothing", () =>
    Effect.gen(function* () {
      const { origin } = yield* stage
      const { headers } = yield* raw(origin, "GET", "/font", { "accept-encoding": "gzip, br" })
      assert.deepInclude(headers, {
        "content-type": "font/woff2",
        "cache-control": "public, max-age=31536000, immutable",
        "content-security-policy": "default-src 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer"
      })
      assert.notProperty(headers, "content-encoding")
      const other = yield* raw(origin, "GET", "/text", {})
      assert.strictEqual(other.headers["cache-control"], "no-cache")
    }).pipe(Effect.scoped)
  )

  it.live("is prepared again after a failure", () =>
    Effect.gen(function* () {
      const { origin } = yield* stage
      assert.strictEqual((yield* raw(origin, "GET", "/late", {})).status, 500)
      assert.strictEqual((yield* raw(origin, "GET", "/late", {})).status, 200)
    }).pipe(Effect.scoped)
  )
})
