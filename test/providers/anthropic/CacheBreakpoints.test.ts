import { assert, describe, it } from "@effect/vitest"
import type { Conversation, Message, Part, Tool } from "../../../src/domain/Conversation.ts"
import type { Candidate } from "../../../src/domain/Plan.ts"
import { encodeChat } from "../../../src/providers/anthropic/ChatEncode.ts"
import type { ChatCall } from "../../../src/providers/Provider.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall } from "../calls.ts"

const caching = candidate("anthropic", { model: { capabilities: ["streaming", "tools", "prompt_caching"] } })

const wire = (more: Partial<Conversation>, call: Partial<ChatCall> = {}): WireBody =>
  JSON.parse(encodeChat(chatCall({ candidate: caching, conversation: asked("hello", more), ...call }), false))

interface WireBlock {
  readonly type?: string
  readonly text?: string
  readonly name?: string
  readonly cache_control?: object
}

interface WireBody {
  readonly tools?: ReadonlyArray<WireBlock>
  readonly system?: ReadonlyArray<WireBlock>
  readonly messages: ReadonlyArray<{ readonly content: ReadonlyArray<WireBlock> }>
}

/** What the encoded request marks, in prompt order: tool names, texts, and the types of other blocks. */
const markedIn = ({ messages, system = [], tools = [] }: WireBody): ReadonlyArray<string | undefined> =>
  [...tools, ...system, ...messages.flatMap((message) => message.content)].flatMap((block) => {
    if (block.cache_control === undefined) return []
    assert.deepStrictEqual(block.cache_control, { type: "ephemeral" })
    return [block.text ?? block.name ?? block.type]
  })

const cacheBreakpoint = true
const text = (words: string): Part => ({ type: "text", text: words })
const end = (words: string) => ({ type: "text", text: words, cacheBreakpoint }) as const
const user = (...content: ReadonlyArray<Part>): Message => ({ role: "user", content })
const system = (...content: Extract<Message, { role: "system" }>["content"]): Message => ({ role: "system", content })
const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: undefined,
  parameters: undefined,
  strict: undefined,
  ...more
})
const call = { id: "a", name: "call", arguments: "{}" }

describe("cache breakpoints that the caller sets", () => {
  it("are sent on blocks of every kind", () => {
    const image: Part = { type: "image", url: "data:image/png;base64,AA==", detail: "auto", cacheBreakpoint }
    assert.deepStrictEqual(markedIn(wire({ tools: [tool("f"), tool("g", { cacheBreakpoint }), tool("h")] })), ["g"])
    assert.deepStrictEqual(markedIn(wire({ messages: [system(end("a"), { type: "text", text: "b" }), user(image)] })), [
      "a",
      "image"
    ])
    const messages: ReadonlyArray<Message> = [
      user(text("a")),
      { role: "assistant", content: [end("b")], toolCalls: [{ ...call, cacheBreakpoint }] },
      { role: "tool", toolCallId: "a", content: [text("c")], cacheBreakpoint }
    ]
    assert.deepStrictEqual(markedIn(wire({ messages })), ["b", "call", "tool_result"])
    const result: Message = { role: "tool", toolCallId: "a", content: [end("c"), text("d")] }
    assert.deepStrictEqual(markedIn(wire({ messages: [user(text("a")), result] })), ["tool_result"])
  })

  it("are limited to the last four in prompt order: tools, system, messages", () => {
    const tools = [tool("t", { cacheBreakpoint })]
    const messages = [user(end("a")), system(end("s")), user(end("b"), end("c"))]
    assert.deepStrictEqual(markedIn(wire({ tools, messages })), ["s", "a", "b", "c"])
    assert.deepStrictEqual(markedIn(wire({ tools, messages: messages.slice(0, 2) })), ["t", "s", "a"])
  })

  it("move from an omitted block to the one before it, across messages and into the system prompt", () => {
    assert.deepStrictEqual(markedIn(wire({ messages: [user(text("a"), end(" "), text("b"))] })), ["a"])
    assert.deepStrictEqual(markedIn(wire({ messages: [user(text("a")), user(end(""), text("b"))] })), ["a"])
    const silent: Message = { role: "assistant", content: [end("\n")], toolCalls: [] }
    assert.deepStrictEqual(markedIn(wire({ messages: [user(text("a")), silent, user(text("b"))] })), ["a"])
    const first = [user(end(" ")), system({ type: "text", text: "s" }), user(text("a"))]
    assert.deepStrictEqual(markedIn(wire({ messages: first })), ["s"])
    assert.deepStrictEqual(markedIn(wire({ messages: [user(end(" ")), user(text("a"))], tools: [tool("t")] })), ["t"])
    assert.deepStrictEqual(markedIn(wire({ messages: [user(end(" "), text("a"))] })), [])
    assert.deepStrictEqual(markedIn(wire({ messages: [user(end("a"), end(" "))] })), ["a"])
  })

  it("are not sent when the offer has no cache price", () => {
    const messages = [user(end("a"))]
    const without: Candidate = { ...caching, offer: { ...caching.offer, unsupported: ["prompt_caching"] } }
    assert.deepStrictEqual(markedIn(wire({ messages }, { candidate: without })), [])
    assert.deepStrictEqual(markedIn(wire({ messages }, { candidate: candidate("anthropic") })), [])
  })
})

