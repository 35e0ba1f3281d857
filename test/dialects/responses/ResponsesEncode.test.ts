import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ResponseBegun, ResponseObject } from "../../../schemas/inference/ResponsesAnswer.ts"
import type { Echo } from "../../../src/dialects/responses/ResponsesDecode.ts"
import { encodeBegun, encodeResponse, headersOf } from "../../../src/dialects/responses/ResponsesEncode.ts"
import { describe as describeFailure } from "../../../src/http/Failures.ts"
import { answerWith } from "../chat/answer.ts"

const strict = { onExcessProperty: "error" } as const
const check = Schema.decodeUnknownSync(ResponseObject, strict)

const echo: Echo = { instructions: null, maxOutputTokens: null, metadata: {}, parallelToolCalls: true }

const encode = (...answer: Parameters<typeof answerWith>) => {
  const response = encodeResponse(answerWith(...answer), echo)
  check(response)
  return response
}

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
const calls = [
  { id: "call_1", name: "look", arguments: '{"at":1}' },
  { id: "call_2", name: "hear", arguments: "" }
]
const text = (value: string) => ({ type: "output_text", text: value, annotations: [] })

describe("a whole response", () => {
  it("has every field of the contract, and no other", () => {
    const said: Echo = { instructions: "Be brief.", maxOutputTokens: 9, metadata: { a: "b" }, parallelToolCalls: false }
    const answer = answerWith({ text: "hello", finish: "stop" }, { balanceWarning: "low" })
    assert.deepStrictEqual(encodeResponse(answer, said), {
      id: `resp_${ULID}`,
      object: "response",
      created_at: 1_700_000_000,
      status: "completed",
      error: null,
      incomplete_details: null,
      instructions: "Be brief.",
      max_output_tokens: 9,
      model: "gpt-4o,gpt-4o-mini",
      output: [
        {
          id: `msg_${ULID}_0`,
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "hello", annotations: [] }]
        }
      ],
      output_text: "hello",
      parallel_tool_calls: false,
      previous_response_id: null,
      store: false,
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 2, cache_creation_tokens: 1 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 3 },
        total_tokens: 15
      },
      cost_usd: 0.001234567,
      provider: "openai",
      request_id: `req_${ULID}`,
      routing: answer.routing,
      metadata: { a: "b" }
    })
  })

  it("has its items in order, each with its own id", () => {
    const { output, output_text } = encode({ text: "so", reasoning: "hm", toolCalls: calls, finish: "tool_calls" })
    assert.deepStrictEqual(output, [
      {
        id: `rs_${ULID}_0`,
        type: "reasoning",
        status: "completed",
        summary: [{ type: "summary_text", text: "hm" }]
      },
      { id: `msg_${ULID}_1`, type: "message", status: "completed", role: "assistant", content: [text("so") as never] },
      {
        id: `fc_${ULID}_2`,
        type: "function_call",
        status: "completed",
        call_id: "call_1",
        name: "look",
        arguments: '{"at":1}'
      },
      { id: `fc_${ULID}_3`, type: "function_call", status: "completed", call_id: "call_2", name: "hear", arguments: "" }
    ])
    assert.strictEqual(output_text, "so")
  })

  it("has no message when there is no text", () => {
    const { output, output_text } = encode({ toolCalls: calls })
    assert.deepStrictEqual([output.map(({ type }) => type), output_text], [["function_call", "function_call"], ""])
  })

  it("contains a refusal as text", () => {
    const { output, output_text } = encode({ text: "Well, ", refusal: "no." })
    assert.deepStrictEqual(output[0]?.type === "message" && output[0].content, [text("Well, "), text("no.")] as never)
    assert.strictEqual(output_text, "Well, no.")
  })

  it("has the reason why it is incomplete, and marks the item that was cut", () => {
    const cut = encode({ text: "so", toolCalls: calls, finish: "length" })
    assert.deepStrictEqual([cut.status, cut.incomplete_details], ["incomplete", { reason: "max_output_tokens" }])
    assert.deepStrictEqual(
      cut.output.map(({ status }) => status),
      ["completed", "completed", "incomplete"]
    )
    const filtered = encode({ text: "so", finish: "content_filter" })
    assert.deepStrictEqual(
      [filtered.status, filtered.incomplete_details, filtered.output[0]?.status],
      ["incomplete", { reason: "content_filter" }, "incomplete"]
    )
  })

  it("warns of a low balance in a header", () => {
    assert.deepStrictEqual(headersOf(answerWith({})), {})
    assert.deepStrictEqual(headersOf(answerWith({}, { balanceWarning: "low" })), { "x-balance-warning": "low" })
  })
})

describe("a response in progress", () => {
  it("has the same fields, with null for those that are known only at the end", () => {
    const { created, model, requestId } = answerWith({})
    const begun = encodeBegun({ created, model, requestId, describe: describeFailure }, echo)
    Schema.decodeUnknownSync(ResponseBegun, strict)(begun)
    const whole = encode({})
    assert.sameMembers(Object.keys(begun), Object.keys(whole))
    assert.deepStrictEqual([begun.id, begun.created_at, begun.status], [whole.id, whole.created_at, "in_progress"])
    assert.deepStrictEqual([begun.usage, begun.cost_usd, begun.provider, begun.routing], [null, null, null, null])
  })
})
