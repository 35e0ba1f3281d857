/** Headers that state the client's address, its scheme and the gateway's host. The gateway trusts them only from a trusted proxy. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "node:http"
import { balancers, programOf, startBalancer } from "../deploy/programs.ts"
import { upstream } from "../providers/upstream.ts"
import { bearer, callsOf } from "../support/Calls.ts"
import { postbox } from "../support/Postbox.ts"
import { operations } from "../support/Published.ts"
import { startService } from "../support/Service.ts"
import { createResources } from "../support/Things.ts"

/** A host name that nothing in this test resolves. */
const FORGED = "forged.example"

/** Every header in which a proxy may pass on a client's address, scheme or host. */
const forgedHeaders: Readonly<Record<string, string>> = {
  Forwarded: `for=192.0.2.7;host=${FORGED};proto=https`,
  "X-Forwarded-For": "192.0.2.7",
  X_Forwarded_For: "192.0.2.7",
  "X-Forwarded-Host": FORGED,
  "X-Forwarded-Server": FORGED,
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Scheme": "https",
  "X-Forwarded-Ssl": "on",
  "X-Forwarded-Prefix": `//${FORGED}`,
  "X-Original-URL": `//${FORGED}/`,
  "X-Rewrite-URL": `//${FORGED}/`,
  "X-Host": FORGED,
  "X-Real-IP": "192.0.2.7",
  "True-Client-IP": "192.0.2.7",
  "CF-Connecting-IP": "192.0.2.7",
  "X-Client-IP": "192.0.2.7",
  "Front-End-Https": "on",
  Referer: `https://${FORGED}/`
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
}

