/** Browser pages of the operator's section of the console. */
import { Effect } from "effect"
import type { BrowserContextOptions } from "playwright-core"
import { browser, complaintsOf, type Browser } from "./Browser.ts"
import { post, type Service, startService } from "./Service.ts"

const WAIT_MS = 15_000

/** Starts a service, and a browser for its console. */
export const operatorStage = Effect.gen(function* () {
  return { service: yield* startService(), chromium: yield* browser }
})

/** Opens a page without a session, and collects its complaints. */
export const operatorPage = Effect.fnUntraced(function* (
  { chromium, service }: { readonly chromium: Browser; readonly service: Service },
  options: BrowserContextOptions = {}
) {
  const context = yield* Effect.acquireRelease(
    Effect.promise(() => chromium.newContext({ viewport: { width: 1_280, height: 900 }, ...options })),
    (context) => Effect.promise(() => context.close())
  )
  const page = yield* Effect.promise(() => context.newPage())
  page.setDefaultTimeout(WAIT_MS)
  return { page, complaints: complaintsOf(page, service.origin), origin: service.origin }
})

/** Creates an operator key, and opens a page that is signed in with it. */
export const signedInOperator = Effect.fnUntraced(function* (
  stage: { readonly chromium: Browser; readonly service: Service },
  options: BrowserContextOptions = {}
) {
  const key = yield* stage.service.operatorKeys.create({ name: "support", expiresAt: null })
  const opened = yield* operatorPage(stage, options)
  yield* Effect.promise(async () => {
    await opened.page.goto(`${opened.origin}/operator`)
    await opened.page.getByLabel("Operator key").fill(key.key)
    await opened.page.getByRole("button", { name: "Sign in" }).click()
    await opened.page.getByRole("heading", { level: 1, name: "Accounts" }).waitFor()
  })
  return { ...opened, key }
})

/** Sends a chat request as an account. Returns the id of the request. */
export const chatAs = (service: Service, inferenceKey: string) =>
  Effect.map(
    post(`${service.api}/chat/completions`, inferenceKey, {
      model: "gpt-4o-mini",
      max_tokens: 20,
      messages: [{ role: "user", content: "Hello!" }]
    }),
    (response) => response.headers.get("x-request-id") ?? ""
  )

/** The complaints of a page other than those about the 401 with which it learns that no operator is signed in. */
export const unexpected = (complaints: ReadonlyArray<string>) =>
  complaints.filter((words) => !/status of 401/.test(words))
