/** The console in a browser: a new owner's first steps, and every page without browser errors or accessibility problems. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { gzipSync } from "node:zlib"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import type axe from "axe-core"
import type { BrowserContextOptions } from "playwright-core"
import { browser, complaintsOf, missingBrowser, type Page, settled } from "../support/Browser.ts"
import { announceSkip } from "../support/Skips.ts"
import { bearer, send } from "../support/Calls.ts"
import { postbox } from "../support/Postbox.ts"
import { json, post, startService } from "../support/Service.ts"
import { root } from "../support/Sources.ts"
import { twilio } from "../support/Twilio.ts"

announceSkip("the console in a browser", missingBrowser)

const FIRST_LOAD_BYTES = 300_000
const WAIT_MS = 15_000
const PHONE = "+4915112345678"

const chat = { model: "gpt-4o-mini", max_tokens: 20, messages: [{ role: "user", content: "Hello!" }] }

const pages = [
  "/overview",
  "/explorer",
  "/requests",
  "/playground",
  "/playground?tab=image",
  "/playground?tab=speech",
  "/playground?tab=video",
  "/playground?model=gpt-4o-mini&beside=gpt-4o",
  "/models",
  "/models/gpt-4o-mini",
  "/presets",
  "/keys",
  "/projects",
  "/webhooks",
  "/batches",
  "/batches/files",
  "/videos",
  "/billing",
  `/billing/statements/${new Date().toISOString().slice(0, 7)}`,
  "/audit",
  "/settings"
]

/** The pages that begin with a list. */
const lists = [
  "/keys",
  "/projects",
  "/presets",
  "/webhooks",
  "/batches",
  "/batches/files",
  "/videos",
  "/audit",
  "/models"
]

const REQUEST_ID = `req_${"0".repeat(26)}`

const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

declare global {
  interface Window {
    readonly axe: typeof axe
  }
}

