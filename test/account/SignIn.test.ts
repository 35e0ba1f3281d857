import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { boundsOf, PER_ADDRESS, PER_CLIENT } from "../../src/account/SignIn.ts"
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
  it.live("makes one account and one session of a code that comes many times at once, on two nodes", () =>
    Effect.gen(function* () {
      const { mail, one, pages } = yield* stage()
      yield* pages[0].ask("POST", "/sign-in", { email })
      const code = mail.codeFor(email)
      const tries = Array.from({ length: 5 }, (_, n) => pages[n % 2]!.ask("POST", "/sign-in/verify", { email, code }))
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

  it.live("compares five of two hundred guesses at once, on two nodes, and then not even the right one", () =>
    Effect.gen(function* () {
      const { mail, pages } = yield* stage()
      yield* pages[0].ask("POST", "/sign-in", { email })
      const code = mail.codeFor(email)
      const guesses = Array.from({ length: 200 }, (_, n) =>
        pages[n % 2]!.ask("POST", "/sign-in/verify", { email, code: wrongOf(code, n) })
      )
      const answers = yield* Effect.all(guesses, { concurrency: 50 })
      assert.deepStrictEqual(
        new Set(answers.map(({ body, status }) => JSON.stringify([status, body]))).size,
        1,
        "all are answered the same"
      )
      for (const one of pages) {
        const late = yield* one.ask("POST", "/sign-in/verify", { email, code })
        assert.deepStrictEqual([late.status, late.body.error.code], [400, "invalid_code"])
      }
      yield* pages[1].ask("POST", "/sign-in", { email })
      const fresh = yield* pages[0].ask("POST", "/sign-in/verify", { email, code: mail.codeFor(email) })
      assert.strictEqual(fresh.status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("sends three codes to an address within a quarter of an hour, of which the newest is good", () =>
    Effect.gen(function* () {
      const { mail, pages } = yield* stage()
      const asks = [0, 1, 0, 1, 0].map((n) => pages[n]!.ask("POST", "/sign-in", { email }))
      const answers = yield* Effect.all(asks)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 429, 429]
      )
      assert.isAbove(Number(answers[3]!.headers.get("retry-after")), 600)
      assert.lengthOf(mail.letters, 3)
      const codes = mail.letters.map(({ text }) => /^Subject: (\d{6})/m.exec(text)![1]!)
      const stale = yield* pages[0].ask("POST", "/sign-in/verify", { email, code: codes[0]! })
      assert.strictEqual(stale.status === 400, codes[0] !== codes[2])
      const good = yield* pages[0].ask("POST", "/sign-in/verify", { email, code: codes[2]! })
      assert.strictEqual(good.status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("sends ten codes a minute for one client, whomever they are for", () =>
    Effect.gen(function* () {
      const { mail, pages } = yield* stage({ RATE_LIMIT_SCALE: "1" })
      const statuses = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        (n) => Effect.map(pages[n % 2]!.ask("POST", "/sign-in", { email: `a${n}@example.com` }), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, [...Array(10).fill(200), 429, 429])
      assert.lengthOf(mail.letters, 10)
    }).pipe(Effect.scoped)
  )

  it.live("says that an address takes no mail, or that it cannot be sent at present", () =>
    Effect.gen(function* () {
      const { pages } = yield* stage()
      const refused = yield* pages[0].ask("POST", "/sign-in", { email: "nobody@example.com" })
      assert.deepStrictEqual([refused.status, refused.body.error.param], [400, "email"])
      const later = yield* pages[0].ask("POST", "/sign-in", { email: "later@example.com" })
      assert.deepStrictEqual([later.status, later.body.error.code], [503, "service_unavailable"])
      assert.strictEqual(later.headers.get("retry-after"), "60")
    }).pipe(Effect.scoped)
  )

  it("widens the bounds of clients alone, and never to none", () => {
    assert.deepStrictEqual(
      boundsOf("c", PER_CLIENT, 0.01).map(({ sends }) => sends),
      [1, 2]
    )
    assert.deepStrictEqual(
      boundsOf("a", PER_ADDRESS).map(({ sends, subject }) => [subject, sends]),
      [
        ["a", 3],
        ["a", 10]
      ]
    )
  })
})