/** Sends a request with exactly these headers, in this order, from this address of the machine. */
const ask = (
  url: string,
  headers: ReadonlyArray<readonly [name: string, value: string]>,
  { body, from = "127.0.0.5", method = "GET" }: { body?: string | Uint8Array; from?: string; method?: string } = {}
): Effect.Effect<Answer> =>
  Effect.callback((resume) => {
    const sent = request(url, { method, localAddress: from, setHost: false, headers: headers.flat() }, (answer) => {
      let text = ""
      answer.setEncoding("latin1").on("data", (piece: string) => (text += piece))
      answer.on("close", () =>
        resume(Effect.succeed({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
      )
    })
    sent.on("error", (error) => resume(Effect.succeed({ status: 0, headers: {}, text: String(error) })))
    sent.end(body)
  })

const HOST = ["Host", "test"] as const

const remaining = ({ headers }: Answer): number => Number(headers["x-ratelimit-remaining"])

const cookieOf = (url: string, headers: ReadonlyArray<readonly [string, string]>) =>
  Effect.map(ask(`${url}/api/v1/console/session`, headers, { method: "DELETE" }), (answer) =>
    String(answer.headers["set-cookie"])
  )

describe("a forged header", () => {
  it.live("changes neither the client's rate limit nor its cookies, unless a trusted proxy sends it", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "1", TRUSTED_PROXIES: "127.0.0.9" })
      const url = `${service.origin}/api/v1/nothing`
      let left = remaining(yield* ask(url, [HOST]))
      for (const [name, value] of Object.entries(forgedHeaders)) {
        for (const headers of [
          [[name, value]],
          [
            [name, value],
            [name.toLowerCase(), "127.0.0.9"]
          ]
        ] as const) {
          const now = remaining(yield* ask(url, [HOST, ...headers]))
          assert.strictEqual(now, --left, `${name} changed the address`)
        }
      }
      const forged = Object.entries(forgedHeaders)
      assert.notInclude(yield* cookieOf(service.origin, [HOST, ...forged]), "Secure")

      const fresh = remaining(yield* ask(url, [HOST], { from: "127.0.0.6" }))
      const proxied = (address: string, ...more: ReadonlyArray<readonly [string, string]>) =>
        Effect.map(ask(url, [HOST, ...more, ["X-Forwarded-For", address]], { from: "127.0.0.9" }), remaining)
      assert.strictEqual(yield* proxied("192.0.2.7"), fresh)
      assert.strictEqual(yield* proxied("192.0.2.7", ["X-Forwarded-For", "192.0.2.8"]), fresh - 1)
      // A client cannot push the proxy's header beyond the number of headers that the gateway reads.
      const many = Array.from({ length: 2_500 }, (_, at) => [`a${at}`, ""] as const)
      assert.strictEqual(yield* proxied("192.0.2.7", ...many), fresh - 2)
    }).pipe(Effect.scoped)
  )

  it.live("appears in no answer, link or email of any operation or page", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const receiver = yield* upstream((_, response) => response.writeHead(204).end())
      const service = yield* startService({ ...mail.settings, OUTBOUND_ALLOW_LOOPBACK: "1" })
      const account = yield* service.account()
      const things = yield* createResources(service, account, receiver.origin)
      const credentials = {
        "inference key": bearer(account.inferenceKey),
        "management key": bearer(account.managementKey),
        session: yield* service.signedIn(account.account.id),
        "operator key": bearer(yield* service.operatorKey),
        "operator session": yield* service.operatorSignedIn(),
        none: {}
      }
      const faults: Array<string> = []
      const look = (what: string, answer: Answer) => {
        if (answer.status === 0 || JSON.stringify(answer).includes(FORGED)) faults.push(`${what} ${answer.status}`)
      }
      const calls = callsOf(things)
      // Deletions come last.
      const ordered = operations.toSorted((a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"))
      for (const { credential, id } of ordered) {
        const call = calls.get(id)!
        const form = call.form === undefined ? undefined : new Response(call.form())
        const body =
          form === undefined
            ? call.body && JSON.stringify(call.body)
            : Buffer.from(yield* Effect.promise(() => form.arrayBuffer()))
        const type = form?.headers.get("content-type") ?? "application/json"
        const headers = Object.entries({ ...credentials[credential], ...call.headers, ...forgedHeaders })
        const framed =
          body === undefined
            ? headers
            : [...headers, ["Content-Type", type], ["Content-Length", String(Buffer.byteLength(body))]]
        look(
          id,
          yield* ask(`${service.api}${call.path}`, [["Host", FORGED], ...(framed as typeof headers)], {
            ...(body === undefined ? {} : { body }),
            method: call.method
          })
        )
      }
      const pages = [
        "/",
        "/docs",
        "/docs/operate/security",
        "/llms.txt",
        "/llms-full.txt",
        "/api/v1/openapi.json",
        "/api/v1",
        "/mcp",
        "/console",
        "/console/keys",
        "/nothing"
      ]
      for (const path of pages) {
        look(path, yield* ask(`${service.origin}${path}`, [["Host", FORGED], ...Object.entries(forgedHeaders)]))
      }
      assert.deepStrictEqual(faults, [])
      assert.isNotEmpty(mail.emails)
      for (const { text } of mail.emails) assert.notInclude(text, FORGED)
    }).pipe(Effect.scoped)
  )
})

for (const balancer of balancers) {
  const missing = programOf(balancer) === undefined
  if (missing)
    process.stderr.write(`\n*** SKIPPED: forged headers through ${balancer.name}: it is not installed ***\n\n`)

  describe.skipIf(missing)(`the configuration for ${balancer.name}`, () => {
    it.live("replaces forged headers with the client's real address and scheme", () =>
      Effect.gen(function* () {
        const service = yield* startService({ RATE_LIMIT_SCALE: "1", TRUSTED_PROXIES: "127.0.0.1" })
        const port = Number(new URL(service.origin).port)
        const origin = yield* startBalancer(balancer, [{ port, opsPort: Number(new URL(service.ops).port) }])
        const url = `${origin}/api/v1/nothing`
        const host = ["Host", new URL(origin).host] as const
        let left = remaining(yield* ask(url, [host]))
        assert.isAbove(left, 0)
        for (const [name, value] of Object.entries(forgedHeaders)) {
          assert.strictEqual(remaining(yield* ask(url, [host, [name, value]])), --left, `${name} changed the address`)
        }
        assert.notInclude(yield* cookieOf(origin, [host, ...Object.entries(forgedHeaders)]), "Secure")
      }).pipe(Effect.scoped)
    )
  })
}
