import { assert, describe, it } from "@effect/vitest"
import { faultOf } from "../../../src/providers/Failure.ts"
import { refusedFault, type RefusalHints, subjectOf } from "../../../src/providers/wire/Refusal.ts"

const overflow: ReadonlyArray<readonly [host: string, detail: string, hints?: RefusalHints]> = [
  ["OpenAI", "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."],
  ["OpenAI", "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens."],
  [
    "OpenAI's responses",
    "Your input exceeds the context window of this model. Please adjust your input and try again."
  ],
  ["OpenAI, by its code", "No.", { code: "context_length_exceeded" }],
  ["Anthropic", "prompt is too long: 208310 tokens > 200000 maximum"],
  ["Anthropic", "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length"],
  ["Gemini", "The input token count (1048790) exceeds the maximum number of tokens allowed (1048576)."],
  [
    "vLLM",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4900 in the messages)."
  ],
  [
    "vLLM",
    "You passed 4097 input tokens and requested 1 output tokens. However, the model's context length is only 4096 tokens."
  ],
  ["vLLM", "The decoder prompt (length 5000) is longer than the maximum model length of 4096."],
  [
    "llama.cpp",
    "the request exceeds the available context size. try increasing the context size or enable context shift"
  ],
  ["llama.cpp, by its type", "No.", { type: "exceed_context_size_error" }],
  ["SGLang", "The input (5000 tokens) is longer than the model's context length (4096 tokens)."],
  [
    "SGLang",
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000."
  ],
  ["Ollama", "the input length exceeds the context length"],
  ["Groq", "Please reduce the length of the messages or completion.", { code: "context_length_exceeded" }],
  [
    "Together",
    "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`"
  ],
  ["Fireworks", "The prompt is too long: 140000, model maximum context length: 131071"],
  ["DeepSeek", "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens."],
  ["Mistral", "Prompt contains 41000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 145000 tokens."],
  ["Moonshot", "Invalid request: Your request exceeded model token limit: 131072"],
  [
    "LM Studio",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"
  ],
  ["Z.ai", "Prompt exceeds max length"],
  ["MiniMax", "invalid params, context window exceeds limit"],
  ["Bedrock", "Input is too long for requested model."],
  [
    "Voyage",
    "The example at index 0 in your batch has too many tokens and does not fit into the model's context window of 32000 tokens."
  ],
  ["Voyage", "The max allowed tokens per submitted batch is 120000. Your batch has 121138 tokens after truncation."],
  ["Mistral", "Too many tokens in batch. Max is 16384 got 17555"],
  ["Qwen", "Range of input length should be [1, 30720]", { code: "InvalidParameter" }]
]

const policy: ReadonlyArray<readonly [host: string, detail: string, hints?: RefusalHints]> = [
  [
    "OpenAI",
    "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
    { code: "invalid_prompt" }
  ],
  ["OpenAI's images", "Your request was rejected as a result of our safety system.", { code: "moderation_blocked" }],
  ["Azure", "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."],
  ["Azure, by its code", "No.", { code: "content_filter" }],
  ["Anthropic", "Output blocked by content filtering policy"],
  ["Gemini", "the prompt was blocked (PROHIBITED_CONTENT)"],
  ["DeepSeek", "Content Exists Risk"],
  ["Moonshot", "The request was rejected because it was considered high risk", { type: "content_filter" }],
  ["Qwen", "Input data may contain inappropriate content.", { code: "data_inspection_failed" }],
  ["Z.ai", "系统检测到输入或生成内容可能包含不安全或敏感内容", { code: "1301" }],
  ["MiniMax", "input new_sensitive", { code: "1026" }],
  ["xAI", "Content violates usage guidelines."]
]

describe("subjectOf", () => {
  for (const [host, detail, hints] of overflow) {
    it(`recognizes that a prompt is too long for ${host}: ${detail.slice(0, 40)}`, () => {
      assert.strictEqual(subjectOf(detail, hints), "context")
    })
  }
  for (const [host, detail, hints] of policy) {
    it(`recognizes a content policy violation from ${host}: ${detail.slice(0, 40)}`, () => {
      assert.strictEqual(subjectOf(detail, hints), "policy")
    })
  }

  it("recognizes neither in other refusals", () => {
    for (const detail of [
      "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
      "Invalid value: 'x'. Supported values are: 'system', 'user'.",
      "tools: Too many tools",
      "messages.0.content: Input should be a valid string",
      "The model `x` does not exist"
    ]) {
      assert.isUndefined(subjectOf(detail), detail)
    }
  })
})

describe("refusedFault", () => {
  it("keeps a field path that a provider names, and drops anything else", () => {
    const paramOf = (param: string) => refusedFault(400, "no", { param }).param
    assert.strictEqual(paramOf("messages[0].content"), "messages[0].content")
    assert.strictEqual(paramOf("body.messages.0.role"), "messages.0.role")
    assert.strictEqual(paramOf("generation_config.temperature"), "temperature")
    for (const param of ["body", "", "a sentence", "x".repeat(300), "<script>"])
      assert.isUndefined(paramOf(param), param)
  })

  it("reports a moderation refusal with status 403 as refused, not as unauthorized", () => {
    const detail = "Your chosen model requires moderation and your input was flagged for violence."
    assert.deepInclude(faultOf(403, detail, undefined), { _tag: "Refused", about: "policy" })
    assert.deepInclude(faultOf(403, "No access", undefined), { _tag: "Unauthorized" })
  })
})
