import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type IncomingHttpHeaders, request } from "node:http"
import { page } from "../../support/Console.ts"
import { postbox } from "../../support/Postbox.ts"
import { startService } from "../../support/Service.ts"

const stage = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const mail = yield* postbox()
    const service = yield* startService({ ...mail.settings, ...env })
    return { mail, service, ann: page(service.origin) }
  })

/** A request with just these headers, of which a client of the platform would write some itself. */
const bare = (url: string, method: string, headers: Record<string, string>, body?: string) =>
  Effect.callback<{ readonly status: number; readonly headers: IncomingHttpHeaders }>((resume) => {
    request(url, { method, headers }, (response) => {
      response.resume()
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers })))
    }).end(body)
  })

const wrong = { sign_in_id: "A".repeat(22), code: "000000" }

const foreign = [
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "http://127.0.0.1:1" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" }
] as const

describe("access to the console", () => {
  it.live("is denied to pages of other sites, signing in included", () =>
    Effect.gen(function* () {
      const { ann, mail } = yield* stage()
      yield* ann.signIn(mail, "ann@example.com")
      const emails = mail.emails.length
      for (const headers of foreign) {
        const attempts = [
          yield* ann.ask("POST", "/sign-in", { email: "bob@example.com" }, headers),
          yield* ann.ask("POST", "/sign-in/verify", { email: "bob@example.com", ...wrong }, headers),
          yield* ann.ask("DELETE", "/session", undefined, headers)
        ]
        for (const { body, headers: shown, status } of attempts) {
          assert.deepStrictEqual([status, body.error.code], [403, "cross_site_request"], JSON.stringify(headers))
          assert.isNull(shown.get("access-control-allow-origin"))
        }
      }
      assert.lengthOf(mail.emails, emails)
      assert.strictEqual((yield* ann.ask("GET", "/session")).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("requires the session's CSRF token for methods other than GET", () =>
    Effect.gen(function* () {
      const { ann, mail, service } = yield* stage()
      const bob = page(service.origin)
      yield* ann.signIn(mail, "ann@example.com")
      yield* bob.signIn(mail, "bob@example.com")
      for (const token of ["", "x", bob.has.csrf ?? "", `${ann.has.csrf}=`]) {
        const { body, status } = yield* ann.ask("DELETE", "/session", undefined, { "x-csrf-token": token })
        assert.deepStrictEqual([status, body.error.param], [403, "X-CSRF-Token"], token)
      }
      const without = yield* bare(`${service.api}/console/session`, "DELETE", { cookie: ann.has.cookie ?? "" })
      assert.strictEqual(without.status, 403)
      const { cookie = "", csrf = "" } = ann.has
      // A client that is no browser says nothing of where it is.
      const plain = yield* bare(`${service.api}/console/session`, "DELETE", { cookie, "x-csrf-token": csrf })
      assert.strictEqual(plain.status, 200)
      assert.strictEqual((yield* ann.ask("GET", "/session")).status, 401)
    }).pipe(Effect.scoped)
  )

  it.live("is allowed from the public URL and from the requested host", () =>
    Effect.gen(function* () {
      const { ann, mail, service } = yield* stage({ PUBLIC_URL: "https://gate.example.com/api-of-ours" })
      yield* ann.signIn(mail, "ann@example.com")
      const from = (origin: string) => ann.ask("DELETE", "/sessions", undefined, { origin })
      assert.strictEqual((yield* from("https://gate.example.com:8443")).status, 403)
      assert.strictEqual((yield* from("http://gate.example.com")).status, 403)
      assert.strictEqual((yield* from("https://gate.example.com")).status, 200)
      yield* ann.signIn(mail, "ann@example.com")
      assert.strictEqual((yield* from(service.origin)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("answers no CORS preflight of other sites", () =>
    Effect.gen(function* () {
      const { service } = yield* stage()
      const asks = { origin: "https://evil.example", "access-control-request-method": "DELETE" }
      const preflight = yield* bare(`${service.api}/console/session`, "OPTIONS", asks)
      assert.strictEqual(preflight.status, 405)
      assert.notProperty(preflight.headers, "access-control-allow-origin")
      assert.notProperty(preflight.headers, "access-control-allow-headers")
      const shown = yield* bare(`${service.api}/console/session`, "GET", { origin: "https://evil.example" })
      assert.notProperty(shown.headers, "access-control-allow-origin")
      const other = yield* bare(`${service.api}/models`, "OPTIONS", asks)
      assert.strictEqual(other.headers["access-control-allow-origin"], "*")
    }).pipe(Effect.scoped)
  )

  it.live("counts guessed cookies by client address, and still admits known sessions", () =>
    Effect.gen(function* () {
      const { ann, mail, service } = yield* stage({ RATE_LIMIT_SCALE: "0.2" })
      yield* ann.signIn(mail, "ann@example.com")
      assert.strictEqual((yield* ann.ask("GET", "/session")).status, 200)
      const guess = (n: number) =>
        bare(`${service.api}/console/session`, "GET", { cookie: `svc_session=${String(n).padStart(43, "A")}` })
      const statuses = yield* Effect.forEach(
        Array.from({ length: 14 }, (_, n) => n),
        (n) => Effect.map(guess(n), ({ status }) => status)
      )
      assert.strictEqual(statuses[0], 401)
      assert.strictEqual(statuses.at(-1), 429)
      assert.isAtMost(statuses.filter((status) => status === 401).length, 12)
      assert.strictEqual((yield* ann.ask("GET", "/session")).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("is denied to management keys with all scopes", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "0.05" })
      const { account, managementKey } = yield* service.account(1)
      const headers = { ...(yield* service.signedIn(account.id)), "content-type": "application/json" }
      const flood = (method: string, path: string) =>
        Effect.forEach([1, 2, 3, 4, 5, 6, 7], () =>
          bare(`${service.api}/management${path}`, method, { authorization: `Bearer ${managementKey}` })
        )
      for (const answers of [yield* flood("GET", "/balance"), yield* flood("DELETE", `/keys/${"0".repeat(24)}`)]) {
        assert.strictEqual(answers.at(-1)?.status, 429)
      }
      assert.strictEqual((yield* bare(`${service.api}/console/management-keys`, "GET", headers)).status, 200)
      const body = JSON.stringify({ name: "k", scopes: ["usage:read"] })
      assert.strictEqual((yield* bare(`${service.api}/console/management-keys`, "POST", headers, body)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("counts against the account's rate limit, and admits no management key", () =>
    Effect.gen(function* () {
      const { ann, mail, service } = yield* stage()
      yield* ann.signIn(mail, "ann@example.com")
      const made = yield* ann.ask("POST", "/management-keys", { name: "k", scopes: ["usage:read"] })
      assert.match(made.headers.get("ratelimit-policy") ?? "", /^"console_writes"/)
      const key = yield* bare(`${service.api}/console/session`, "GET", { authorization: `Bearer ${made.body.key}` })
      assert.strictEqual(key.status, 401)
    }).pipe(Effect.scoped)
  )
})
