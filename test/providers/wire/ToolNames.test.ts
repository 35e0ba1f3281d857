import { wholeSource } from "../../../src/providers/wire/EventSource.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { emptyOutput } from "../../../src/domain/Output.ts"
import type { ChatCall, Provider } from "../../../src/providers/Provider.ts"
import {
  ANTHROPIC_NAMES,
  fittingName,
  GEMINI_NAMES,
  OPENAI_NAMES,
  renameTools,
  withToolNames
} from "../../../src/providers/wire/ToolNames.ts"
import { asked } from "../../support/Conversations.ts"
import { chatCall, drain } from "../calls.ts"

const long = `mcp__${"x".repeat(100)}`
const tool = (name: string) => ({ name, description: undefined, parameters: undefined, strict: undefined })
const conversation = asked("hello", {
  tools: [tool(long), tool("look")],
  toolChoice: { type: "tool", name: long },
  messages: [
    { role: "user", content: [{ type: "text", text: "hello" }] },
    { role: "assistant", content: [], toolCalls: [{ id: "c1", name: long, arguments: "{}" }] },
    { role: "tool", toolCallId: "c1", content: [] }
  ]
})

describe("fittingName", () => {
  it("keeps accepted names, and maps every other name to an accepted one", () => {
    for (const bounds of [OPENAI_NAMES, ANTHROPIC_NAMES, GEMINI_NAMES]) {
      assert.strictEqual(fittingName("look_up-2", bounds), "look_up-2")
      for (const name of ["x".repeat(129), "a b", "ä", "x".repeat(500)]) {
        const fitting = fittingName(name, bounds)
        assert.isAtMost(fitting.length, bounds.mostCharacters)
        assert.isFalse(new RegExp(bounds.refused.source).test(fitting), fitting)
        assert.strictEqual(fittingName(name, bounds), fitting)
      }
    }
    assert.strictEqual(fittingName("a.b:c", GEMINI_NAMES), "a.b:c")
    assert.match(fittingName("2nd", GEMINI_NAMES), /^_2nd_[0-9a-f]{8}$/)
  })

  it("distinguishes names with the same start", () => {
    assert.notStrictEqual(fittingName(`${long}a`, OPENAI_NAMES), fittingName(`${long}b`, OPENAI_NAMES))
    assert.notStrictEqual(fittingName("a.b", OPENAI_NAMES), fittingName("a/b", OPENAI_NAMES))
  })
})

describe("renameTools", () => {
  it("replaces names in context edits too", () => {
    const wire = { type: "clear_tool_uses_20250919", exclude_tools: ["look", long], clear_tool_inputs: [long], keep: 3 }
    const edited = { ...conversation, contextEdits: [{ kind: "clear_tool_uses", wire }] as const }
    const short = fittingName(long, OPENAI_NAMES)
    assert.deepStrictEqual(
      renameTools(edited, OPENAI_NAMES)?.conversation.contextEdits?.map((edit) => edit.wire),
      [{ ...wire, exclude_tools: ["look", short], clear_tool_inputs: [short] }]
    )
  })
})

describe("withToolNames", () => {
  const sent: Array<ChatCall> = []
  const host: Provider = {
    id: "up",
    stopsBillingOnAbort: true,
    chat: (call) => {
      sent.push(call)
      const name = call.conversation.tools[0]!.name
      return Effect.succeed({ ...emptyOutput, toolCalls: [{ id: "c2", name, arguments: "{}" }] })
    },
    chatStream: (call) => {
      const name = call.conversation.tools[0]!.name
      return Effect.succeed(wholeSource([{ _tag: "ToolStart", index: 0, id: "c2", name }]))
    }
  }

  it.effect(
    "sends short names in tools, tool choice and history, and restores the caller's in complete and streamed answers",
    () =>
      Effect.gen(function* () {
        const provider = withToolNames(host, OPENAI_NAMES)
        const call = chatCall({ conversation })
        const output = yield* provider.chat(call)
        assert.deepStrictEqual(
          output.toolCalls.map(({ name }) => name),
          [long]
        )
        const { messages, toolChoice, tools } = sent[0]!.conversation
        const short = fittingName(long, OPENAI_NAMES)
        assert.deepStrictEqual(
          tools.map(({ name }) => name),
          [short, "look"]
        )
        assert.deepStrictEqual(toolChoice, { type: "tool", name: short })
        assert.deepInclude(messages[1], { toolCalls: [{ id: "c1", name: short, arguments: "{}" }] })
        const events = (yield* drain(yield* provider.chatStream(call))).flat()
        assert.deepStrictEqual(events, [{ _tag: "ToolStart", index: 0, id: "c2", name: long }])
      }).pipe(Effect.scoped)
  )

  it("changes nothing when the host accepts every name", () => {
    assert.isUndefined(renameTools(conversation, ANTHROPIC_NAMES))
  })
})
