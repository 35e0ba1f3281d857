import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { EmailChanged, EmailSent } from "../../schemas/console/Settings.ts"
import { page } from "../support/Console.ts"
import { ann, ownerStage as stage } from "../support/Owner.ts"

const decode = {
  sent: Schema.decodeUnknownSync(EmailSent, { onExcessProperty: "error" }),
  changed: Schema.decodeUnknownSync(EmailChanged, { onExcessProperty: "error" })
}

const bob = "bob@example.com"

describe("the email of an account", () => {
  it.live("changes after a code to the new address, ends other sessions, and notifies the former address", () =>
    Effect.gen(function* () {
      const { accountId, emails, mail, one, service } = yield* stage
      const other = page(service.origin)
      yield* other.signIn(mail, ann)
      const sent = yield* one.ask("POST", "/email", { email: "Bob@Example.com" })
      assert.deepStrictEqual(decode.sent(sent.body).data, {
        object: "email",
        email: bob,
        status: "code_sent",
        expires_in: 600
      })
      const code = mail.codeFor(bob)
      const wrong = yield* one.ask("POST", "/email/verify", { email: bob, code: code === "000000" ? "1" : "000000" })
      assert.deepStrictEqual([wrong.status, wrong.body.error.code], [400, "invalid_code"])
      assert.strictEqual((yield* one.ask("GET", "/session")).body.account.email, ann)

      const changed = yield* one.ask("POST", "/email/verify", { email: bob, code })
      assert.deepStrictEqual(decode.changed(changed.body).data, {
        object: "email",
        email: bob,
        status: "changed",
        sessions_ended: 1
      })
      assert.strictEqual((yield* one.ask("GET", "/session")).body.account.email, bob)
      assert.strictEqual((yield* other.ask("GET", "/session")).status, 401)
      assert.strictEqual((yield* one.ask("POST", "/email/verify", { email: bob, code })).status, 400)
      const [email] = yield* emails(ann, 1)
      assert.include(email?.text ?? "", "Subject: The email address of your account was changed")
      assert.strictEqual((yield* other.signIn(mail, bob)).body.account.id, accountId)
      assert.notStrictEqual((yield* page(service.origin).signIn(mail, ann)).body.account.id, accountId)

      const lines = yield* service.audit(accountId)
      assert.deepInclude(lines.find(({ type }) => type === "email.changed")?.changes, {
        email: { from: ann, to: bob },
        sessions_ended: 1
      })
      assert.deepStrictEqual(lines.find(({ type }) => type === "email.code_sent")?.changes, { email: bob })
    }).pipe(Effect.scoped)
  )

  it.live("stays when another account has the address, and only the address's reader learns of that", () =>
    Effect.gen(function* () {
      const { mail, one, service } = yield* stage
      yield* page(service.origin).signIn(mail, bob)
      const [taken, free] = [
        yield* one.ask("POST", "/email", { email: bob }),
        yield* one.ask("POST", "/email", { email: "free@example.com" })
      ]
      assert.deepStrictEqual([taken.status, free.status], [200, 200])
      const refused = yield* one.ask("POST", "/email/verify", { email: bob, code: mail.codeFor(bob) })
      assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "conflict"])
      assert.strictEqual((yield* one.ask("GET", "/session")).body.account.email, ann)
      const same = yield* one.ask("POST", "/email", { email: "ANN@example.com" })
      assert.deepStrictEqual([same.status, same.body.error.param], [400, "email"])
      const lost = yield* one.ask("POST", "/email", { email: "nobody@example.com" })
      assert.deepStrictEqual([lost.status, lost.body.error.param], [400, "email"])
    }).pipe(Effect.scoped)
  )

  it.live("changes once when a code arrives many times at once, and one account gets an address that two want", () =>
    Effect.gen(function* () {
      const { mail, one, service } = yield* stage
      const eve = page(service.origin)
      yield* eve.signIn(mail, "eve@example.com")
      const verify = Effect.fnUntraced(function* (of: typeof one) {
        yield* of.ask("POST", "/email", { email: bob })
        const code = mail.codeFor(bob)
        return Array.from({ length: 3 }, () => of.ask("POST", "/email/verify", { email: bob, code }))
      })
      const tries = [...(yield* verify(one)), ...(yield* verify(eve))]
      const answers = yield* Effect.all(tries, { concurrency: "unbounded" })
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
      assert.isTrue(answers.every(({ status }) => [200, 400, 409].includes(status)))
      const rows = yield* service.sql`SELECT id FROM letter WHERE kind = 'email_changed'`
      assert.lengthOf(rows, 1)
    }).pipe(Effect.scoped)
  )

  it.live("gets at most five codes in a quarter of an hour for one account", () =>
    Effect.gen(function* () {
      const { one } = yield* stage
      const statuses = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (n) =>
        Effect.map(one.ask("POST", "/email", { email: `new-${n}@example.com` }), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, [200, 200, 200, 200, 200, 429])
    }).pipe(Effect.scoped)
  )
})
