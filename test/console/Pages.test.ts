/** The pages about usage and money in a browser: with data, without data, and when the gateway fails. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { missingBrowser, settled } from "../support/Browser.ts"
import { ownerPage, ownerStage } from "../support/OwnerConsole.ts"
import { announceSkip } from "../support/Skips.ts"
import { post } from "../support/Service.ts"

announceSkip("the console's pages of usage", missingBrowser)

const pages = ["/overview", "/explorer", "/requests", "/billing"]

class Stage extends Context.Service<Stage, Effect.Success<typeof ownerStage>>()("test/console/PagesStage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.suspend(() => ownerStage)
  )
}

const signedIn = Effect.flatMap(Stage, ownerPage)

const ask = Effect.fnUntraced(function* (key: string, model: string, play?: string) {
  const { service } = yield* Stage
  const body = {
    model,
    max_tokens: 20,
    messages: [{ role: "user", content: "Hello!" }],
    routing: { allow_fallbacks: false }
  }
  yield* post(`${service.api}/chat/completions`, key, body, play === undefined ? {} : { "x-svc-sandbox": play })
})

const withBrowser = missingBrowser === undefined ? layer(Stage.layer, { excludeTestServices: true }) : () => undefined

withBrowser("the pages of usage", (it) => {
  it.effect("show usage by group, filter it on a click, and keep every choice in the URL", () =>
    Effect.gen(function* () {
      const { complaints, inferenceKey, origin, page } = yield* signedIn
      yield* ask(inferenceKey, "gpt-4o")
      yield* ask(inferenceKey, "gpt-4o-mini")
      yield* ask(inferenceKey, "gpt-4o-mini", "fault=malformed")
      yield* Effect.promise(async () => {
        await page.goto(`${origin}/explorer?range=1h&figure=requests`)
        const figures = page.getByRole("region", { name: "Table: figures of the groups" })
        await figures.getByRole("row", { name: /gpt-4o-mini/ }).waitFor()
        assert.match(await figures.getByRole("row", { name: /Sum/ }).innerText(), /\b3\b[^]*1 · 33\.3%/)
        await figures.getByRole("button", { name: "gpt-4o-mini" }).click()
        await page.waitForURL(/model=gpt-4o-mini/)
        await page.getByLabel("Remove the filter Model gpt-4o-mini").waitFor()
        await page.waitForFunction(() => document.querySelectorAll("[aria-label=Figures] tbody tr").length === 1)
        await page.getByLabel("Group by").selectOption("status")
        await figures.getByRole("row", { name: /^Failed/ }).waitFor()
        const [file] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name: "Download CSV" }).click()
        ])
        assert.strictEqual(file.suggestedFilename(), "usage by status.csv")
        const [picture] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name: "PNG of the chart" }).click()
        ])
        assert.strictEqual(picture.suggestedFilename(), "Requests by status.png")
        const png = readFileSync(await picture.path())
        assert.strictEqual(png.toString("latin1", 1, 4), "PNG")
        // The picture is twice as wide as the chart with its margins. An empty picture would be far smaller.
        const shown = await page.evaluate(() => document.querySelector(".chart svg")!.clientWidth)
        assert.strictEqual(png.readUInt32BE(16), 2 * (shown + 40))
        assert.isAbove(png.length, 5_000)
        await page.reload()
        await figures.getByRole("row", { name: /^Failed/ }).waitFor()
        await page.getByLabel("Remove the filter Model gpt-4o-mini").click()
        await page.waitForURL((url) => !url.search.includes("model="))

        await page.goto(`${origin}/requests`)
        const rows = page.getByRole("table", { name: /Requests/ })
        await rows.getByRole("row").nth(3).waitFor()
        await page.getByLabel("Add a filter").selectOption("status")
        await page.getByRole("combobox", { name: "Status", exact: true }).selectOption("failed")
        await page.waitForURL(/status=failed/)
        await page.waitForFunction(() => document.querySelectorAll("[role=row].line").length === 1)
        await page.getByText("Columns", { exact: true }).click()
        await page.getByLabel("Finish reason").check()
        await page.waitForURL(/cols=/)
        await page.keyboard.press("Escape")
        await page.getByLabel("Finish reason").waitFor({ state: "hidden" })
        await rows.getByRole("columnheader", { name: "Finish reason" }).waitFor()
      })
      assert.deepStrictEqual(complaints, [])
    })
  )

  it.effect("say what to do when there is no data yet", () =>
    Effect.gen(function* () {
      const { complaints, origin, page } = yield* signedIn
      yield* Effect.promise(async () => {
        for (const [path, words] of [
          ["/overview", "Send your first request"],
          ["/explorer", "There is no usage in this range."],
          ["/requests", "There is no request in this range."]
        ] as const) {
          await page.goto(origin + path)
          await settled(page)
          await page.getByText(words).first().waitFor()
        }
      })
      assert.deepStrictEqual(complaints, [])
    })
  )

  it.effect("show an error and a way to retry when the gateway is down or limits the rate", () =>
    Effect.gen(function* () {
      const { origin, page } = yield* signedIn
      yield* Effect.promise(async () => {
        for (const path of pages) {
          for (const kind of ["down", "limited"] as const) {
            await page.goto(`${origin}/settings`)
            await settled(page)
            await page.route(/\/api\/v1\/(management|requests|console\/top-ups)/, (route) =>
              kind === "down"
                ? route.abort()
                : route.fulfill({
                    status: 429,
                    headers: { "x-request-id": "req_01", "x-should-retry": "false" },
                    json: {
                      error: {
                        message: "Too many requests. Try again in 3 seconds.",
                        type: "rate_limit_error",
                        code: "rate_limit_exceeded"
                      }
                    }
                  })
            )
            await page.goto(origin + path)
            const alert = page.getByRole("alert").first()
            await alert.waitFor()
            const words = kind === "down" ? /did not answer/ : /Try again in 3 seconds\.\s+req_01/
            assert.match(await alert.innerText(), words, `${path} ${kind}`)
            await page.unrouteAll()
            for (const banner of await page
              .getByRole("alert")
              .getByRole("button", { name: "Try again" })
              .elementHandles()) {
              await banner.click()
            }
            await alert.waitFor({ state: "detached" })
          }
        }
      })
    })
  )

  it.effect("lead to the sign-in page when the session has ended, and keep their URL", () =>
    Effect.gen(function* () {
      const { origin, page } = yield* signedIn
      yield* Effect.promise(async () => {
        await page.goto(`${origin}/explorer?range=30d`)
        await settled(page)
        await page.context().clearCookies()
        await page.getByLabel("Group by").selectOption("key")
        await page.waitForURL(/sign-in\?next=/)
        assert.include(decodeURIComponent(page.url()), "/explorer?range=30d")
      })
    })
  )
})
