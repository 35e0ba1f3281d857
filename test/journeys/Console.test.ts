/** An owner's first steps over the public API, from the sign-up to the first answer. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { page } from "../support/Console.ts"
import { postbox } from "../support/Postbox.ts"
import { get, json, post, startService } from "../support/Service.ts"
import { twilio } from "../support/Twilio.ts"

const PHONE = "+4915112345678"

describe("an owner", () => {
  it.live(
    "signs up by email, verifies a phone number, creates a key with a management key, and spends the starter credit",
    () =>
      Effect.gen(function* () {
        const [mail, verify] = [yield* postbox(), yield* twilio]
        const service = yield* startService({ ...mail.settings, ...verify.settings })
        const console = page(service.origin)

        const session = yield* console.signIn(mail, "ann@example.com")
        assert.strictEqual(session.status, 200)
        const accountId = session.body.account.id

        const begun = yield* console.ask("POST", "/phone", { phone: PHONE })
        assert.strictEqual(begun.status, 200)
        const code = verify.codeFor(PHONE)
        const verified = yield* console.ask("POST", "/phone/verify", { phone: PHONE, code })
        assert.strictEqual(verified.body.data.starter_credit_usd, 0.5)

        const expires = Math.floor(Date.now() / 1_000) + 600
        const scopes = ["keys:write", "usage:read"]
        const made = yield* console.ask("POST", "/management-keys", { name: "console", scopes, expires_at: expires })
        const managementKey: string = made.body.key
        const inference = yield* Effect.flatMap(
          post(`${service.api}/management/keys`, managementKey, { name: "first" }),
          json
        )
        const chat = { model: "gpt-4o-mini", max_tokens: 50, messages: [{ role: "user", content: "Hello!" }] }
        const answer = yield* Effect.flatMap(post(`${service.api}/chat/completions`, inference.key, chat), json)
        assert.isAbove(answer.cost_usd, 0)
        const balance = yield* Effect.flatMap(get(`${service.api}/management/balance`, managementKey), json)
        assert.strictEqual(balance.data.starter_credit_usd, 0.5)
        assert.closeTo(balance.data.balance_usd, 0.5 - answer.cost_usd, 1e-9)

        yield* console.ask("DELETE", `/management-keys/${made.body.data.id}`)
        assert.strictEqual((yield* get(`${service.api}/management/balance`, managementKey)).status, 401)
        assert.strictEqual((yield* console.ask("DELETE", "/session")).status, 200)
        assert.strictEqual((yield* console.ask("GET", "/session")).status, 401)

        const lines = yield* service.audit(accountId)
        assert.deepStrictEqual(
          lines.map(({ actor_type, outcome, type }) => `${type} by ${actor_type}: ${outcome}`).toReversed(),
          [
            "account.created by owner: succeeded",
            "session.created by owner: succeeded",
            "phone.code_sent by owner: succeeded",
            "phone.verified by owner: succeeded",
            "key.created by owner: succeeded",
            "key.created by key: succeeded",
            "key.revoked by owner: succeeded",
            "session.ended by owner: succeeded"
          ]
        )
        const secrets = [mail.codeFor("ann@example.com"), code, managementKey, inference.key, PHONE.slice(0, -2)]
        for (const secret of secrets) assert.notInclude(JSON.stringify(lines.map(({ changes }) => changes)), secret)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )
})
