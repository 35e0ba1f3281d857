import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeMessages } from "../../../src/dialects/messages/MessagesDecode.ts"
import { firstUnsupported } from "../../../src/dialects/messages/Foreign.ts"

const hello = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hello" }] }
const saying = (...content: ReadonlyArray<object>) => ({ ...hello, messages: [{ role: "user", content }] })
const answered = (...content: ReadonlyArray<object>) => ({
  ...hello,
  messages: [...hello.messages, { role: "assistant", content }, ...hello.messages]
})
const document = (source: object, more: object = {}) => saying({ type: "document", source, ...more })
const result = (...content: ReadonlyArray<object>) => saying({ type: "tool_result", tool_use_id: "t", content })
const tool = (more: object) => ({ ...hello, tools: [{ name: "t", input_schema: {}, ...more }] })
const managing = (context_management: object) => ({ ...hello, context_management })
const words = { type: "text", text: "x" }

const at = "messages[0].content[0]"
const said = "messages[1].content[0]"

/** The unsupported part, a request with it, and the field that the error names. */
const refused: ReadonlyArray<readonly [what: string, body: object, param: string]> = [
  ["an unknown member", { ...hello, banana: 1 }, "banana"],
  ["MCP servers", { ...hello, mcp_servers: [] }, "mcp_servers"],
  ["a thread on the server", { ...hello, thread: { type: "create" } }, "thread"],
  ["a container", { ...hello, container: "c" }, "container"],
  ["the fast speed", { ...hello, speed: "fast" }, "speed"],
  ["an unknown member of the context management", managing({ edits: [], x: 1 }), "context_management.x"],
  [
    "an unknown edit of the context",
    managing({ edits: [{ type: "clear_thinking_20251015" }, { type: "shorten_20300101" }] }),
    "context_management.edits[1].type"
  ],
  [
    "an unknown member of an edit",
    managing({ edits: [{ type: "clear_tool_uses_20250919", soft: true }] }),
    "context_management.edits[0].soft"
  ],
  ["OpenAI's name of stop sequences", { ...hello, stop: ["x"] }, "stop"],
  [
    "an unsupported member of OpenRouter's routing",
    { ...hello, provider: { quantizations: ["fp8"] } },
    "provider.quantizations"
  ],
  ["a maximum price of images", { ...hello, provider: { max_price: { image: 1 } } }, "provider.max_price.image"],
  [
    "an unknown member of a message",
    { ...hello, messages: [{ role: "user", content: "x", name: "n" }] },
    "messages[0].name"
  ],
  ["an unknown member of a block", saying({ ...words, x: 1 }), `${at}.x`],
  ["an unknown member of a block in a tool's result", result({ ...words, x: 1 }), `${at}.content[0].x`],
  [
    "an unknown member of a document's source",
    document({ type: "text", media_type: "text/plain", data: "x", x: 1 }),
    `${at}.source.x`
  ],
  [
    "an unknown member of a cache control",
    saying({ ...words, cache_control: { type: "ephemeral", x: 1 } }),
    `${at}.cache_control.x`
  ],
  [
    "an unknown member of a call",
    answered({ type: "tool_use", id: "i", name: "n", input: { free: 1 }, x: 1 }),
    `${said}.x`
  ],
  ["an unknown member of thinking", answered({ type: "thinking", thinking: "t", x: 1 }), `${said}.x`],
  ["an unknown member of a system block", { ...hello, system: [{ ...words, x: 1 }] }, "system[0].x"],
  ["an unknown member of a tool choice", { ...hello, tool_choice: { type: "auto", x: 1 } }, "tool_choice.x"],
  [
    "an unknown member of a tool's cache control",
    tool({ cache_control: { type: "ephemeral", x: 1 } }),
    "tools[0].cache_control.x"
  ],
  ["an unknown member of metadata", { ...hello, metadata: { user_id: "u", x: 1 } }, "metadata.x"],
  ["a web search by the server", { ...hello, tools: [{ type: "web_search_20250305", name: "w" }] }, "tools[0].type"],
  ["a web fetch by the server", { ...hello, tools: [{ type: "web_fetch_20250910", name: "w" }] }, "tools[0].type"],
  [
    "code execution by the server",
    { ...hello, tools: [{ type: "code_execution_20250825", name: "c" }] },
    "tools[0].type"
  ],
  ["a tool that only code calls", tool({ allowed_callers: ["code_execution_20260120"] }), "tools[0].allowed_callers"],
  [
    "an unknown member of a typed tool",
    { ...hello, tools: [{ type: "bash_20250124", name: "bash", x: 1 }] },
    "tools[0].x"
  ],
  ["an unknown type of thinking", { ...hello, thinking: { type: "between_tools" } }, "thinking.type"],
  ["an unknown type of block", saying({ type: "container_upload", file_id: "f" }), `${at}.type`],
  ["an image by its file id", saying({ type: "image", source: { type: "file", file_id: "f" } }), `${at}.source.type`],
  ["a document by its file id", document({ type: "file", file_id: "f" }), `${at}.source.type`],
  ["a document at a URL", document({ type: "url", url: "https://x" }), `${at}.source.type`],
  [
    "a document of another type",
    document({ type: "base64", media_type: "application/zip", data: "JVBERi0=" }),
    `${at}.source.media_type`
  ],
  [
    "citations of a document",
    document({ type: "text", media_type: "text/plain", data: "x" }, { citations: { enabled: true } }),
    `${at}.citations.enabled`
  ],
  ["citations of an answer", answered({ ...words, citations: [{}] }), `${said}.citations`],
  [
    "thinking that another service signed",
    answered({ type: "thinking", thinking: "t", signature: "s" }),
    `${said}.signature`
  ],
  ["redacted thinking of another service", answered({ type: "redacted_thinking", data: "d" }), `${said}.data`],
  ["calls of the server's tools", answered({ type: "server_tool_use", id: "i", name: "n", input: {} }), `${said}.type`],
  [
    "calls from code",
    answered({ type: "tool_use", id: "i", name: "n", input: {}, caller: { type: "code_execution_20250825" } }),
    `${said}.caller.type`
  ],
  [
    "citations of a search result",
    result({ type: "search_result", source: "s", title: "t", content: [words], citations: { enabled: true } }),
    `${at}.content[0].citations.enabled`
  ],
  [
    "citations in a search result",
    saying({ type: "search_result", source: "s", title: "t", content: [{ ...words, citations: [{}] }] }),
    `${at}.content[0].citations`
  ]
]

