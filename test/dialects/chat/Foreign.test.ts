import { assert, describe, it } from "@effect/vitest"
import { firstUnsupported, ignoredMembers } from "../../../src/dialects/chat/Foreign.ts"

const paramOf = (body: Readonly<Record<string, unknown>>): string | undefined => {
  const reason = firstUnsupported(body)?.reason
  return reason?._tag === "UnsupportedParameter" ? reason.param : reason?._tag
}

describe("members of other services' requests", () => {
  const harmless: ReadonlyArray<readonly [name: string, value: unknown]> = [
    ["n", 1],
    ["store", false],
    ["modalities", ["text"]],
    ["service_tier", "auto"],
    ["service_tier", "default"],
    ["usage", { include: true }],
    ["logit_bias", {}],
    ["functions", []],
    ["function_call", "none"],
    ["plugins", []],
    ["transforms", []],
    ["route", "fallback"],
    ["top_a", 0],
    ["stop_sequences", []]
  ]
  const telling: ReadonlyArray<readonly [name: string, value: unknown]> = [
    ["n", 2],
    ["n", "1"],
    ["store", true],
    ["modalities", ["text", "audio"]],
    ["modalities", "text"],
    ["service_tier", "priority"],
    ["usage", true],
    ["logit_bias", { "1": 1 }],
    ["logit_bias", []],
    ["audio", {}],
    ["moderation", { model: "omni-moderation-latest" }],
    ["prediction", {}],
    ["functions", [{}]],
    ["function_call", { name: "a" }],
    ["web_search_options", {}],
    ["plugins", [{}]],
    ["transforms", ["middle-out"]],
    ["route", "other"],
    ["top_a", 0.5],
    ["input", "hello"],
    ["instructions", "Be brief."],
    ["system", "Be brief."],
    ["max_output_tokens", 20],
    ["stop_sequences", ["END"]],
    ["text", { format: { type: "json_object" } }],
    ["output_format", { type: "json_schema" }]
  ]

  it("are accepted as OpenRouter's `auto-router` plugin, but not as another plugin", () => {
    assert.isUndefined(paramOf({ plugins: [{ id: "auto-router", cost_tier: "low" }] }))
    assert.strictEqual(paramOf({ plugins: [{ id: "auto-router" }, { id: "web" }] }), "plugins")
  })

  for (const [name, value] of harmless) {
    it(`are accepted when they change nothing: ${name} as ${JSON.stringify(value)}`, () => {
      assert.isUndefined(paramOf({ [name]: value }))
    })
  }

  for (const [name, value] of telling) {
    it(`are rejected by name when they would change the answer: ${name} as ${JSON.stringify(value)}`, () => {
      assert.strictEqual(paramOf({ [name]: value }), name)
    })
  }

  it("are rejected with what they must be, or what to do instead", () => {
    const detailOf = (member: object): string => {
      const reason = firstUnsupported({ ...member })?.reason
      return reason?._tag === "UnsupportedParameter" ? reason.detail : ""
    }
    assert.strictEqual(detailOf({ store: true }), "`store` must be absent or false; got true")
    assert.strictEqual(detailOf({ logit_bias: { 50256: -100 } }), "`logit_bias` must be absent or empty")
    assert.strictEqual(detailOf({ service_tier: "flex" }), '`service_tier` must be absent, "auto" or "default"')
    assert.strictEqual(detailOf({ audio: {} }), "`audio` is not supported; omit it")
    assert.strictEqual(
      detailOf({ web_search_options: {} }),
      "`web_search_options` is not supported; POST /search searches the web"
    )
    assert.strictEqual(
      detailOf({ max_output_tokens: 20 }),
      "`max_output_tokens` is not a field of /chat/completions; send `max_tokens`"
    )
    assert.strictEqual(
      detailOf({ system: "Be brief." }),
      "`system` is not a field of /chat/completions; send a message of role system in `messages`"
    )
  })

  it("are accepted as null", () => {
    for (const [name] of [...harmless, ...telling]) assert.isUndefined(paramOf({ [name]: null }), name)
  })

  it("are rejected by their path in contents and in tools", () => {
    const text = { type: "text", text: "x" }
    for (const type of ["input_audio", "file", "video_url"]) {
      const messages = [
        { role: "user", content: "x" },
        { role: "user", content: [text, { type }] }
      ]
      assert.strictEqual(paramOf({ messages }), "messages[1].content[1].type")
    }
    assert.strictEqual(paramOf({ tools: [{ type: "function" }, { type: "custom" }] }), "tools[1].type")
  })

  it("are rejected in an earlier answer that would be empty without them", () => {
    const said = { role: "assistant", content: null, refusal: null }
    const paramWith = (more: object) =>
      paramOf({
        messages: [
          { role: "user", content: "x" },
          { ...said, ...more }
        ]
      })
    assert.strictEqual(paramWith({ audio: { id: "audio_1" } }), "messages[1].audio")
    assert.strictEqual(paramWith({ function_call: { name: "f", arguments: "{}" } }), "messages[1].function_call")
    assert.isUndefined(paramWith({ audio: null, function_call: null }))
  })

  it("are rejected as files by id, but not as a cache lifetime of one hour", () => {
    const asked = (part: object) => paramOf({ messages: [{ role: "user", content: [part] }] })
    const file_data = "data:text/plain;base64,aGk="
    assert.isUndefined(asked({ type: "file", file: { file_data } }))
    assert.isUndefined(asked({ type: "file", file: { file_data, file_id: null } }))
    assert.strictEqual(asked({ type: "file", file: { file_id: "file-1" } }), "messages[0].content[0].file.file_id")
    assert.strictEqual(asked({ type: "file", file: { filename: "a" } }), "messages[0].content[0].type")
    const longer = { cache_control: { type: "ephemeral", ttl: "1h" } }
    assert.isUndefined(asked({ type: "text", text: "x", ...longer }))
    assert.isUndefined(paramOf({ tools: [{ type: "function", ...longer }] }))
  })

  it("are left to the schema when their type is wrong", () => {
    for (const messages of [null, "x", [null], [{ content: 5 }], [{ content: [null, "x", { type: "smell" }] }]]) {
      assert.isUndefined(paramOf({ messages }))
    }
    for (const tools of [null, "x", [null], [{}], [{ type: 5 }]]) assert.isUndefined(paramOf({ tools }))
  })

  it("are listed as ignored when they are unknown, whatever their name is", () => {
    const body = JSON.parse('{"model":1,"n":1,"provider":{},"colour":1,"__proto__":2,"constructor":3}')
    assert.deepStrictEqual(ignoredMembers(body, new Set(["model"])), ["colour", "__proto__", "constructor"])
  })
})
