import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ConsoleSession, SessionsEnded } from "../../../schemas/console/SignIn.ts"
import { page } from "../../support/Console.ts"
import { postbox } from "../../support/Postbox.ts"
import { startService } from "../../support/Service.ts"

const decodeSession = Schema.decodeUnknownSync(ConsoleSession, { onExcessProperty: "error" })
const decodeEnded = Schema.decodeUnknownSync(SessionsEnded, { onExcessProperty: "error" })

describe("the session of an owner", () => {
  it.live("says who is signed in, until they sign out, on one page or on all", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const service = yield* startService(mail.settings)
      const [one, other, third] = [page(service.origin), page(service.origin), page(service.origin)]
      const made = decodeSession((yield* one.signIn(mail, "ann@example.com")).body)
      yield* other.signIn(mail, "ann@example.com")
      yield* third.signIn(mail, "ann@example.com")
      const shown = yield* one.ask("GET", "/session")
      assert.deepStrictEqual(decodeSession(shown.body), made)
      assert.strictEqual(shown.headers.get("cache-control"), "no-store")
      assert.match(shown.headers.get("ratelimit-policy") ?? "", /^"console_reads"/)

      const left = { ...one.has }
      const ended = yield* one.ask("DELETE", "/session")
      assert.strictEqual(decodeEnded(ended.body).ended, 1)
      assert.match(ended.headers.getSetCookie()[0] ?? "", /^svc_session=; Max-Age=0; Path=\/api\/v1\/console;/)
      assert.isUndefined(one.has.cookie)
      Object.assign(one.has, left)
      const late = yield* one.ask("GET", "/session")
      assert.deepStrictEqual([late.status, late.body.error.code], [401, "not_signed_in"])
      assert.strictEqual((yield* other.ask("GET", "/session")).status, 200)

      assert.strictEqual(decodeEnded((yield* other.ask("DELETE", "/sessions")).body).ended, 2)
      assert.strictEqual((yield* third.ask("GET", "/session")).status, 401)

      const lines = yield* service.audit(made.account.id)
      assert.deepStrictEqual(
        lines.map(({ actor_id, actor_type, outcome, type }) => ({ type, outcome, by: `${actor_type} ${actor_id}` })),
        [
          "session.all_ended",
          "session.ended",
          "session.created",
          "session.created",
          "session.created",
          "account.created"
        ].map((type) => ({ type, outcome: "succeeded" as const, by: `owner ${made.account.id}` }))
      )
      assert.isTrue(lines.slice(0, 5).every(({ request_id }) => request_id?.startsWith("req_")))
      assert.deepStrictEqual(lines[0]?.changes, { ended: 2 })
    }).pipe(Effect.scoped)
  )
})
