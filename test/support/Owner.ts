/** An owner with a session of a service that sends mail. */
import { Effect } from "effect"
import { page } from "./Console.ts"
import { postbox } from "./Postbox.ts"
import { startService } from "./Service.ts"
import { eventually } from "./Eventually.ts"

/** The address of the owner. */
export const ann = "ann@example.com"

/** Starts a mail server and a service, and signs the owner in to the console. */
export const ownerStage = Effect.gen(function* () {
  const mail = yield* postbox()
  const service = yield* startService(mail.settings)
  const one = page(service.origin)
  const { account } = (yield* one.signIn(mail, ann)).body
  /** Waits until an address has `count` emails other than codes, and returns them. */
  const emails = (to: string, count: number) =>
    eventually(
      Effect.sync(() => mail.emails.filter((email) => email.to.includes(to) && !/^Subject: \d{6} /m.test(email.text))),
      (found) => found.length >= count
    )
  return { mail, service, one, accountId: account.id as string, emails }
})
