import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { STARTER_CREDIT } from "../../src/billing/Phones.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { page } from "../support/Console.ts"
import { layerUrl } from "../support/Database.ts"
import { postbox } from "../support/Postbox.ts"
import { startService } from "../support/Service.ts"
import { twilio } from "../support/Twilio.ts"

const NUMBER = "+4915112345678"

/** Two nodes on one database. */
const staged = (more: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const mail = yield* postbox()
    const verify = yield* twilio
    const settings = { ...mail.settings, ...verify.settings, SECRETS_KEY: "k".repeat(32), ...more }
    const one = yield* startService(settings)
    const other = yield* startService({ ...settings, DATABASE_URL: one.databaseUrl })
    const owner = (email: string) =>
      Effect.gen(function* () {
        const here = page(one.origin)
        const { body } = yield* here.signIn(mail, email)
        const there = page(other.origin)
        Object.assign(there.has, here.has)
        return { id: body.account.id as string, pages: [here, there] as const }
      })
    return { one, other, owner, verify }
  })

const stage = staged()

describe("Phones", () => {
  it.live("give a credit once for a number that two accounts verify at the same moment", () =>
    Effect.gen(function* () {
      const { one, owner, verify } = yield* stage
      const owners = [yield* owner("ann@example.com"), yield* owner("bob@example.com")]
      const codes: Array<string> = []
      for (const { pages } of owners) {
        yield* pages[0].ask("POST", "/phone", { phone: NUMBER })
        codes.push(verify.codeFor(NUMBER))
      }
      const answers = yield* Effect.all(
        owners.map(({ pages }, n) => pages[n]!.ask("POST", "/phone/verify", { phone: NUMBER, code: codes[n]! })),
        { concurrency: 2 }
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200]
      )
      assert.sameMembers(
        answers.map(({ body }) => body.data.starter_credit_usd),
        [0.5, 0]
      )
      const balances = yield* Effect.forEach(owners, ({ id }) => one.balance(id))
      assert.sameMembers(
        balances.map(({ posted }) => posted),
        [STARTER_CREDIT, 0n]
      )
      assert.deepStrictEqual(yield* one.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("give a credit once to an account that verifies two numbers, or one twice, at the same moment", () =>
    Effect.gen(function* () {
      const { one, owner, verify } = yield* stage
      const { id, pages } = yield* owner("ann@example.com")
      const numbers = [NUMBER, "+4915187654321"]
      for (const phone of numbers) yield* pages[0].ask("POST", "/phone", { phone })
      const asks = [0, 1, 0, 1].map((n) => {
        const phone = numbers[n]!
        return pages[n]!.ask("POST", "/phone/verify", { phone, code: verify.codeFor(phone) })
      })
      const answers = yield* Effect.all(asks, { concurrency: "unbounded" })
      assert.isTrue(answers.some(({ status }) => status === 200))
      for (const { body, status } of answers) {
        assert.isTrue(status === 200 || ["conflict", "invalid_code"].includes(body.error.code), JSON.stringify(body))
      }
      assert.deepStrictEqual(yield* one.balance(id), { posted: STARTER_CREDIT, held: 0n })
      const lines = yield* one.audit(id)
      const credited = lines.filter(({ changes }) => JSON.stringify(changes).includes("starter_credit_usd"))
      assert.lengthOf(credited, 1)
      assert.deepStrictEqual(yield* one.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("are recognized in every spelling, and give a credit once however they are dialled", () =>
    Effect.gen(function* () {
      const { one, owner, verify } = yield* stage
      const spellings = [
        ["+447911123456", "+447911123456", 0.5],
        ["+4407911123456", "+447911123456", 0],
        ["+525512345678", "+525512345678", 0.5],
        ["+49015112345678", NUMBER, 0.5],
        [NUMBER, NUMBER, 0]
      ] as const
      for (const [n, [phone, canonical, credited]] of spellings.entries()) {
        const { pages } = yield* owner(`ann-${n}@example.com`)
        const begun = yield* pages[0].ask("POST", "/phone", { phone })
        assert.strictEqual(begun.status, 200, phone)
        assert.strictEqual(verify.requests.at(-1)?.form["To"], canonical)
        // The code is for the number, not for its spelling.
        const code = verify.codeFor(canonical)
        const { body, status } = yield* pages[1].ask("POST", "/phone/verify", { phone: canonical, code })
        assert.deepStrictEqual([status, body.data?.starter_credit_usd], [200, credited], phone)
        const again = yield* pages[1].ask("POST", "/phone/verify", { phone, code })
        assert.deepStrictEqual(again.body, body)
      }
      const { pages } = yield* owner("bob@example.com")
      const sent = verify.requests.length
      // The old spelling of Mexico's, one of Brazil's with a digit too few, a fixed line, one that is given to nobody, no country.
      for (const phone of ["+5215512345678", "+551187654321", "+493012345678", "+447700900123", "+9991234567"]) {
        for (const path of ["/phone", "/phone/verify"]) {
          const { body, status } = yield* pages[0].ask("POST", path, {
            phone,
            ...(path === "/phone" ? {} : { code: "000000" })
          })
          assert.deepStrictEqual([status, body.error.param], [400, "phone"], `${path} ${phone}`)
        }
      }
      assert.strictEqual(verify.requests.length, sent)
      assert.deepStrictEqual(yield* one.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("are stored in Twilio's spelling", () =>
    Effect.gen(function* () {
      const { one, owner, verify } = yield* stage
      verify.behaviour.spells = (phone) => (phone === "+4915187654321" ? NUMBER : phone)
      const credited: Array<number> = []
      for (const phone of [NUMBER, "+4915187654321"]) {
        const { pages } = yield* owner(`${phone.slice(1)}@example.com`)
        const begun = yield* pages[0].ask("POST", "/phone", { phone })
        assert.strictEqual(begun.body.data.last2, NUMBER.slice(-2))
        const verified = yield* pages[1].ask("POST", "/phone/verify", { phone, code: verify.codeFor(NUMBER) })
        assert.strictEqual(verified.body.data.last2, NUMBER.slice(-2))
        credited.push(verified.body.data.starter_credit_usd)
      }
      assert.deepStrictEqual(credited, [0.5, 0])
      assert.deepStrictEqual(yield* one.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("get at most the codes of a day that all nodes together may send", () =>
    Effect.gen(function* () {
      const { owner, verify } = yield* staged({ PHONE_CODES_PER_DAY: "3" })
      const begun: Array<unknown> = []
      for (let n = 0; n < 5; n++) {
        const { pages } = yield* owner(`ann-${n}@example.com`)
        const { body, headers, status } = yield* pages[n % 2]!.ask("POST", "/phone", { phone: `+491511234567${n}` })
        begun.push([status, body.error?.code])
        if (status === 429) assert.isAbove(Number(headers.get("retry-after")), 80_000)
      }
      const [sent, full] = [
        [200, undefined],
        [429, "rate_limit_exceeded"]
      ]
      assert.deepStrictEqual(begun, [sent, sent, sent, full, full])
      assert.lengthOf(verify.requests, 3)
    }).pipe(Effect.scoped)
  )

  it.live("give simulated money for a code that the gateway only printed", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const SECRETS_KEY = "k".repeat(32)
      const service = yield* startService({ ...mail.settings, SECRETS_KEY })
      const here = page(service.origin)
      const { body } = yield* here.signIn(mail, "ann@example.com")
      yield* here.ask("POST", "/phone", { phone: NUMBER })
      const [sent] = yield* service.sql<{ reference: string }>`
        SELECT reference FROM verification_code WHERE reference IS NOT NULL`
      const { digest } = yield* Effect.provide(Secrets, Secrets.layerFrom(Redacted.make(SECRETS_KEY)))
      const printed = digest(sent!.reference, "code of a sandbox").readUInt32BE() % 1_000_000
      yield* here.ask("POST", "/phone/verify", { phone: NUMBER, code: String(printed).padStart(6, "0") })
      assert.deepStrictEqual(yield* service.balance(body.account.id), {
        posted: STARTER_CREDIT,
        held: 0n,
        play: { posted: STARTER_CREDIT, held: 0n }
      })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("are stored as a keyed hash and their last two digits", () =>
    Effect.gen(function* () {
      const { one, owner, verify } = yield* stage
      const { pages } = yield* owner("ann@example.com")
      yield* pages[0].ask("POST", "/phone", { phone: NUMBER })
      yield* pages[1].ask("POST", "/phone/verify", { phone: NUMBER, code: verify.codeFor(NUMBER) })
      const rows = yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{
          text: string
        }>`SELECT p::text AS text FROM verified_phone p UNION ALL SELECT e::text FROM audit_event e
          UNION ALL SELECT c::text FROM audit_completion c`
      ).pipe(Effect.provide(layerUrl(one.databaseUrl, 1)))
      assert.isAbove(rows.length, 3)
      for (const { text } of rows) assert.notInclude(text, NUMBER.slice(3, -2))
    }).pipe(Effect.scoped)
  )
})