const failureOf = (body: object) => {
  const decoded = decodeMessages(body)
  return Result.isFailure(decoded) ? decoded.failure.reason : assert.fail("the decoder accepted it")
}

describe("what a messages request cannot have", () => {
  for (const [what, body, param] of refused) {
    it(`is rejected by name: ${what}`, () => {
      const reason = failureOf(body)
      if (reason._tag !== "UnsupportedParameter") return assert.fail(JSON.stringify(reason))
      assert.strictEqual(reason.param, param)
      assert.isNotEmpty(reason.detail)
    })
  }

  it("is rejected with the name that the field has here, also when that field is missing", () => {
    const { messages: _, ...without } = hello
    const named: ReadonlyArray<readonly [body: object, detail: string]> = [
      [{ ...without, input: "hello" }, "`input` is not a field of /messages; send `messages`"],
      [{ ...hello, instructions: "x" }, "`instructions` is not a field of /messages; send `system`"],
      [{ ...hello, max_output_tokens: 9 }, "`max_output_tokens` is not a field of /messages; send `max_tokens`"],
      [{ ...hello, stop: ["x"] }, "`stop` is not a field of /messages; send `stop_sequences`"]
    ]
    for (const [body, detail] of named) assert.deepInclude(failureOf(body), { _tag: "UnsupportedParameter", detail })
  })

  it("is accepted when it has no effect", () => {
    const idle = [
      { ...hello, container: null, banana: null, service_tier: "standard_only", speed: "standard" },
      saying({ ...words, citations: null, cache_control: null }),
      answered({ ...words, citations: [] }, { type: "thinking", thinking: "t", signature: "" }),
      answered({ type: "thinking", thinking: "t" }, { type: "tool_use", id: "i", name: "n", input: { any: { x: 1 } } }),
      answered({ type: "tool_use", id: "i", name: "n", input: {}, caller: { type: "direct" }, toolset_name: null }),
      tool({ type: "custom", input_schema: { type: "object", anything: { goes: 1 } }, eager_input_streaming: true }),
      tool({ allowed_callers: ["direct", "code_execution_20260120"], input_examples: [] }),
      { ...hello, tools: [{ type: "bash_20250124", name: "bash", allowed_callers: ["direct"] }] },
      document({ type: "text", media_type: "text/plain", data: "x" }, { citations: { enabled: false } })
    ]
    for (const body of idle) assert.isTrue(Result.isSuccess(decodeMessages(body)), JSON.stringify(body))
  })

  it("is rejected at once in a document with 400,000 blanks, while line breaks in base64 are accepted", () => {
    // A pattern that can match a blank in two places tries every split of them, which takes minutes.
    const reason = failureOf(document({ type: "base64", media_type: "text/plain", data: `${" ".repeat(400_000)}!` }))
    assert.deepInclude(reason, { _tag: "ValidationError" })
    const broken = document({ type: "base64", media_type: "text/plain", data: "aG\r\nk=\n" })
    assert.isTrue(Result.isSuccess(decodeMessages(broken)))
  })

  it("does not include `routing` and `router`, which their own decoders check", () => {
    assert.isUndefined(firstUnsupported({ ...hello, routing: { x: 1 }, router: { x: 1 } }))
    assert.strictEqual(failureOf({ ...hello, routing: { x: 1 } })._tag, "ValidationError")
  })
})
