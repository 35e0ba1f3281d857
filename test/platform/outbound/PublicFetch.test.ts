import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { createServer } from "node:https"
import type { RequestListener } from "node:http"
import { createServer as createTcpServer, type AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import {
  PublicFetch,
  type PublicFetchOptions,
  type PublicRequest,
  type Resolve
} from "../../../src/platform/outbound/PublicFetch.ts"
import { closedOrigin, upstream } from "../../providers/upstream.ts"
import { certificateFor } from "../../support/Certificate.ts"

const get = (url: string, more: Partial<PublicRequest> = {}): PublicRequest => ({
  method: "GET",
  url,
  headers: {},
  totalMs: 10_000,
  maxBytes: 1_000,
  ...more
})

/** The service with these options, in the scope of the test. */
const service = (options: Partial<PublicFetchOptions> = {}) =>
  Effect.flatMap(Layer.build(PublicFetch.layerFrom({ allowLoopback: true, ...options })), (context) =>
    Effect.provide(
      Effect.map(PublicFetch, (made) => made),
      context
    )
  )

const reasonOf = (made: PublicFetch["Service"], request: PublicRequest) =>
  Effect.map(Effect.flip(made.fetch(request)), ({ reason }) => reason)

const certificate = certificateFor("images.test", "localhost")

/** A TLS host on loopback with the names of the certificate. */
const secureHost = (handler: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly connections: () => number; readonly close: () => void }>(
      (resume) => {
        const server = createServer(certificate, handler)
        let connections = 0
        server.on("connection", () => (connections += 1))
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo
          const close = () => {
            server.close()
            server.closeAllConnections()
          }
          resume(Effect.succeed({ port, connections: () => connections, close }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )

/** A resolver that returns these address lists in turn, and the last one from then on. */
const lying = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const asked: Array<string> = []
  const resolve: Resolve = async (hostname) => {
    asked.push(hostname)
    return answers[Math.min(asked.length, answers.length) - 1]!
  }
  return { asked, resolve }
}

const notPublic = { _tag: "Forbidden", why: "must be at a public address" } as const

/** A host that writes these bytes at once and nothing more. */
const rawHost = (bytes: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly origin: string; readonly close: () => void }>((resume) => {
      const server = createTcpServer((socket) => {
        socket.on("error", () => undefined)
        socket.write(bytes)
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ origin: `http://127.0.0.1:${port}`, close: () => server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

describe("PublicFetch", () => {
  it.live("rejects URLs by their text, without a lookup", () =>
    Effect.gen(function* () {
      const [strict, open] = [yield* service({ allowLoopback: false }), yield* service()]
      const notHttps = "must be an https URL"
      const table: ReadonlyArray<readonly [url: string, strict: string | undefined, open: string | undefined]> = [
        ["https://example.com/a.png?b=c#d", undefined, undefined],
        ["HTTPS://EXAMPLE.COM:8443", undefined, undefined],
        ["https://1.1.1.1/", undefined, undefined],
        ["https://[2606:4700::1111]/", undefined, undefined],
        ["http://example.com/", notHttps, notHttps],
        ["http://1.1.1.1/", notHttps, notHttps],
        ["ftp://example.com/", notHttps, notHttps],
        ["ftp://127.0.0.1/", notHttps, notHttps],
        ["file:///etc/passwd", notHttps, notHttps],
        ["data:image/png;base64,AA==", notHttps, notHttps],
        ["example.com", notHttps, notHttps],
        ["https://", notHttps, notHttps],
        ["https://[fe80::1%25eth0]/", notHttps, notHttps],
        ["https://user@example.com/", "must have no user name or password", "must have no user name or password"],
        ["https://:pass@example.com/", "must have no user name or password", "must have no user name or password"],
        ["https://example.com@127.0.0.1/", "must have no user name or password", "must have no user name or password"],
        ["https://localhost/", notPublic.why, undefined],
        ["https://a.localhost./", notPublic.why, undefined],
        ["http://localhost:3000/", notHttps, undefined],
        ["https://127.0.0.1/", notPublic.why, undefined],
        ["https://127.1/", notPublic.why, undefined],
        ["https://0x7f000001/", notPublic.why, undefined],
        ["https://[::1]/", notPublic.why, undefined],
        ["https://[::ffff:7f00:1]/", notPublic.why, undefined],
        ["https://0/", notPublic.why, notPublic.why],
        ["https://[::]/", notPublic.why, notPublic.why],
        ["https://10.0.0.1/", notPublic.why, notPublic.why],
        ["https://3232235777/", notPublic.why, notPublic.why],
        ["https://0300.0250.1.1/", notPublic.why, notPublic.why],
        ["https://169.254.169.254/latest/meta-data", notPublic.why, notPublic.why],
        ["https://[fd00::1]/", notPublic.why, notPublic.why],
        ["https://[::ffff:10.0.0.1]/", notPublic.why, notPublic.why],
        ["http://192.168.1.1/", notHttps, notHttps],
        [
          `https://example.com/${"a".repeat(8_192)}`,
          "must have at most 8,192 characters; got 8,212",
          "must have at most 8,192 characters; got 8,212"
        ]
      ]
      for (const [url, whenStrict, whenOpen] of table) {
        assert.deepStrictEqual([strict.refuses(url), open.refuses(url)], [whenStrict, whenOpen], url)
      }
    }).pipe(Effect.scoped)
  )

  it.live("fetches over TLS by name, and sends only the given headers", () =>
    Effect.gen(function* () {
      const host = yield* secureHost((request, response) => {
        response.setHeader("set-cookie", "a=1")
        response.end(JSON.stringify([request.url, request.headers]))
      })
      const { asked, resolve } = lying(["127.0.0.1"])
      const made = yield* service({ ca: certificate.cert, resolve })
      const url = `https://images.test:${host.port}/a%20b.png?c=d#e`
      for (let time = 0; time < 2; time++) {
        const { body, status } = yield* made.fetch(get(url, { headers: { accept: "image/png" } }))
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(JSON.parse(Buffer.from(body).toString()), [
          "/a%20b.png?c=d",
          {
            host: `images.test:${host.port}`,
            accept: "image/png",
            "accept-encoding": "identity",
            connection: "close"
          }
        ])
      }
      // Each call makes a lookup and a connection of its own.
      assert.deepStrictEqual([asked, host.connections()], [["images.test", "images.test"], 2])
      const sent = yield* made.fetch(get(url, { method: "POST", body: "x", headers: { "content-type": "text/plain" } }))
      assert.include(Buffer.from(sent.body).toString(), '"content-length":"1"')
    }).pipe(Effect.scoped)
  )

  it.live("requires a trusted certificate for the host's name", () =>
    Effect.gen(function* () {
      const host = yield* secureHost((_, response) => response.end("never"))
      const { resolve } = lying(["127.0.0.1"])
      const [plain, trusting] = [yield* service({ resolve }), yield* service({ resolve, ca: certificate.cert })]
      const untrusted = yield* reasonOf(plain, get(`https://images.test:${host.port}/`))
      assert.deepStrictEqual(untrusted, { _tag: "Unreachable", detail: "DEPTH_ZERO_SELF_SIGNED_CERT" })
      const other = yield* reasonOf(trusting, get(`https://other.test:${host.port}/`))
      assert.deepStrictEqual(other, { _tag: "Unreachable", detail: "ERR_TLS_CERT_ALTNAME_INVALID" })
    }).pipe(Effect.scoped)
  )

  it.live("checks the addresses that it connects to, on every call", () =>
    Effect.gen(function* () {
      const host = yield* secureHost((_, response) => response.end("here"))
      const url = `https://images.test:${host.port}/`
      const strictly = (...answers: ReadonlyArray<ReadonlyArray<string>>) =>
        service({ allowLoopback: false, ca: certificate.cert, resolve: lying(...answers).resolve })

      // A name that was public when the URL was checked resolves to a private address at the connection.
      const { asked, resolve } = lying(["127.0.0.1"])
      const strict = yield* service({ allowLoopback: false, ca: certificate.cert, resolve })
      assert.isUndefined(strict.refuses(url))
      assert.deepStrictEqual(yield* reasonOf(strict, get(url)), notPublic)
      assert.deepStrictEqual(asked, ["images.test"])

      // One private address among public ones is enough to reject the name.
      for (const address of [
        "127.0.0.1",
        "::1",
        "10.0.0.1",
        "169.254.169.254",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "x"
      ]) {
        for (const addresses of [[address], ["1.1.1.1", address], [address, "1.1.1.1"]]) {
          assert.deepStrictEqual(yield* reasonOf(yield* strictly(addresses), get(url)), notPublic, addresses.join())
        }
      }
      assert.strictEqual(host.connections(), 0)

      // A name resolves to another address the next time.
      const rebinding = yield* service({ ca: certificate.cert, resolve: lying(["127.0.0.1"], ["192.168.0.1"]).resolve })
      assert.strictEqual(Buffer.from((yield* rebinding.fetch(get(url))).body).toString(), "here")
      assert.deepStrictEqual(yield* reasonOf(rebinding, get(url)), notPublic)
      assert.strictEqual(host.connections(), 1)
    }).pipe(Effect.scoped)
  )

  it.live("allows plain http only to this machine", () =>
    Effect.gen(function* () {
      const made = yield* service({ resolve: lying(["1.1.1.1"]).resolve })
      assert.deepStrictEqual(yield* reasonOf(made, get("http://localhost:9/")), notPublic)
      const host = yield* upstream((_, response) => response.end("ok"))
      const { port } = new URL(host.origin)
      const local = yield* service()
      for (const name of [`localhost:${port}`, `a.localhost:${port}`, `127.1:${port}`, `[::ffff:127.0.0.1]:${port}`]) {
        assert.strictEqual(Buffer.from((yield* local.fetch(get(`http://${name}/`))).body).toString(), "ok", name)
      }
      const strict = yield* service({ allowLoopback: false })
      assert.strictEqual((yield* reasonOf(strict, get(`${host.origin}/`)))._tag, "Forbidden")
      assert.strictEqual(host.connections(), 4)
    }).pipe(Effect.scoped)
  )

  it.live("follows no redirect, and accepts only success statuses", () =>
    Effect.gen(function* () {
      const target = yield* upstream((_, response) => response.end("secret"))
      const host = yield* upstream((request, response) => {
        response.writeHead(Number(request.url!.slice(1)), { location: target.origin })
        response.end()
      })
      const made = yield* service()
      for (const status of [301, 302, 307, 308, 400, 404, 500]) {
        assert.deepStrictEqual(yield* reasonOf(made, get(`${host.origin}/${status}`)), { _tag: "Status", status })
      }
      assert.strictEqual((yield* made.fetch(get(`${host.origin}/204`))).body.length, 0)
      assert.strictEqual(target.connections(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("limits the body's size, with or without content-length", () =>
    Effect.gen(function* () {
      const host = yield* upstream((request, response) => {
        const length = Number(new URL(request.url!, "http://x").searchParams.get("length"))
        if (request.url!.startsWith("/said")) response.writeHead(200, { "content-length": length })
        // A host can announce more bytes than it sends.
        if (!request.url!.startsWith("/said") || length <= 1_000) response.end(Buffer.alloc(length, "a"))
        else response.flushHeaders()
      })
      const made = yield* service()
      const tooLarge = { _tag: "TooLarge", limitBytes: 1_000 } as const
      for (const path of ["said", "unsaid"]) {
        assert.strictEqual((yield* made.fetch(get(`${host.origin}/${path}?length=1000`))).body.length, 1_000)
        assert.deepStrictEqual(yield* reasonOf(made, get(`${host.origin}/${path}?length=1001`)), tooLarge)
      }
      const asked: Array<number> = []
      const accept = (bytes: number) => asked.push(bytes) > 1
      const refused = yield* reasonOf(made, get(`${host.origin}/unsaid?length=600`, { accept }))
      assert.deepStrictEqual([refused, asked], [tooLarge, [600]])
    }).pipe(Effect.scoped)
  )

  it.live("does not decompress bodies", () =>
    Effect.gen(function* () {
      const packed = gzipSync(Buffer.alloc(100_000))
      const host = yield* upstream((_, response) => {
        response.writeHead(200, { "content-encoding": "gzip" })
        response.end(packed)
      })
      const { body } = yield* (yield* service()).fetch(get(host.origin))
      assert.deepStrictEqual(Buffer.from(body), packed)
    }).pipe(Effect.scoped)
  )

  it.live("fails for a host that does not speak HTTP, sends too many headers, or is unreachable", () =>
    Effect.gen(function* () {
      const made = yield* service()
      const unreachable = (url: string) => Effect.map(reasonOf(made, get(url)), ({ _tag }) => _tag)
      const said = [
        "SSH-2.0-OpenSSH_9.9\r\n",
        `HTTP/1.1 200 OK\r\nx-long: ${"a".repeat(20_000)}\r\n\r\n`,
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n"
      ]
      for (const bytes of said) {
        const host = yield* rawHost(bytes)
        assert.strictEqual(yield* unreachable(host.origin), "Unreachable", bytes.slice(0, 40))
      }
      const cut = yield* upstream((_, response) => {
        response.writeHead(200, { "content-length": 10 })
        response.write("12345", () => response.destroy())
      })
      assert.strictEqual(yield* unreachable(cut.origin), "Unreachable")
      assert.deepStrictEqual(yield* reasonOf(made, get(yield* closedOrigin)), {
        _tag: "Unreachable",
        detail: "ECONNREFUSED"
      })
      const nameless = yield* service({ resolve: lying([]).resolve })
      const unknown = yield* reasonOf(nameless, get("https://images.test/"))
      assert.deepStrictEqual(unknown, { _tag: "Unreachable", detail: "ENOTFOUND" })
    }).pipe(Effect.scoped)
  )

  it.live("times out while resolving, waiting or reading, and closes the connection", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const host = yield* upstream((request, response) => {
        response.on("close", () => {
          if (request.url === "/trickle") Deferred.doneUnsafe(closed, Exit.void)
        })
        if (request.url !== "/trickle") return
        const timer = setInterval(() => response.write("."), 10)
        response.on("close", () => clearInterval(timer))
      })
      const made = yield* service()
      const soon = (url: string) => get(url, { totalMs: 200 })
      assert.deepStrictEqual(yield* reasonOf(made, soon(`${host.origin}/silent`)), { _tag: "TimedOut" })
      assert.deepStrictEqual(yield* reasonOf(made, soon(`${host.origin}/trickle`)), { _tag: "TimedOut" })
      yield* Deferred.await(closed)
      let given: AbortSignal | undefined
      const resolve: Resolve = (_, signal) => {
        given = signal
        return new Promise(() => undefined)
      }
      const waiting = yield* service({ resolve })
      assert.deepStrictEqual(yield* reasonOf(waiting, soon("https://images.test/")), { _tag: "TimedOut" })
      assert.isTrue(given!.aborted)
    }).pipe(Effect.scoped)
  )

  it.live("closes the connection when interrupted, and limits parallel calls", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const host = yield* upstream((request, response) => {
        if (request.url === "/quick") return response.end("quick")
        response.on("close", () => Deferred.doneUnsafe(closed, Exit.void))
        Deferred.doneUnsafe(arrived, Exit.void)
        return
      })
      const made = yield* service({ connections: 1 })
      const fiber = yield* Effect.forkChild(made.fetch(get(`${host.origin}/slow`)))
      yield* Deferred.await(arrived)
      assert.deepStrictEqual(yield* reasonOf(made, get(`${host.origin}/quick`)), { _tag: "Busy" })
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed)
      assert.strictEqual(Buffer.from((yield* made.fetch(get(`${host.origin}/quick`))).body).toString(), "quick")
    }).pipe(Effect.scoped)
  )

  it.live("waits for a free slot within its time limit", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const host = yield* upstream((request, response) => {
        if (request.url === "/quick") return response.end("quick")
        Deferred.doneUnsafe(arrived, Exit.void)
        return
      })
      const made = yield* service({ connections: 1, waits: true })
      const fiber = yield* Effect.forkChild(made.fetch(get(`${host.origin}/slow`)))
      yield* Deferred.await(arrived)
      const late = yield* reasonOf(made, get(`${host.origin}/quick`, { totalMs: 50 }))
      assert.deepStrictEqual(late, { _tag: "TimedOut" })
      const next = yield* Effect.forkChild(made.fetch(get(`${host.origin}/quick`)), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(Buffer.from((yield* Fiber.join(next)).body).toString(), "quick")
    }).pipe(Effect.scoped)
  )

  it.live("judges a name by its current addresses, and accepts a name that cannot be resolved", () =>
    Effect.gen(function* () {
      const judge = (url: string, resolve: Resolve, allowLoopback = false) =>
        Effect.flatMap(service({ allowLoopback, resolve }), (made) => made.judge(url))
      const at =
        (...addresses: ReadonlyArray<string>): Resolve =>
        async () =>
          addresses
      const url = "https://example.com/hook"
      assert.isUndefined(yield* judge(url, at("1.1.1.1", "2606:4700::1111")))
      for (const address of ["10.0.0.1", "127.0.0.1", "::1", "::ffff:10.0.0.1", "169.254.169.254", "fd00::1"]) {
        assert.strictEqual(yield* judge(url, at("1.1.1.1", address)), notPublic.why, address)
      }
      assert.isUndefined(yield* judge(url, at("127.0.0.1"), true))
      assert.strictEqual(yield* judge(url, at("10.0.0.1"), true), notPublic.why)
      assert.strictEqual(yield* judge("https://10.0.0.1/", at()), notPublic.why)
      assert.strictEqual(yield* judge("http://example.com/", at("1.1.1.1")), "must be an https URL")
      assert.isUndefined(yield* judge(url, at()))
      assert.isUndefined(yield* judge(url, () => Promise.reject(new Error("SERVFAIL"))))
    }).pipe(Effect.scoped)
  )

  it.live("accepts any status with anyStatus, and reads only the start of the body", () =>
    Effect.gen(function* () {
      const made = yield* service()
      const host = yield* upstream(
        (_, response) => void response.writeHead(503, { "retry-after": "9" }).end("0123456789")
      )
      const asked = get(host.origin, { anyStatus: true, maxBytes: 4 })
      const answer = yield* made.fetch(asked)
      assert.deepStrictEqual(
        [answer.status, answer.retryAfter, Buffer.from(answer.body).toString()],
        [503, "9", "0123"]
      )
      const silent = yield* rawHost("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab")
      const late = yield* made.fetch(get(silent.origin, { anyStatus: true, totalMs: 300 }))
      assert.deepStrictEqual([late.status, Buffer.from(late.body).toString()], [200, "ab"])
      const mute = yield* rawHost("")
      assert.deepStrictEqual(yield* reasonOf(made, get(mute.origin, { anyStatus: true, totalMs: 100 })), {
        _tag: "TimedOut"
      })
    }).pipe(Effect.scoped)
  )
})
