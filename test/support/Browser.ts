/** A browser for tests of the console. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { type Browser, chromium, type ConsoleMessage, type Page } from "playwright-core"

const names = ["chromium", "chromium-browser", "google-chrome"]

/** The path of a browser; undefined without one. */
const program = (process.env["PATH"] ?? "")
  .split(":")
  .flatMap((directory) => names.map((name) => join(directory, name)))
  .find((path) => existsSync(path))

/** Why tests in a browser cannot run on this machine; undefined when they can. */
export const missingBrowser: string | undefined =
  program === undefined ? "chromium is not on the PATH (Debian: apt-get install chromium)" : undefined

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage"
]

/** Starts a browser, which closes with the scope. */
export const browser = Effect.acquireRelease(
  Effect.promise(() => chromium.launch({ executablePath: program ?? "", args: flags })),
  (browser) => Effect.promise(() => browser.close())
)

/** Whether a message is about the 401 with which the page learns that no owner is signed in. The browser logs every 401. */
const isExpected = (message: ConsoleMessage): boolean =>
  /status of 401/.test(message.text()) && message.location().url.endsWith("/console/session")

/** Collects the complaints of a page: errors, breaches of its content policy, and requests to other hosts. */
export const complaintsOf = (page: Page, origin: string): ReadonlyArray<string> => {
  const complaints: Array<string> = []
  page.on("console", (message) => {
    if (message.type() === "error" && !isExpected(message)) complaints.push(`${page.url()}: ${message.text()}`)
  })
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`))
  page.on("request", (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) complaints.push(`${page.url()} asks ${url}`)
  })
  return complaints
}

export type { Browser, Page }

/** Waits until a page has its data and its animations have ended. */
export const settled = async (page: Page): Promise<void> => {
  await page.locator("h1").waitFor()
  await page.waitForFunction(() => document.querySelector("[aria-busy=true], .skeleton") === null)
  await page.evaluate(() => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
    return Promise.allSettled(ending.map(({ finished }) => finished))
  })
}
