import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ResponsesStreamEvent } from "../../../schemas/inference/ResponsesEvents.ts"
import { callItemOf, StreamedCall } from "../../../src/dialects/responses/ResponsesCalls.ts"
import type { Emit } from "../../../src/dialects/responses/ResponsesItems.ts"
import type { ToolForm } from "../../../src/dialects/responses/ResponsesTools.ts"

const check = Schema.decodeUnknownSync(ResponsesStreamEvent, { onExcessProperty: "error" })
const REQUEST = "req_01ARZ3NDEKTSV4RRFFQ69G5FAV"

/** Returns the emitted events without their numbers, each checked against the contract. */
const emitted = (run: (emit: Emit) => void): ReadonlyArray<object> => {
  const events: Array<object> = []
  run((type, members) => {
    const { sequence_number: _, ...event } = check(JSON.parse(`{"type":"${type}","sequence_number":0,${members}}`))
    events.push(event)
  })
  return events
}

const typesOf = (events: ReadonlyArray<object>) => events.map((event) => "type" in event && event.type)

describe("a call", () => {
  const call = { id: "call_1", name: "look" }

  it("begins with the name of its tool and continues with pieces of its arguments", () => {
    const id = "fc_01ARZ3NDEKTSV4RRFFQ69G5FAV_1"
    const place = { item_id: id, output_index: 1 }
    const item = { id, type: "function_call", call_id: "call_1", name: "look" }
    const events = emitted((emit) => {
      const called = new StreamedCall(emit, REQUEST, 1, call, undefined)
      called.argue('{"at":')
      called.argue("1}")
      called.close("completed")
    })
    const said = { name: "look", arguments: '{"at":1}' }
    assert.deepStrictEqual(events, [
      { type: "response.output_item.added", output_index: 1, item: { ...item, status: "in_progress", arguments: "" } },
      { type: "response.function_call_arguments.delta", ...place, delta: '{"at":' },
      { type: "response.function_call_arguments.delta", ...place, delta: "1}" },
      { type: "response.function_call_arguments.done", ...place, ...said },
      { type: "response.output_item.done", output_index: 1, item: { ...item, status: "completed", ...said } }
    ])
  })

  it("may have no arguments", () => {
    const events = emitted((emit) => new StreamedCall(emit, REQUEST, 1, call, undefined).close("completed"))
    assert.deepStrictEqual(typesOf(events), [
      "response.output_item.added",
      "response.function_call_arguments.done",
      "response.output_item.done"
    ])
  })
})

describe("a call of a custom tool, a search or a tool in a namespace", () => {
  const forms = new Map<string, ToolForm>([
    ["edits__patch", { kind: "custom", name: "patch", namespace: "edits" }],
    ["edits__undo", { kind: "function", name: "undo", namespace: "edits" }],
    ["tool_search", { kind: "search", name: "tool_search" }]
  ])
  const streamed = (name: string, ...pieces: ReadonlyArray<string>) => {
    let whole: object = {}
    const events = emitted((emit) => {
      const call = new StreamedCall(emit, REQUEST, 0, { id: "call_1", name }, forms)
      for (const piece of pieces) call.argue(piece)
      call.close("completed")
      whole = call.whole()
    })
    return { events, whole }
  }
  const wholeOf = (name: string, text: string) => callItemOf({ id: "call_1", name, arguments: text }, forms, REQUEST, 0)

  it("streams the input of a custom tool as plain text", () => {
    const id = "ctc_01ARZ3NDEKTSV4RRFFQ69G5FAV_0"
    const place = { item_id: id, output_index: 0 }
    const item = { id, type: "custom_tool_call", call_id: "call_1", name: "patch", namespace: "edits" }
    const { events, whole } = streamed("edits__patch", '{"inp', 'ut": "one\\', "ntwo", '"}')
    assert.deepStrictEqual(events, [
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", input: "" } },
      { type: "response.custom_tool_call_input.delta", ...place, delta: "one" },
      { type: "response.custom_tool_call_input.delta", ...place, delta: "\ntwo" },
      { type: "response.custom_tool_call_input.done", ...place, input: "one\ntwo" },
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { ...item, status: "completed", input: "one\ntwo" }
      }
    ])
    assert.deepStrictEqual(whole, wholeOf("edits__patch", '{"input":"one\\ntwo"}'))
  })

  it("uses arguments of any other form as the input itself", () => {
    for (const text of ["ls -l", '{"command":"ls"}', '["ls"]', ""]) {
      const { events, whole } = streamed("edits__patch", text)
      assert.propertyVal(whole, "input", text)
      assert.deepStrictEqual(whole, wholeOf("edits__patch", text))
      assert.strictEqual(events.length, text === "" ? 3 : 4)
    }
  })

  it("has the name and the namespace of a function in a namespace", () => {
    const { events, whole } = streamed("edits__undo", "{}")
    assert.include(whole, { type: "function_call", name: "undo", namespace: "edits", arguments: "{}" })
    assert.deepStrictEqual(whole, wholeOf("edits__undo", "{}"))
    assert.include(events[2], { type: "response.function_call_arguments.done", name: "undo" })
  })

  it("has the arguments of a search as an object", () => {
    const { events, whole } = streamed("tool_search", '{"query":', '"maps"}')
    assert.deepStrictEqual(typesOf(events), ["response.output_item.added", "response.output_item.done"])
    assert.deepStrictEqual(whole, {
      id: "tsc_01ARZ3NDEKTSV4RRFFQ69G5FAV_0",
      type: "tool_search_call",
      status: "completed",
      call_id: "call_1",
      execution: "client",
      arguments: { query: "maps" }
    })
    assert.deepStrictEqual(wholeOf("tool_search", "maps"), whole)
    assert.deepInclude(wholeOf("tool_search", ""), { arguments: {} })
  })
})
