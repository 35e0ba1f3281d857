import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { addTools, messagesOf } from "../../../src/dialects/responses/ResponsesInput.ts"
import { Toolbox } from "../../../src/dialects/responses/ResponsesTools.ts"
import type { Message } from "../../../src/domain/Conversation.ts"
import { pdfUrl, pdfWith } from "../../support/Pdf.ts"

const messages = (...input: ReadonlyArray<unknown>): ReadonlyArray<Message> =>
  Result.getOrThrow(messagesOf(input, new Toolbox()))

const fieldsOf = (...input: ReadonlyArray<unknown>): ReadonlyArray<string> => {
  const result = messagesOf(input, new Toolbox())
  if (Result.isSuccess(result)) assert.fail("the decoder accepted it")
  const { reason } = result.failure
  return reason._tag === "ValidationError" ? reason.problems.map(({ field }) => field) : [reason._tag]
}

const text = (value: string) => ({ type: "text", text: value }) as const
const call = (id: string) => ({ type: "function_call", id: "fc_1", call_id: id, name: "look", arguments: "{}" })
const called = (id: string) => ({ id, name: "look", arguments: "{}" })
const output = (id: string, said: unknown = "seen") => ({ type: "function_call_output", call_id: id, output: said })
const answered = (id: string): Message => ({ role: "tool", toolCallId: id, content: [text("seen")] })
const said = (value: string) => ({
  type: "message",
  id: "msg_1",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: value, annotations: [] }]
})

