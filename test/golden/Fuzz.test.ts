/** The recorded streams, cut and rewritten in every way that the event stream format allows. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import type { OutputEvent } from "../../src/domain/Output.ts"
import { Random } from "../ledger/Random.ts"
import { type Adapter, adapters } from "./adapters.ts"
import { streamOf } from "./host.ts"

/** Returns everything that an adapter reads from a stream. */
const folded = (adapter: Adapter, pieces: Iterable<Uint8Array>) => {
  const fold = adapter.fold("req_0123456789abcdefghijklmnop")
  const events: Array<OutputEvent> = []
  for (const piece of pieces) for (const event of fold.push(piece)) events.push(event)
  const { done, fault, stopped } = fold
  return { events, end: fold.end(), done, stopped, fault }
}

const namesOf = (adapter: Adapter): ReadonlyArray<string> =>
  readdirSync(new URL(`./upstream/${adapter.name}`, import.meta.url))
    .filter((file) => file.endsWith(".sse"))
    .map((file) => file.slice(0, -".sse".length))

/** Returns the lines of a stream with any line ends. */
const linesOf = (bytes: Uint8Array): ReadonlyArray<string> =>
  Buffer.from(bytes)
    .toString("utf8")
    .split(/\r\n|\r|\n/)

/** Splits a data line where JSON may have spaces. Every other line lacks the optional space after the colon. */
const spread = (line: string): ReadonlyArray<string> => {
  if (!line.startsWith("data: {")) return [line]
  const pretty = JSON.stringify(JSON.parse(line.slice("data: ".length)), null, 1)
  return pretty.split("\n").map((part, at) => (at % 2 === 0 || part.startsWith(" ") ? `data: ${part}` : `data:${part}`))
}

const ENDS = ["\n", "\r\n", "\r"]

/** Adds a byte order mark, comments and unused fields, splits the data lines, and gives each event different line ends. */
const dressed = (lines: ReadonlyArray<string>): string => {
  let event = 0
  const text = lines.map((line) => {
    const end = ENDS[event % ENDS.length]!
    if (line === "") event += 1
    const all = line === "" ? [""] : [...spread(line), ": comment €", "id: 1", "retry: 10", ":", "unknown"]
    return all.map((one) => one + end).join("")
  })
  return `\uFEFF${text.join("")}`
}

const dresses: ReadonlyArray<readonly [name: string, dress: (lines: ReadonlyArray<string>) => string]> = [
  ["line feeds", (lines) => lines.join("\n")],
  ["carriage returns and line feeds", (lines) => lines.join("\r\n")],
  ["carriage returns", (lines) => lines.join("\r")],
  ["everything the format allows", dressed]
]

/** Cuts the bytes at these places. */
const cut = (bytes: Uint8Array, ...places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const all = [0, ...places.toSorted((one, other) => one - other), bytes.length]
  return all.slice(1).map((to, at) => bytes.subarray(all[at], to))
}

const everyPlace = (bytes: Uint8Array) => Array.from({ length: bytes.length - 1 }, (_, at) => at + 1)

const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

describe("a recorded stream", () => {
  for (const adapter of adapters) {
    const each = namesOf(adapter).map((name) => {
      const stream = streamOf(adapter, name)
      return { name, stream, expected: folded(adapter, [stream]), lines: linesOf(stream) }
    })

    for (const [called, dress] of dresses) {
      it(`of ${adapter.name} with ${called} gives the same events whole, byte by byte and cut at every byte`, () => {
        for (const { expected, lines, name } of each) {
          const bytes = Buffer.from(dress(lines))
          const same = JSON.stringify(expected)
          const check = (pieces: Iterable<Uint8Array>, how: string) => {
            const got = folded(adapter, pieces)
            if (JSON.stringify(got) !== same) assert.deepStrictEqual(got, expected, `${name} ${how}`)
          }
          check([bytes], "whole")
          check(cut(bytes, ...everyPlace(bytes)), "byte by byte")
          for (const place of everyPlace(bytes)) check(cut(bytes, place), `cut at byte ${place}`)
        }
      })
    }

    it(`of ${adapter.name} gives the same events in any three pieces (FUZZ_SEED=${seed})`, () => {
      const random = new Random(seed)
      for (const { expected, lines, name } of each) {
        for (let round = 0; round < 200; round++) {
          const [called, dress] = random.pick(dresses)
          const bytes = Buffer.from(dress(lines))
          const places = [random.below(bytes.length + 1), random.below(bytes.length + 1)]
          const how = `${name} with ${called} cut at ${places.join(" and ")}`
          assert.deepStrictEqual(folded(adapter, cut(bytes, ...places)), expected, how)
        }
      }
    })

    it(`of ${adapter.name} that ends at any byte gives a prefix of its events`, () => {
      for (const { expected, name, stream } of each) {
        for (const place of everyPlace(stream)) {
          const { events, fault, stopped } = folded(adapter, [stream.subarray(0, place)])
          const what = `${name} up to byte ${place}`
          assert.deepStrictEqual(events, expected.events.slice(0, events.length), what)
          if (fault !== undefined) assert.deepStrictEqual(fault, expected.fault, what)
          if (stopped) assert.deepStrictEqual(events, expected.events, what)
        }
      }
    })
  }
})
