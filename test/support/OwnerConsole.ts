/** Browser pages of the console of an account's owner. */
import { Effect } from "effect"
import { type Browser, browser, complaintsOf } from "./Browser.ts"
import { type Service, startService } from "./Service.ts"

const WAIT_MS = 15_000

/** Starts a service, and a browser for its console. */
export const ownerStage = Effect.gen(function* () {
  return { service: yield* startService(), chromium: yield* browser }
})

/** Opens a page of an owner who is signed in to a new account with simulated money, and collects its complaints. */
export const ownerPage = Effect.fnUntraced(function* ({
  chromium,
  service
}: {
  readonly chromium: Browser
  readonly service: Service
}) {
  const customer = yield* service.account(20, "play")
  const [name = "", value = ""] = (yield* service.signedIn(customer.account.id)).cookie.split("=")
  const context = yield* Effect.acquireRelease(
    Effect.promise(() => chromium.newContext({ viewport: { width: 1_280, height: 900 } })),
    (context) => Effect.promise(() => context.close())
  )
  yield* Effect.promise(() => context.addCookies([{ name, value, url: service.api }]))
  const page = yield* Effect.promise(() => context.newPage())
  page.setDefaultTimeout(WAIT_MS)
  return { ...customer, page, origin: service.origin, complaints: complaintsOf(page, service.origin) }
})
