/** The gateway's streams, cut at every place and read by the vendors' own clients. */
import { assert, describe, it } from "@effect/vitest"
import Anthropic from "@anthropic-ai/sdk"
import { readdirSync, readFileSync } from "node:fs"
import OpenAI from "openai"
import { Random } from "../ledger/Random.ts"
import { adapters } from "./adapters.ts"
import type { CaseName } from "./cases.ts"
import { chat } from "./chat.ts"
import { bytesOf, type Dialect, type Json, type Said } from "./dialect.ts"
import { messages } from "./messages.ts"
import { responses } from "./responses.ts"

/** A client that reads a stream into a whole answer. */
interface Reader {
  readonly dialect: Dialect
  readonly read: (fetch: () => Promise<Response>) => Promise<Json>
  /** The parts of an answer that the client does not keep. */
  readonly without: ReadonlyArray<keyof Said>
  /** A case that the client reads differently. */
  readonly butFor?: CaseName
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
    // It joins the fields that it knows, and keeps only the last piece of any other.
    without: ["reasoning"]
  },
  {
    dialect: messages,
    read: (fetch) =>
      new Anthropic(options(fetch)).messages.stream({ model: "m", max_tokens: 1, messages: [] }).finalMessage(),
    without: [],
    // It drops the cut-off arguments of a call, which a plain answer shows.
    butFor: "cut-call"
  },
  {
    dialect: responses,
    read: (fetch) => new OpenAI(options(fetch)).responses.stream({ model: "m", input: "" }).finalResponse(),
    without: []
  }
]

const directoryOf = (dialect: Dialect, adapter: string): URL =>
  new URL(`./${dialect.name}/${adapter}/`, import.meta.url)

const keptIn = (dialect: Dialect, adapter: string, file: string): Json =>
  JSON.parse(readFileSync(new URL(file, directoryOf(dialect, adapter)), "utf8"))

interface Kept {
  readonly what: string
  readonly answer: Json
  readonly bytes: Uint8Array
}

/** Reads the golden file of every answered case. */
const answeredIn = ({ butFor, dialect }: Reader): ReadonlyArray<Kept> =>
  adapters.flatMap(({ name }) =>
    readdirSync(directoryOf(dialect, name)).flatMap((file) => {
      const { answer, events, status } = keptIn(dialect, name, file)
      return status === 200 && file !== `${butFor}.json`
        ? [{ what: `${name} ${file}`, answer, bytes: bytesOf(events) }]
        : []
    })
  )

/** Returns a `fetch` whose response comes in pieces that end at these places. */
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

/** Compares the client's answer with the plain one, except for the parts that the client does not keep. */
const check = ({ dialect, without }: Reader, answer: Json, final: Json, what: string) => {
  const silent = Object.fromEntries(without.map((member) => [member, undefined]))
  const expected = { ...dialect.said(answer), ...silent }
  assert.deepStrictEqual({ ...dialect.said({ ...answer, ...final }), ...silent }, expected, what)
}

const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

describe("a vendor's client", () => {
  for (const reader of readers) {
    const { dialect, read } = reader
    const all = answeredIn(reader)

    it(`reads a stream of ${dialect.name} byte by byte as the plain answer`, async () => {
      assert.isAtLeast(all.length, adapters.length * 8)
      for (const { answer, bytes, what } of all) {
        check(reader, answer, await read(inPieces(bytes, everyPlace(bytes))), what)
      }
    })

    it(`throws an error for a stream of ${dialect.name} that breaks`, async () => {
      for (const { name } of adapters) {
        const { events } = keptIn(dialect, name, "error.json")
        const broken = await read(inPieces(bytesOf(events), [])).then(
          () => assert.fail(`the stream of ${name} must fail`),
          (error: Error) => error.message
        )
        assert.include(broken, "broke off", name)
      }
    })

    it(`reads a stream of ${dialect.name} in any three pieces as the plain answer (FUZZ_SEED=${seed})`, async () => {
      const random = new Random(seed)
      for (let round = 0; round < 200; round++) {
        const { answer, bytes, what } = random.pick(all)
        const places = [random.below(bytes.length), random.below(bytes.length)].toSorted((one, other) => one - other)
        check(reader, answer, await read(inPieces(bytes, places)), `${what} cut at ${places.join(" and ")}`)
      }
    })
  }
})
