import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { splitReasoning, ThinkSplitter, usualTags } from "../../../src/providers/openai/ThinkTags.ts"

const pushed = (pieces: ReadonlyArray<string>, tags: "closed" | "open", cut = false) => {
  const splitter = new ThinkSplitter(tags)
  const all = [...pieces.flatMap((piece) => [...splitter.push(piece)]), ...splitter.end(cut)]
  const joined = (kind: string) => all.map((one) => (one.kind === kind ? one.text : "")).join("")
  // Reasoning comes first; none follows a text.
  const begun = all.findIndex(({ kind }) => kind === "Text")
  assert.isTrue(begun === -1 || all.slice(begun).every(({ kind }) => kind === "Text"))
  return { reasoning: joined("Reasoning"), text: joined("Text") }
}

const closed: ReadonlyArray<readonly [string, string, string]> = [
  ["<think>hm</think>so", "hm", "so"],
  ["\n<think>\nh m\n</think>\n\nso</think>", "h m", "so</think>"],
  ["<think></think>so", "", "so"],
  ["<think>\n\n</think>\n\nso", "", "so"],
  ["<think>a < b </thin> c</think>so", "a < b </thin> c", "so"],
  ["<think>a</think>", "a", ""],
  ["so", "", "so"],
  ["so <think>a</think>", "", "so <think>a</think>"],
  ["<thinking about it>", "", "<thinking about it>"],
  ["<thin", "", "<thin"],
  ["  ", "", "  "],
  ["<think>a", "a", ""],
  ["<think>a </th", "a </th", ""]
]

const open: ReadonlyArray<readonly [string, string, string]> = [
  ...closed.slice(0, 6),
  ["hm\n</think>\n\nso", "hm", "so"],
  ["</think>so", "", "so"],
  ["a <think> b</think>so", "a <think> b", "so"]
]

describe("ThinkSplitter", () => {
  for (const [tags, cases] of [
    ["closed", closed],
    ["open", open]
  ] as const) {
    it(`splits the same text alike wherever it is cut, with ${tags} tags`, () => {
      for (const [all, reasoning, text] of cases) {
        for (let first = 0; first <= all.length; first++) {
          for (let second = first; second <= all.length; second++) {
            const pieces = [all.slice(0, first), all.slice(first, second), all.slice(second)]
            assert.deepStrictEqual(pushed(pieces, tags), { reasoning, text }, JSON.stringify(pieces))
          }
        }
        assert.deepStrictEqual(pushed([...all], tags), { reasoning, text }, `${all}, character by character`)
        assert.deepStrictEqual(splitReasoning(all, tags, false), { reasoning, text }, all)
      }
    })
  }

  const Words = Schema.Literals(["<think>", "</think>", "<", "/", "think", ">", " ", "\n", "a", "é😀", "</thi", "so "])
  it.effect.prop(
    "splits any text alike, however it is cut",
    { words: Schema.Array(Words), sizes: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))) },
    ({ sizes, words }) =>
      Effect.sync(() => {
        const text = words.join("")
        const pieces: Array<string> = []
        let rest = text
        for (const size of sizes) {
          pieces.push(rest.slice(0, size))
          rest = rest.slice(size)
        }
        pieces.push(rest)
        for (const tags of ["closed", "open"] as const) {
          assert.deepStrictEqual(pushed(pieces, tags, true), pushed([text], tags, true))
        }
      }),
    { arbitrary: { runs: 500 } }
  )

  it("returns reasoning without a closing tag also as the answer when the opening tag was assumed", () => {
    assert.deepStrictEqual(pushed(["Hel", "lo "], "open"), { reasoning: "Hello", text: "Hello " })
    assert.deepStrictEqual(splitReasoning("Hello ", "open", false), { reasoning: "", text: "Hello " })
    // A truncated text may have lost its closing tag.
    assert.deepStrictEqual(pushed(["Hello"], "open", true), { reasoning: "Hello", text: "" })
    assert.deepStrictEqual(splitReasoning("Hello", "open", true), { reasoning: "Hello", text: "" })
  })

  it("reports when it no longer needs to search for tags", () => {
    const splitter = new ThinkSplitter("closed")
    splitter.push("<thi")
    assert.isFalse(splitter.done)
    splitter.push("nk>a</think>")
    assert.isFalse(splitter.done)
    splitter.push("b")
    assert.isTrue(splitter.done)
  })

  it("handles long runs of blanks in time", () => {
    const started = performance.now()
    const splitter = new ThinkSplitter("closed")
    splitter.push("<think>a")
    for (let at = 0; at < 20_000; at++) splitter.push(" ".repeat(50))
    assert.isBelow(performance.now() - started, 2_000)
  })
})

describe("usualTags", () => {
  it("knows the models whose templates open the tag", () => {
    for (const id of [
      "deepseek-ai/DeepSeek-R1",
      "deepseek-r1:8b",
      "Qwen/QwQ-32B",
      "Qwen/Qwen3-30B-A3B-Thinking-2507"
    ]) {
      assert.strictEqual(usualTags(id), "open", id)
    }
    for (const id of ["qwen3:8b", "deepseek-chat", "openai/gpt-oss-120b", "some-thinkingcap"]) {
      assert.strictEqual(usualTags(id), "closed", id)
    }
  })
})
