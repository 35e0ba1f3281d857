import { assert, describe, it } from "@effect/vitest"
import { editContext } from "../../src/domain/ContextEdits.ts"
import type { ContextEdit, Conversation, Message } from "../../src/domain/Conversation.ts"

const turn = (id: string, name: string, result: string): ReadonlyArray<Message> => [
  { role: "assistant", content: [], toolCalls: [{ id, name, arguments: '{"at":1}' }] },
  { role: "tool", toolCallId: id, content: [{ type: "text", text: result }] }
]
const long = "word ".repeat(400)
const messages: ReadonlyArray<Message> = [
  { role: "user", content: [{ type: "text", text: "Go" }] },
  ...["a", "b", "c", "d"].flatMap((id) => turn(id, id === "b" ? "keepsake" : "look", `${id} ${long}`))
]
const conversationWith = (...wires: ReadonlyArray<Record<string, unknown>>): Conversation => ({
  messages,
  tools: [],
  toolChoice: { type: "auto" },
  parallelToolCalls: undefined,
  format: { type: "text" },
  sampling: {},
  reasoning: undefined,
  maxOutputTokens: undefined,
  user: undefined,
  contextEdits: wires.map((wire) => ({
    kind: String(wire["type"]).replace(/_\d+$/, "") as ContextEdit["kind"],
    wire
  }))
})
const clear = { type: "clear_tool_uses_20250919", trigger: { type: "input_tokens", value: 100 } }
const resultsOf = (conversation: Conversation) =>
  conversation.messages.flatMap((message) =>
    message.role === "tool" ? [message.content.map((part) => (part.type === "text" ? part.text[0] : "")).join()] : []
  )

describe("context edits of a prompt", () => {
  it("clear all but the latest tool results, and report how many uses and tokens they cleared", () => {
    const { applied, conversation } = editContext(conversationWith({ ...clear, keep: { type: "tool_uses", value: 1 } }))
    assert.deepStrictEqual(resultsOf(conversation), ["[", "[", "[", "d"])
    const [edit] = applied as ReadonlyArray<Record<string, unknown>>
    assert.deepInclude(edit, { type: clear.type, cleared_tool_uses: 3 })
    assert.isAbove(Number(edit?.["cleared_input_tokens"]), 1_000)
    assert.isUndefined(conversation.contextEdits)
  })

  it("keep the three latest tool uses by default, and the results of excluded tools", () => {
    assert.deepStrictEqual(resultsOf(editContext(conversationWith(clear)).conversation), ["[", "b", "c", "d"])
    const kept = { ...clear, keep: { type: "tool_uses", value: 0 }, exclude_tools: ["keepsake"] }
    assert.deepStrictEqual(resultsOf(editContext(conversationWith(kept)).conversation), ["[", "b", "[", "["])
  })

  it("clear the inputs of tool calls on request", () => {
    const inputs = (clear_tool_inputs: unknown) =>
      editContext(
        conversationWith({ ...clear, keep: { type: "tool_uses", value: 1 }, clear_tool_inputs })
      ).conversation.messages.flatMap((one) =>
        one.role === "assistant" ? one.toolCalls.map((call) => call.arguments) : []
      )
    const full = '{"at":1}'
    assert.deepStrictEqual(inputs(undefined), [full, full, full, full])
    assert.deepStrictEqual(inputs(true), ["{}", "{}", "{}", full])
    assert.deepStrictEqual(inputs(["keepsake"]), [full, "{}", full, full])
  })

  it("wait until the prompt reaches the trigger and enough can be cleared", () => {
    const waiting = [
      { type: clear.type },
      { ...clear, trigger: { type: "tool_uses", value: 4 } },
      { ...clear, clear_at_least: { type: "input_tokens", value: 100_000 } },
      { type: "clear_thinking_20251015", keep: "all" },
      { type: "compact_20260112" }
    ]
    for (const wire of waiting) {
      const { applied, conversation } = editContext(conversationWith(wire))
      assert.deepStrictEqual([applied, conversation.messages], [[], messages], wire.type)
    }
    const due = { ...clear, trigger: { type: "tool_uses", value: 3 } }
    assert.lengthOf(editContext(conversationWith(due)).applied, 1)
  })

  it("clear the thinking of all but the latest thinking turns, and report how many turns and tokens they cleared", () => {
    const thought = (text: string) =>
      ({ role: "assistant", content: [], toolCalls: [], reasoning: [{ text }] }) as const
    const said = { role: "assistant", content: [{ type: "text", text: "So." }], toolCalls: [] } as const
    const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] }) as const
    const result = { role: "tool", toolCallId: "a", content: [{ type: "text", text: "ok" }] } as const
    // Four turns: three with thinking, the second of them over a tool call.
    const history: ReadonlyArray<Message> = [
      user("1"),
      thought(`one ${long}`),
      user("2"),
      said,
      user("3"),
      thought("two"),
      result,
      thought("three"),
      user("4"),
      user("and"),
      thought("four")
    ]
    const cleared = (keep: unknown) => {
      const wire = { type: "clear_thinking_20251015", keep }
      const { applied, conversation } = editContext({ ...conversationWith(wire), messages: history })
      const texts = conversation.messages.flatMap((one) =>
        one.role === "assistant" ? (one.reasoning ?? []).map(({ text }) => text.split(" ")[0]) : []
      )
      return { texts, edit: applied[0] as Record<string, unknown> | undefined, turns: conversation.messages.length }
    }
    const turns = (value: number) => ({ type: "thinking_turns", value })
    assert.deepStrictEqual(cleared(undefined).texts, ["four"])
    assert.deepInclude(cleared(undefined).edit, { type: "clear_thinking_20251015", cleared_thinking_turns: 2 })
    assert.isAbove(Number(cleared(undefined).edit?.["cleared_input_tokens"]), 300)
    assert.deepStrictEqual(cleared(turns(2)).texts, ["two", "three", "four"])
    assert.strictEqual(cleared(turns(2)).edit?.["cleared_thinking_turns"], 1)
    assert.strictEqual(cleared(turns(2)).turns, history.length)
    for (const keep of [turns(3), "all", { type: "all" }]) {
      assert.deepStrictEqual([cleared(keep).texts.length, cleared(keep).edit], [4, undefined])
    }
  })
})
