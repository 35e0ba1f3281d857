import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import examples from "../../../schemas/published/examples.json" with { type: "json" }
import { browser, missingBrowser } from "../../support/Browser.ts"
import { startService } from "../../support/Service.ts"
import { announceSkip } from "../../support/Skips.ts"

announceSkip("the API reference in a browser", missingBrowser)

describe("the documentation", () => {
  it.live("is served as HTML, Markdown and llms.txt, and loads nothing from other sites", () =>
    Effect.gen(function* () {
      const { origin } = yield* startService()
      const get = (path: string, init: RequestInit = {}) => Effect.promise(() => fetch(`${origin}${path}`, init))
      const textOf = (path: string) => Effect.flatMap(get(path), (answer) => Effect.promise(() => answer.text()))

      const page = yield* get("/docs/guide/limits")
      assert.strictEqual(page.status, 200)
      assert.include(page.headers.get("content-type"), "text/html")
      assert.include(page.headers.get("content-security-policy"), "script-src 'self';")
      const html = yield* Effect.promise(() => page.text())
      assert.include(html, "<h1>Limits</h1>")
      assert.notMatch(html.replaceAll(/<a href="https:[^>]*>/g, ""), /(src|href)="https?:/)

      const tag = page.headers.get("etag") ?? ""
      assert.strictEqual((yield* get("/docs/guide/limits", { headers: { "if-none-match": tag } })).status, 304)
      assert.match(yield* textOf("/docs/guide/limits.md"), /^# Limits\n/)
      assert.match(yield* textOf("/llms.txt"), /^# tollgate\n[^]*\/docs\/guide\/quick-start\.md\)/)
      assert.include(yield* textOf("/llms-full.txt"), "# Idempotency")
      assert.include(yield* textOf("/docs/search.json"), '"path":"guide/limits"')
      assert.include(yield* textOf("/docs"), "Quick start")

      const api = yield* textOf("/docs/api")
      for (const [, source = ""] of api.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)) {
        const asset = yield* get(source)
        assert.strictEqual(asset.status, 200, source)
        yield* Effect.promise(() => asset.arrayBuffer())
      }
      assert.strictEqual((yield* get("/docs/assets/inter.woff2")).headers.get("content-type"), "font/woff2")

      // The examples call this gateway, and no other one with the default settings.
      const base = JSON.parse(yield* textOf("/api/v1/openapi.json")).servers[0].url
      for (const path of ["/docs/guide/sdks", "/docs/guide/sdks.md", "/llms-full.txt"]) {
        const shown = yield* textOf(path)
        assert.include(shown, `${base}/api/v1`, path)
        assert.notInclude(shown, "127.0.0.1:8787", path)
      }

      const section = yield* get("/docs/reference")
      assert.deepStrictEqual([section.status, new URL(section.url).pathname], [200, "/docs"])
      assert.include(yield* Effect.promise(() => section.text()), '<h2 id="reference">')
      const shown = yield* get("/docs/guide/nothing", { headers: { accept: "text/html,*/*;q=0.8" } })
      assert.strictEqual(shown.status, 404)
      assert.include(shown.headers.get("content-security-policy"), "script-src 'self';")
      assert.include(yield* Effect.promise(() => shown.text()), "<h1>No such page</h1>")
      const absent = yield* get("/docs/nothing")
      assert.strictEqual(absent.status, 404)
      assert.strictEqual((yield* Effect.promise(() => absent.json())).error.code, "not_found")
    }).pipe(Effect.scoped)
  )

  it.live("is linked from the API's root", () =>
    Effect.gen(function* () {
      const { origin } = yield* startService()
      const links = yield* Effect.promise(async () => (await fetch(`${origin}/api/v1`)).json())
      assert.strictEqual(links.object, "links")
      for (const link of [links.documentation, links.openapi, links.models, links.mcp, links.llms])
        assert.match(link, /^http/)
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(missingBrowser !== undefined)(
    "sends an operation's example from the page of the API reference, to the address of the page",
    () =>
      Effect.gen(function* () {
        const { origin } = yield* startService()
        const chromium = yield* browser
        const sent = yield* Effect.promise(async () => {
          const page = await chromium.newPage()
          await page.goto(`${origin}/docs/api#tag/chat/POST/api/v1/chat/completions`)
          await page
            .getByRole("button", { name: /^Test Request/ })
            .first()
            .click()
          const request = page.waitForRequest((one) => one.method() === "POST")
          await page.getByRole("button", { name: /^Send/ }).first().click()
          return await request
        })
        assert.strictEqual(sent.url(), `${origin}/api/v1/chat/completions`)
        assert.deepStrictEqual(sent.postDataJSON(), examples["chat.completions"].request)
      }).pipe(Effect.scoped)
  )
})
