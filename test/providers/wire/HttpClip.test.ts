import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { ServerResponse } from "node:http"
import { PublicFetch } from "../../../src/platform/outbound/PublicFetch.ts"
import { dataUrlOf, makeHttpClip, makeHttpImage } from "../../../src/providers/wire/HttpClip.ts"
import { ProviderError, type ProviderFault } from "../../../src/providers/ProviderError.ts"
import { clocks } from "../calls.ts"
import { closedOrigin, upstream } from "../upstream.ts"
import { workCall } from "../work.ts"

const error = (fault: ProviderFault) => new ProviderError({ provider: "up", fault })

const read = (url: string, totalMs = clocks.totalMs) =>
  Effect.flatMap(makeHttpClip({ error }), (clip) => clip(workCall({ clocks: { ...clocks, totalMs } }), url))

const readFrom = (say: (response: ServerResponse) => void, totalMs?: number) =>
  Effect.flatMap(
    upstream((_, response) => say(response)),
    ({ origin }) => read(`${origin}/clip.mp4`, totalMs)
  ).pipe(Effect.scoped)

const faultOf = (say: (response: ServerResponse) => void, totalMs?: number) =>
  Effect.map(Effect.flip(readFrom(say, totalMs)), ({ fault }) => fault)

const box = (brand: string) => Buffer.from(`\0\0\0\x18ftyp${brand}more`, "latin1")

layer(PublicFetch.layerFrom({ allowLoopback: true }), { excludeTestServices: true })("reading a clip", (it) => {
  it.effect("returns its bytes and its content type", () =>
    Effect.gen(function* () {
      for (const [bytes, contentType] of [
        [box("isom"), "video/mp4"],
        [box("qt  "), "video/quicktime"],
        [Buffer.from("\x1a\x45\xdf\xa3webm", "latin1"), "video/webm"]
      ] as const) {
        const clip = yield* readFrom((response) => response.writeHead(200).end(bytes))
        assert.strictEqual(clip.contentType, contentType)
        assert.deepStrictEqual(Buffer.from(clip.bytes), bytes)
      }
    })
  )

  it.effect("sends the host no credentials", () =>
    Effect.gen(function* () {
      const { origin } = yield* upstream((request, response) => {
        const { accept, authorization } = request.headers
        response.writeHead(200).end(Buffer.concat([box("isom"), Buffer.from(JSON.stringify([accept, authorization]))]))
      })
      const { bytes } = yield* read(`${origin}/clip.mp4`)
      assert.include(Buffer.from(bytes).toString("latin1"), '["video/*",null]')
    }).pipe(Effect.scoped)
  )

  it.effect("retries temporary failures, within the time limit", () =>
    Effect.gen(function* () {
      const trouble: ReadonlyArray<(response: ServerResponse) => void> = [
        (response) => response.destroy(),
        (response) => response.writeHead(503).end()
      ]
      for (const fail of trouble) {
        let asked = 0
        const say = (most: number) => (response: ServerResponse) =>
          asked++ < most ? fail(response) : response.writeHead(200).end(box("isom"))
        assert.strictEqual((yield* readFrom(say(2))).contentType, "video/mp4")
        assert.strictEqual(asked, 3)
        asked = 0
        assert.strictEqual((yield* faultOf(say(9)))._tag, "Lost")
        assert.strictEqual(asked, 3)
      }
      let asked = 0
      const late = yield* faultOf((response) => (asked++ === 0 ? response.writeHead(500).end() : undefined), 400)
      assert.deepStrictEqual(late, { _tag: "Lost", detail: "the file did not arrive in time" })
    })
  )

  it.effect("reports a file that cannot be read as lost, because the provider has made it", () =>
    Effect.gen(function* () {
      for (const body of ["", "<html>", '{"error":"gone"}']) {
        const fault = yield* faultOf((response) => response.writeHead(200).end(body))
        assert.deepStrictEqual(fault, { _tag: "Lost", detail: "the file is not a valid video" })
      }
      for (const status of [302, 404, 500]) {
        const fault = yield* faultOf((response) => response.writeHead(status, { location: "/other" }).end())
        assert.deepStrictEqual(fault, { _tag: "Lost", detail: `the file's server answered with status ${status}` })
      }
      const cut = (response: ServerResponse) => {
        response.writeHead(200, { "content-length": "1000" })
        response.write(box("isom"), () => response.destroy())
      }
      assert.strictEqual((yield* faultOf(cut))._tag, "Lost")
      const late = yield* faultOf(() => {}, 50)
      assert.deepStrictEqual(late, { _tag: "Lost", detail: "the file did not arrive in time" })
      const huge = (response: ServerResponse) => response.writeHead(200, { "content-length": `${2 ** 40}` }).write("x")
      assert.strictEqual((yield* faultOf(huge))._tag, "Lost")
      assert.strictEqual((yield* Effect.flip(read(`${yield* closedOrigin}/clip`))).fault._tag, "Lost")
    })
  )

  it.effect("returns images, and rejects other files", () =>
    Effect.gen(function* () {
      const png = Buffer.from("89504e470d0a1a0a0000000d", "hex")
      const { origin } = yield* upstream(({ headers, url }, response) => {
        response.writeHead(headers.accept === "image/*" ? 200 : 406).end(url === "/png" ? png : "<svg/>")
      })
      const readImage = yield* makeHttpImage({ error })
      const found = yield* readImage(workCall(), `${origin}/png`)
      assert.deepStrictEqual([found.contentType, Buffer.from(found.bytes)], ["image/png", png])
      const { fault } = yield* Effect.flip(readImage(workCall(), `${origin}/svg`))
      assert.deepStrictEqual(fault, { _tag: "Lost", detail: "the file is not a valid image" })
    }).pipe(Effect.scoped)
  )

  it.effect("connects to no private address", () =>
    Effect.gen(function* () {
      for (const url of ["https://10.0.0.1/clip", "http://example.com/clip", "file:///etc/passwd", "clip", ""]) {
        assert.strictEqual((yield* Effect.flip(read(url))).fault._tag, "Lost", url)
      }
      const strict = Layer.fresh(PublicFetch.layerFrom({ allowLoopback: false }))
      const fault = yield* Effect.flip(read("http://127.0.0.1:1/clip").pipe(Effect.provide(strict)))
      assert.strictEqual(fault.fault._tag, "Lost")
    })
  )

  it.effect("allows the image to be converted to a data URL", () =>
    Effect.sync(() => {
      const bytes = new Uint8Array([0, 1, 2, 255, 9]).subarray(1, 4)
      assert.strictEqual(dataUrlOf({ bytes, contentType: "image/png" }), "data:image/png;base64,AQL/")
    })
  )
})
