import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ConsoleSession, SignInSent } from "../../../../schemas/console/SignIn.ts"
import { sessionOf } from "../../../../src/http/handlers/console/SignIn.ts"
import { page } from "../../../support/Console.ts"
import { closedOrigin } from "../../../providers/upstream.ts"
import { postbox } from "../../../support/Postbox.ts"
import { startService } from "../../../support/Service.ts"

const decodeSession = Schema.decodeUnknownSync(ConsoleSession, { onExcessProperty: "error" })
const decodeSent = Schema.decodeUnknownSync(SignInSent, { onExcessProperty: "error" })

const stage = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const mail = yield* postbox()
    const service = yield* startService({ ...mail.settings, ...env })
    return { mail, service, page: () => page(service.origin) }
  })

describe("signing in", () => {
  it.live("creates an account for a new address, and signs in to that account from then on", () =>
    Effect.gen(function* () {
      const { mail, page, service } = yield* stage()
      const [first, second] = [page(), page()]
      const asked = decodeSent((yield* first.ask("POST", "/sign-in", { email: "Ann@Example.com" })).body)
      assert.strictEqual(asked.expires_in, 600)
      assert.deepStrictEqual(
        mail.emails.map(({ to }) => to),
        [["ann@example.com"]]
      )
      const made = yield* first.ask("POST", "/sign-in/verify", {
        email: "ann@EXAMPLE.com",
        sign_in_id: asked.sign_in_id,
        code: mail.codeFor("ann@example.com")
      })
      assert.strictEqual(made.status, 200, JSON.stringify(made.body))
      const session = decodeSession(made.body)
      assert.strictEqual(session.account.email, "ann@example.com")
      assert.deepStrictEqual(
        [session.phone_verified, session.phone_last2, session.starter_credit_usd],
        [false, null, 0]
      )
      const [set = ""] = made.headers.getSetCookie()
      assert.match(set, /^svc_session=[A-Za-z0-9_-]{43}; Max-Age=2592000; Path=\/api\/v1; HttpOnly; SameSite=Strict$/)
      assert.strictEqual(made.headers.get("cache-control"), "no-store")
      assert.isNull(made.headers.get("access-control-allow-origin"))
      const again = decodeSession((yield* second.signIn(mail, "ann@example.com")).body)
      assert.strictEqual(again.account.id, session.account.id)
      assert.notStrictEqual(second.has.cookie, first.has.cookie)
      assert.deepStrictEqual(yield* service.balance(session.account.id), { posted: 0n, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("shows the code in a sandbox without a mail server and without a provider's key, and nowhere else", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const ann = page(service.origin)
      const email = "ann@example.com"
      const { sandbox_code: code = "", sign_in_id } = decodeSent((yield* ann.ask("POST", "/sign-in", { email })).body)
      const verified = yield* ann.ask("POST", "/sign-in/verify", { email, sign_in_id, code })
      assert.strictEqual(verified.status, 200, JSON.stringify(verified.body))
      const { mail, page: other } = yield* stage()
      const sent = decodeSent((yield* other().ask("POST", "/sign-in", { email })).body)
      assert.notProperty(sent, "sandbox_code")
      assert.lengthOf(mail.emails, 1)
      const mixed = yield* startService({
        SANDBOX: "on",
        OPENAI_API_KEY: "sk-any",
        OPENAI_BASE_URL: yield* closedOrigin
      })
      const asked = yield* page(mixed.origin).ask("POST", "/sign-in", { email })
      assert.strictEqual(asked.status, 200, JSON.stringify(asked.body))
      assert.notProperty(decodeSent(asked.body), "sandbox_code")
    }).pipe(Effect.scoped)
  )

  it.live("answers the same for an address with an account and for one without", () =>
    Effect.gen(function* () {
      const { mail, page, service } = yield* stage()
      const { account } = yield* service.account()
      const asked = page()
      const known = yield* asked.ask("POST", "/sign-in", { email: account.email })
      const unknown = yield* asked.ask("POST", "/sign-in", { email: "nobody-yet@example.com" })
      const { sign_in_id } = known.body
      assert.deepStrictEqual([known.status, known.body], [unknown.status, { ...unknown.body, sign_in_id }])
      assert.notStrictEqual(unknown.body.sign_in_id, sign_in_id)
      const codes = yield* Effect.forEach([account.email, "nobody-yet@example.com", "never@example.com"], (email) =>
        asked.ask("POST", "/sign-in/verify", { email, sign_in_id, code: "0" })
      )
      assert.deepStrictEqual(new Set(codes.map(({ body, status }) => JSON.stringify([status, body]))).size, 1)
      const wrong = mail.codeFor(account.email) === "000000" ? "000001" : "000000"
      const guessed = yield* Effect.forEach([account.email, "nobody-yet@example.com", "never@example.com"], (email) =>
        asked.ask("POST", "/sign-in/verify", { email, sign_in_id, code: wrong })
      )
      for (const { body, status } of guessed) {
        assert.deepStrictEqual([status, body], [guessed[0]!.status, guessed[0]!.body])
        assert.strictEqual(body.error.code, "invalid_code")
      }
      assert.isUndefined(asked.has.cookie)
    }).pipe(Effect.scoped)
  )

  it.live("refuses an invalid address and unknown fields", () =>
    Effect.gen(function* () {
      const { mail, page, service } = yield* stage()
      const asked = page()
      const addresses = ["", "a", "a@", "@b", "a b@c.de", "a@b,c@d.de", "ann@exa\u212aple.com", "a@-b.de", "a\r\n@b.de"]
      addresses.push(".a@b.de", "a.@b.de", "a..b@c.de", ".a..b.@x.y")
      for (const email of addresses) {
        const { body, status } = yield* asked.ask("POST", "/sign-in", { email })
        assert.deepStrictEqual([status, body.error.code, body.error.param], [400, "validation_error", "email"], email)
      }
      const more = yield* asked.ask("POST", "/sign-in", { email: "ann@example.com", name: "Ann" })
      assert.deepStrictEqual([more.status, more.body.error.param], [400, "name"])
      assert.lengthOf(mail.emails, 0)
      assert.deepStrictEqual(yield* service.sql`SELECT 1 FROM verification_sends`, [], "none of them is counted")
      assert.strictEqual((yield* asked.ask("POST", "/sign-in", { email: "a.b.c+d@example.com" })).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("uses up no code, and begins no session, when it cannot answer", () =>
    Effect.gen(function* () {
      const { mail, page, service } = yield* stage()
      const asked = page()
      const email = "ann@example.com"
      const { sign_in_id } = (yield* asked.ask("POST", "/sign-in", { email })).body
      const verify = asked.ask("POST", "/sign-in/verify", { email, sign_in_id, code: mail.codeFor(email) })
      const sessions = Effect.map(service.sql`SELECT 1 FROM owner_session`, ({ length }) => length)
      yield* service.sql`ALTER TABLE verified_phone RENAME TO away`
      assert.isAtLeast((yield* verify).status, 500)
      assert.strictEqual(yield* sessions, 0)
      yield* service.sql`ALTER TABLE away RENAME TO verified_phone`
      assert.strictEqual((yield* verify).status, 200)
      assert.strictEqual(yield* sessions, 1)
    }).pipe(Effect.scoped)
  )

  it.live("sets a cookie for https only when the client uses https, directly or by a trusted proxy's word", () =>
    Effect.gen(function* () {
      const { mail, page } = yield* stage({ PUBLIC_URL: "https://example.com/gateway" })
      const made = yield* page().signIn(mail, "ann@example.com")
      const secure = /^__Host-svc_session=[\w-]{43}; Max-Age=2592000; Path=\/; Secure; HttpOnly; SameSite=Strict$/
      assert.match(made.headers.getSetCookie()[0] ?? "", secure)

      const forwarded = { "x-forwarded-proto": "https" }
      for (const [env, mark] of [
        [{ TRUSTED_PROXIES: "127.0.0.1" }, secure],
        [{}, /^svc_session=/]
      ] as const) {
        const other = yield* stage(env)
        const one = other.page()
        const { sign_in_id } = (yield* one.ask("POST", "/sign-in", { email: "ann@example.com" })).body
        const proof = { email: "ann@example.com", sign_in_id, code: other.mail.codeFor("ann@example.com") }
        const signed = yield* one.ask("POST", "/sign-in/verify", proof, forwarded)
        assert.match(signed.headers.getSetCookie()[0] ?? "", mark)
        assert.strictEqual((yield* one.ask("GET", "/session", undefined, forwarded)).body.csrf_token, one.has.csrf)
      }
    }).pipe(Effect.scoped)
  )

  it.live("names the missing setting outside a sandbox", () =>
    Effect.gen(function* () {
      const service = yield* startService({ SANDBOX: "off" })
      const { body, status } = yield* page(service.origin).ask("POST", "/sign-in", { email: "ann@example.com" })
      assert.deepStrictEqual([status, body.error.code], [503, "service_unavailable"])
      assert.include(body.error.message, "no mail server is configured")
    }).pipe(Effect.scoped)
  )

  it("shows an account with its phone number", () => {
    const shown = sessionOf({ id: "0".repeat(24), email: "a@b.de" }, "token", { last2: "42", credited: 500_000_000n })
    assert.deepStrictEqual([shown.phone_verified, shown.phone_last2, shown.starter_credit_usd], [true, "42", 0.5])
  })
})
