import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { randomBytes } from "node:crypto"
import { PublicFetch, type PublicFetchOptions } from "../../src/platform/outbound/PublicFetch.ts"
import { type Message, Sender } from "../../src/webhooks/Sender.ts"
import { secretOf } from "../../src/webhooks/Signature.ts"
import { certificateFor } from "../support/Certificate.ts"
import { receiver, status } from "../support/Receiver.ts"

const message = (url: string, more: Partial<Message> = {}): Message => ({
  url,
  secrets: [secretOf(randomBytes(32))],
  eventId: "evt_1",
  body: '{"a":1}',
  ...more
})

const send = (what: Message, options: Partial<PublicFetchOptions> = {}) =>
  Effect.flatMap(Sender, (sender) => sender.send(what)).pipe(
    Effect.provide(Sender.layer.pipe(Layer.provide(PublicFetch.layerFrom({ allowLoopback: true, ...options }))))
  )

const certificate = certificateFor("hooks.test")

/** A receiver that speaks TLS on loopback and counts its requests. */
const secureReceiver = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly came: () => number; readonly close: () => void }>((resume) => {
    let came = 0
    const server = createServer(certificate, (_, response) => response.end())
    server.on("connection", () => (came += 1))
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      resume(Effect.succeed({ port, came: () => came, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const notPublic = "the address must be at a public address"

describe("Sender", () => {
  it.live("sends the body unchanged, with the headers of the standard", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(status(201, {}, "taken"))
      const body = JSON.stringify({ text: "ä€😀" })
      const sent = yield* send(message(hook.url, { body }))
      assert.deepInclude(sent, { status: 201, error: undefined, response: "taken", retryAfter: undefined })
      const [{ body: came, headers } = { body: "", headers: {} as Record<string, string> }] = hook.received
      assert.strictEqual(came, body)
      assert.deepInclude(headers, { "webhook-id": "evt_1", "content-type": "application/json" })
      assert.strictEqual(headers["webhook-timestamp"], String(Math.floor(sent.startedAt.getTime() / 1_000)))
      assert.match(headers["user-agent"] ?? "", /^tollgate/)
    }).pipe(Effect.scoped)
  )

  it.live("does not follow redirects, and keeps their responses", () =>
    Effect.gen(function* () {
      const inner = yield* receiver()
      for (const code of [301, 302, 303, 307, 308]) {
        const hook = yield* receiver(status(code, { location: inner.url }))
        assert.strictEqual((yield* send(message(hook.url))).status, code)
      }
      assert.lengthOf(inner.received, 0)
    }).pipe(Effect.scoped)
  )

  it.live("returns a Retry-After, whatever the status", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(status(429, { "retry-after": "7" }, "slow down"))
      assert.deepInclude(yield* send(message(hook.url)), { status: 429, retryAfter: "7", response: "slow down" })
    }).pipe(Effect.scoped)
  )

  it.live("keeps the beginning of a response of any length and content", () =>
    Effect.gen(function* () {
      const endless = yield* receiver((_, response) => {
        const more = () => {
          while (response.writable && response.write("x".repeat(65_536)));
        }
        response.writeHead(200).on("drain", more)
        more()
      })
      const long = yield* send(message(endless.url))
      assert.deepStrictEqual([long.status, long.response], [200, "x".repeat(1_024)])
      const odd = yield* receiver((_, response) => void response.end(Buffer.from([0x61, 0, 0xff, 0x62])))
      assert.strictEqual((yield* send(message(odd.url))).response, "a\uFFFD\uFFFDb")
    }).pipe(Effect.scoped)
  )

  it.live("keeps the status of a response that breaks off after it", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((_, response) => {
        response.writeHead(200, { "content-length": "100" })
        response.write("par", () => response.destroy())
      })
      assert.deepInclude(yield* send(message(hook.url)), { status: 200, error: undefined })
      const cut = yield* receiver((_, response) => void response.destroy())
      const unheard = yield* send(message(cut.url))
      assert.isUndefined(unheard.status)
      assert.match(unheard.error ?? "", /^the connection failed \(/)
    }).pipe(Effect.scoped)
  )

  it.live("sends nothing to an address that is not public, even if its name resolved to a public one before", () =>
    Effect.gen(function* () {
      const hook = yield* receiver()
      const loopback = yield* send(message(hook.url), { allowLoopback: false })
      assert.deepInclude(loopback, { status: undefined, error: "the address must be an https URL" })
      const literal = ["10.0.0.1", "169.254.169.254", "[::ffff:10.0.0.1]", "[::1]", "0.0.0.0", "[fd00::1]"]
      for (const host of literal) {
        const sent = yield* send(message(`https://${host}/`), { allowLoopback: false })
        assert.deepInclude(sent, { status: undefined, error: notPublic }, host)
      }
      const secure = yield* secureReceiver
      const url = `https://hooks.test:${secure.port}/`
      const leading = (...addresses: ReadonlyArray<string>) => ({
        ca: certificate.cert,
        resolve: async () => addresses
      })
      for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3"]) {
        const sent = yield* send(message(url), { ...leading(address), allowLoopback: false })
        assert.deepInclude(sent, { status: undefined, error: notPublic }, address)
        const among = yield* send(message(url), { ...leading("1.1.1.1", address), allowLoopback: false })
        assert.deepInclude(among, { status: undefined, error: notPublic }, address)
      }
      assert.strictEqual(secure.came(), 0)
      assert.lengthOf(hook.received, 0)
      assert.deepInclude(yield* send(message(url), leading("127.0.0.1")), { status: 200 })
    }).pipe(Effect.scoped)
  )

  it.live("sends nothing that it cannot sign", () =>
    Effect.gen(function* () {
      const hook = yield* receiver()
      const sent = yield* send(message(hook.url, { secrets: [] }))
      assert.isUndefined(sent.status)
      assert.match(sent.error ?? "", /another key sealed/)
      assert.lengthOf(hook.received, 0)
    }).pipe(Effect.scoped)
  )
})
