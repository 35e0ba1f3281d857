import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { brotliDecompressSync } from "node:zlib"
import { layerOf } from "../../../src/http/handlers/Console.ts"
import { temporaryDirectory } from "../../support/Directories.ts"
import { serve } from "../serve.ts"
import { raw } from "../wire.ts"

const html = "<!doctype html><title>Console</title>"
const script = 'console.log("Hello!");\n'.repeat(100)

const files = {
  "dist/index.html": html,
  "dist/favicon.svg": "<svg/>",
  "dist/assets/index-B1x.js": script,
  "dist/assets/inter-C2y.woff2": "font",
  "dist/.vite/manifest.json": "{}",
  secret: "secret"
}

const stage = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  const { origin } = yield* serve(layerOf(join(directory, "dist")))
  return (path: string, headers: Record<string, string> = {}, method = "GET") => raw(origin, method, path, headers)
})

const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" }

/** The directives of a policy, by their names. */
const directives = (policy = "") =>
  Object.fromEntries(
    policy.split(";").map((one) => {
      const [name = "", ...values] = one.trim().split(" ")
      return [name, values.join(" ")]
    })
  )

describe("the web console", () => {
  it.live("answers every page of the app with its one HTML file, which browsers revalidate", () =>
    Effect.gen(function* () {
      const get = yield* stage
      const pages = [
        "/",
        "/overview",
        "/explorer",
        "/requests",
        `/requests/req_${"0".repeat(26)}`,
        "/playground",
        "/models",
        "/models/svc/auto",
        "/models/svc%2Fauto",
        "/presets",
        "/presets/hello",
        "/keys",
        "/projects",
        "/webhooks",
        "/batches",
        "/videos",
        "/billing?top_up=1",
        "/audit",
        "/settings",
        "/sign-in"
      ]
      for (const path of pages) {
        const { body, headers, status } = yield* get(path, browser)
        assert.deepStrictEqual([status, body.toString()], [200, html], path)
        assert.deepInclude(headers, { "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" })
        const again = yield* get(path, { ...browser, "if-none-match": headers["etag"] ?? "" })
        assert.strictEqual(again.status, 304, path)
        const head = yield* get(path, browser, "HEAD")
        assert.deepStrictEqual([head.status, head.body.length, head.headers["etag"]], [200, 0, headers["etag"]])
      }
    }).pipe(Effect.scoped)
  )

  it.live("loads nothing from other sites, runs no inline code, and cannot be framed", () =>
    Effect.gen(function* () {
      const get = yield* stage
      for (const path of ["/", "/overview", "/assets/index-B1x.js"]) {
        const { headers } = yield* get(path, browser)
        assert.deepStrictEqual(directives(headers["content-security-policy"]), {
          "default-src": "'none'",
          "script-src": "'self'",
          "style-src": "'self'",
          "font-src": "'self'",
          "img-src": "'self' data: blob:",
          "connect-src": "'self'",
          "media-src": "'self' blob:",
          "base-uri": "'none'",
          "form-action": "'none'",
          "frame-ancestors": "'none'"
        })
        assert.deepInclude(headers, { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" })
        assert.notProperty(headers, "access-control-allow-origin")
      }
    }).pipe(Effect.scoped)
  )

  it.live("serves its files, and lets browsers cache those with a digest in their names for good", () =>
    Effect.gen(function* () {
      const get = yield* stage
      const js = yield* get("/assets/index-B1x.js", { "accept-encoding": "gzip, br" })
      assert.strictEqual(brotliDecompressSync(js.body).toString(), script)
      assert.deepInclude(js.headers, {
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": "public, max-age=31536000, immutable"
      })
      const font = yield* get("/assets/inter-C2y.woff2")
      assert.deepStrictEqual([font.headers["content-type"], font.body.toString()], ["font/woff2", "font"])
      const icon = yield* get("/favicon.svg")
      assert.deepStrictEqual(
        [icon.headers["content-type"], icon.headers["cache-control"]],
        ["image/svg+xml", "no-cache"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("serves no other file, whatever the path", () =>
    Effect.gen(function* () {
      const get = yield* stage
      for (const path of [
        "/secret",
        "/../secret",
        "/assets/../../secret",
        "/assets/%2e%2e/%2e%2e/secret",
        "/assets/..%2f..%2fsecret",
        "/assets/..%5c..%5csecret",
        "//secret",
        "/assets/",
        "/assets/index-OLD.js",
        "/.vite/manifest.json",
        "/index.html",
        "/nothing",
        "/overviews"
      ]) {
        const { body, status } = yield* get(path, browser)
        assert.deepStrictEqual([status, JSON.parse(body.toString()).error.code], [404, "unknown_route"], path)
      }
      assert.strictEqual((yield* get("/overview", {}, "POST")).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("does not answer paths of operations without their prefix for clients that do not accept HTML", () =>
    Effect.gen(function* () {
      const get = yield* stage
      for (const accept of [undefined, "*/*", "application/json"]) {
        const { body, headers, status } = yield* get("/models?limit=1", accept === undefined ? {} : { accept })
        assert.strictEqual(status, 404)
        assert.include(JSON.parse(body.toString()).error.message, "/api/v1/models")
        assert.include(headers["content-type"], "application/json")
      }
      const page = yield* get("/models", browser)
      assert.deepStrictEqual([page.status, page.headers["vary"]], [200, "accept-encoding, accept"])
      assert.strictEqual((yield* get("/overview", { accept: "*/*" })).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("serves the documentation at `/` when the console was not built", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(layerOf(join(yield* temporaryDirectory, "dist")))
      const { headers, status } = yield* raw(origin, "GET", "/")
      assert.deepStrictEqual([status, headers["location"]], [302, "/docs"])
      assert.strictEqual((yield* raw(origin, "GET", "/overview", browser)).status, 404)
    }).pipe(Effect.scoped)
  )
})
