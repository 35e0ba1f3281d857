import { pulledSource } from "../../../src/providers/wire/EventSource.ts"
import { nextOf } from "../calls.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Conversation, Message } from "../../../src/domain/Conversation.ts"
import { emptyOutput } from "../../../src/domain/Output.ts"
import { withContextEdits } from "../../../src/providers/wire/ContextEdits.ts"
import type { ChatCall, Provider } from "../../../src/providers/Provider.ts"
import { makeSandbox } from "../../../src/providers/sandbox/Sandbox.ts"
import { asked } from "../../support/Conversations.ts"
import { chatCall } from "../calls.ts"

const messages: ReadonlyArray<Message> = [
  { role: "assistant", content: [], toolCalls: [{ id: "a", name: "look", arguments: "{}" }] },
  { role: "tool", toolCallId: "a", content: [{ type: "text", text: "word ".repeat(100) }] },
  { role: "user", content: [{ type: "text", text: "Go on" }] }
]
const trigger = { type: "tool_uses", value: 0 }
const wire = { type: "clear_tool_uses_20250919", trigger, keep: { type: "tool_uses", value: 0 } }
const edits: Conversation["contextEdits"] = [{ kind: "clear_tool_uses", wire }]
const call = (more: Partial<Conversation>) => chatCall({ conversation: asked("", { messages, ...more }) })

/** A provider that records its calls. */
const noting = (editsContext: boolean) => {
  const calls: Array<ChatCall> = []
  const provider: Provider = {
    ...makeSandbox("up"),
    editsContext,
    chat: (one) => {
      calls.push(one)
      return Effect.succeed({ ...emptyOutput, text: "so" })
    },
    chatStream: (one) => {
      calls.push(one)
      const events = [[{ _tag: "Text", text: "so" }] as const]
      return Effect.succeed(pulledSource(Effect.sync(() => events.pop())))
    }
  }
  return { calls, provider: withContextEdits(provider) }
}

describe("a provider without context edits of its own", () => {
  it.effect("receives the edited prompt, and its answers report the edits", () =>
    Effect.gen(function* () {
      const { calls, provider } = noting(false)
      const whole = yield* provider.chat(call({ contextEdits: edits }))
      const [applied] = whole.contextEdits ?? []
      assert.deepInclude(applied, { type: wire.type, cleared_tool_uses: 1 })
      const source = yield* Effect.scoped(provider.chatStream(call({ contextEdits: edits })))
      assert.deepStrictEqual(yield* nextOf(source), [
        { _tag: "ContextEdits", applied: [applied as object] },
        { _tag: "Text", text: "so" }
      ])
      assert.isUndefined(yield* nextOf(source))
      for (const { conversation } of calls) {
        assert.deepStrictEqual(conversation.messages[1]?.content, [
          { type: "text", text: "[Old tool result content cleared]" }
        ])
      }
    })
  )

  it.effect("is called unchanged without edits, as is a provider that applies edits itself", () =>
    Effect.gen(function* () {
      for (const [editsContext, contextEdits] of [
        [false, undefined],
        [true, edits]
      ] as const) {
        const { calls, provider } = noting(editsContext)
        const one = call(contextEdits === undefined ? {} : { contextEdits })
        const whole = yield* provider.chat(one)
        assert.isUndefined(whole.contextEdits)
        assert.strictEqual(calls[0], one)
      }
    })
  )
})