describe("automatic breakpoints", () => {
  const conversation: Partial<Conversation> = {
    tools: [tool("f"), tool("g")],
    messages: [
      system({ type: "text", text: "s" }, { type: "text", text: "t" }, { type: "text", text: " " }),
      user(text("a")),
      { role: "assistant", content: [{ type: "text", text: "b" }], toolCalls: [call] },
      { role: "tool", toolCallId: "a", content: [text("c")] },
      { role: "assistant", content: [{ type: "text", text: "d" }], toolCalls: [] },
      user(text("e"), text("f"), text(""))
    ]
  }
  const auto = { caching: "auto", promptBound: 1_280 } as const

  it("mark the end of the tools, of the system prompt and of the last two user turns", () => {
    assert.deepStrictEqual(markedIn(wire(conversation, auto)), ["g", "t", "tool_result", "f"])
    assert.deepStrictEqual(markedIn(wire({ messages: [user(text("a"))] }, auto)), ["a"])
    assert.deepStrictEqual(markedIn(wire({ messages: [system({ type: "text", text: "s" })] }, auto)), ["s"])
  })

  it("are set only on request, without breakpoints of the caller, and for prompts long enough to be cached", () => {
    assert.deepStrictEqual(markedIn(wire(conversation, { promptBound: 1_280 })), [])
    assert.deepStrictEqual(markedIn(wire(conversation, { ...auto, promptBound: 1_278 })), [])
    assert.deepStrictEqual(markedIn(wire(conversation, { ...auto, candidate: candidate("anthropic") })), [])
    const own = [user(end("x")), ...conversation.messages!]
    assert.deepStrictEqual(markedIn(wire({ ...conversation, messages: own }, auto)), ["x"])
    // The caller's choice holds even when none of its breakpoints can be sent.
    const lost = wire({ messages: [user(end(" "), text("a"))] }, auto)
    assert.deepStrictEqual(markedIn(lost), [])
  })
})

describe("the cache lifetime", () => {
  const controlsIn = ({ messages, system = [], tools = [] }: WireBody) =>
    [...tools, ...system, ...messages.flatMap((message) => message.content)].flatMap(
      (block) => block.cache_control ?? []
    )
  const hour = { type: "text", text: "for an hour", cacheBreakpoint, cacheTtl: "1h", cacheScope: "global" } as const

  it("is sent with each breakpoint, and its scope only with the caller's beta", () => {
    const messages = [system(hour), user(end("briefly"))]
    const plain = { type: "ephemeral" }
    assert.deepStrictEqual(controlsIn(wire({ messages })), [{ ...plain, ttl: "1h" }, plain])
    const betas = ["prompt-caching-scope-2026-01-05"]
    assert.deepStrictEqual(controlsIn(wire({ messages, betas })), [{ ...plain, ttl: "1h", scope: "global" }, plain])
  })

  it("is sent with automatic breakpoints too", () => {
    const more = { messages: [system({ type: "text", text: "x" }), user(text("y"))], cacheTtl: "1h" } as const
    const marked = controlsIn(wire(more, { caching: "auto", promptBound: 100_000 }))
    assert.isAbove(marked.length, 0)
    for (const control of marked) assert.deepStrictEqual(control, { type: "ephemeral", ttl: "1h" })
  })
})