describe("the input of a response", () => {
  it("becomes one user message when it is a text", () => {
    assert.deepStrictEqual(Result.getOrThrow(messagesOf("hello", new Toolbox())), [
      { role: "user", content: [text("hello")] }
    ])
  })

  it("may have messages of every role, as a text or in parts, with or without a `type`", () => {
    assert.deepStrictEqual(
      messages(
        { role: "system", content: "a" },
        { type: "message", role: "developer", content: [{ type: "input_text", text: "b" }] },
        { role: "user", content: [{ type: "input_text", text: "c" }] },
        { role: "assistant", content: "d" },
        said("e"),
        { role: "assistant", content: [{ type: "refusal", refusal: "f" }] }
      ),
      [
        { role: "system", content: [text("a")] },
        { role: "system", content: [text("b")] },
        { role: "user", content: [text("c")] },
        { role: "assistant", content: [text("d")], toolCalls: [] },
        { role: "assistant", content: [text("e")], toolCalls: [] },
        { role: "assistant", content: [text("f")], toolCalls: [] }
      ]
    )
  })

  it("becomes a user message when it is the output of an agent's tool that answers no call", () => {
    const report = { type: "function_call_output", namespace: "agent", name: "goal", output: "reached" }
    assert.deepStrictEqual(messages({ role: "user", content: "go" }, call("c1"), output("c1"), report), [
      { role: "user", content: [text("go")] },
      { role: "assistant", content: [], toolCalls: [called("c1")] },
      answered("c1"),
      { role: "user", content: [text("Output of agent.goal:"), text("reached")] }
    ])
    assert.deepStrictEqual(fieldsOf({ type: "function_call_output", output: "x" }), ["input[0].call_id"])
  })

  it("keeps images with the path of their field, and text files as text", () => {
    const image = { type: "input_image", image_url: "https://example.com/a.png" }
    const data = `data:text/plain;base64,${Buffer.from("in a file").toString("base64")}`
    const file = { type: "input_file", filename: "a.txt", file_data: data }
    assert.deepStrictEqual(
      messages({ role: "user", content: [image, { ...image, detail: "low" }, file] }, output("c", [image])),
      [
        {
          role: "user",
          content: [
            { type: "image", url: image.image_url, detail: "auto", field: "input[0].content[0].image_url" },
            { type: "image", url: image.image_url, detail: "low", field: "input[0].content[1].image_url" },
            text("a.txt\nin a file")
          ]
        },
        {
          role: "tool",
          toolCallId: "c",
          content: [{ type: "image", url: image.image_url, detail: "auto", field: "input[1].output[0].image_url" }]
        }
      ]
    )
  })

  it("becomes one message for consecutive texts and calls of the assistant, despite reasoning between them", () => {
    const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "…" }
    const expected: ReadonlyArray<Message> = [
      { role: "assistant", content: [text("so")], toolCalls: [called("1"), called("2")] },
      answered("1"),
      answered("2")
    ]
    const outputs = [output("1"), output("2")]
    assert.deepStrictEqual(messages(thought, said("so"), call("1"), thought, call("2"), ...outputs), expected)
    assert.deepStrictEqual(messages(call("1"), said("so"), call("2"), ...outputs), expected)
  })

  it("becomes one message for each turn", () => {
    assert.deepStrictEqual(messages(call("1"), output("1"), call("2"), output("2"), said("so")), [
      { role: "assistant", content: [], toolCalls: [called("1")] },
      answered("1"),
      { role: "assistant", content: [], toolCalls: [called("2")] },
      answered("2"),
      { role: "assistant", content: [text("so")], toolCalls: [] }
    ])
  })

  it("is rejected with the fields of an invalid item", () => {
    assert.deepStrictEqual(fieldsOf(said("a"), { role: "user" }), ["input[1].content"])
    assert.deepStrictEqual(fieldsOf({ role: "tool", content: "" }), ["input[0].role"])
    assert.deepStrictEqual(fieldsOf({ type: "function_call" }), [
      "input[0].call_id",
      "input[0].name",
      "input[0].arguments"
    ])
    assert.deepStrictEqual(fieldsOf({ type: "function_call_output", call_id: "1" }), ["input[0].output"])
    assert.deepStrictEqual(fieldsOf({ role: "user", content: [{ type: "input_image" }] }), [
      "input[0].content[0].image_url"
    ])
    assert.deepStrictEqual(fieldsOf({ role: "user", content: [{ type: "output_text", text: "" }] }), [
      "input[0].content[0].type"
    ])
    assert.deepStrictEqual(fieldsOf({ type: 7 }), ["input[0].type"])
    assert.deepStrictEqual(fieldsOf("hello"), ["input[0].role"])
  })

  it("is rejected for files that are neither text nor PDF, and for PDF files in instructions", () => {
    const file = (file_data: string, role = "user") => ({ role, content: [{ type: "input_file", file_data }] })
    assert.deepStrictEqual(fieldsOf(file("data:application/zip;base64,JVBERi0=")), ["UnsupportedParameter"])
    assert.deepStrictEqual(fieldsOf(file("data:application/pdf;base64,JVBERi0=")), ["input[0].content[0].file_data"])
    assert.isTrue(Result.isSuccess(messagesOf([file(pdfUrl(pdfWith(["a"])))], new Toolbox())))
    assert.deepStrictEqual(fieldsOf(file(pdfUrl(pdfWith(["a"])), "system")), ["UnsupportedParameter"])
    assert.deepStrictEqual(fieldsOf(file("hello")), ["input[0].content[0].file_data"])
  })

  it("is rejected when it contains only reasoning", () => {
    assert.deepStrictEqual(fieldsOf({ type: "reasoning", summary: [] }), ["input"])
  })

  it("has calls of custom tools and searches as calls of the functions that stand for them", () => {
    const toolbox = new Toolbox()
    const patch = { type: "custom", name: "patch" }
    const namespace = { type: "namespace", name: "edits", tools: [patch] }
    const found = { type: "function", name: "map", description: "Maps.", defer_loading: true }
    const input = [
      { type: "additional_tools", role: "developer", tools: [namespace, { type: "tool_search", execution: "client" }] },
      { role: "user", content: "Go" },
      { type: "custom_tool_call", call_id: "c1", name: "patch", namespace: "edits", input: 'a "b"' },
      { type: "function_call", call_id: "c2", name: "undo", namespace: "edits", arguments: "{}" },
      { type: "custom_tool_call_output", call_id: "c1", output: "one" },
      { type: "function_call_output", call_id: "c2", output: "undone" },
      { type: "custom_tool_call_output", call_id: "c1", output: [{ type: "input_text", text: "two" }] },
      { type: "tool_search_call", call_id: "c3", execution: "client", arguments: { query: "maps" } },
      { type: "tool_search_output", call_id: "c3", execution: "client", status: "completed", tools: [found] },
      { type: "tool_search_call", call_id: null, execution: "server", arguments: {} },
      { type: "tool_search_output", call_id: null, execution: "server", tools: [] }
    ]
    assert.isUndefined(addTools(toolbox, input))
    assert.deepStrictEqual(
      toolbox.tools.map(({ name }) => name),
      ["edits__patch", "tool_search", "map"]
    )
    assert.deepStrictEqual(Result.getOrThrow(messagesOf(input, toolbox)), [
      { role: "user", content: [text("Go")] },
      {
        role: "assistant",
        content: [],
        toolCalls: [
          { id: "c1", name: "edits__patch", arguments: '{"input":"a \\"b\\""}' },
          { id: "c2", name: "edits__undo", arguments: "{}" }
        ]
      },
      { role: "tool", toolCallId: "c1", content: [text("one"), text("two")] },
      { role: "tool", toolCallId: "c2", content: [text("undone")] },
      { role: "assistant", content: [], toolCalls: [{ id: "c3", name: "tool_search", arguments: '{"query":"maps"}' }] },
      {
        role: "tool",
        toolCallId: "c3",
        content: [text('{"tools":[{"name":"map","description":"Maps."}]}')]
      }
    ])
  })

  it("is rejected with the path of an invalid tool that an item declares", () => {
    const failed = addTools(new Toolbox(), [{ type: "additional_tools", tools: [{ type: "local_shell" }] }])
    assert.deepInclude(failed?.reason, { _tag: "UnsupportedParameter", param: "input[0].tools[0].type" })
    const many = addTools(new Toolbox(), [{ type: "additional_tools", tools: Array.from({ length: 513 }, () => ({})) }])
    assert.deepInclude(many?.reason, {
      _tag: "ValidationError",
      problems: [{ field: "input[0].tools", message: "must contain at most 512 items; got 513" }]
    })
    const without = addTools(new Toolbox(), [{ type: "additional_tools" }])
    assert.strictEqual(without?.reason._tag, "ValidationError")
  })
})
