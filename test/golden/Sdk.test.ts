/** The streams we send, read by the vendors' own clients however they are cut. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import OpenAI from "openai"
import { type Adapter, adapters } from "./adapters.ts"
import { type CaseName, caseNames, fateOf } from "./cases.ts"
import { chat } from "./chat.ts"
import { bytesOf, type Dialect, type Json } from "./dialect.ts"

/** The whole answer that a client makes of a stream. */
interface Reader {
  readonly dialect: Dialect
  readonly read: (fetch: () => Promise<Response>) => Promise<Json>
}

const options = (fetch: () => Promise<Response>) => ({
  apiKey: "none",
  baseURL: "http://127.0.0.1:1",
  fetch,
  maxRetries: 0
})

const readers: ReadonlyArray<Reader> = [
  {
    dialect: chat,
    read: (fetch) => {
      const client = new OpenAI(options(fetch))
      return client.chat.completions
        .stream({ model: "m", messages: [], stream_options: { include_usage: true } })
        .finalChatCompletion()
    }
  }
]

const golden = (dialect: Dialect, adapter: Adapter, name: CaseName): Json =>
  JSON.parse(readFileSync(new URL(`./${dialect.name}/${adapter.name}/${name}.json`, import.meta.url), "utf8"))

/** A response that comes in pieces which end at these places. */
const inPieces = (bytes: Uint8Array, places: ReadonlyArray<number>) => async () =>
  new Response(
    new ReadableStream({
      start: (controller) => {
        let from = 0
        for (const to of [...places, bytes.length]) {
          controller.enqueue(bytes.subarray(from, to))
          from = to
        }
        controller.close()
      }
    }),
    { headers: { "content-type": "text/event-stream" } }
  )

describe("a vendor's client", () => {
  for (const { dialect, read } of readers) {
    const places = (bytes: Uint8Array) => Array.from({ length: bytes.length - 1 }, (_, at) => at + 1)

    it(`folds a stream of ${dialect.name} to the whole answer, byte by byte`, async () => {
      for (const adapter of adapters) {
        for (const name of caseNames.filter((name) => fateOf(name) === "answered")) {
          const { answer, events } = golden(dialect, adapter, name)
          const bytes = bytesOf(events)
          const final = await read(inPieces(bytes, places(bytes)))
          assert.deepStrictEqual(dialect.said({ ...answer, ...final }), dialect.said(answer), `${adapter.name} ${name}`)
        }
      }
    })

    it(`does so wherever a stream of ${dialect.name} is cut in two`, async () => {
      const [adapter] = adapters
      const { answer, events } = golden(dialect, adapter!, "parallel-tools")
      const bytes = bytesOf(events)
      for (const place of places(bytes)) {
        const final = await read(inPieces(bytes, [place]))
        assert.deepStrictEqual(dialect.said({ ...answer, ...final }), dialect.said(answer), `at byte ${place}`)
      }
    })
  }
})
