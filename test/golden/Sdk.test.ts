/** The streams we send, read by the vendors' own clients however they are cut. */
import { assert, describe, it } from "@effect/vitest"
import Anthropic from "@anthropic-ai/sdk"
import { readFileSync } from "node:fs"
import OpenAI from "openai"
import { Random } from "../ledger/Random.ts"
import { type Adapter, adapters } from "./adapters.ts"
import { type CaseName, caseNames, fateOf } from "./cases.ts"
import { chat } from "./chat.ts"
import { bytesOf, type Dialect, type Json, type Said } from "./dialect.ts"
import { messages } from "./messages.ts"
import { responses } from "./responses.ts"

/** Makes a client ask, and answers the whole that it makes of the stream. */
interface Reader {
  readonly dialect: Dialect
  readonly read: (fetch: () => Promise<Response>) => Promise<Json>
  /** What the client cannot be asked for. */
  readonly without: ReadonlyArray<keyof Said>
}

const options = (fetch: () => Promise<Response>) => ({
  apiKey: "none",
  baseURL: "http://127.0.0.1:1",
  maxRetries: 0,
  fetch
})

const readers: ReadonlyArray<Reader> = [
  {
    dialect: chat,
    read: (fetch) =>
      new OpenAI(options(fetch)).chat.completions.stream({ model: "m", messages: [] }).finalChatCompletion(),
    // It joins the members it knows, and keeps the last of any other.
    without: ["reasoning"]
  },
  {
    dialect: messages,
    read: (fetch) =>
      new Anthropic(options(fetch)).messages.stream({ model: "m", max_tokens: 1, messages: [] }).finalMessage(),
    without: []
  },
  {
    dialect: responses,
    read: (fetch) => new OpenAI(options(fetch)).responses.stream({ model: "m", input: "" }).finalResponse(),
    without: []
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

const everyPlace = (bytes: Uint8Array) => Array.from({ length: bytes.length - 1 }, (_, at) => at + 1)

/** What a client has read, told by the whole answer where clients are silent. */
const check = ({ dialect, without }: Reader, answer: Json, final: Json, what: string) => {
  const silent = Object.fromEntries(without.map((member) => [member, undefined]))
  const expected = { ...dialect.said(answer), ...silent }
  assert.deepStrictEqual({ ...dialect.said({ ...answer, ...final }), ...silent }, expected, what)
}

const answered = caseNames.filter((name) => fateOf(name) === "answered")

const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

describe("a vendor's client", () => {
  for (const reader of readers) {
    const { dialect, read } = reader

    it(`reads a stream of ${dialect.name} as the whole answer, byte by byte`, async () => {
      for (const adapter of adapters) {
        for (const name of answered) {
          const { answer, events } = golden(dialect, adapter, name)
          const bytes = bytesOf(events)
          check(reader, answer, await read(inPieces(bytes, everyPlace(bytes))), `${adapter.name} ${name}`)
        }
      }
    })

    it(`reads a stream of ${dialect.name} the same in any three pieces (FUZZ_SEED=${seed})`, async () => {
      const random = new Random(seed)
      for (let round = 0; round < 200; round++) {
        const adapter = random.pick(adapters)
        const name = random.pick(answered)
        const { answer, events } = golden(dialect, adapter, name)
        const bytes = bytesOf(events)
        const places = [random.below(bytes.length), random.below(bytes.length)].toSorted((one, other) => one - other)
        const what = `${adapter.name} ${name} cut at ${places.join(" and ")}`
        check(reader, answer, await read(inPieces(bytes, places)), what)
      }
    })
  }
})
