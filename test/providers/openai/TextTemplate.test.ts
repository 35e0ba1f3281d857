import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { OutputEvent } from "../../../src/domain/Output.ts"
import { chatStreamFold } from "../../../src/providers/openai/ChatStream.ts"
import { isPlain, probeOf, templateOf, textBetween } from "../../../src/providers/openai/TextTemplate.ts"

const bytesOf = (data: string) => new TextEncoder().encode(`data: ${data}\n\n`)

/** Keeps every event but the end of reasoning, which only a fold that has read the reasoning itself can emit. */
const isOfPiece = ({ _tag }: OutputEvent): boolean => _tag !== "ReasoningEnd"

/** Reads each piece with a new fold, which has no template yet. */
const apart = (pieces: ReadonlyArray<string>): ReadonlyArray<OutputEvent> =>
  pieces.flatMap((data) => [...chatStreamFold("req_1").push(bytesOf(data))]).filter(isOfPiece)

const together = (pieces: ReadonlyArray<string>) => {
  const fold = chatStreamFold("req_1")
  const events = pieces.flatMap((data) => [...fold.push(bytesOf(data))])
  return { events: events.filter(isOfPiece), end: fold.end(), fold }
}

/** Reads the same pieces as one stream, cut into blocks of `size` bytes. */
const cut = (pieces: ReadonlyArray<string>, size: number): ReadonlyArray<OutputEvent> => {
  const fold = chatStreamFold("req_1")
  const bytes = Buffer.concat(pieces.map(bytesOf))
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => at * size)
  return starts.flatMap((start) => [...fold.push(bytes.subarray(start, start + size))]).filter(isOfPiece)
}

const quoted = (text: string) => JSON.stringify(text)

/** Shapes of a text chunk; some put the text where a careless reader would miss it. */
const shapes: ReadonlyArray<(text: string, other: string) => string> = [
  (text) => `{"choices":[{"index":0,"delta":{"content":${quoted(text)}},"finish_reason":null}]}`,
  (text) => `{"id": "a", "choices": [{"index": 0, "delta": {"content": ${quoted(text)}}}], "usage": null}`,
  (text, other) => `{"choices":[{"delta":{"content":${quoted(text)}}}],"obfuscation":${quoted(other)}}`,
  (text, other) => `{"id":{"content":${quoted(other)}},"choices":[{"delta":{"content":${quoted(text)}}}]}`,
  (text, other) => `{"id":{"content":${quoted(text)}},"choices":[{"delta":{"content":${quoted(other)}}}]}`,
  (text, other) => `{"choices":[{"delta":{"content":${quoted(other)},"content":${quoted(text)}}}]}`,
  (text, other) => `{"choices":[{"delta":{"content":${quoted(text)},"content":${quoted(other)}}}]}`,
  (text, other) => `{"choices":[{"delta":{"content":${quoted(text)},"reasoning_content":${quoted(other)}}}]}`,
  (text) => `{"id":"\\"content\\":\\"","choices":[{"delta":{"content":${quoted(text)}}}]}`,
  (text) => `{"choices":[{"delta":{"content":[{"type":"text","text":${quoted(text)}}]}}]}`,
  (text) => `{"choices":[{"delta":{"content":${quoted(text)}},"logprobs":{"content":[{"token":${quoted(text)}}]}}]}`,
  (text) => `{"choices":[{"delta":{"content":"${text}"}}]}`
]

const Piece = Schema.Struct({
  shape: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: shapes.length - 1 })),
  text: Schema.Literals([
    "a",
    " b",
    "",
    '"',
    "\\",
    "x",
    "xx",
    "\\u0041",
    "\n",
    "é😀",
    'content":"',
    " the",
    "a text that is not short"
  ]),
  other: Schema.Literals(["", "a", "x", "pad"])
})

describe("the text template", () => {
  it.effect.prop(
    "leaves the events of a stream unchanged",
    {
      usual: Piece,
      pieces: Schema.Array(Piece),
      every: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 })),
      size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }))
    },
    ({ every, pieces, size, usual }) =>
      Effect.sync(() => {
        const dataOf = ({ other, shape, text }: typeof usual) => shapes[shape]!(text, other)
        const learning = Array.from({ length: 6 }, () => dataOf({ ...usual, text: " the" }))
        // Most pieces have the wording of those before, as a real host's have.
        const rest = pieces.map((piece, at) => dataOf(at % every === 0 ? piece : { ...usual, text: piece.text }))
        const all = [...learning, ...rest]
        const broken = all.findIndex(isBroken)
        const told = broken === -1 ? all : all.slice(0, broken)
        assert.deepStrictEqual(together(told).events, apart(told))
        assert.deepStrictEqual(cut(told, size), apart(told))
      }),
    { arbitrary: { runs: 500 } }
  )

  it("matches only data that differ from it in the text alone", () => {
    const data = shapes[0]!("sea", "")
    const template = templateOf(data, "sea")!
    assert.strictEqual(template.head + "sea" + template.tail, data)
    assert.strictEqual(textBetween(template, shapes[0]!(" and", "")), " and")
    for (const odd of ['"', "\\n", "\n", ""]) {
      assert.isUndefined(textBetween(template, template.head + odd + template.tail))
    }
    assert.isUndefined(textBetween(template, shapes[1]!("sea", "")))
    assert.isFalse(isPlain("a\nb"))
    const long = "a text that is not short"
    assert.strictEqual(textBetween(template, shapes[0]!(long, "")), long)
    assert.isUndefined(templateOf(shapes[3]!("sea", "land"), "sea"))
    const probe = probeOf({ head: "x", tail: "xx" })
    assert.deepStrictEqual(probe, { data: "xxxxxx", text: "xxx" })
  })

  it("does not hide a finish reason or usage between texts", () => {
    const text = (more: string) => `{"choices":[{"delta":{"content":"a"}${more}}]`
    const finish = `${text(',"finish_reason":"stop"')}}`
    const usage = `${text("")},"usage":{"prompt_tokens":5,"completion_tokens":7}}`
    for (const last of [finish, usage]) {
      const plain = `${text("")}}`
      const { end, fold } = together([...Array.from({ length: 8 }, () => plain), last, last, plain, last, plain])
      assert.strictEqual(fold.stopped, last === finish)
      assert.deepStrictEqual(
        end.map(({ _tag }) => _tag),
        last === finish ? ["Finish"] : ["Usage"]
      )
    }
  })
})

/** Whether `data` is not JSON: such data end a stream with a fault, which another test covers. */
const isBroken = (data: string): boolean => {
  try {
    JSON.parse(data)
    return false
  } catch {
    return true
  }
}
