import { assert, describe, it } from "@effect/vitest"
import { ignoredInside } from "../../../src/dialects/responses/ResponsesIgnored.ts"

const text = (more: object = {}) => ({ type: "input_text", text: "a", ...more })
const look = { type: "function", name: "look", parameters: { type: "object", free: 1 } }

/** What the body contains, the body, and the members that are named as ignored. */
const cases: ReadonlyArray<readonly [what: string, body: object, names: ReadonlyArray<string>]> = [
  ["a message without a type", { input: [{ role: "user", content: "a", foo: 1 }] }, ["input[0].foo"]],
  [
    "a part of a prompt",
    { input: [{ type: "message", role: "developer", content: [text(), text({ foo: 1 })] }] },
    ["input[0].content[1].foo"]
  ],
  [
    "an image and a file",
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_image", image_url: "data:", detail: "low", foo: 1 },
            { type: "input_file", file_data: "data:", filename: "f", bar: 1 }
          ]
        }
      ]
    },
    ["input[0].content[0].foo", "input[0].content[1].bar"]
  ],
  [
    "a message of the assistant",
    {
      input: [
        {
          type: "message",
          role: "assistant",
          id: "msg_1",
          status: "completed",
          foo: 1,
          content: [
            { type: "output_text", text: "a", annotations: [], logprobs: [], bar: 1 },
            { type: "refusal", refusal: "no", baz: 1 }
          ]
        }
      ]
    },
    ["input[0].foo", "input[0].content[0].bar", "input[0].content[1].baz"]
  ],
  [
    "reasoning and calls",
    {
      input: [
        { type: "reasoning", id: "rs_1", status: null, summary: [{ free: 1 }], encrypted_content: "e", foo: 1 },
        { type: "function_call", id: "fc_1", status: "completed", call_id: "c", name: "f", arguments: "{}", bar: 1 },
        { type: "custom_tool_call", call_id: "d", name: "f", input: "", namespace: "n", baz: 1 },
        { type: "tool_search_call", call_id: "e", execution: "client", arguments: { free: 1 }, foo: 1 }
      ]
    },
    ["input[0].foo", "input[1].bar", "input[2].baz", "input[3].foo"]
  ],
  [
    "outputs and their parts",
    {
      input: [
        { type: "function_call_output", id: "fo_1", call_id: "c", output: [text({ foo: 1 })], bar: 1 },
        { type: "custom_tool_call_output", call_id: "d", output: "text", baz: 1 }
      ]
    },
    ["input[0].output[0].foo", "input[0].bar", "input[1].baz"]
  ],
  [
    "tools, also in a namespace and in items",
    {
      tools: [
        { ...look, foo: 1 },
        { type: "custom", name: "c", format: { type: "grammar", syntax: "lark", definition: "", bar: 1 } },
        { type: "namespace", name: "n", tools: [{ ...look, baz: 1 }] },
        { type: "web_search", external_web_access: false }
      ],
      input: [
        { type: "additional_tools", id: "at_1", role: "developer", tools: [{ ...look, foo: 1 }] },
        { type: "tool_search_output", call_id: "e", execution: "client", tools: [{ ...look, bar: 1 }] }
      ]
    },
    ["input[0].tools[0].foo", "input[1].tools[0].bar", "tools[0].foo", "tools[1].format.bar", "tools[2].tools[0].baz"]
  ],
  [
    "the tool choice, the text format and the stream options",
    {
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        foo: 1,
        tools: [{ type: "function", name: "look", bar: 1 }]
      },
      text: { format: { type: "text", foo: 1 }, bar: 1 },
      stream_options: { include_obfuscation: false, foo: 1 }
    },
    ["tool_choice.foo", "tool_choice.tools[0].bar", "text.format.foo", "text.bar", "stream_options.foo"]
  ]
]

describe("members inside a request for a response", () => {
  for (const [what, body, names] of cases) {
    it(`are named where the gateway ignores them: ${what}`, () => {
      assert.deepStrictEqual(ignoredInside({ ...body }), names)
    })
  }

  it("are at most 32, and never inside hosted tools", () => {
    const tools = Array.from({ length: 40 }, () => ({ type: "mcp", server_url: "https://x" }))
    const input = Array.from({ length: 40 }, () => ({ role: "user", content: "a", foo: 1 }))
    assert.lengthOf(ignoredInside({ tools, input }), 32)
    assert.isEmpty(ignoredInside({ tools, input: "text", tool_choice: { type: "web_search", foo: 1 } }))
  })
})
