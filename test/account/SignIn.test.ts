import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MAX_ATTEMPTS } from "../../src/account/Codes.ts"
import { boundsOf, PER_ADDRESS, PER_CLIENT, PER_CLIENT_AND_ADDRESS } from "../../src/account/SignIn.ts"
import { page } from "../support/Console.ts"
import { postbox } from "../support/Postbox.ts"
import { startService } from "../support/Service.ts"

const email = "ann@example.com"

const SECRETS = { SECRETS_KEY: "k".repeat(32) }

/** Two nodes on one database. */
const stage = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const mail = yield* postbox()
    const one = yield* startService({ ...mail.settings, ...SECRETS, ...env })
    const other = yield* startService({ ...mail.settings, ...SECRETS, ...env, DATABASE_URL: one.databaseUrl })
    return { mail, one, other, pages: [page(one.origin), page(other.origin)] as const }
  })

const wrongOf = (right: string, n: number): string => String((Number(right) + 1 + n) % 1_000_000).padStart(6, "0")

describe("SignIn", () => {
  it.live("creates one account and one session when a code arrives many times at once, on two nodes", () =>
    Effect.gen(function* () {
      const { mail, one, pages } = yield* stage()
      const { sign_in_id } = (yield* pages[0].ask("POST", "/sign-in", { email })).body
      const proof = { email, sign_in_id, code: mail.codeFor(email) }
      const tries = Array.from({ length: 5 }, (_, n) => pages[n % 2]!.ask("POST", "/sign-in/verify", proof))
      const answers = yield* Effect.all(tries, { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 400, 400, 400, 400])
      const { body } = answers.find(({ status }) => status === 200)!
      const lines = yield* one.audit(body.account.id)
      assert.deepStrictEqual(
        lines.map(({ type }) => type),
        ["session.created", "account.created"]
      )
      assert.deepStrictEqual(lines[1]?.changes, { email })
    }).pipe(Effect.scoped)
  )

  it.live("compares five of two hundred concurrent guesses on two nodes, and then refuses even the right code", () =>
    Effect.gen(function* () {
      const { mail, pages } = yield* stage()
      const { sign_in_id } = (yield* pages[0].ask("POST", "/sign-in", { email })).body
      const code = mail.codeFor(email)
      const guesses = Array.from({ length: 200 }, (_, n) =>
        pages[n % 2]!.ask("POST", "/sign-in/verify", { email, sign_in_id, code: wrongOf(code, n) })
      )
      const answers = yield* Effect.all(guesses, { concurrency: 50 })
      assert.deepStrictEqual(
        new Set(answers.map(({ body, status }) => JSON.stringify([status, body]))).size,
        1,
        "all are answered the same"
      )
      for (const one of pages) {
        const late = yield* one.ask("POST", "/sign-in/verify", { email, sign_in_id, code })
        assert.deepStrictEqual([late.status, late.body.error.code], [400, "invalid_code"])
      }
      assert.strictEqual((yield* pages[1].signIn(mail, email)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("sends one client three codes for an address within fifteen minutes, each valid with its own ID", () =>
    Effect.gen(function* () {
      const { mail, pages } = yield* stage()
      const asks = [0, 1, 0, 1, 0].map((n) => pages[n]!.ask("POST", "/sign-in", { email }))
      const answers = yield* Effect.all(asks)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 429, 429]
      )
      assert.isAbove(Number(answers[3]!.headers.get("retry-after")), 600)
      assert.match(answers[3]!.body.error.message, /^Too many codes were sent recently; try again in \d+ s\.$/)
      assert.lengthOf(mail.emails, 3)
      const codes = mail.emails.map(({ text }) => /^Subject: (\d{6})/m.exec(text)![1]!)
      const ids = answers.slice(0, 3).map(({ body }) => body.sign_in_id as string)
      const verify = (id: number, code: number) =>
        Effect.map(
          pages[0].ask("POST", "/sign-in/verify", { email, sign_in_id: ids[id], code: codes[code] }),
          ({ status }) => status
        )
      assert.strictEqual((yield* verify(1, 0)) === 400, codes[0] !== codes[1])
      assert.deepStrictEqual([yield* verify(0, 0), yield* verify(2, 2), yield* verify(0, 0)], [200, 200, 400])
    }).pipe(Effect.scoped)
  )

  it.live(
    "prevents other clients from using up an owner's guesses, replacing the code, or using up the day's codes",
    () =>
      Effect.gen(function* () {
        const { mail, pages } = yield* stage({ TRUSTED_PROXIES: "127.0.0.1" })
        const from = (client: string) => ({ "x-forwarded-for": client })
        const request = (client: string) => pages[0].ask("POST", "/sign-in", { email }, from(client))
        const own = (yield* request("198.51.100.1")).body.sign_in_id
        const code = mail.codeFor(email)
        const foreign = yield* Effect.forEach([1, 2, 3, 4, 5], () => request("203.0.113.9"))
        assert.deepStrictEqual(
          foreign.map(({ status }) => status),
          [200, 200, 200, 429, 429]
        )
        for (const sign_in_id of ["A".repeat(22), ...foreign.slice(0, 3).map(({ body }) => body.sign_in_id)]) {
          for (const n of [0, 1, 2, 3, 4, 5]) {
            const proof = { email, sign_in_id, code: wrongOf(mail.codeFor(email), n) }
            yield* pages[1].ask("POST", "/sign-in/verify", proof, from("203.0.113.9"))
          }
        }
        const signed = yield* pages[0].ask("POST", "/sign-in/verify", { email, sign_in_id: own, code })
        assert.strictEqual(signed.status, 200)
        assert.strictEqual((yield* request("198.51.100.1")).status, 200)
      }).pipe(Effect.scoped)
  )

  it.live("sends an address fifteen codes an hour, for all clients together", () =>
    Effect.gen(function* () {
      const { mail, pages } = yield* stage({ TRUSTED_PROXIES: "127.0.0.1" })
      const statuses = yield* Effect.forEach(
        Array.from({ length: 17 }, (_, n) => n),
        (n) => {
          const client = { "x-forwarded-for": `203.0.113.${n}` }
          return Effect.map(pages[n % 2]!.ask("POST", "/sign-in", { email }, client), ({ status }) => status)
        }
      )
      assert.deepStrictEqual(statuses, [...Array(15).fill(200), 429, 429])
      assert.lengthOf(mail.emails, 15)
    }).pipe(Effect.scoped)
  )

  it.live("sends ten codes a minute for one client, to all addresses together", () =>
    Effect.gen(function* () {
      const { mail, pages } = yield* stage({ RATE_LIMIT_SCALE: "1" })
      const statuses = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        (n) => Effect.map(pages[n % 2]!.ask("POST", "/sign-in", { email: `a${n}@example.com` }), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, [...Array(10).fill(200), 429, 429])
      assert.lengthOf(mail.emails, 10)
    }).pipe(Effect.scoped)
  )

  it.live("reports an address that accepts no mail, and mail that cannot be sent at present", () =>
    Effect.gen(function* () {
      const { pages } = yield* stage()
      const refused = yield* pages[0].ask("POST", "/sign-in", { email: "nobody@example.com" })
      assert.deepStrictEqual([refused.status, refused.body.error.param], [400, "email"])
      const later = yield* pages[0].ask("POST", "/sign-in", { email: "later@example.com" })
      assert.deepStrictEqual([later.status, later.body.error.code], [503, "service_unavailable"])
      assert.strictEqual(later.headers.get("retry-after"), "60")
    }).pipe(Effect.scoped)
  )

  it("scales the bounds of clients only, and never to zero", () => {
    assert.deepStrictEqual(
      boundsOf("c", PER_CLIENT, 0.01).map(({ sends }) => sends),
      [1, 2]
    )
    assert.deepStrictEqual(
      boundsOf("a", PER_ADDRESS).map(({ sends, subject }) => [subject, sends]),
      [
        ["a", 15],
        ["a", 20]
      ]
    )
  })

  it("leaves one client no way to use up an address, and all clients together a hundred guesses a day", () => {
    const ofOne = Math.max(...PER_CLIENT_AND_ADDRESS.map(({ sends }) => sends))
    for (const { sends } of PER_ADDRESS) assert.isBelow(2 * ofOne, sends)
    assert.strictEqual(Math.max(...PER_ADDRESS.map(({ sends }) => sends)) * MAX_ATTEMPTS, 100)
  })
})