/** Returns the serious accessibility problems of a page. */
const barriersOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  // The debugger evaluates this, which no content security policy restricts.
  await page.evaluate(axeSource)
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }))
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${new URL(page.url()).pathname}: ${id} at ${nodes.map(({ target }) => target.join(" ")).join(", ")}`
    )
}

/** One gateway and one browser for all tests. Each test has its own account. */
class Stage extends Context.Service<Stage, Effect.Success<typeof makeStage>>()("test/console/Stage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.suspend(() => makeStage)
  )
}

const makeStage = Effect.gen(function* () {
  const [mail, verify] = [yield* postbox(), yield* twilio]
  const service = yield* startService({ ...mail.settings, ...verify.settings })
  const chromium = yield* browser
  return { mail, verify, service, chromium }
})

/** Opens a browser context with a signed-in owner, whose account has one request. */
const signedIn = Effect.fnUntraced(function* (options: BrowserContextOptions = {}) {
  const { chromium, service } = yield* Stage
  const { account, inferenceKey } = yield* service.account(20, "play")
  const answered = yield* post(`${service.api}/chat/completions`, inferenceKey, chat)
  const { cookie } = yield* service.signedIn(account.id)
  const [name = "", value = ""] = cookie.split("=")
  const context = yield* Effect.acquireRelease(
    Effect.promise(() => chromium.newContext(options)),
    (context) => Effect.promise(() => context.close())
  )
  yield* Effect.promise(() => context.addCookies([{ name, value, url: service.api }]))
  return { account, context, inferenceKey, requestId: answered.headers.get("x-request-id") ?? "" }
})

const withBrowser = missingBrowser === undefined ? layer(Stage.layer, { excludeTestServices: true }) : () => undefined

withBrowser("the console", (it) => {
  it.effect(
    "leads a new owner from the sign-in over a key and a stream to a receipt, and the gateway rejects the key once revoked",
    () =>
      Effect.gen(function* () {
        const { chromium, mail, service, verify } = yield* Stage
        const { api, origin } = service
        const email = "ann@example.com"
        const page = yield* Effect.promise(() => chromium.newPage({ viewport: { width: 1_280, height: 900 } }))
        page.setDefaultTimeout(WAIT_MS)
        const complaints = complaintsOf(page, origin)
        const secret = yield* Effect.promise(async () => {
          await page.goto(origin)
          await page.getByLabel("Email").fill(email)
          await page.getByRole("button", { name: "Send code" }).click()
          await page.getByLabel("Code").waitFor()
          await page.getByLabel("Code").fill(mail.codeFor(email))
          await page.getByRole("heading", { name: "Send your first request" }).waitFor()

          await page.getByLabel("Mobile number").fill(PHONE)
          await page.getByRole("button", { name: "Send code" }).click()
          await page.getByLabel("Code from the text message").waitFor()
          await page.getByLabel("Code from the text message").fill(verify.codeFor(PHONE))
          await page.getByRole("button", { name: "Verify number" }).click()
          await page.getByRole("heading", { name: "Starter credit is on the balance" }).waitFor()
          await page.getByLabel("Your first request").getByRole("button", { name: "Create key" }).click()
          const secret = (await page.locator("[data-secret]").textContent()) ?? ""
          assert.match(secret, /^svc_sk_/)
          await page.getByText("Waiting for the first request").waitFor()

          const steps = page.getByLabel("Your first request")
          assert.strictEqual(await steps.locator(".mark.done").count(), 2)
          await post(`${api}/chat/completions`, secret, chat).pipe(Effect.runPromise)
          await steps.getByText("It arrived.").waitFor()
          assert.strictEqual(await steps.locator(".mark.done").count(), 3)

          await page.getByRole("link", { name: "Playground" }).click()
          await page.getByLabel("Message").fill("Hello!")
          await page.keyboard.press("Enter")
          const answer = page.locator(".turn.assistant")
          await answer.getByRole("link", { name: "Receipt" }).waitFor()
          assert.notStrictEqual((await answer.locator(".prose").innerText()).trim(), "")
          const cost = await answer.locator(".after .number").first().innerText()

          await page.getByRole("button", { name: "View code" }).click()
          const code = await page.getByRole("dialog").getByRole("tabpanel").innerText()
          assert.include(code, '"content":"Hello!"')
          assert.notInclude(code, "svc_sk_")
          await page.getByRole("button", { name: "Close" }).click()

          await answer.getByRole("link", { name: "Receipt" }).click()
          await page.getByRole("heading", { name: "Receipt" }).waitFor()
          await page.getByText("Succeeded").waitFor()
          assert.include(await page.getByLabel("Cost", { exact: true }).innerText(), cost)
          assert.include(await page.getByLabel("Price times usage").innerText(), "output tokens")
          assert.include(await page.getByLabel("Timeline").innerText(), "Settle")
          return secret
        })
        assert.strictEqual((yield* post(`${api}/chat/completions`, secret, chat)).status, 200)
        yield* Effect.promise(async () => {
          await page.getByRole("link", { name: "Billing" }).click()
          await page.getByRole("button", { name: "$10", exact: true }).click()
          await page.getByRole("button", { name: "Add $10.00" }).click()
          await page.getByText("Added $10.00 of simulated money.").waitFor()
          await page.getByRole("region", { name: "Table: top-ups" }).getByText("Paid").waitFor()

          await page.getByRole("link", { name: "Keys", exact: true }).click()
          await page.getByRole("button", { name: "revoke First key" }).click()
          const revoke = page.getByRole("button", { name: "Revoke key" })
          assert.isTrue(await revoke.isDisabled())
          await page.getByLabel("Type First key to confirm").fill("First key")
          await revoke.click()
          await page.getByText("There is no active key.").waitFor()
        })
        assert.strictEqual((yield* post(`${api}/chat/completions`, secret, chat)).status, 401)
        assert.deepStrictEqual(complaints, [])
      })
  )

  for (const [colorScheme, width] of [
    ["light", 1_280],
    ["dark", 390]
  ] as const) {
    it.effect(
      `shows every page in ${colorScheme} at ${width} pixels without browser errors or serious accessibility problems`,
      () =>
        Effect.gen(function* () {
          const { service } = yield* Stage
          const { origin } = service
          const owner = yield* signedIn({ colorScheme, viewport: { width, height: 900 } })
          yield* service.project(owner.account.id, "Backend")
          yield* service.preset(owner.account.id, "brief", { model: "gpt-4o-mini" })
          const found = yield* Effect.promise(async () => {
            const problems: Array<string> = []
            const page = await owner.context.newPage()
            page.setDefaultTimeout(WAIT_MS)
            const complaints = complaintsOf(page, origin)
            for (const path of [...pages, `/requests/${owner.requestId}`]) {
              await page.goto(origin + path)
              await settled(page)
              problems.push(...(await barriersOf(page)))
              const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
              if (over > 0) problems.push(`${path} is ${over} pixels wider than a window of ${width}`)
            }
            await owner.context.clearCookies()
            await page.goto(`${origin}/sign-in`)
            await settled(page)
            problems.push(...(await barriersOf(page)), ...complaints)
            return problems
          })
          assert.deepStrictEqual(found, [])
        })
    )
  }

  it.effect(
    "returns to the page after a new sign-in when the session has ended, and shows the error of a failed request",
    () =>
      Effect.gen(function* () {
        const { chromium, mail, service } = yield* Stage
        const { origin } = service
        const email = "bea@example.com"
        yield* Effect.promise(async () => {
          const context = await chromium.newContext()
          const page = await context.newPage()
          page.setDefaultTimeout(WAIT_MS)
          const signIn = async () => {
            await page.getByLabel("Email").fill(email)
            await page.getByRole("button", { name: "Send code" }).click()
            await page.getByLabel("Code").waitFor()
            await page.getByLabel("Code").fill(mail.codeFor(email))
          }
          await page.goto(`${origin}/keys`)
          await signIn()
          await page.getByText("There is no active key.").waitFor()

          await page.route("**/management/presets*", (route) =>
            route.fulfill({
              status: 503,
              headers: { "x-request-id": "req_01", "x-should-retry": "false" },
              json: { error: { message: "The store is unavailable.", type: "api_error", code: "service_unavailable" } }
            })
          )
          await page.getByRole("link", { name: "Presets" }).click()
          const alert = page.getByRole("alert")
          assert.match(await alert.innerText(), /The store is unavailable\.\s+req_01/)
          await page.unroute("**/management/presets*")
          await page.getByRole("button", { name: "Try again" }).click()
          await page.getByText("There is no preset yet.").waitFor()

          await context.clearCookies()
          await page.getByRole("link", { name: "Audit" }).click()
          await page.waitForURL(/sign-in\?next=/)
          await signIn()
          await page.getByRole("heading", { name: "Audit" }).waitFor()
          assert.strictEqual(new URL(page.url()).pathname, "/audit")
          await context.close()
        })
      })
  )

  it.effect("compares models in the playground, runs a tool by hand, and creates images, speech and a video", () =>
    Effect.gen(function* () {
      const { service } = yield* Stage
      const { origin } = service
      const { account, context } = yield* signedIn()
      const complaints = yield* Effect.promise(async () => {
        const page = await context.newPage()
        page.setDefaultTimeout(WAIT_MS)
        const complaints = complaintsOf(page, origin)
        await page.goto(`${origin}/playground`)
        await page.getByRole("button", { name: "Create a key for a day" }).click()
        await page.getByText("Requests use the key Playground").waitFor()
        await page.getByRole("button", { name: "Compare with another model" }).click()
        await page
          .getByRole("button", { name: /^Model: / })
          .last()
          .click()
        await page.keyboard.type("claude")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await page.getByLabel("Message").fill("Hello!")
        await page.getByText(/^Likely \$/).waitFor()
        await page.keyboard.press("Enter")
        await page.getByRole("link", { name: "Receipt" }).nth(1).waitFor()
        await page.getByRole("button", { name: /^Remove gpt/ }).click()
        await page.getByRole("link", { name: "Receipt" }).nth(1).waitFor({ state: "detached" })
        await page.getByRole("button", { name: "Undo" }).click()
        await page.getByRole("link", { name: "Receipt" }).nth(1).waitFor()
        const columns = page.getByRole("region", { name: /^Conversation with/ })
        assert.match((await columns.first().getAttribute("aria-label")) ?? "", /GPT/)
        await page.getByRole("button", { name: /^Remove claude/ }).click()

        await page.getByRole("button", { name: "Clear" }).click()
        await page.locator("summary", { hasText: "Tools" }).click()
        await page.getByRole("button", { name: "Use the example" }).click()
        const dot = Buffer.from(DOT, "base64")
        await page.getByLabel("Add images").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: dot })
        await page.getByLabel("Message").fill("Which weather is it?")
        await page.keyboard.press("Enter")
        await page.getByLabel("Result of get_weather").fill("rain")
        await page.getByRole("button", { name: "Send result" }).click()
        await page.getByText("The tool answered: rain").waitFor()

        await page.getByRole("button", { name: "Image", exact: true }).click()
        await page.getByLabel("Prompt").fill("A lighthouse")
        await page.getByRole("spinbutton", { name: "Images" }).fill("1")
        await page.getByRole("button", { name: "View code" }).click()
        const shownCode = await page.getByRole("dialog").getByRole("tabpanel").innerText()
        assert.include(shownCode, '"prompt":"A lighthouse","n":1')
        await page.getByRole("button", { name: "Close" }).click()
        await page.getByRole("button", { name: "Create images" }).click()
        const picture = page.getByRole("img", { name: "A lighthouse" })
        await picture.waitFor()
        await page.waitForFunction(() => (document.querySelector(".made img") as HTMLImageElement)?.naturalWidth > 0)
        await page.getByRole("button", { name: "Speech", exact: true }).click()
        await page.getByLabel("Text").fill("Hello!")
        await page.getByRole("button", { name: "Create speech" }).click()
        await page.locator("audio").waitFor()
        await page.getByRole("link", { name: "Receipt" }).waitFor()
        await page.getByRole("button", { name: "Video", exact: true }).click()
        await page.getByLabel("Prompt").fill("A kite")
        await page.getByRole("button", { name: "Create video" }).click()
        await page.getByText("Completed").waitFor()
        await page.waitForFunction(() => (document.querySelector("video")?.readyState ?? 0) > 0)
        return complaints
      })
      assert.deepStrictEqual(complaints, [])
      const rows = yield* service.sql<{ operation: string }>`SELECT operation FROM request
        WHERE account_id = ${account.id} AND status = 'succeeded'`
      const counts = Map.groupBy(rows, ({ operation }) => operation)
      assert.strictEqual(counts.size, 4, JSON.stringify([...counts.keys()]))
    })
  )

  it.effect("changes the email, turns off a notice, ends another session, and shows the company on a statement", () =>
    Effect.gen(function* () {
      const { mail, service } = yield* Stage
      const { origin } = service
      const { account, context } = yield* signedIn()
      yield* service.signedIn(account.id)
      const email = `dora-${account.id.slice(-6)}@example.com`
      const complaints = yield* Effect.promise(async () => {
        const page = await context.newPage()
        page.setDefaultTimeout(WAIT_MS)
        const complaints = complaintsOf(page, origin)
        await page.goto(`${origin}/settings`)
        const sessions = page.getByRole("region", { name: "Table: sessions" })
        await sessions.getByText("This session").waitFor()
        assert.strictEqual(await sessions.getByRole("row").count(), 3)
        await sessions.getByRole("button", { name: /^End/ }).click()
        await page.getByRole("button", { name: "End session" }).click()
        await page.getByText("Ended the session of Unknown browser.").waitFor()
        await page.waitForFunction(() => document.querySelectorAll("[aria-label=Sessions] tbody tr").length === 1)

        const saved = page.waitForResponse(/console\/notifications/)
        await page.getByRole("checkbox", { name: /Low balance/ }).uncheck()
        await saved
        await page.reload()
        assert.isFalse(await page.getByRole("checkbox", { name: /Low balance/ }).isChecked())

        await page.getByRole("button", { name: "Change email" }).click()
        await page.getByLabel("New email").fill(email)
        await page.getByRole("dialog").getByRole("button", { name: "Send code" }).click()
        await page.getByLabel("Code", { exact: true }).waitFor()
        await page.getByLabel("Code", { exact: true }).fill(mail.codeFor(email))
        await page.getByRole("dialog").getByRole("button", { name: "Change email" }).click()
        await page.getByText(`Sign in as ${email} from now on.`).waitFor()
        await page.getByRole("dialog").waitFor({ state: "detached" })
        await page.getByLabel("Account", { exact: true }).getByText(email).waitFor()

        await page.goto(`${origin}/billing`)
        await page.getByRole("button", { name: "Add details" }).click()
        await page.getByLabel("Company name").fill("Müller & Söhne GmbH")
        await page.getByLabel("Address").fill("Hauptstraße 1\n\n10115 Berlin\n")
        await page.getByLabel("Tax id").fill("?")
        await page.getByRole("button", { name: "Save details" }).click()
        await page.getByText(/tax_id.* must have 4 to 32 letters and digits/).waitFor()
        await page.getByLabel("Tax id").fill("DE123456789")
        await page.getByRole("button", { name: "Save details" }).click()
        await page.getByText("Saved the billing details.").waitFor()
        await page.goto(`${origin}/billing/statements/${new Date().toISOString().slice(0, 7)}`)
        const statement = page.getByLabel(/^Statement, /)
        await statement.getByText("Müller & Söhne GmbH").waitFor()
        assert.match(await statement.innerText(), /Hauptstraße 1\n10115 Berlin[^]*DE123456789/)
        // The browser reports the rejected tax id as an error.
        return complaints.filter((complaint) => !/status of 400/.test(complaint))
      })
      assert.deepStrictEqual(complaints, [])
      const [row] = yield* service.sql`SELECT email FROM account WHERE id = ${account.id}`
      assert.deepStrictEqual(row, { email })
    })
  )

  it.effect("downloads the output of a batch, and deletes a file only after the owner has typed its name", () =>
    Effect.gen(function* () {
      const { service } = yield* Stage
      const { origin } = service
      const { context, inferenceKey } = yield* signedIn()
      const form = new FormData()
      const line = { custom_id: "a", method: "POST", url: "/v1/chat/completions", body: chat }
      form.append("purpose", "batch")
      form.append("file", new Blob([JSON.stringify(line)]), "input.jsonl")
      const call = { method: "POST", path: "/files", form: () => form }
      const file = yield* Effect.flatMap(send(service.api, call, bearer(inferenceKey)), json)
      const batch = { input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" }
      yield* post(`${service.api}/batches`, inferenceKey, batch)
      yield* Effect.promise(async () => {
        const page = await context.newPage()
        page.setDefaultTimeout(WAIT_MS)
        const complaints = complaintsOf(page, origin)
        await page.goto(`${origin}/batches`)
        await page.getByText("Completed").waitFor()
        const saved = page.waitForEvent("download")
        await page.getByRole("button", { name: /^Download output/ }).click()
        const text = readFileSync(await (await saved).path(), "utf8")
        assert.strictEqual(JSON.parse(text).custom_id, "a")
        await page.getByRole("link", { name: "Files" }).click()
        await page.getByRole("button", { name: "Delete input.jsonl" }).click()
        const remove = page.getByRole("button", { name: "Delete file" })
        assert.isTrue(await remove.isDisabled())
        await page.getByLabel("Type input.jsonl to confirm").fill("input.jsonl")
        await remove.click()
        await page.getByText("Deleted input.jsonl.").waitFor()
        assert.deepStrictEqual(complaints, [])
      })
    })
  )

  for (const [what, answer] of [
    ["the gateway is down", undefined],
    ["the limit is reached", { status: 429, code: "rate_limit_exceeded", message: "Too many requests." }]
  ] as const) {
    it.effect(`says on every list page that ${what}, and recovers on a click`, () =>
      Effect.gen(function* () {
        const { service } = yield* Stage
        const { context } = yield* signedIn()
        yield* Effect.promise(async () => {
          const page = await context.newPage()
          page.setDefaultTimeout(WAIT_MS)
          for (const path of lists) {
            await page.route(/\/api\/v1\/(?!console\/session)/, (route) =>
              answer === undefined
                ? route.abort()
                : route.fulfill({
                    status: answer.status,
                    headers: { "x-request-id": REQUEST_ID, "x-should-retry": "false" },
                    json: { error: { message: answer.message, type: "rate_limit_error", code: answer.code } }
                  })
            )
            await page.goto(service.origin + path)
            const alert = page.getByRole("alert").first()
            const said = await alert.innerText()
            if (answer === undefined) assert.match(said, /did not answer/, path)
            else assert.include(said, REQUEST_ID, path)
            await page.unroute(/\/api\/v1\/(?!console\/session)/)
            await alert.getByRole("button", { name: "Try again" }).click()
            await alert.waitFor({ state: "detached" })
          }
        })
      })
    )
  }

  it.effect("works with the keyboard alone: the command palette, a table row, and shortcuts to pages", () =>
    Effect.gen(function* () {
      const { service } = yield* Stage
      const { origin } = service
      const { context, requestId } = yield* signedIn()
      yield* Effect.promise(async () => {
        const page = await context.newPage()
        page.setDefaultTimeout(WAIT_MS)
        await page.goto(`${origin}/overview`)
        await page.getByRole("heading", { name: "Overview" }).waitFor()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("reque")
        await page.keyboard.press("Enter")
        await page.getByRole("table", { name: /Requests/ }).focus()
        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await page.waitForURL(`${origin}/requests/${requestId}`)
        await page.keyboard.press("g")
        await page.keyboard.press("k")
        await page.waitForURL(`${origin}/keys`)
        await page.keyboard.press("Control+k")
        await page.keyboard.type(requestId)
        await page.keyboard.press("Enter")
        await page.waitForURL(`${origin}/requests/${requestId}`)
        await page.keyboard.press("Control+k")
        await page.keyboard.press("Escape")
        await page.getByRole("dialog").waitFor({ state: "detached" })
      })
    })
  )
})

describe("the built console", () => {
  it.live("loads at most 300 kB of compressed scripts for its first page", () =>
    Effect.gen(function* () {
      const html = readFileSync(join(root, "src/console/dist/index.html"), "utf8")
      assert.notMatch(html, /<script(?![^>]*\bsrc=)|\bstyle=|\bon\w+=/)
      const scripts = [...html.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, path]) => path!)
      assert.isNotEmpty(scripts)
      const bytes = scripts
        .map((path) => gzipSync(readFileSync(join(root, "src/console/dist", path))).length)
        .reduce((sum, size) => sum + size, 0)
      assert.isAtMost(bytes, FIRST_LOAD_BYTES)
    })
  )
})
