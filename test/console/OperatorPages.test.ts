/** The pages of the operator's section in a browser: filtered, failing, and in several sizes. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type axe from "axe-core"
import { missingBrowser, type Page, settled } from "../support/Browser.ts"
import { announceSkip } from "../support/Skips.ts"
import { chatAs, operatorStage, signedInOperator, unexpected } from "../support/OperatorConsole.ts"
import { attended } from "../support/Things.ts"

announceSkip("the pages of the operator's section", missingBrowser)

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

class Stage extends Context.Service<Stage, Effect.Success<typeof operatorStage>>()("test/console/OperatorPagesStage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.suspend(() => operatorStage)
  )
}

/** Returns the serious accessibility problems of a page. */
const barriersOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axeSource)
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ["violations"] })
  )
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id} at ${nodes.map(({ target }) => target.join(" ")).join(", ")}`)
}

const overflowOf = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

const withBrowser = missingBrowser === undefined ? layer(Stage.layer, { excludeTestServices: true }) : () => undefined

withBrowser("the operator's pages", (it) => {
  it.effect("open the row that the operator clicks while a filter is about to remove it", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { service } = stage
      const { account, inferenceKey } = yield* service.account(10)
      const id = yield* chatAs(service, inferenceKey)
      const { complaints, origin, page } = yield* signedInOperator(stage)
      yield* Effect.promise(async () => {
        // The press lasts longer than the pause after which a search begins.
        const delay = 600
        await page.getByRole("link", { name: account.email }).waitFor()
        await page.getByLabel("Find accounts").fill("finds nothing")
        await page.getByRole("link", { name: account.email }).click({ delay })
        await page.getByRole("heading", { level: 1, name: account.email }).waitFor()
        await page.goto(`${origin}/operator/requests?account=${account.id}`)
        const row = page.getByRole("region", { name: "Table: requests" }).getByRole("link").first()
        await row.waitFor()
        await page.getByLabel("Model", { exact: true }).fill("finds-nothing")
        await row.click({ delay })
        await page.waitForURL(new RegExp(`/operator/requests/${id}`))
      })
      assert.deepStrictEqual(unexpected(complaints), [])
    })
  )

  it.effect("keep the rows of a filter until those of the next one arrive", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { account } = yield* stage.service.account(10)
      const { page } = yield* signedInOperator(stage)
      yield* Effect.promise(async () => {
        const row = page.getByRole("link", { name: account.email })
        await row.waitFor()
        let isHeld = true
        const held: Array<() => Promise<void>> = []
        await page.route(/accounts\?.*search=/, (route) => {
          if (isHeld) held.push(() => route.continue())
          else return route.continue()
        })
        await page.keyboard.press("/")
        await page.keyboard.type("finds nothing")
        await page.locator("[aria-busy=true]").waitFor()
        assert.isTrue(await row.isVisible())
        await page.waitForURL(/q=finds.nothing|q=finds%20nothing/)
        isHeld = false
        // The page has cancelled the searches for the first letters.
        await Promise.allSettled(held.map((answer) => answer()))
        await page.getByText("No account matches.").waitFor()
      })
    })
  )

  it.effect("work with the keyboard alone, on a phone too", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { account } = yield* stage.service.account(10)
      const { page } = yield* signedInOperator(stage, { viewport: { width: 390, height: 844 } })
      const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "")
      const to = async (words: string) => {
        for (let stops = 0; stops < 12 && (await focused()) !== words; stops++) await page.keyboard.press("Tab")
        assert.strictEqual(await focused(), words)
      }
      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: account.email }).waitFor()
        await page.keyboard.press("/")
        await page.keyboard.type(account.email)
        await page.waitForFunction(() => document.querySelectorAll("[aria-label=Accounts] tbody tr").length === 1)
        await to(account.email)
        await page.keyboard.press("Enter")
        await page.getByRole("heading", { level: 1, name: account.email }).waitFor()
        await to("Suspend")
        await page.keyboard.press("Enter")
        await page.keyboard.type("leaked")
        assert.strictEqual(await page.getByLabel("Reason").inputValue(), "leaked")
        await page.keyboard.press("Escape")
        await page.getByRole("dialog").waitFor({ state: "detached" })
        assert.strictEqual(await focused(), "Suspend")
        const rail = page.getByRole("complementary", { name: "Operator" })
        await page.getByRole("button", { name: "Open the menu" }).focus()
        await page.keyboard.press("Enter")
        await rail.waitFor()
        await to("Plans")
        await page.keyboard.press("Escape")
        await rail.waitFor({ state: "hidden" })
        assert.strictEqual(await page.evaluate(() => document.activeElement?.ariaLabel), "Open the menu")
        await page.keyboard.press("Enter")
        await to("Plans")
        await page.keyboard.press("Enter")
        await page.getByRole("heading", { level: 1, name: "Plans" }).waitFor()
        await page.waitForFunction(() => document.activeElement?.id === "content")
        await page.keyboard.press("g")
        await page.keyboard.press("r")
        await page.waitForURL(/\/operator\/requests$/)
      })
    })
  )

  it.effect("show an error when the gateway fails, and recover when it answers again", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { account, inferenceKey } = yield* stage.service.account(10)
      const id = yield* chatAs(stage.service, inferenceKey)
      const { origin, page } = yield* signedInOperator(stage)
      yield* Effect.promise(async () => {
        for (const path of [
          ...["accounts", `accounts/${account.id}`, "requests", `requests/${id}`, "top-ups", "report", "plans"],
          ...["spend", "audit"]
        ]) {
          await page.route(/\/api\/v1\/operator\/(?!session)/, (route) => route.abort())
          await page.goto(`${origin}/operator/${path}`)
          const alert = page.getByRole("alert").first()
          await alert.waitFor()
          assert.match(await alert.innerText(), /did not answer/, path)
          await page.waitForFunction(() => document.querySelector("[aria-busy=true], .skeleton") === null)
          await page.unrouteAll()
          for (const again of await page.getByRole("button", { name: "Try again" }).elementHandles())
            await again.click()
          await alert.waitFor({ state: "detached" })
          await settled(page)
        }
      })
    })
  )

  for (const [width, colorScheme] of [
    [390, "dark"],
    [1_280, "light"],
    [1_920, "dark"]
  ] as const) {
    it.effect(`fit a width of ${width} pixels without serious accessibility problems, in ${colorScheme}`, () =>
      Effect.gen(function* () {
        const stage = yield* Stage
        const { service } = stage
        const { account, inferenceKey } = yield* service.account(10)
        const id = yield* chatAs(service, inferenceKey)
        yield* attended(service, account.id)
        const options = { viewport: { width, height: 900 }, colorScheme }
        const { complaints, origin, page } = yield* signedInOperator(stage, options)
        const problems: Array<string> = []
        yield* Effect.promise(async () => {
          for (const path of [
            ...[
              "accounts",
              `accounts/${account.id}`,
              "requests",
              `requests/${id}`,
              "top-ups",
              "report",
              "report?by=model"
            ],
            ...["plans", "spend", "audit"]
          ]) {
            await page.goto(`${origin}/operator/${path}`)
            await settled(page)
            const over = await overflowOf(page)
            if (over > 0) problems.push(`${path} is ${over} pixels too wide`)
            problems.push(...(await barriersOf(page)).map((words) => `${path}: ${words}`))
          }
        })
        assert.deepStrictEqual(problems, [])
        assert.deepStrictEqual(unexpected(complaints), [])
      })
    )
  }
})
