import { assert, describe, it } from "@effect/vitest"
import {
  messagesOf,
  openCalls,
  sentTurns,
  toolsOf,
  type Turn,
  withDelta
} from "../../../../src/console/pages/playground/Messages.ts"

const call = { id: "call_1", name: "get_weather", arguments: '{"city":"Oslo"}' }
const answer: Turn = { role: "assistant", content: "", calls: [call] }

describe("the messages of a conversation", () => {
  it("are instructions, texts, images, calls and their results, without an answer that failed before its first word", () =>
    assert.deepStrictEqual(
      messagesOf("Be brief.", [
        { role: "user", content: "What is this?", images: ["data:image/png;base64,AA"] },
        { role: "assistant", content: "", error: "Stopped." },
        answer,
        { role: "tool", callId: "call_1", content: "rain" },
        { role: "assistant", content: "Rain." }
      ]),
      [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AA" } }
          ]
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } }
          ]
        },
        { role: "tool", tool_call_id: "call_1", content: "rain" },
        { role: "assistant", content: "Rain." }
      ]
    ))

  it("of the last request exclude the answer to it", () => {
    const asked: Turn = { role: "user", content: "What is this?" }
    assert.deepStrictEqual(sentTurns([asked, answer]), [asked])
    assert.deepStrictEqual(sentTurns([asked, answer, asked]), [asked, answer, asked])
    assert.deepStrictEqual(sentTurns([]), [])
  })

  it("have open calls until each call has a result", () => {
    assert.deepStrictEqual(openCalls([answer]), [call])
    assert.deepStrictEqual(openCalls([answer, { role: "tool", callId: "call_1", content: "" }]), [])
    assert.deepStrictEqual(openCalls([]), [])
  })

  it("join the pieces of streamed calls by their index", () => {
    const first = withDelta([], [{ index: 0, id: "call_1", function: { name: "get_weather", arguments: '{"ci' } }])
    assert.deepStrictEqual(withDelta(first, [{ index: 0, function: { arguments: 'ty":"Oslo"}' } }]), [call])
  })
})

describe("tools as JSON", () => {
  it("become functions, given whole or as the function alone", () => {
    const tool = { type: "function", function: { name: "a" } }
    assert.deepStrictEqual(toolsOf('[{"name": "a"}]'), { tools: [tool] })
    assert.deepStrictEqual(toolsOf(JSON.stringify([tool])), { tools: [tool] })
    assert.deepStrictEqual(toolsOf(" "), { tools: [] })
  })

  it("are rejected with a message about the error", () => {
    assert.match((toolsOf("[{") as { wrong: string }).wrong, /^The tools must be JSON: /)
    assert.deepStrictEqual(toolsOf('[{"description": "x"}]'), { wrong: "Each tool must have a `name`." })
    assert.match((toolsOf("[1]") as { wrong: string }).wrong, /each tool must be an object/)
  })
})
