import { assert, describe, it } from "@effect/vitest"
import { type SseEvent, SseParser } from "../../../src/providers/wire/Sse.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

const parse = (pieces: ReadonlyArray<Uint8Array>, maxEventChars?: number) => {
  const events: Array<SseEvent> = []
  const parser = new SseParser((event) => events.push(event), maxEventChars === undefined ? {} : { maxEventChars })
  return { events, fits: pieces.map((piece) => parser.push(piece)) }
}

const TRANSCRIPT = [
  "\uFEFFdata: first\n\n",
  ": a comment\n",
  'data: {"a":"ünï→😀"}\r\n\r\n',
  "event: named\rid: 7\rdata:no space\rdata:  two spaces\r\r",
  "retry: 10\nunknown: x\ndata\n\n",
  "event: dropped for want of data\n\n",
  "data: a\ndata:\ndata: b\n\r\n",
  "data: mixed\r\n\n",
  "\uFEFFdata: a mark that is no mark\n\n",
  "data: [DONE]\n\n",
  "data: cut short"
].join("")

const EVENTS: ReadonlyArray<SseEvent> = [
  { event: "", data: "first" },
  { event: "", data: '{"a":"ünï→😀"}' },
  { event: "named", data: "no space\n two spaces" },
  { event: "", data: "" },
  { event: "", data: "a\n\nb" },
  { event: "", data: "mixed" },
  { event: "", data: "[DONE]" }
]

describe("SseParser", () => {
  it("reads a transcript split at every byte", () => {
    const bytes = bytesOf(TRANSCRIPT)
    for (let at = 0; at <= bytes.length; at++) {
      const { events } = parse([bytes.subarray(0, at), bytes.subarray(at)])
      assert.deepStrictEqual(events, EVENTS, `split at byte ${at}`)
    }
  })

  it("reads a transcript byte by byte", () => {
    const { events } = parse([...bytesOf(TRANSCRIPT)].map((byte) => Uint8Array.of(byte)))
    assert.deepStrictEqual(events, EVENTS)
  })

  it("reads a transcript in pieces of every length", () => {
    const bytes = bytesOf(TRANSCRIPT)
    for (let length = 1; length <= bytes.length; length++) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / length) }, (_, n) =>
        bytes.subarray(n * length, (n + 1) * length)
      )
      assert.deepStrictEqual(parse(pieces).events, EVENTS, `pieces of ${length} bytes`)
    }
  })

  it("decodes bytes that are not UTF-8 to replacement characters, as a decoder of the whole text does", () => {
    const bytes = Uint8Array.of(...bytesOf("data: a"), 0xc3, ...bytesOf("b"), 0xf0, 0x9f, ...bytesOf("\n\n"))
    const whole = new TextDecoder().decode(bytes).slice("data: ".length, -2)
    for (let at = 0; at <= bytes.length; at++) {
      assert.deepStrictEqual(parse([bytes.subarray(0, at), bytes.subarray(at)]).events, [{ event: "", data: whole }])
    }
  })

  it("rejects an event longer than the limit, on one line or on several", () => {
    assert.deepStrictEqual(parse([bytesOf("data: 12345678"), bytesOf("9012345")], 20).fits, [true, false])
    assert.deepStrictEqual(parse([bytesOf("data: 1234567890\n"), bytesOf("data: 1234567890\n")], 20).fits, [
      true,
      false
    ])
    const { events, fits } = parse([bytesOf("data: 1234567890\n\n"), bytesOf("data: 1234567890\n\n")], 20)
    assert.deepStrictEqual([events.length, ...fits], [2, true, true])
  })
})
