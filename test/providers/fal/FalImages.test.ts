import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import type { RequestListener, ServerResponse } from "node:http"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { PublicFetch } from "../../../src/platform/outbound/PublicFetch.ts"
import { makeFal } from "../../../src/providers/fal/Fal.ts"
import type { ImagesWork } from "../../../src/domain/Work.ts"
import { clocks } from "../calls.ts"
import { upstream } from "../upstream.ts"
import { drawWork, workCall } from "../work.ts"

const head = Buffer.from("89504e470d0a1a0a0000000d", "hex")
const jpeg = Buffer.from("ffd8ffe000104a46", "hex")

const drawAt = (origin: string, work: Partial<ImagesWork> = {}, totalMs = clocks.totalMs) =>
  Effect.flatMap(
    makeFal({ id: "up", baseUrl: `${origin}/fal/`, apiKey: Redacted.make("fal-planted") }),
    ({ makeImages }) => makeImages!(workCall({ clocks: { ...clocks, totalMs } }, "fal-ai/flux/dev"), drawWork(work))
  )

interface Seen {
  readonly url: string
  readonly authorization: string | undefined
  readonly body: { readonly num_images: number }
}

/** Starts a model that answers with `answer`, and serves files at any other path: a PNG head, then the path. */
const model = (answer: (response: ServerResponse, seen: Seen, origin: string) => void) =>
  Effect.gen(function* () {
    const calls: Array<Seen> = []
    const reads: Array<readonly [string, string | undefined]> = []
    const listen: RequestListener = (request, response) => {
      const pieces: Array<Buffer> = []
      request.on("data", (piece: Buffer) => pieces.push(piece))
      request.on("end", () => {
        const { authorization, host } = request.headers
        const url = request.url!
        if (request.method === "GET") {
          reads.push([url, authorization])
          // Less than the total limit of the call, and more than the half of it that is left.
          if (url === "/late") return void setTimeout(() => response.end(head), 450)
          if (url === "/gone") return void response.writeHead(404).end()
          return void response.end(Buffer.concat([head, Buffer.from(url)]))
        }
        const seen = { url, authorization, body: JSON.parse(Buffer.concat(pieces).toString()) }
        calls.push(seen)
        answer(response, seen, `http://${host}`)
      })
    }
    const { origin } = yield* upstream(listen)
    return { calls, reads, draw: (work?: Partial<ImagesWork>, totalMs?: number) => drawAt(origin, work, totalMs) }
  })

const json = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

const clients = Layer.mergeAll(Outbound.layer, PublicFetch.layerFrom({ allowLoopback: true }))

