/** The console keeps typed texts and secrets that it shows once until the owner is done. The next owner sees none of them. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { missingBrowser, type Page, settled } from "../support/Browser.ts"
import { ownerPage, ownerStage } from "../support/OwnerConsole.ts"
import { post } from "../support/Service.ts"
import { announceSkip } from "../support/Skips.ts"

announceSkip("what owners type into the console", missingBrowser)

class Stage extends Context.Service<Stage, Effect.Success<typeof ownerStage>>()("test/console/InputsStage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.suspend(() => ownerStage)
  )
}

const signedIn = Effect.flatMap(Stage, ownerPage)

/** Sends a message in the playground with a key. Returns the link to the receipt of its answer. */
const converse = async (page: Page, origin: string, key: string) => {
  await page.goto(`${origin}/playground`)
  await page.getByLabel("Or paste a key").fill(key)
  await page.getByLabel("Message").fill("Hello!")
  await page.keyboard.press("Enter")
  const receipt = page.getByRole("link", { name: "Receipt" })
  await receipt.waitFor()
  return receipt
}

const withBrowser = missingBrowser === undefined ? layer(Stage.layer, { excludeTestServices: true }) : () => undefined

withBrowser("the console", (it) => {
  it.effect("keeps a secret on the page until the owner has stored it, and a form after a click outside of it", () =>
    Effect.gen(function* () {
      const { origin, page } = yield* signedIn
      yield* Effect.promise(async () => {
        await page.goto(`${origin}/settings`)
        await page.getByRole("button", { name: "Create management key" }).click()
        const dialog = page.getByRole("dialog")
        await dialog.getByLabel("Name").fill("Reports")
        await page.mouse.click(5, 5)
        assert.strictEqual(await dialog.getByLabel("Name").inputValue(), "Reports")
        await dialog.getByRole("button", { name: "Create management key" }).click()
        const secret = page.locator("[data-secret]")
        await secret.waitFor()
        await page.mouse.click(5, 5)
        await page.keyboard.press("Control+k")
        for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Escape")
        await page.waitForTimeout(200)
        assert.isTrue(await secret.isVisible())
        assert.strictEqual(await page.getByRole("dialog").count(), 1)
        await page.getByRole("button", { name: "I have stored it" }).click()
        await page.getByRole("dialog").waitFor({ state: "detached" })
      })
    })
  )

  it.effect("shows the next owner neither the key nor the conversation of the previous owner", () =>
    Effect.gen(function* () {
      const { inferenceKey, origin, page } = yield* signedIn
      yield* Effect.promise(async () => {
        await converse(page, origin, inferenceKey)
        await page.getByRole("link", { name: "Settings" }).click()
        await page
          .getByRole("region", { name: "Table: sessions" })
          .getByRole("button", { name: /^Sign out/ })
          .click()
        await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click()
        await page.getByRole("textbox", { name: "Email" }).fill("next@example.com")
        // The cookie that the test set has another path than the one that the gateway clears.
        await page.context().clearCookies()
        await page.getByRole("button", { name: "Send code" }).click()
        await page.getByRole("button", { name: "Use it" }).click()
        await page.getByRole("link", { name: "Playground" }).click()
        await page.getByRole("button", { name: "Create a key for a day" }).waitFor()
        assert.strictEqual(await page.locator(".turn").count(), 0)
      })
    })
  )

  it.effect("keeps a conversation while it shows another tab, and restores a cleared one on undo", () =>
    Effect.gen(function* () {
      const { inferenceKey, origin, page } = yield* signedIn
      yield* Effect.promise(async () => {
        const receipt = await converse(page, origin, inferenceKey)
        await page.getByRole("button", { name: "Image", exact: true }).click()
        await page.getByLabel("Prompt").waitFor()
        await page.getByRole("button", { name: "Chat", exact: true }).click()
        await receipt.waitFor()
        await page.getByRole("button", { name: "Clear" }).click()
        await receipt.waitFor({ state: "detached" })
        await page.getByRole("button", { name: "Undo" }).click()
        await receipt.waitFor()
      })
    })
  )

  it.effect("lets an owner correct a phone number after the code was sent", () =>
    Effect.gen(function* () {
      const { origin, page } = yield* signedIn
      yield* Effect.promise(async () => {
        await page.goto(`${origin}/billing`)
        await page.getByLabel("Mobile number").fill("+4915112345679")
        await page.getByRole("button", { name: "Send code" }).click()
        await page.getByLabel("Code from the text message").waitFor()
        await page.getByRole("button", { name: "Use another number" }).click()
        assert.strictEqual(await page.getByLabel("Mobile number").inputValue(), "+4915112345679")
      })
    })
  )

  it.effect("prints a statement only with the billing details", () =>
    Effect.gen(function* () {
      const { origin, page } = yield* signedIn
      yield* Effect.promise(async () => {
        await page.route("**/console/billing-details", (route) => route.abort())
        await page.goto(`${origin}/billing/statements/${new Date().toISOString().slice(0, 7)}`)
        await page.getByRole("alert").waitFor()
        const print = page.getByRole("button", { name: "Print" })
        assert.isTrue(await print.isDisabled())
        await page.unrouteAll()
        await page.getByRole("button", { name: "Try again" }).click()
        await page.getByText("Opening balance").waitFor()
        assert.isTrue(await print.isEnabled())
      })
    })
  )

  it.effect("clears the search field with its filter, and drops an unfinished filter on Escape", () =>
    Effect.gen(function* () {
      const { origin, page } = yield* signedIn
      yield* Effect.promise(async () => {
        await page.goto(`${origin}/models?q=no-such-model`)
        await page.getByRole("link", { name: "Show all models" }).click()
        await page.getByRole("region", { name: "Table: models" }).waitFor()
        assert.strictEqual(await page.getByLabel("Search models").inputValue(), "")
        await page.goto(`${origin}/requests`)
        await page.getByLabel("Add a filter").selectOption("key")
        await page.getByRole("combobox", { name: "Key", exact: true }).press("Escape")
        await page.getByLabel("Add a filter").waitFor()
      })
    })
  )

  it.effect("says when a page lists only the newest 100 entries", () =>
    Effect.gen(function* () {
      const { origin, page } = yield* signedIn
      const file = { object: "file", bytes: 1, created_at: 1, expires_at: null, filename: "a.jsonl", purpose: "batch" }
      const files = (count: number) => Array.from({ length: count }, (_, at) => ({ ...file, id: `file_${at}` }))
      yield* Effect.promise(async () => {
        const note = page.getByText("This page lists only the newest 100.")
        for (const count of [99, 100]) {
          await page.route(/\/api\/v1\/files\?/, (route) =>
            route.fulfill({
              json: { object: "list", data: files(count), first_id: null, last_id: null, has_more: true }
            })
          )
          await page.goto(`${origin}/batches/files`)
          await page.getByRole("region", { name: "Table: files" }).waitFor()
          assert.strictEqual(await note.count(), count === 100 ? 1 : 0)
          await page.unrouteAll()
        }
      })
    })
  )

  it.effect("warns of a low balance exactly when the API reports one, however much of the balance is held", () =>
    Effect.gen(function* () {
      const { api } = (yield* Stage).service
      const { inferenceKey, origin, page } = yield* signedIn
      // Until its first request, the page of an account shows its first steps instead.
      const body = { model: "gpt-4o-mini", max_tokens: 5, messages: [{ role: "user", content: "Hello!" }] }
      assert.strictEqual((yield* post(`${api}/chat/completions`, inferenceKey, body)).status, 200)
      const balance = { held_usd: 9, currency: "USD", simulated_usd: 0, starter_credit_usd: 0 }
      const cases = [
        { balance_usd: 10, available_usd: 1, low_balance: false },
        { balance_usd: 4, available_usd: 4, low_balance: true }
      ]
      yield* Effect.promise(async () => {
        for (const one of cases) {
          await page.route("**/management/balance", (route) =>
            route.fulfill({ json: { data: { ...balance, ...one } } })
          )
          await page.goto(`${origin}/overview`)
          await page.getByText("$9.00 held", { exact: true }).waitFor()
          await settled(page)
          const warnings = [page.getByText("Low balance"), page.getByText(`$${one.available_usd}.00 left.`)]
          if (one.low_balance) for (const warning of warnings) await warning.waitFor()
          else for (const warning of warnings) assert.strictEqual(await warning.count(), 0)
          await page.unrouteAll()
        }
      })
    })
  )

  it.effect("says when the browser does not allow a copy", () =>
    Effect.gen(function* () {
      const { origin, page } = yield* signedIn
      yield* Effect.promise(async () => {
        await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }))
        await page.goto(`${origin}/settings`)
        await page.getByRole("button", { name: "Copy the id" }).first().click()
        await page.getByText("The browser did not allow the copy.").waitFor()
      })
    })
  )
})
