/** An owner who is signed in to a service that sends mail. */
import { Effect } from "effect"
import { page } from "./Console.ts"
import { postbox } from "./Postbox.ts"
import { startService } from "./Service.ts"
import { eventually } from "./WebhookRooms.ts"

export const ann = "ann@example.com"

export const ownerStage = Effect.gen(function* () {
  const mail = yield* postbox()
  const service = yield* startService(mail.settings)
  const one = page(service.origin)
  const { account } = (yield* one.signIn(mail, ann)).body
  /** The letters to an address that are no codes, once there are so many. */
  const letters = (to: string, count: number) =>
    eventually(
      Effect.sync(() =>
        mail.letters.filter((letter) => letter.to.includes(to) && !/^Subject: \d{6} /m.test(letter.text))
      ),
      (found) => found.length >= count
    )
  return { mail, service, one, accountId: account.id as string, letters }
})