layer(clients, { excludeTestServices: true })("fal's images", (it) => {
  it.effect("are requested at the model's path with the key, and downloaded without it", () =>
    Effect.gen(function* () {
      const data = `data:image/jpeg;base64,${jpeg.toString("base64")}`
      const { calls, draw, reads } = yield* model((response, _, origin) =>
        json(response, 200, { images: [{ url: `${origin}/a.png` }, { url: data }, {}], seed: 1 })
      )
      const { images } = yield* draw({ n: 3 })
      assert.deepStrictEqual(
        images.map(({ bytes, contentType }) => [contentType, Buffer.from(bytes)]),
        [
          ["image/png", Buffer.concat([head, Buffer.from("/a.png")])],
          ["image/jpeg", jpeg]
        ]
      )
      const body = { prompt: "a red kite", num_images: 3 }
      assert.deepStrictEqual(calls, [{ url: "/fal/fal-ai/flux/dev", authorization: "Key fal-planted", body }])
      assert.deepStrictEqual(reads, [["/a.png", undefined]])
    }).pipe(Effect.scoped)
  )

  it.effect("take one call per four images, and leave out the failed ones", () =>
    Effect.gen(function* () {
      const { calls, draw } = yield* model((response, { body: { num_images } }, origin) =>
        num_images === 2
          ? json(response, 500, { detail: "Internal Server Error" })
          : json(response, 200, { images: Array.from({ length: 9 }, (_, n) => ({ url: `${origin}/${n}` })) })
      )
      assert.lengthOf((yield* draw({ n: 10 })).images, 8)
      assert.deepStrictEqual(calls.map(({ body }) => body.num_images).toSorted(), [2, 4, 4])
      assert.strictEqual((yield* Effect.flip(draw({ n: 2 }))).fault._tag, "ServerError")
    }).pipe(Effect.scoped)
  )

  it.effect("leave out unsafe images and missing files", () =>
    Effect.gen(function* () {
      const { draw, reads } = yield* model((response, _, origin) =>
        json(response, 200, {
          images: ["/a", "/b", "/gone"].map((path) => ({ url: origin + path })),
          has_nsfw_concepts: [true, false, false]
        })
      )
      assert.lengthOf((yield* draw({ n: 3 })).images, 1)
      assert.deepStrictEqual(reads.map(([path]) => path).toSorted(), ["/b", "/gone"])
      const unfit = yield* model((response, _, origin) =>
        json(response, 200, { images: [{ url: `${origin}/a` }], has_nsfw_concepts: [true] })
      )
      assert.deepStrictEqual((yield* unfit.draw()).images, [])
      const gone = yield* model((response, _, origin) => json(response, 200, { images: [{ url: `${origin}/gone` }] }))
      assert.strictEqual((yield* Effect.flip(gone.draw())).fault._tag, "Lost")
    }).pipe(Effect.scoped)
  )

  it.effect("are reported as lost when they were made and none can be downloaded", () =>
    Effect.gen(function* () {
      const { calls, draw } = yield* model((response, { body: { num_images } }, origin) =>
        num_images === 4
          ? json(response, 500, { detail: "Internal Server Error" })
          : json(response, 200, { images: [{ url: `${origin}/gone` }, { url: "data:image/png;base64,AAAA" }] })
      )
      assert.strictEqual((yield* Effect.flip(draw({ n: 6 }))).fault._tag, "Lost")
      assert.lengthOf(calls, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("are not retried when the connection breaks after the request", () =>
    Effect.gen(function* () {
      const { draw } = yield* model((response) => response.destroy())
      assert.strictEqual((yield* Effect.flip(draw())).fault._tag, "Broken")
    }).pipe(Effect.scoped)
  )

  it.effect("are made and downloaded within the time limit of one call", () =>
    Effect.gen(function* () {
      const { draw } = yield* model((response, _, origin) =>
        setTimeout(() => json(response, 200, { images: [{ url: `${origin}/late` }] }), 300)
      )
      const { fault } = yield* Effect.flip(draw({}, 600))
      assert.deepStrictEqual(fault, { _tag: "Lost", detail: "the file did not arrive in time" })
    }).pipe(Effect.scoped)
  )

  it.effect("are refused under the caller's field name", () =>
    Effect.gen(function* () {
      const refusal = (loc: ReadonlyArray<string>, status = 422) =>
        Effect.gen(function* () {
          const detail = [{ loc, msg: "not that", type: "value_error" }]
          const { draw } = yield* model((response) => json(response, status, { detail }))
          return (yield* Effect.flip(draw())).fault
        })
      const refused = { _tag: "Refused", status: 422, detail: "not that" } as const
      assert.deepStrictEqual(yield* refusal(["body", "image_url"]), { ...refused, param: "image" })
      assert.deepStrictEqual(yield* refusal(["body", "image_size", "width"]), { ...refused, param: "size" })
      assert.deepStrictEqual(yield* refusal(["body", "seed"]), refused)
      assert.deepStrictEqual(yield* refusal(["body"]), refused)
      assert.strictEqual((yield* refusal(["body", "prompt"], 500))._tag, "ServerError")
      assert.strictEqual((yield* refusal(["body", "prompt"], 403))._tag, "Unauthorized")
    }).pipe(Effect.scoped)
  )

  it.effect("are rejected before a call when the model does not support the parameters", () =>
    Effect.gen(function* () {
      const { calls, draw } = yield* model((response) => json(response, 200, {}))
      assert.deepInclude((yield* Effect.flip(draw({ style: "vivid" }))).fault, { _tag: "Refused", param: "style" })
      assert.lengthOf(calls, 0)
      assert.strictEqual((yield* Effect.flip(draw())).fault._tag, "Malformed")
    }).pipe(Effect.scoped)
  )
})
