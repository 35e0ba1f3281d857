import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import type { Conversation } from "../../src/domain/Conversation.ts"
import { classify, isMultilingual, lastWords } from "../../src/router/Classifier.ts"
import { TASKS } from "../../src/router/Task.ts"
import { asked } from "../support/Conversations.ts"

interface Labelled {
  readonly task: string
  readonly half: "rules" | "held_out"
  readonly english: boolean
  readonly prompt: string
}

/** The rules may use only the half `rules`; the other half only measures them. */
const labelled: ReadonlyArray<Labelled> = readFileSync(new URL("prompts.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Labelled)

const halfOf = (prompt: string) => (createHash("sha256").update(prompt).digest()[0]! < 128 ? "rules" : "held_out")

const measured = (half: Labelled["half"]) => {
  const prompts = labelled.filter((one) => one.half === half)
  const judged = prompts.map((one) => ({ ...one, said: classify(asked(one.prompt)) }))
  const share = (of: typeof judged, right: (one: (typeof judged)[number]) => boolean) =>
    of.filter(right).length / of.length
  return {
    prompts: prompts.length,
    task: share(judged, (one) => one.said.task === one.task),
    confident: share(judged, (one) => one.said.confident),
    taskWhereConfident: share(
      judged.filter((one) => one.said.confident),
      (one) => one.said.task === one.task
    ),
    language: share(judged, (one) => one.said.multilingual === !one.english)
  }
}

const text = (words: string) => [{ type: "text", text: words }] as const
const image = { type: "image", url: "https://example.com/a.png", detail: "auto" } as const
const tool = { name: "look_up", description: undefined, parameters: undefined, strict: undefined }

const taskOf = (conversation: Conversation) => {
  const { confident, task } = classify(conversation)
  return { task, confident }
}

describe("the labelled prompts", () => {
  it("are numerous and unique, cover many tasks, and are split by their hash", () => {
    assert.isAtLeast(labelled.length, 300)
    assert.isAtLeast(new Set(labelled.map(({ task }) => task)).size, 8)
    assert.strictEqual(new Set(labelled.map(({ prompt }) => prompt)).size, labelled.length)
    for (const { half, prompt, task } of labelled) {
      assert.strictEqual(half, halfOf(prompt), prompt)
      assert.include(TASKS, task)
    }
  })

  it("are classified by the rules, on the half that the rules were not written for", () => {
    const [own, heldOut] = [measured("rules"), measured("held_out")]
    console.log(JSON.stringify({ rules: own, heldOut }))
    assert.isAtLeast(heldOut.task, 0.85)
    assert.isAtLeast(heldOut.taskWhereConfident, 0.9)
    assert.isAtLeast(heldOut.language, 0.95)
    assert.isAtLeast(own.task, 0.85)
  })
})

describe("the rules", () => {
  it("go by the user's last message", () => {
    const messages: Conversation["messages"] = [
      { role: "user", content: text("Translate this into French: good evening") },
      { role: "assistant", content: text("Bonsoir"), toolCalls: [] },
      { role: "user", content: text("Solve for x: 2x + 3 = 9") }
    ]
    assert.deepStrictEqual(taskOf(asked("", { messages })), { task: "math", confident: true })
  })

  it("consult the system prompt when the user's message is unclear", () => {
    const withSystem = (system: string, user: string): Conversation["messages"] => [
      { role: "system", content: text(system) },
      { role: "user", content: text(user) }
    ]
    const system = "You are a translator. Translate whatever you are given. Traduce. Übersetze."
    const plain = taskOf(asked("The meeting is at noon in the blue room"))
    assert.isFalse(plain.confident)
    const task = taskOf(asked("", { messages: withSystem(system, "The meeting is at noon in the blue room") }))
    assert.deepStrictEqual(task, { task: "translation", confident: true })
    assert.strictEqual(taskOf(asked("", { messages: withSystem(system, "What is 17 * 23?") })).task, "math")
  })

  it("notice images in the last message and offered tools", () => {
    const seen = (content: Conversation["messages"][number]["content"]) =>
      taskOf(asked("", { messages: [{ role: "user", content } as Conversation["messages"][number]] }))
    assert.deepStrictEqual(seen([...text("Translate the sign"), image]), { task: "vision", confident: true })
    const before: Conversation["messages"] = [
      { role: "user", content: [image] },
      { role: "user", content: text("Write a haiku about the sea") }
    ]
    assert.strictEqual(taskOf(asked("", { messages: before })).task, "writing")
    assert.deepStrictEqual(taskOf(asked("the usual", { tools: [tool] })), { task: "tool_use", confident: true })
    assert.strictEqual(taskOf(asked("Write a haiku about the sea", { tools: [tool] })).task, "writing")
  })

  it("answer general, without certainty, when nothing matches", () => {
    for (const words of ["", "   ", "xyzzy", "🙂"]) {
      assert.deepStrictEqual(taskOf(asked(words)), { task: "general", confident: false }, words)
    }
    assert.deepStrictEqual(taskOf(asked("", { messages: [] })), { task: "general", confident: false })
  })

  it("read a bounded part of any input", () => {
    const long = `Summarize the following text.\n\n${"lorem ipsum dolor ".repeat(100_000)}`
    assert.deepStrictEqual(taskOf(asked(long)), { task: "summarisation", confident: true })
    assert.isBelow(lastWords(asked(long)).length, 4_100)
    const parts = { role: "user", content: Array.from({ length: 500 }, () => text("word ".repeat(1_000))[0]) } as const
    assert.isBelow(lastWords(asked("", { messages: [parts] })).length, 4_100)
    const [head, tail] = [`${"x".repeat(2_999)}😀${"y".repeat(5_000)}`, `${"x".repeat(5_000)}😀${"y".repeat(999)}`]
    for (const split of [head, tail]) assert.isTrue(lastWords(asked(split)).isWellFormed())
    for (const unit of ["a", "if ", "(", "select ", "1 ", "{ a: ", "x,", "translate ", "\n", "=>"]) {
      assert.include(TASKS, taskOf(asked(unit.repeat(50_000))).task)
    }
  })
})

describe("a language other than English", () => {
  it("is recognized by script or by small words", () => {
    for (const words of [
      "Wo ist der Bahnhof, und wie komme ich zu dem Museum?",
      "Je voudrais une table pour deux personnes.",
      "¿Dónde está la biblioteca?",
      "Gdzie jest dworzec?",
      "Где находится вокзал?",
      "车站在哪里？",
      "駅はどこですか",
      "역이 어디예요?",
      "أين المحطة؟",
      "स्टेशन कहाँ है?"
    ]) {
      assert.isTrue(isMultilingual(words), words)
    }
  })

  it("is not inferred from a name, a quotation, code or a formula", () => {
    for (const words of [
      "Who was Émile Zola and what did he write?",
      "Explain the word 改善 as it is used in the car industry.",
      "What does je ne sais quoi mean?",
      "Solve α + β = 2 for α.",
      "const el = document.querySelector('#la')",
      "42",
      ""
    ]) {
      assert.isFalse(isMultilingual(words), words)
    }
  })
})
