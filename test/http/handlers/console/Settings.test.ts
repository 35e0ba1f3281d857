import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { NotificationChoices } from "../../../../schemas/console/Settings.ts"
import { page } from "../../../support/Console.ts"
import { ann, ownerStage as stage } from "../../../support/Owner.ts"

const decode = { choices: Schema.decodeUnknownSync(NotificationChoices, { onExcessProperty: "error" }) }

describe("the notifications of an account", () => {
  it.live("are sent for key changes and new origins, unless the owner declined them", () =>
    Effect.gen(function* () {
      const { accountId, emails, mail, one, service } = yield* stage
      const all = { low_balance: true, budget_alert: true, webhook_disabled: true, sign_in: true, key_change: true }
      assert.deepStrictEqual(decode.choices((yield* one.ask("GET", "/notifications")).body).data, {
        object: "notifications",
        ...all
      })
      const key = { name: "deploy", scopes: ["usage:read"] }
      const made = yield* one.ask("POST", "/management-keys", key)
      const [created] = yield* emails(ann, 1)
      assert.include(created?.text ?? "", "Subject: The key deploy was created")
      assert.notInclude(created?.text ?? "", made.body.key)

      yield* page(service.origin).signIn(mail, ann)
      const firefox = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0" }
      yield* page(service.origin).signIn(mail, ann, firefox)
      const found = yield* emails(ann, 2)
      assert.lengthOf(found, 2)
      assert.include(found[1]?.text ?? "", "Subject: New sign-in from Firefox on Linux")

      const declined = yield* one.ask("PATCH", "/notifications", { key_change: false })
      assert.deepStrictEqual(decode.choices(declined.body).data, {
        object: "notifications",
        ...all,
        key_change: false
      })
      yield* one.ask("DELETE", `/management-keys/${made.body.data.id}`)
      assert.deepStrictEqual(yield* service.sql`SELECT id FROM notice`, [])
      const line = (yield* service.audit(accountId)).find(({ type }) => type === "notifications.changed")
      assert.deepStrictEqual(line?.changes, { key_change: { from: true, to: false } })
      const unknown = yield* one.ask("PATCH", "/notifications", { newsletter: true })
      assert.deepStrictEqual([unknown.status, unknown.body.error.param], [400, "newsletter"])
    }).pipe(Effect.scoped)
  )
})
