import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted } from "effect"
import { Config } from "../../../src/platform/config/Config.ts"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { PhoneVerification } from "../../../src/platform/messaging/PhoneVerification.ts"
import { Secrets } from "../../../src/platform/Secrets.ts"
import { closedOrigin } from "../../providers/upstream.ts"
import { ACCOUNT_SID, AUTH_TOKEN, SERVICE_SID, twilio } from "../../support/Twilio.ts"

const NUMBER = "+4915112345678"

const lines: Array<string> = []
const log = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])

/** Runs an effect with the service made from these settings. */
const using = <A, E, R>(
  env: Record<string, string>,
  use: (phones: PhoneVerification["Service"]) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(
      PhoneVerification.layer.pipe(
        Layer.provide([
          Config.layerFrom({ SANDBOX: "off", ...env }),
          Outbound.layer,
          Secrets.layerFrom(Redacted.make("k".repeat(32)))
        ])
      )
    )
    return yield* Effect.flatMap(PhoneVerification, use).pipe(Effect.provide(context))
  })

const reasonOf = <A>(work: Effect.Effect<A, { readonly reason: string }>) =>
  Effect.map(Effect.flip(work), ({ reason }) => reason)

describe("PhoneVerification", () => {
  it.live("sends and checks a code through Twilio", () =>
    Effect.gen(function* () {
      const verify = yield* twilio
      yield* using(verify.settings, (phones) =>
        Effect.gen(function* () {
          const sent = yield* phones.begin(NUMBER)
          const { reference } = sent
          const code = verify.codeFor(NUMBER)
          const wrong = code === "000000" ? "000001" : "000000"
          assert.isUndefined(yield* phones.check(sent, wrong))
          assert.strictEqual(yield* phones.check(sent, code), NUMBER)
          assert.isUndefined(yield* phones.check(sent, code), "the code was already approved")
          const authorization = `Basic ${Buffer.from(`${ACCOUNT_SID}:${AUTH_TOKEN}`).toString("base64")}`
          assert.deepStrictEqual(verify.requests.slice(0, 2), [
            {
              path: `/v2/Services/${SERVICE_SID}/Verifications`,
              authorization,
              form: { To: NUMBER, Channel: "sms" }
            },
            {
              path: `/v2/Services/${SERVICE_SID}/VerificationCheck`,
              authorization,
              form: { VerificationSid: reference, Code: wrong }
            }
          ])
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live("uses Twilio's form of a number", () =>
    Effect.gen(function* () {
      const verify = yield* twilio
      verify.behaviour.spells = () => NUMBER
      yield* using(verify.settings, (phones) =>
        Effect.gen(function* () {
          const sent = yield* phones.begin("+49015112345678")
          assert.strictEqual(sent.phone, NUMBER)
          const asked = { ...sent, phone: "+49015112345678" }
          assert.strictEqual(yield* phones.check(asked, verify.codeFor(NUMBER)), NUMBER)
          for (const to of ["", "+49 151", null, 7]) {
            verify.behaviour.answer = (response) =>
              void response.end(JSON.stringify({ sid: "VE1", to, status: "approved" }))
            assert.strictEqual((yield* phones.begin(NUMBER)).phone, NUMBER)
            assert.strictEqual(yield* phones.check(sent, "000000"), NUMBER)
          }
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live("recognizes expired codes, too many guesses and too many requests", () =>
    Effect.gen(function* () {
      const verify = yield* twilio
      yield* using(verify.settings, (phones) =>
        Effect.gen(function* () {
          const sent = yield* phones.begin(NUMBER)
          const code = verify.codeFor(NUMBER)
          for (const wrong of ["1", "2", "3", "4", "5"]) assert.isUndefined(yield* phones.check(sent, wrong))
          assert.isUndefined(yield* phones.check(sent, code))
          verify.expire()
          assert.isUndefined(yield* phones.check(sent, code))
          yield* Effect.forEach([1, 2, 3, 4, 5], () => phones.begin(NUMBER))
          assert.strictEqual(yield* reasonOf(phones.begin(NUMBER)), "too many")
          assert.strictEqual(yield* reasonOf(phones.begin("+1")), "number")
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live("recognizes a number that cannot receive codes, whatever the status", () =>
    Effect.gen(function* () {
      const verify = yield* twilio
      yield* using(verify.settings, (phones) =>
        Effect.gen(function* () {
          for (const [status, code] of [
            [400, 60200],
            [403, 60205],
            [403, 60410],
            [403, 60605],
            [403, 60220]
          ] as const) {
            verify.behaviour.answer = (response) =>
              void response.writeHead(status).end(JSON.stringify({ code, status }))
            const error = yield* Effect.flip(phones.begin(NUMBER))
            assert.deepStrictEqual(
              [error.reason, error.detail],
              ["number", `Twilio answered ${status}, error ${code}`],
              String(code)
            )
          }
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live("reports a temporary failure without the token or the number", () =>
    Effect.gen(function* () {
      const verify = yield* twilio
      const answers = [
        [500, "{}"],
        [503, "<html>down</html>"],
        [429, '{"code":20429,"message":"Too Many Requests"}'],
        [401, '{"code":20003,"message":"Authenticate"}'],
        [403, '{"code":20403,"message":"Forbidden"}'],
        [201, "{}"],
        [201, "null"]
      ] as const
      yield* using(verify.settings, (phones) =>
        Effect.gen(function* () {
          for (const [status, body] of answers) {
            verify.behaviour.answer = (response) => void response.writeHead(status).end(body)
            const error = yield* Effect.flip(phones.begin(NUMBER))
            assert.strictEqual(error.reason, "unreachable", String(status))
            assert.notMatch(error.message, new RegExp(`${AUTH_TOKEN}|${NUMBER.slice(1)}`))
            if (status !== 201)
              assert.strictEqual(yield* reasonOf(phones.check({ reference: "VE1", phone: NUMBER }, "1")), "unreachable")
          }
          verify.behaviour.answer = (response) => void response.destroy()
          assert.strictEqual(yield* reasonOf(phones.begin(NUMBER)), "unreachable")
        })
      )
      const away = { ...verify.settings, TWILIO_BASE_URL: `${yield* closedOrigin}/twilio` }
      assert.strictEqual(yield* using(away, (phones) => reasonOf(phones.begin(NUMBER))), "unreachable")
    }).pipe(Effect.scoped)
  )

  it.live("logs the code in a sandbox, where any node can check it, and fails elsewhere without Twilio", () =>
    Effect.gen(function* () {
      const sandbox = { SANDBOX: "on" }
      const sent = yield* Effect.provide(
        using(sandbox, (phones) => phones.begin(NUMBER)),
        log
      )
      const code = /code is (\d{6})$/.exec(lines.at(-1) ?? "")?.[1] ?? ""
      assert.strictEqual(yield* using(sandbox, (phones) => phones.check(sent, code)), NUMBER)
      assert.isUndefined(yield* using(sandbox, (phones) => phones.check({ ...sent, reference: "another" }, code)))
      assert.strictEqual(yield* using({}, (phones) => reasonOf(phones.begin(NUMBER))), "not set up")
      assert.strictEqual(yield* using({}, (phones) => reasonOf(phones.check(sent, code))), "not set up")
    }).pipe(Effect.scoped)
  )
})
