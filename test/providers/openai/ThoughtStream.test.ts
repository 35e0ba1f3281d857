/** Reasoning between tags: a stream in any pieces yields the same output as the complete answer. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { OutputFold } from "../../../src/domain/Output.ts"
import { decodeChat, type ReadOptions } from "../../../src/providers/openai/ChatDecode.ts"
import { chatStreamFold } from "../../../src/providers/openai/ChatStream.ts"

type Tags = ReadOptions["tags"]

const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const call = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"é😀"}' } }

interface Answer {
  readonly content: string
  readonly finish: "stop" | "length" | "tool_calls"
}

const read = ({ reasoning, text, toolCalls }: ReturnType<OutputFold["output"]>) => ({ reasoning, text, toolCalls })

const whole = ({ content, finish }: Answer, tags: Tags) => {
  const message = { role: "assistant", content, ...(finish === "tool_calls" ? { tool_calls: [call] } : {}) }
  const body = JSON.stringify({ choices: [{ index: 0, message, finish_reason: finish }], usage })
  return read(Result.getOrThrow(decodeChat(Buffer.from(body), "r", { tags })))
}

const bytesOf = (deltas: ReadonlyArray<object>, finish: string): Buffer =>
  Buffer.from(
    [
      ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
      { choices: [{ index: 0, delta: {}, finish_reason: finish }], usage }
    ]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join("") + "data: [DONE]\n\n"
  )

const streamed = (pieces: ReadonlyArray<Buffer>, tags: Tags) => {
  const stream = chatStreamFold("r", { tags })
  const output = new OutputFold()
  for (const piece of pieces) for (const event of stream.push(piece)) output.push(event)
  for (const event of [...stream.flush(), ...stream.end()]) output.push(event)
  assert.isUndefined(stream.fault)
  return read(output.output())
}

const contents = [
  "<think>é😀 ü</think>ñ😀 so",
  "<think></think>so",
  "<think> \n</think>\n\nso",
  "<think>a <think> b</think> c</think>so",
  "<think>a</think><think>b</think>so",
  "so <think>a</think>",
  "<think>a</think>",
  "<think>never ends 😀",
  "\n <think>a</think> so\n",
  "a</think>so",
  "",
  " "
]
const finishes = ["stop", "length", "tool_calls"] as const

describe("reasoning between tags in a stream", () => {
  for (const tags of ["none", "closed", "open"] as const) {
    it(`equals that of the complete answer wherever the text is cut, with tags ${tags}`, () => {
      for (const content of contents) {
        for (const finish of finishes) {
          const expected = whole({ content, finish }, tags)
          const calls = finish === "tool_calls" ? [{ tool_calls: [call] }] : []
          for (let cut = 0; cut <= content.length; cut++) {
            const deltas = [
              { role: "assistant", content: content.slice(0, cut) },
              { content: content.slice(cut) },
              ...calls
            ]
            const name = `${JSON.stringify(content)} at ${cut}, ${finish}`
            assert.deepStrictEqual(streamed([bytesOf(deltas, finish)], tags), expected, name)
          }
          const units = [...Array(content.length).keys()].map((at) => ({ content: content[at]! }))
          const all = streamed([bytesOf([...units, ...calls], finish)], tags)
          assert.deepStrictEqual(all, expected, `${JSON.stringify(content)} by characters, ${finish}`)
        }
      }
    })
  }

  it("is the same wherever the bytes are cut", () => {
    for (const finish of finishes) {
      const content = contents[0]!
      const calls = finish === "tool_calls" ? [{ tool_calls: [call] }] : []
      const bytes = bytesOf([{ content: content.slice(0, 9) }, { content: content.slice(9) }, ...calls], finish)
      const expected = whole({ content, finish }, "closed")
      for (let cut = 0; cut <= bytes.length; cut++) {
        const found = streamed([bytes.subarray(0, cut), bytes.subarray(cut)], "closed")
        assert.deepStrictEqual(found, expected, `${finish} at byte ${cut}`)
      }
      const single = [...bytes].map((byte) => Buffer.from([byte]))
      assert.deepStrictEqual(streamed(single, "closed"), expected)
    }
  })

  it("becomes the answer before a call when the closing tag of assumed reasoning never comes", () => {
    const deltas = [{ content: "I will " }, { content: "look." }, { tool_calls: [call] }]
    const { text, toolCalls } = streamed([bytesOf(deltas, "tool_calls")], "open")
    assert.strictEqual(text, "I will look.")
    assert.lengthOf(toolCalls, 1)
    assert.strictEqual(whole({ content: "I will look.", finish: "tool_calls" }, "open").text, text)
  })
})
