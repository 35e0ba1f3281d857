import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import type { SMTPServerOptions } from "smtp-server"
import { Config } from "../../../src/platform/config/Config.ts"
import { Mail } from "../../../src/platform/messaging/Mail.ts"
import { closedOrigin } from "../../providers/upstream.ts"
import { postbox } from "../../support/Postbox.ts"

const email = { to: "ann@example.com", subject: "123456 is it", text: "Dear Ann,\n.\nüöä\n" }

/** The error of sending, and the log lines. */
const sent = (env: Record<string, string>, one: Parameters<Mail["Service"]["send"]>[0] = email) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const log = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
    const layers = Mail.layer.pipe(Layer.provide(Config.layerFrom({ SANDBOX: "off", ...env })), Layer.merge(log))
    const exit = yield* Effect.result(Effect.flatMap(Mail, (mail) => mail.send(one))).pipe(Effect.provide(layers))
    return { error: exit._tag === "Failure" && exit.failure._tag === "MailError" ? exit.failure : undefined, lines }
  })

describe("Mail", () => {
  it.live("is sent through a server to one address, unchanged", () =>
    Effect.gen(function* () {
      const box = yield* postbox()
      assert.isUndefined((yield* sent(box.settings)).error)
      const [one] = box.emails
      assert.deepStrictEqual([one?.from, one?.to], ["no-reply@example.com", ["ann@example.com"]])
      assert.match(one?.text ?? "", /^From: Tollgate <no-reply@example.com>$/m)
      assert.match(one?.text ?? "", /^Subject: 123456 is it$/m)
      assert.strictEqual(box.codeFor("ann@example.com"), "123456")
      assert.isUndefined((yield* sent(box.settings, { ...email, to: "a,b@example.com" })).error)
      assert.isTrue(box.emails.every(({ to }) => to.length === 1))
    }).pipe(Effect.scoped)
  )

  it.live("authenticates to the server", () =>
    Effect.gen(function* () {
      const given: Array<string> = []
      const box = yield* postbox({
        authOptional: false,
        onAuth: ({ password, username }, _session, done) => {
          given.push(`${username} ${password}`)
          done(password === "p@ss:w0rd" ? null : new Error("wrong"), { user: username })
        }
      })
      const as = (auth: string) => ({ ...box.settings, SMTP_URL: `smtp://${auth}@${box.host}` })
      assert.isUndefined((yield* sent(as("ann:p%40ss%3Aw0rd"))).error)
      assert.deepStrictEqual(given, ["ann p@ss:w0rd"])
      const { error } = yield* sent(as("ann:not-this"))
      assert.strictEqual(error?.reason, "unreachable")
      assert.notInclude(error?.message ?? "", "not-this")
      assert.lengthOf(box.emails, 1)
    }).pipe(Effect.scoped)
  )

  it.live("distinguishes a rejected address from a failing server", () =>
    Effect.gen(function* () {
      const box = yield* postbox()
      const to = (address: string) => sent(box.settings, { ...email, to: address })
      assert.strictEqual((yield* to("nobody@example.com")).error?.reason, "refused")
      assert.strictEqual((yield* to("syntax@example.com")).error?.reason, "refused")
      const { error } = yield* to("later@example.com")
      assert.deepStrictEqual(
        [error?.reason, error?.detail],
        ["unreachable", "the mail server failed: EENVELOPE RCPT 451"]
      )
      const away = { ...box.settings, SMTP_URL: (yield* closedOrigin).replace("http", "smtp") }
      assert.strictEqual((yield* sent(away)).error?.reason, "unreachable")
    }).pipe(Effect.scoped)
  )

  it.live("distinguishes a rejected address from a server that does not relay for this service", () =>
    Effect.gen(function* () {
      const replies = [
        [530, "5.7.0 Must issue a STARTTLS command first"],
        [530, "Authentication required"],
        [554, "5.7.1 <ann@example.com>: Relay access denied"],
        [550, "5.7.54 SMTP; Unable to relay recipient in non-accepted domain"],
        [550, "relay not permitted"],
        [503, "5.5.1 Authenticate first"]
      ] as const
      let [responseCode, said]: readonly [number, string] = [550, "5.1.1 no such user here"]
      const onRcptTo: SMTPServerOptions["onRcptTo"] = (_address, _session, done) =>
        done(Object.assign(new Error(said), { responseCode }))
      const box = yield* postbox({ onRcptTo, hideENHANCEDSTATUSCODES: true })
      assert.strictEqual((yield* sent(box.settings)).error?.reason, "refused")
      said = "5.1.1 <relay@example.com>: no such user here"
      assert.strictEqual((yield* sent(box.settings)).error?.reason, "refused")
      for (const reply of replies) {
        ;[responseCode, said] = reply
        const { error } = yield* sent(box.settings)
        assert.deepStrictEqual(
          [error?.reason, error?.detail],
          ["unreachable", `the mail server failed: EENVELOPE RCPT ${responseCode}`],
          said
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("is written to the log in a sandbox, and fails elsewhere when mail is not configured", () =>
    Effect.gen(function* () {
      const { error, lines } = yield* sent({ SANDBOX: "on" })
      assert.isUndefined(error)
      assert.lengthOf(lines, 1)
      assert.include(lines[0] ?? "", "123456 is it")
      const none = yield* sent({})
      assert.deepStrictEqual([none.error?.reason, none.lines], ["not set up", []])
    })
  )
})
