import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { PhoneResult } from "../../../../schemas/console/Phone.ts"
import { get, json, startService } from "../../../support/Service.ts"
import { page } from "../../../support/Console.ts"
import { postbox } from "../../../support/Postbox.ts"
import { twilio } from "../../../support/Twilio.ts"
import { eventually } from "../../../support/Eventually.ts"

const decode = Schema.decodeUnknownSync(PhoneResult, { onExcessProperty: "error" })

const NUMBER = "+4915112345678"

const stage = Effect.gen(function* () {
  const mail = yield* postbox()
  const verify = yield* twilio
  const service = yield* startService({ ...mail.settings, ...verify.settings })
  return {
    mail,
    verify,
    service,
    signedIn: (email: string) =>
      Effect.gen(function* () {
        const one = page(service.origin)
        const { body } = yield* one.signIn(mail, email)
        return { ...one, id: body.account.id as string }
      })
  }
})

describe("the phone number of an account", () => {
  it.live("is verified in a sandbox without Twilio by the code that the response shows", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const service = yield* startService(mail.settings)
      const ann = page(service.origin)
      yield* ann.signIn(mail, "ann@example.com")
      const { sandbox_code: code } = decode((yield* ann.ask("POST", "/phone", { phone: NUMBER })).body).data
      assert.match(code ?? "", /^\d{6}$/)
      const verified = decode((yield* ann.ask("POST", "/phone/verify", { phone: NUMBER, code })).body).data
      assert.deepStrictEqual(verified, { object: "phone", verified: true, last2: "78", starter_credit_usd: 0.5 })
    }).pipe(Effect.scoped)
  )

  it.live("is verified by a code, and gives a starter credit once for the account and for the number", () =>
    Effect.gen(function* () {
      const { service, signedIn, verify } = yield* stage
      const [ann, bob] = [yield* signedIn("ann@example.com"), yield* signedIn("bob@example.com")]
      const sent = yield* ann.ask("POST", "/phone", { phone: NUMBER })
      assert.strictEqual(sent.status, 200, JSON.stringify(sent.body))
      assert.deepStrictEqual(decode(sent.body).data, {
        object: "phone",
        verified: false,
        last2: "78",
        starter_credit_usd: 0
      })
      const right = { phone: NUMBER, code: verify.codeFor(NUMBER) }
      const wrong = { ...right, code: right.code === "000000" ? "000001" : "000000" }
      const refused = yield* ann.ask("POST", "/phone/verify", wrong)
      assert.deepStrictEqual([refused.status, refused.body.error.code], [400, "invalid_code"])
      const others = yield* bob.ask("POST", "/phone/verify", right)
      assert.deepStrictEqual([others.status, others.body.error.code], [400, "invalid_code"])
      const verified = yield* ann.ask("POST", "/phone/verify", right)
      const data = { object: "phone", verified: true, last2: "78", starter_credit_usd: 0.5 } as const
      assert.deepStrictEqual(decode(verified.body).data, data)
      assert.deepStrictEqual(decode((yield* ann.ask("POST", "/phone/verify", right)).body).data, data)
      assert.deepStrictEqual(yield* service.balance(ann.id), { posted: 500_000_000n, held: 0n })
      const session = yield* ann.ask("GET", "/session")
      assert.deepStrictEqual(
        [session.body.phone_verified, session.body.phone_last2, session.body.starter_credit_usd],
        [true, "78", 0.5]
      )
      const another = yield* ann.ask("POST", "/phone", { phone: "+4915100000000" })
      assert.deepStrictEqual([another.status, another.body.error.code], [409, "conflict"])
      assert.strictEqual(another.body.error.message, "This account already has a verified phone number.")

      yield* bob.ask("POST", "/phone", { phone: NUMBER })
      const later = yield* bob.ask("POST", "/phone/verify", { phone: NUMBER, code: verify.codeFor(NUMBER) })
      assert.deepStrictEqual(decode(later.body).data, { ...data, starter_credit_usd: 0 })
      assert.deepStrictEqual(yield* service.balance(bob.id), { posted: 0n, held: 0n })

      const lines = yield* service.audit(ann.id)
      assert.deepStrictEqual(
        lines.slice(0, 3).map(({ changes, outcome, type }) => ({ changes, outcome, type })),
        [
          // What was answered again changed nothing.
          { type: "phone.verified", outcome: "succeeded", changes: {} },
          { type: "phone.verified", outcome: "succeeded", changes: { last2: "78", starter_credit_usd: 0.5 } },
          { type: "phone.code_sent", outcome: "succeeded", changes: { last2: "78" } }
        ]
      )
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("shows in the balance that a management key reads", () =>
    Effect.gen(function* () {
      const { service, signedIn, verify } = yield* stage
      const ann = yield* signedIn("ann@example.com")
      const made = yield* ann.ask("POST", "/management-keys", { name: "console", scopes: ["usage:read"] })
      const balance = Effect.flatMap(get(`${service.api}/management/balance`, made.body.key), json)
      assert.strictEqual((yield* balance).data.starter_credit_usd, 0)
      yield* ann.ask("POST", "/phone", { phone: NUMBER })
      yield* ann.ask("POST", "/phone/verify", { phone: NUMBER, code: verify.codeFor(NUMBER) })
      const { data } = yield* balance
      assert.deepStrictEqual([data.starter_credit_usd, data.balance_usd], [0.5, 0.5])
    }).pipe(Effect.scoped)
  )

  it.live("gets its own code even when another number's request used the same idempotency key", () =>
    Effect.gen(function* () {
      const { signedIn, verify } = yield* stage
      const ann = yield* signedIn("ann@example.com")
      const key = { "idempotency-key": "one" }
      const other = "+4915187654321"
      for (const phone of [NUMBER, other, other]) {
        const { body, headers, status } = yield* ann.ask("POST", "/phone", { phone }, key)
        assert.deepStrictEqual([status, body.data.last2], [200, phone.slice(-2)])
        assert.isNull(headers.get("idempotency-replayed"))
      }
      assert.isString(verify.codeFor(NUMBER))
      const right = verify.codeFor(other)
      const wrong = right === "000000" ? "000001" : "000000"
      const tries = yield* Effect.forEach([wrong, right], (code) =>
        ann.ask("POST", "/phone/verify", { phone: other, code }, key)
      )
      assert.deepStrictEqual(
        tries.map(({ headers, status }) => [status, headers.get("idempotency-replayed")]),
        [
          [400, null],
          [200, null]
        ]
      )
      assert.strictEqual(decode(tries[1]!.body).data.last2, other.slice(-2))
    }).pipe(Effect.scoped)
  )

  it.live("gets a limited number of codes, and a reason when none is sent", () =>
    Effect.gen(function* () {
      const { signedIn, verify } = yield* stage
      const ann = yield* signedIn("ann@example.com")
      verify.behaviour.answer = (response) => void response.writeHead(503).end("down")
      const down = yield* ann.ask("POST", "/phone", { phone: NUMBER })
      assert.deepStrictEqual([down.status, down.body.error.code], [503, "service_unavailable"])
      assert.strictEqual(down.body.error.message, "Phone verification is temporarily unavailable. Try again later.")
      verify.behaviour.answer = (response) => void response.writeHead(429).end('{"code":60203}')
      const full = yield* ann.ask("POST", "/phone", { phone: NUMBER })
      assert.strictEqual(full.body.error.message, "This number received too many codes recently; try again in 600 s.")
      verify.behaviour.answer = undefined
      const statuses = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(ann.ask("POST", "/phone", { phone: NUMBER }), ({ body, status }) => [status, body.error?.code])
      )
      assert.deepStrictEqual(statuses, [
        [200, undefined],
        [429, "rate_limit_exceeded"],
        [429, "rate_limit_exceeded"]
      ])
      for (const phone of ["", "015112345678", "+0151123456", "+49 151 1234567", "+49151123456789012"]) {
        const { body, status } = yield* ann.ask("POST", "/phone", { phone })
        assert.deepStrictEqual([status, body.error.param], [400, "phone"], phone)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is verified even if the client disconnects while the code is sent or checked", () =>
    Effect.gen(function* () {
      const { service, signedIn, verify } = yield* stage
      const ann = yield* signedIn("ann@example.com")
      /** Asks, and leaves while Twilio has an answer that it keeps for a while. */
      const leaving = (path: string, body: object) =>
        Effect.gen(function* () {
          const [answered, leave] = [Promise.withResolvers<void>(), new AbortController()]
          verify.behaviour.waits = answered.promise
          const before = verify.requests.length
          const gone = ann.ask("POST", path, body, {}, leave.signal).pipe(Effect.exit, Effect.forkChild)
          const fiber = yield* gone
          yield* eventually(
            Effect.sync(() => verify.requests.length),
            (asked) => asked > before
          )
          leave.abort()
          assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
          // By then the service has heard of it.
          for (let reads = 0; reads < 3; reads++)
            assert.isFalse((yield* ann.ask("GET", "/session")).body.phone_verified)
          verify.behaviour.waits = undefined
          answered.resolve()
        })
      yield* leaving("/phone", { phone: NUMBER })
      yield* eventually(
        service.audit(ann.id),
        ([line]) => line?.type === "phone.code_sent" && line.outcome === "succeeded"
      )
      yield* leaving("/phone/verify", { phone: NUMBER, code: verify.codeFor(NUMBER) })
      const verified = yield* eventually(ann.ask("GET", "/session"), ({ body }) => body.phone_verified)
      assert.strictEqual(verified.body.starter_credit_usd, 0.5)
      assert.deepStrictEqual(yield* service.balance(ann.id), { posted: 500_000_000n, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("cannot be verified without a service for it", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const service = yield* startService({ ...mail.settings, SANDBOX: "off" })
      const one = page(service.origin)
      yield* one.signIn(mail, "ann@example.com")
      const { body, status } = yield* one.ask("POST", "/phone", { phone: NUMBER })
      assert.deepStrictEqual([status, body.error.code], [503, "service_unavailable"])
      assert.strictEqual(
        body.error.message,
        "Phone verification is unavailable because no verification service is configured."
      )
    }).pipe(Effect.scoped)
  )
})
