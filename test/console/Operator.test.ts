/** The operator's section of the console in a browser. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { missingBrowser, settled } from "../support/Browser.ts"
import { announceSkip } from "../support/Skips.ts"
import { chatAs, operatorPage, operatorStage, signedInOperator, unexpected } from "../support/OperatorConsole.ts"
import { get } from "../support/Service.ts"
import { attended } from "../support/Things.ts"

announceSkip("the operator's section of the console", missingBrowser)

const CENT = 10_000_000n

class Stage extends Context.Service<Stage, Effect.Success<typeof operatorStage>>()("test/console/OperatorStage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.suspend(() => operatorStage)
  )
}

const withBrowser = missingBrowser === undefined ? layer(Stage.layer, { excludeTestServices: true }) : () => undefined

withBrowser("the operator's section", (it) => {
  it.effect("lets an operator sign in with a key, opens the requested page, and signs out", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { service } = stage
      const { complaints, origin, page } = yield* operatorPage(stage)
      const { id, key } = yield* service.operatorKeys.create({ name: "support", expiresAt: null })
      yield* Effect.promise(async () => {
        await page.goto(`${origin}/operator/report?days=7d`)
        await page.waitForURL(/\/operator\/sign-in\?next=/)
        await page.getByLabel("Operator key").fill("svc_sk_something")
        await page.getByText("This is a key of an account.").waitFor()
        await page.getByLabel("Operator key").fill(`svc_ok_${"A".repeat(43)}`)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("alert").waitFor()
        await page.getByLabel("Operator key").fill(key)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.waitForURL(/\/operator\/report\?days=7d$/)
        await settled(page)
        const stored = await page.evaluate(() =>
          JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])
        )
        assert.notInclude(stored, key.slice(7))
        assert.notInclude(stored, "svc_operator")
        const [cookie] = await page.context().cookies(`${origin}/api/v1/operator`)
        assert.deepInclude(cookie, {
          name: "svc_operator",
          httpOnly: true,
          sameSite: "Strict",
          path: "/api/v1/operator"
        })
        await page.reload()
        await page.getByRole("heading", { level: 1, name: "Report" }).waitFor()
        await page.getByRole("button", { name: "Sign out support" }).click()
        await page.waitForURL(/\/operator\/sign-in/)
        assert.deepStrictEqual(await page.context().cookies(`${origin}/api/v1/operator`), [])
      })
      const rows = yield* service.sql`SELECT type FROM operator_event WHERE actor_id = ${id} ORDER BY id`
      assert.deepStrictEqual(
        rows.map((row) => row["type"]),
        ["operator.signed_in", "operator.signed_out"]
      )
      assert.deepStrictEqual(unexpected(complaints), [])
    })
  )

  it.effect("signs the operator out at once when the key is revoked, and shows the sign-in page", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { key, origin, page } = yield* signedInOperator(stage)
      yield* Effect.promise(async () => {
        await page.goto(`${origin}/operator/plans`)
        await settled(page)
      })
      yield* stage.service.operatorKeys.revoke(key.id)
      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: "Provider spend" }).click()
        await page.waitForURL(/\/operator\/sign-in\?next=/)
        assert.include(decodeURIComponent(page.url()), "/operator/spend")
      })
    })
  )

  it.effect("is closed to owners, who load none of its scripts, and owners' pages are closed to operators", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { service } = stage
      const { account } = yield* service.account(20, "play")
      const owner = yield* operatorPage(stage)
      const [name = "", value = ""] = (yield* service.signedIn(account.id)).cookie.split("=")
      const files: Array<string> = []
      yield* Effect.promise(async () => {
        await owner.page.context().addCookies([{ name, value, url: service.api }])
        owner.page.on("response", (response) => files.push(response.url()))
        await owner.page.goto(`${owner.origin}/overview`)
        await settled(owner.page)
      })
      const scripts = yield* Effect.forEach(
        files.filter((url) => url.endsWith(".js")),
        (url) => Effect.flatMap(get(url, ""), (response) => Effect.promise(() => response.text()))
      )
      assert.isAbove(scripts.length, 0)
      assert.notInclude(scripts.join("\n"), "Paste an operator key once")
      assert.notInclude(scripts.join("\n"), "Suspend this account")
      yield* Effect.promise(async () => {
        await owner.page.goto(`${owner.origin}/operator/accounts/${account.id}`)
        await owner.page.waitForURL(/\/operator\/sign-in/)
      })
      const operator = yield* signedInOperator(stage)
      yield* Effect.promise(async () => {
        await operator.page.goto(`${operator.origin}/overview`)
        await operator.page.waitForURL(/\/sign-in\?next=/)
        assert.notInclude(new URL(operator.page.url()).pathname, "operator")
      })
    })
  )

  it.effect("finds an account, suspends it at once with a reason, and resumes it", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { service } = stage
      const { account, inferenceKey } = yield* service.account(10)
      yield* service.account(10)
      const { complaints, page } = yield* signedInOperator(stage)
      yield* Effect.promise(async () => {
        await page.getByLabel("Find accounts").fill(account.id.slice(0, 20))
        await page.waitForURL(/q=/)
        await page.getByLabel("Find accounts").fill(account.email.toUpperCase())
        await page.waitForFunction(() => document.querySelectorAll("[aria-label=Accounts] tbody tr").length === 1)
        await page.getByRole("link", { name: account.email }).click()
        await page.getByRole("heading", { level: 1, name: account.email }).waitFor()
        await page.getByRole("button", { name: "Suspend" }).click()
        const send = page.getByRole("button", { name: "Suspend account" })
        assert.isTrue(await send.isDisabled())
        await page.getByLabel("Reason").fill("chargeback")
        await send.click()
        await page.getByText("Suspended: chargeback").waitFor()
      })
      assert.strictEqual((yield* get(`${service.api}/key`, inferenceKey)).status, 403)
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Resume" }).click()
        await page.getByLabel("Reason").fill("settled")
        await page.getByRole("button", { name: "Resume account" }).click()
        await page.getByRole("button", { name: "Suspend", exact: true }).waitFor()
        await page.getByRole("region", { name: "Table: audit log" }).getByText("Account resumed").waitFor()
      })
      assert.strictEqual((yield* get(`${service.api}/key`, inferenceKey)).status, 200)
      assert.deepStrictEqual(unexpected(complaints), [])
    })
  )

  it.effect("refunds part of a request once per reference, and shows price, cost and margin", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { service } = stage
      const { account, inferenceKey } = yield* service.account(10)
      const id = yield* chatAs(service, inferenceKey)
      const charged = 10_000_000_000n - (yield* service.balance(account.id)).posted
      const { complaints, page } = yield* signedInOperator(stage)
      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: "Requests" }).click()
        await page.getByLabel("Open a request by its id").fill(id)
        await page.waitForURL(new RegExp(`/operator/requests/${id}`))
        await settled(page)
        const figures = await page.getByRole("region", { name: "Price and cost" }).innerText()
        assert.match(figures, /Price[^]*Provider cost[^]*openai[^]*Margin[^]*Absorbed/)
        await page.getByRole("button", { name: "Refund" }).click()
        await page.getByLabel("Amount in USD").fill("0.000001")
        await page.getByLabel("Reason").fill("slow")
        await page.getByLabel("Reference").fill("TICKET-8")
        await page.getByRole("dialog").getByRole("button", { name: "Refund" }).click()
        await page.getByRole("region", { name: "Movements of money" }).getByText("operator:TICKET-8").waitFor()
        await page.getByText("after $0.000001 of refunds").waitFor()
        const lines = await page.getByRole("region", { name: "Table: lines of the cost" }).innerText()
        assert.match(lines, /Settled from the hold[^]*Refunded[^]*minus\s*−\$0\.000001[^]*Cost/)
        await page.getByText(/^[\d.]+ m?s in the gateway$/).waitFor()
        // A second refund with the same reference moves no money.
        await page.getByRole("button", { name: "Refund" }).click()
        await page.getByLabel("Amount in USD").fill("0.000001")
        await page.getByLabel("Reason").fill("slow")
        await page.getByLabel("Reference").fill("TICKET-8")
        await page.getByRole("dialog").getByRole("button", { name: "Refund" }).click()
        await page.getByRole("dialog").waitFor({ state: "detached" })
      })
      assert.strictEqual((yield* service.balance(account.id)).posted, 10_000_000_000n - charged + 1_000n)
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Refund" }).click()
        await page.getByLabel("Reason").fill("the rest")
        await page.getByRole("dialog").getByRole("button", { name: "Refund" }).click()
        await page.getByText("Nothing is left to refund.").waitFor()
        assert.isTrue(await page.getByRole("button", { name: "Refund" }).isDisabled())
      })
      assert.strictEqual((yield* service.balance(account.id)).posted, 10_000_000_000n)
      assert.deepStrictEqual(yield* service.faults, [])
      assert.deepStrictEqual(unexpected(complaints), [])
    })
  )

  it.effect("settles one top-up that needs an operator and dismisses another", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { service } = stage
      const { account } = yield* service.account(0)
      const [credited, dismissed] = [yield* attended(service, account.id), yield* attended(service, account.id)]
      const { complaints, page } = yield* signedInOperator(stage)
      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: /Top-ups/ }).click()
        const row = (id: string) => page.getByRole("row").filter({ hasText: id })
        await row(credited)
          .getByRole("button", { name: /Settle/ })
          .click()
        await page.getByLabel("Amount in USD").fill("24.99")
        await page.getByLabel("Reason").fill("checked at the bank")
        await page.getByRole("button", { name: "Credit account" }).click()
        await row(credited).waitFor({ state: "detached" })
        await row(dismissed)
          .getByRole("button", { name: /Dismiss/ })
          .click()
        await page.getByLabel("Reason").fill("paid back")
        await page.getByRole("dialog").getByRole("button", { name: "Dismiss" }).click()
        await row(dismissed).waitFor({ state: "detached" })
        await page.getByRole("link", { name: "Audit" }).click()
        const line = page.getByRole("row").filter({ hasText: "Top-up settled" })
        await line.getByRole("button").click()
        await page.getByLabel("What changed").getByText("checked at the bank").waitFor()
      })
      const rows =
        yield* service.sql`SELECT status, credited_cents FROM top_up WHERE account_id = ${account.id} ORDER BY status`
      assert.deepStrictEqual(rows, [
        { status: "expired", credited_cents: null },
        { status: "paid", credited_cents: 2_499 }
      ])
      assert.strictEqual(
        (yield* service.sql`SELECT posted FROM play_balance WHERE account_id = ${account.id}`)[0]?.["posted"],
        2_499n * CENT
      )
      assert.deepStrictEqual(unexpected(complaints), [])
    })
  )

  it.effect("shows in both audit logs what operators changed and why", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { service } = stage
      const { account } = yield* service.account(10)
      yield* service.customers.topUp(account, 20_000_000_000n, { reference: "INV-1" })
      yield* service.customers.adjust(account, -5_000_000_000n, { reason: "double credit", reference: "T-5" })
      yield* service.accounts.setMarkup(account, 1_250, { type: "operator", id: "test" })
      const { complaints, origin, page } = yield* signedInOperator(stage)
      const [name = "", value = ""] = (yield* service.signedIn(account.id)).cookie.split("=")
      yield* Effect.promise(async () => {
        await page.context().addCookies([{ name, value, url: service.api }])
        for (const path of ["operator/audit", `operator/accounts/${account.id}`, "audit"]) {
          await page.goto(`${origin}/${path}`)
          const log = page.getByRole("region", { name: "Table: audit log" })
          await log.getByText("$20.00 · reference INV-1").waitFor()
          await log.getByText("−$5.00 · “double credit” · reference T-5").waitFor()
          await log.getByText("Markup: 0% → +12.5%").waitFor()
        }
        await page.goto(`${origin}/operator/accounts/${account.id}`)
        await page.getByText("This account has no payment through the checkout yet.").waitFor()
      })
      assert.deepStrictEqual(unexpected(complaints), [])
    })
  )

  it.effect("leads from an unknown account or request to the list, because trying again cannot help", () =>
    Effect.gen(function* () {
      const { origin, page } = yield* signedInOperator(yield* Stage)
      yield* Effect.promise(async () => {
        for (const [path, words, list] of [
          ["accounts/nobody", "All accounts", /\/operator\/accounts$/],
          ["requests/req_nothing", "All requests", /\/operator\/requests$/]
        ] as const) {
          await page.goto(`${origin}/operator/${path}`)
          const alert = page.getByRole("alert")
          await alert.waitFor()
          assert.strictEqual(await page.getByRole("button", { name: "Try again" }).count(), 0, path)
          await alert.getByRole("link", { name: words }).click()
          await page.waitForURL(list)
        }
      })
    })
  )

  it.effect("says that the report leaves out simulated money when there is no other", () =>
    Effect.gen(function* () {
      const { account } = yield* (yield* Stage).service.account(10, "play")
      const { origin, page } = yield* signedInOperator(yield* Stage)
      yield* Effect.promise(async () => {
        await page.goto(`${origin}/operator/report?account=${account.id}`)
        await page.getByText("No request was paid with real money in this range.").waitFor()
        await page.getByText("The report leaves out requests paid with simulated money.").waitFor()
        assert.strictEqual(await page.getByText(/Choose a longer range|There is no request/).count(), 0)
      })
    })
  )

  it.effect("reports revenue and cost by group and by day, and downloads them as CSV", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { service } = stage
      const { account, inferenceKey } = yield* service.account(10)
      yield* chatAs(service, inferenceKey)
      const { complaints, page } = yield* signedInOperator(stage)
      const file = yield* Effect.promise(async () => {
        await page.getByRole("link", { name: "Report" }).click()
        await page.getByLabel("Group by").selectOption("account")
        await page.waitForURL(/by=account/)
        const figures = page.getByRole("region", { name: "Table: figures of the groups" })
        await figures.getByRole("row", { name: new RegExp(account.email) }).waitFor()
        await page.getByRole("button", { name: "Margin", exact: true }).click()
        await page.waitForURL(/figure=margin_usd/)
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name: "Download CSV" }).click()
        ])
        return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") }
      })
      assert.match(file.name, /^report \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d by account\.csv$/)
      assert.match(file.text, /^day,account,requests,revenue_usd,/)
      assert.match(file.text, new RegExp(`^\\d{4}-\\d\\d-\\d\\d,${account.email},1,0\\.0`, "m"))
      assert.deepStrictEqual(unexpected(complaints), [])
    })
  )

  it.effect("creates a plan, sets a bound on a provider's cost, stops the provider and removes the bound", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { service } = stage
      yield* chatAs(service, (yield* service.account(10)).inferenceKey)
      const { complaints, page } = yield* signedInOperator(stage)
      yield* Effect.promise(async () => {
        await page.getByRole("link", { name: "Plans" }).click()
        await page.getByRole("button", { name: "Create plan" }).first().click()
        await page.getByLabel("Name").fill("Gold")
        await page.getByLabel("Markup, in percent").fill("12.5")
        await page.getByLabel("Spend per day, in USD").fill("500")
        await page.getByLabel("Fixed prices, as JSON").fill("{}")
        await page.getByText("The fixed prices must be a JSON list.").waitFor()
        await page.getByLabel("Fixed prices, as JSON").fill('[{"model":"flux-dev","per_unit_usd":0.03}]')
        await page.getByRole("dialog").getByRole("button", { name: "Create plan" }).click()
        await page.getByRole("row", { name: /Gold \+12\.5% 1 model \$500\.00 per day/ }).waitFor()
        await page.getByRole("link", { name: "Provider spend" }).click()
        // A provider can be bound before it has cost money.
        await page.getByRole("button", { name: "Stop voyage" }).waitFor()
        const row = page.getByRole("row").filter({ hasText: /^openai/ })
        await row.getByRole("button", { name: /Set bound/ }).click()
        await page.getByLabel("USD per UTC day").fill("250")
        await page.getByRole("button", { name: "Save bound" }).click()
        await row.getByText("of $250.00").waitFor()
        await row.getByRole("button", { name: /Stop/ }).click()
        await page.getByRole("button", { name: "Stop now" }).click()
        await row.getByText("Stopped").waitFor()
      })
      assert.deepStrictEqual(yield* service.sql`SELECT provider, limit_nano FROM provider_spend_limit`, [
        { provider: "openai", limit_nano: 0n }
      ])
      yield* Effect.promise(async () => {
        const row = page.getByRole("row").filter({ hasText: /^openai/ })
        await row.getByRole("button", { name: /Remove/ }).click()
        await page.getByRole("button", { name: "Remove bound" }).click()
        await row.getByText("no bound").waitFor()
      })
      assert.deepStrictEqual(unexpected(complaints), [])
    })
  )
})
