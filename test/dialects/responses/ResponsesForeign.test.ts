import { assert, describe, it } from "@effect/vitest"
import { itemTypes } from "../../../src/dialects/responses/ItemTypes.ts"
import { firstUnsupported } from "../../../src/dialects/responses/ResponsesForeign.ts"

const paramOf = (body: Readonly<Record<string, unknown>>): string | undefined => {
  const reason = firstUnsupported(body)?.reason
  return reason?._tag === "UnsupportedParameter" ? reason.param : reason?._tag
}

const asked = (part: object, role = "user") => ({ input: [{ role, content: [{ type: "input_text" }, part] }] })

describe("members of OpenAI's request for a response", () => {
  const harmless: ReadonlyArray<readonly [name: string, value: unknown]> = [
    ["store", false],
    ["background", false],
    ["context_management", []],
    ["service_tier", "auto"],
    ["service_tier", "default"],
    ["plugins", [{ id: "auto-router" }]],
    ["modalities", ["text"]],
    ["transforms", []],
    ["route", "fallback"],
    ["usage", { include: true }],
    ["stop", []],
    ["stop_sequences", []],
    ["response_format", { type: "text" }],
    ["tool_choice", "required"],
    ["tool_choice", { type: "function", name: "look" }]
  ]
  const telling: ReadonlyArray<readonly [name: string, value: unknown]> = [
    ["store", true],
    ["background", true],
    ["previous_response_id", "resp_1"],
    ["conversation", "conv_1"],
    ["prompt", { id: "pmpt_1" }],
    ["context_management", [{ type: "compaction" }]],
    ["moderation", {}],
    ["image", {}],
    ["service_tier", "flex"],
    ["plugins", [{ id: "web" }]],
    ["modalities", ["text", "image"]],
    ["transforms", ["middle-out"]],
    ["route", "sort"],
    ["usage", true],
    ["messages", [{ role: "user", content: "hello" }]],
    ["system", "Be brief."],
    ["max_tokens", 20],
    ["max_completion_tokens", 20],
    ["response_format", { type: "json_object" }],
    ["output_format", { type: "json_schema" }],
    ["reasoning_effort", "high"],
    ["verbosity", "low"],
    ["stop", "END"],
    ["stop_sequences", ["END"]]
  ]

  it("are accepted when they change nothing", () => {
    for (const [name, value] of harmless) assert.isUndefined(paramOf({ [name]: value }), `${name} ${String(value)}`)
    for (const [name] of telling) assert.isUndefined(paramOf({ [name]: null }), name)
  })

  it("are rejected by name when they would change the answer", () => {
    for (const [name, value] of telling) assert.strictEqual(paramOf({ [name]: value }), name)
  })

  it("are rejected with the field of this API that has the same effect", () => {
    const detailOf = (body: Readonly<Record<string, unknown>>): string | undefined => {
      const reason = firstUnsupported(body)?.reason
      return reason?._tag === "UnsupportedParameter" ? reason.detail : reason?._tag
    }
    assert.strictEqual(
      detailOf({ max_tokens: 20 }),
      "`max_tokens` is not a field of /responses; send `max_output_tokens`"
    )
    assert.strictEqual(
      detailOf({ stop: ["END"] }),
      "`stop` is not a field of /responses; POST /chat/completions has stop sequences"
    )
  })

  it("are rejected when they choose only tools that OpenAI's servers run, or a tool of an unknown type", () => {
    const look = { type: "function", name: "look" }
    const hosted = ["web_search", "web_search_2025_08_26", "file_search", "code_interpreter", "mcp", "image_generation"]
    for (const type of [...hosted, "computer_use_preview", "local_shell"]) {
      assert.strictEqual(paramOf({ tool_choice: { type } }), "tool_choice.type")
    }
    for (const type of hosted) {
      const allowed = { type: "allowed_tools", mode: "auto", tools: [look, { type }] }
      assert.isUndefined(paramOf({ tool_choice: allowed }), type)
      assert.strictEqual(paramOf({ tool_choice: { ...allowed, tools: [{ type }] } }), "tool_choice.tools")
    }
    const unknown = { type: "allowed_tools", mode: "auto", tools: [look, { type: "local_shell" }] }
    assert.strictEqual(paramOf({ tool_choice: unknown }), "tool_choice.tools[1].type")
  })

  it("are rejected for items that refer to stored data, or that only a hosted tool creates", () => {
    for (const type of ["item_reference", "web_search_call", "computer_call_output", "compaction", "unheard_of"]) {
      assert.strictEqual(paramOf({ input: [{ role: "user", content: "" }, { type }] }), "input[1].type")
    }
    for (const type of itemTypes) {
      assert.isUndefined(paramOf({ input: [{ type }] }), type)
    }
  })

  it("are rejected for parts that refer to stored files or URLs of files, and for audio", () => {
    assert.strictEqual(paramOf(asked({ type: "input_image", file_id: "file_1" })), "input[0].content[1].file_id")
    assert.strictEqual(paramOf(asked({ type: "input_file", file_id: "file_1" })), "input[0].content[1].file_id")
    assert.strictEqual(paramOf(asked({ type: "input_file", file_url: "https://x" })), "input[0].content[1].file_url")
    assert.strictEqual(paramOf(asked({ type: "input_audio" })), "input[0].content[1].type")
    const output = { type: "function_call_output", output: [{ type: "input_file", file_id: "file_1" }] }
    assert.strictEqual(paramOf({ input: [output] }), "input[0].output[0].file_id")
    assert.isUndefined(paramOf(asked({ type: "input_image", image_url: "https://x", file_id: null })))
  })

  it("are rejected for images in instructions", () => {
    const image = { type: "input_image", image_url: "https://x" }
    for (const role of ["system", "developer"])
      assert.strictEqual(paramOf(asked(image, role)), "input[0].content[1].type")
    assert.isUndefined(paramOf(asked(image)))
  })

  it("are left to the schema when their type is wrong", () => {
    for (const input of [7, [7], [null], [{ type: 7 }], [{ role: "user", content: [7, { type: 7 }] }]]) {
      assert.isUndefined(paramOf({ input }))
    }
    assert.isUndefined(paramOf({ tools: [7], tool_choice: { type: "allowed_tools", tools: [7] } }))
  })
})
