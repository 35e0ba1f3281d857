import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ErrorBody } from "../../schemas/Errors.ts"
import { assertEnvelope } from "../http/envelope.ts"
import { client, type Got, type Sent } from "../http/wire.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

/** A request that the gateway must refuse, and the expected answer. */
interface Row {
  readonly name: string
  readonly sent: Sent
  readonly status: number
  readonly code: string
  readonly param: string | null
  /** More fields that the answer must name, if several are wrong. */
  readonly fields?: ReadonlyArray<string>
  readonly message?: RegExp
  readonly limitSource?: string
  readonly headers?: Readonly<Record<string, string>>
}

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "insufficient_quota",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  413: "request_too_large",
  415: "invalid_request_error",
  503: "service_unavailable_error"
}

interface Callers {
  readonly rich: string
  readonly scant: string
  readonly broke: string
  readonly manager: string
  readonly revoked: string
  /** A receipt of another account. */
  readonly foreign: string
}

type Told = Omit<Row, "name" | "sent">

const told = (status: number, code: string, param: string | null = null, more: Partial<Told> = {}): Told => ({
  status,
  code,
  param,
  ...more
})
const wrong = (param: string, more: Partial<Told> = {}): Told => told(400, "validation_error", param, more)
const unsupported = (param: string): Told => told(400, "unsupported_parameter", param)
const notJson = told(400, "invalid_json")

const CHAT = "/api/v1/chat/completions"
const ESTIMATE = "/api/v1/estimate"
const RESPONSES = "/api/v1/responses"
const hello = { role: "user", content: "hello" }
const plain = { model: "gpt-4o-mini", messages: [hello] }
const tool = { type: "function", function: { name: "look", parameters: { type: "object" } } }
const image = (url: unknown) => ({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] })
const schemaFormat = (json_schema: unknown) => ({ response_format: { type: "json_schema", json_schema } })
const png = "data:image/png;base64,iVBORw0KGgo="

const as = (key: string) => ({ authorization: `Bearer ${key}`, "content-type": "application/json" })

const posted = (key: string, path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Sent => ({
  method: "POST",
  path,
  headers: { ...as(key), "content-length": String(Buffer.byteLength(body)), ...headers },
  body
})

/** A valid request with one field replaced by an invalid value. */
const members: ReadonlyArray<readonly [name: string, patch: object, told: Told]> = [
  ["model: a number", { model: 7 }, wrong("model")],
  ["model: empty", { model: "" }, wrong("model")],
  ["model: 161 characters", { model: "m".repeat(161) }, wrong("model")],
  ["model: 160 characters of nothing known", { model: "m".repeat(160) }, told(400, "unknown_model", "model")],
  ["model: absent", { model: undefined }, wrong("model")],
  ["model: null", { model: null }, wrong("model")],
  ["model: unknown", { model: "gpt-0" }, told(400, "unknown_model", "model")],
  ["model: an embedding model", { model: "text-embedding-3-small" }, told(400, "unknown_model", "model")],
  ["models: empty", { models: [] }, wrong("models")],
  ["models: 16", { models: Array.from({ length: 16 }, (_, at) => `m${at}`) }, wrong("models")],
  ["models: a string", { models: "gpt-4o" }, wrong("models")],
  ["models: with a number", { models: ["gpt-4o", 4] }, wrong("models[1]")],
  ["models: unknown second", { models: ["gpt-0"] }, told(400, "unknown_model", "models[0]")],
  ["models: unknown alone", { model: undefined, models: ["gpt-4o", "gpt-0"] }, told(400, "unknown_model", "models[1]")],
  ["models: unknown in both", { model: "gpt-0", models: ["gpt-0"] }, told(400, "unknown_model", "model")],
  ["models: a preset", { model: undefined, models: ["@fast"] }, told(400, "invalid_fallback_chain", "models")],
  ["chain: empty entry", { model: "gpt-4o,,gpt-4o-mini" }, told(400, "invalid_fallback_chain", "model")],
  ["chain: blank", { model: " " }, told(400, "invalid_fallback_chain", "model")],
  ["chain: duplicate", { model: "gpt-4o, gpt-4o" }, told(400, "invalid_fallback_chain", "model")],
  [
    "chain: 16 models",
    { model: Array.from({ length: 16 }, (_, at) => `m${at}`).join(",") },
    told(400, "invalid_fallback_chain", "model")
  ],
  ["chain: with a preset", { model: "gpt-4o,@fast" }, told(400, "invalid_fallback_chain", "model")],
  ["an unknown preset", { model: "@fast" }, told(404, "not_found", "model", { message: /preset/ })],

  ["messages: absent", { messages: undefined }, wrong("messages")],
  ["messages: null", { messages: null }, wrong("messages")],
  ["messages: none", { messages: [] }, wrong("messages")],
  ["messages: 101", { messages: Array.from({ length: 101 }, () => hello) }, wrong("messages")],
  ["messages: a string", { messages: "hello" }, wrong("messages")],
  ["messages: a string within", { messages: ["hello"] }, wrong("messages[0]")],
  ["role: unknown", { messages: [{ role: "robot", content: "hello" }] }, wrong("messages[0].role")],
  ["role: absent", { messages: [hello, { content: "hello" }] }, wrong("messages[1].role")],
  ["content: absent", { messages: [{ role: "user" }] }, wrong("messages[0].content")],
  ["content: a number", { messages: [{ role: "user", content: 5 }] }, wrong("messages[0].content")],
  ["content: no parts", { messages: [{ role: "user", content: [] }] }, wrong("messages[0].content[0]")],
  [
    "part: of unknown type",
    { messages: [{ role: "user", content: [{ type: "smell" }] }] },
    wrong("messages[0].content[0].type")
  ],
  [
    "part: text without text",
    { messages: [{ role: "user", content: [{ type: "text" }] }] },
    wrong("messages[0].content[0].text")
  ],
  [
    "part: an image of the system",
    { messages: [{ role: "system", content: [{ type: "image_url", image_url: { url: png } }] }] },
    wrong("messages[0].content[0].type")
  ],
  ["tool message: no tool_call_id", { messages: [{ role: "tool", content: "4" }] }, wrong("messages[0].tool_call_id")],
  [
    "assistant: call without a function",
    { messages: [{ role: "assistant", tool_calls: [{ id: "a", type: "function" }] }] },
    wrong("messages[0].tool_calls[0].function")
  ],
  ["image: over http", image("http://example.com/a.png"), wrong("messages[0].content[0].image_url.url")],
  ["image: over ftp", image("ftp://example.com/a.png"), wrong("messages[0].content[0].image_url.url")],
  ["image: data that is not base64", image("data:image/png,abc"), wrong("messages[0].content[0].image_url.url")],
  ["image: data that is no image", image("data:text/plain;base64,YQ=="), wrong("messages[0].content[0].image_url.url")],
  ["image: empty URL", image(""), wrong("messages[0].content[0].image_url.url")],
  ["image: URL that is no string", image(null), wrong("messages[0].content[0].image_url.url")],
  [
    "image: too large",
    image(`data:image/png;base64,${"A".repeat(28 * 1_048_576)}`),
    told(413, "image_too_large", "messages[0].content[0].image_url.url")
  ],
  ["image: to a model that reads only text", { ...image(png), model: "deepseek-v3-0324" }, notVision()],

  ["stream: a string", { stream: "true" }, wrong("stream")],
  ["stream_options: a boolean", { stream_options: true }, wrong("stream_options")],
  ["include_usage: a number", { stream_options: { include_usage: 1 } }, wrong("stream_options.include_usage")],
  ["max_tokens: 0", { max_tokens: 0 }, wrong("max_tokens")],
  ["max_tokens: -1", { max_tokens: -1 }, wrong("max_tokens")],
  ["max_tokens: 1.5", { max_tokens: 1.5 }, wrong("max_tokens")],
  ["max_tokens: a string", { max_tokens: "9" }, wrong("max_tokens")],
  ["max_tokens: 2^53", { max_tokens: 2 ** 53 }, wrong("max_tokens")],
  ["max_completion_tokens: 0", { max_completion_tokens: 0 }, wrong("max_completion_tokens")],
  ["temperature: -0.1", { temperature: -0.1 }, wrong("temperature")],
  ["temperature: 2.1", { temperature: 2.1 }, wrong("temperature")],
  ["temperature: a string", { temperature: "1" }, wrong("temperature")],
  ["top_p: -0.1", { top_p: -0.1 }, wrong("top_p")],
  ["top_p: 1.1", { top_p: 1.1 }, wrong("top_p")],
  ["top_k: -1", { top_k: -1 }, wrong("top_k")],
  ["top_k: 1.5", { top_k: 1.5 }, wrong("top_k")],
  ["min_p: 2", { min_p: 2 }, wrong("min_p")],
  ["repetition_penalty: 3", { repetition_penalty: 3 }, wrong("repetition_penalty")],
  ["frequency_penalty: -2.1", { frequency_penalty: -2.1 }, wrong("frequency_penalty")],
  ["frequency_penalty: 2.1", { frequency_penalty: 2.1 }, wrong("frequency_penalty")],
  ["presence_penalty: -2.1", { presence_penalty: -2.1 }, wrong("presence_penalty")],
  ["presence_penalty: 2.1", { presence_penalty: 2.1 }, wrong("presence_penalty")],
  ["seed: 0.5", { seed: 0.5 }, wrong("seed")],
  ["stop: 5", { stop: ["a", "b", "c", "d", "e"] }, wrong("stop")],
  [
    "content: 513 parts",
    { messages: [{ role: "user", content: Array.from({ length: 513 }, () => hello) }] },
    wrong("messages[0].content")
  ],
  ["tools: 513", { tools: Array.from({ length: 513 }, () => tool) }, wrong("tools")],
  ["provider: 33 names", { provider: { only: Array(33).fill("p") } }, wrong("provider.only")],
  ["provider: a negative price", { provider: { max_price: { prompt: "-1" } } }, wrong("provider.max_price.prompt")],
  ["stop: a number", { stop: 3 }, wrong("stop")],
  ["logprobs: a number", { logprobs: 1 }, wrong("logprobs")],
  ["top_logprobs: 21", { top_logprobs: 21 }, wrong("top_logprobs")],
  ["user: 257 characters", { user: "u".repeat(257) }, wrong("user")],
  ["metadata: with a number", { metadata: { a: 1 } }, wrong("metadata.a")],
  ["session_id: empty", { session_id: "" }, wrong("session_id")],
  ["session_id: 257 characters", { session_id: "s".repeat(257) }, wrong("session_id")],
  ["budget_cents: -1", { budget_cents: -1 }, wrong("budget_cents")],
  ["budget_cents: a string", { budget_cents: "5" }, wrong("budget_cents")],
  ["budget_cents: 0", { budget_cents: 0 }, told(400, "no_model_in_budget", "budget_cents", { message: /\$0\.\d+/ })],
  ["three wrong at once", { temperature: 3, top_p: 3, seed: "x" }, wrong("temperature", { fields: ["top_p", "seed"] })],

  ["tools: an object", { tools: {} }, wrong("tools")],
  ["tools: without a type", { tools: [{ function: { name: "look" } }] }, wrong("tools[0].type")],
  ["tools: without a function", { tools: [{ type: "function" }] }, wrong("tools[0].function")],
  [
    "tools: a name with a space",
    { tools: [{ type: "function", function: { name: "look up" } }] },
    wrong("tools[0].function.name")
  ],
  [
    "tools: a name of 257 characters",
    { tools: [tool, { type: "function", function: { name: "n".repeat(257) } }] },
    wrong("tools[1].function.name")
  ],
  [
    "tools: parameters that are no object",
    { tools: [{ type: "function", function: { name: "look", parameters: [] } }] },
    wrong("tools[0].function.parameters")
  ],
  [
    "tools: to a model without",
    { tools: [tool], model: "meta-llama/llama-3.2-3b-instruct" },
    told(400, "model_not_tool_capable", "model")
  ],
  ["tool_choice: unknown word", { tools: [tool], tool_choice: "perhaps" }, wrong("tool_choice")],
  ["tool_choice: required without tools", { tool_choice: "required" }, wrong("tool_choice")],
  [
    "tool_choice: an absent tool",
    { tools: [tool], tool_choice: { type: "function", function: { name: "hear" } } },
    wrong("tool_choice.function.name")
  ],
  ["parallel_tool_calls: a string", { parallel_tool_calls: "no" }, wrong("parallel_tool_calls")],
  ["response_format: a string", { response_format: "json" }, wrong("response_format")],
  ["response_format: unknown type", { response_format: { type: "xml" } }, wrong("response_format.type")],
  ["response_format: no schema", { response_format: { type: "json_schema" } }, wrong("response_format.json_schema")],
  ["response_format: no name", schemaFormat({ schema: {} }), wrong("response_format.json_schema.name")],
  [
    "response_format: a name of 65 characters",
    schemaFormat({ name: "n".repeat(65) }),
    wrong("response_format.json_schema.name")
  ],
  ["reasoning: a string", { reasoning: "high" }, wrong("reasoning")],
  ["reasoning: unknown member", { reasoning: { effort: "low", depth: 3 } }, wrong("reasoning.depth")],
  ["reasoning: unknown effort", { reasoning: { effort: "most" } }, wrong("reasoning.effort")],
  ["reasoning: max_tokens -1", { reasoning: { max_tokens: -1 } }, wrong("reasoning.max_tokens")],
  ["reasoning_effort: unknown", { reasoning_effort: "most" }, wrong("reasoning_effort")],

  ["routing: a string", { routing: "cost" }, wrong("routing")],
  ["routing: unknown member", { routing: { strategy: "cost", speed: 1 } }, wrong("routing.speed")],
  ["routing: unknown strategy", { routing: { strategy: "best" } }, wrong("routing.strategy")],
  ["routing: unknown data policy", { routing: { data_policy: "secret" } }, wrong("routing.data_policy")],
  ["routing.providers: unknown member", { routing: { providers: { never: [] } } }, wrong("routing.providers.never")],
  ["routing.providers: empty name", { routing: { providers: { only: [""] } } }, wrong("routing.providers.only[0]")],
  [
    "routing.providers: name of 129 characters",
    { routing: { providers: { order: ["p".repeat(129)] } } },
    wrong("routing.providers.order[0]")
  ],
  [
    "routing.providers: 33 names",
    { routing: { providers: { ignore: Array.from({ length: 33 }, () => "p") } } },
    wrong("routing.providers.ignore")
  ],
  ["routing.max_price: negative", { routing: { max_price: { prompt: -1 } } }, wrong("routing.max_price.prompt")],
  ["routing.timeouts: 0", { routing: { timeouts: { total_ms: 0 } } }, wrong("routing.timeouts.total_ms")],
  ["provider: a string", { provider: "openai" }, wrong("provider")],
  ["provider: unknown sort", { provider: { sort: "beauty" } }, wrong("provider.sort")],
  [
    "routing: only an unknown provider",
    { routing: { providers: { only: ["nobody"] } } },
    told(503, "no_provider_available", "routing.providers.only", {
      message: /of \d candidates, providers\.only excludes \d\. The gateway has no provider "nobody"\.$/
    })
  ],
  [
    "provider: only a provider that does not serve the model",
    { provider: { only: ["anthropic"] } },
    told(503, "no_provider_available", "provider.only", {
      message: /of \d candidates, providers\.only excludes \d\.$/
    })
  ],
  [
    "routing: every provider ignored",
    { routing: { providers: { ignore: ["openai", "azure", "openrouter"] } } },
    told(503, "no_provider_available", null, { message: /of 3 candidates, providers\.ignore excludes 3\.$/ })
  ],
  [
    "routing: a data policy that no provider meets",
    { routing: { data_policy: "zero_retention", providers: { only: ["openai"] } } },
    told(503, "no_provider_available", null, { message: /providers\.only excludes 2 and data_policy excludes 3;/ })
  ],
  [
    "routing: a price below every provider's",
    { routing: { max_price: { prompt: 0 } } },
    told(503, "no_provider_available", null, { message: /of 3 candidates, max_price excludes 3\.$/ })
  ],
  [
    "routing: a parameter that no provider accepts",
    { routing: { require_parameters: true }, top_k: 5 },
    told(503, "no_provider_available", null, { message: /of 3 candidates, require_parameters excludes 3\.$/ })
  ],
  [
    "provider: a data policy that no provider meets",
    { provider: { zdr: true } },
    told(503, "no_provider_available", null, { message: /of 3 candidates, data_policy excludes 3\.$/ })
  ],

  ["n: 2", { n: 2 }, unsupported("n")],
  ["store: true", { store: true }, unsupported("store")],
  ["functions", { functions: [{ name: "look" }] }, unsupported("functions")],
  ["function_call", { function_call: { name: "look" } }, unsupported("function_call")],
  ["audio", { audio: { voice: "ash", format: "mp3" } }, unsupported("audio")],
  ["modalities: audio", { modalities: ["text", "audio"] }, unsupported("modalities")],
  ["logit_bias", { logit_bias: { "50256": -100 } }, unsupported("logit_bias")],
  ["service_tier: flex", { service_tier: "flex" }, unsupported("service_tier")],
  ["prediction", { prediction: { type: "content", content: "x" } }, unsupported("prediction")],
  ["web_search_options", { web_search_options: {} }, unsupported("web_search_options")],
  ["verbosity: loud", { verbosity: "loud" }, wrong("verbosity")],
  ["plugins", { plugins: [{ id: "web" }] }, unsupported("plugins")],
  ["transforms", { transforms: ["middle-out"] }, unsupported("transforms")],
  [
    "part: input_audio",
    { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "", format: "wav" } }] }] },
    unsupported("messages[0].content[0].type")
  ],
  [
    "part: file",
    { messages: [hello, { role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] },
    unsupported("messages[1].content[0].file.file_id")
  ],
  ["tools: a custom tool", { tools: [tool, { type: "custom", custom: { name: "x" } }] }, unsupported("tools[1].type")],
  [
    "context: longer than any window",
    { model: "microsoft/phi-4", messages: [{ role: "user", content: "word ".repeat(20_000) }] },
    told(400, "context_length_exceeded", "messages", { message: /16,384/ })
  ]
]

function notVision(): Told {
  return told(400, "model_not_vision_capable", "model")
}

/** Bodies of `/estimate`, which refuses unknown fields. */
const estimates: ReadonlyArray<readonly [name: string, body: object, told: Told]> = [
  ["unknown member", { ...plain, colour: "red" }, wrong("colour")],
  ["a member of nothing", { ...plain, colour: 1 }, wrong("colour")],
  ["a member of chat that is wrong", { ...plain, temperature: 3 }, wrong("temperature")],
  ["a member of others' that is not offered", { ...plain, n: 2 }, unsupported("n")],
  ["a budget of nothing", { ...plain, budget_cents: 0 }, told(400, "no_model_in_budget", "budget_cents")],
  ["no prompt at all", { model: "gpt-4o-mini" }, wrong("messages")],
  ["no model", { prompt: "hello" }, wrong("model")],
  ["negative input_tokens", { model: "gpt-4o-mini", input_tokens: -1 }, wrong("input_tokens")],
  ["max_tokens: 0", { ...plain, max_tokens: 0 }, wrong("max_tokens")],
  ["unknown model", { ...plain, model: "gpt-0" }, told(400, "unknown_model", "model")],
  ["unknown member of routing", { ...plain, routing: { best: true } }, wrong("routing.best")],
  [
    "more tokens than any window",
    { model: "gpt-4o-mini", input_tokens: 10_000_000 },
    told(400, "context_length_exceeded", "messages")
  ]
]

const deep = (levels: number) =>
  `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"hi"}],"x":${"[".repeat(levels)}${"]".repeat(levels)}}`

const bodies: ReadonlyArray<readonly [name: string, body: string | Uint8Array, told: Told]> = [
  ["truncated", '{"model":"gpt-4o-mini"', notJson],
  ["single quotes", "{'model':'gpt-4o-mini'}", notJson],
  ["trailing comma", '{"model":"gpt-4o-mini",}', notJson],
  ["two values", "{} {}", notJson],
  ["NaN", '{"temperature":NaN}', notJson],
  ["empty", "", notJson],
  ["whitespace", " \n\t ", notJson],
  ["invalid UTF-8", Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]), notJson],
  ["UTF-16", Buffer.from('{"model":"gpt-4o-mini"}', "utf16le"), notJson],
  ["nested 100 000 deep", deep(100_000), notJson],
  ["an array", "[]", wrong("body")],
  ["a number", "1", wrong("body")],
  ["null", "null", wrong("body")],
  ["a string", '"hello"', wrong("body")],
  ["false", "false", wrong("body")]
]

const lists: ReadonlyArray<readonly [path: string, told: Told]> = [
  ["/requests?limit=0", wrong("limit")],
  ["/requests?limit=101", wrong("limit")],
  ["/requests?limit=many", wrong("limit")],
  ["/requests?limit=1.5", wrong("limit")],
  ["/requests?limit=", wrong("limit")],
  ["/requests?limit=1&limit=2", wrong("limit")],
  ["/requests?cursor=abc", wrong("cursor")],
  ["/requests?cursor=", wrong("cursor")],
  ["/requests?status=done", wrong("status")],
  ["/requests?model=", wrong("model")],
  [`/requests?model=${"m".repeat(161)}`, wrong("model")],
  ["/requests?page=2", wrong("page")],
  ["/requests?limit=0&status=done", wrong("limit", { fields: ["status"] })],
  ["/requests/abc", wrong("request_id")],
  ["/requests/req_01234567890123456789012345", told(404, "not_found")],
  ["/models?sort=size", wrong("sort")],
  ["/models?colour=red", wrong("colour")],
  ["/models?max_price=-1", wrong("max_price")],
  ["/models/gpt-0", told(404, "not_found")],
  ["/models/no/thing", told(404, "not_found")],
  [`/models/${"m".repeat(161)}`, wrong("id")],
  ["/models/%ff", told(404, "not_found")],
  [`/models/${"m".repeat(600)}`, told(404, "not_found")],
  ["/requests?model=%00", wrong("model")],
  ["/nothing", told(404, "unknown_route")],
  ["/chat/nothing", told(404, "unknown_route")],
  ["/models/a/b/c", told(404, "not_found")]
]

const paths: ReadonlyArray<readonly [path: string, allowed: string]> = [
  [CHAT, "POST"],
  [ESTIMATE, "POST"],
  ["/api/v1/requests", "GET, HEAD"],
  ["/api/v1/requests/req_01234567890123456789012345", "GET, HEAD"],
  ["/api/v1/models", "GET, HEAD"],
  ["/api/v1/models/gpt-4o", "GET, HEAD"],
  ["/api/v1/models/svc/auto", "GET, HEAD"],
  ["/api/v1/openapi.json", "GET, HEAD"]
]

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

const credentials = (callers: Callers): ReadonlyArray<readonly [string, Record<string, string>, Told]> => {
  const missing = told(401, "missing_api_key", null, { headers: { "www-authenticate": "Bearer" } })
  const invalid = told(401, "invalid_api_key", null, { headers: { "www-authenticate": "Bearer" } })
  return [
    ["no key", {}, missing],
    ["empty header", { authorization: "" }, missing],
    ["no scheme", { authorization: callers.rich }, invalid],
    ["basic", { authorization: `Basic ${Buffer.from("a:b").toString("base64")}` }, invalid],
    ["bearer of nothing", { authorization: "Bearer" }, invalid],
    ["bearer of two words", { authorization: `Bearer ${callers.rich} ${callers.rich}` }, invalid],
    ["malformed key", { authorization: "Bearer svc_sk_short" }, invalid],
    ["unknown key", { authorization: `Bearer svc_sk_${"A".repeat(43)}` }, invalid],
    ["revoked key", { authorization: `Bearer ${callers.revoked}` }, invalid],
    ["management key", { authorization: `Bearer ${callers.manager}` }, told(403, "wrong_key_kind")]
  ]
}

const headerRows = ({ rich }: Callers): ReadonlyArray<readonly [string, Record<string, string>, Told]> => [
  ["Idempotency-Key: empty", { "idempotency-key": "" }, wrong("Idempotency-Key")],
  ["Idempotency-Key: empty in quotes", { "idempotency-key": '""' }, wrong("Idempotency-Key")],
  ["Idempotency-Key: 256 characters", { "idempotency-key": "k".repeat(256) }, wrong("Idempotency-Key")],
  ["X-Svc-Sandbox: no pair", { "x-svc-sandbox": "break" }, wrong("X-Svc-Sandbox")],
  ["X-Svc-Sandbox: unknown fault", { "x-svc-sandbox": "fault=fire" }, wrong("X-Svc-Sandbox")],
  ["X-Svc-Sandbox: unknown key", { "x-svc-sandbox": "after=1,mood=bad" }, wrong("X-Svc-Sandbox")],
  ["content-type: text", { "content-type": "text/plain" }, told(415, "unsupported_media_type")],
  ["content-type: form", { "content-type": "application/x-www-form-urlencoded" }, told(415, "unsupported_media_type")],
  ["content-type: empty", { "content-type": "" }, told(415, "unsupported_media_type")],
  ["content-type: nearly", { "content-type": "application/jsonp" }, told(415, "unsupported_media_type")],
  ["a key that is both", { authorization: `Bearer ${rich}, Bearer ${rich}` }, told(401, "invalid_api_key")]
]

/** Yields this many mebibytes of spaces, one at a time. */
function* blanks(mebibytes: number) {
  const piece = new Uint8Array(1_048_576).fill(0x20)
  for (let sent = 0; sent < mebibytes; sent++) yield piece
}

const tooLarge = told(413, "request_too_large")

/** Requests of other endpoints that accept `models`, valid except for its value. */
const unlisted: ReadonlyArray<readonly [path: string, body: object]> = [
  [RESPONSES, { input: "hello" }],
  [`${RESPONSES}/input_tokens`, { input: "hello" }],
  [ESTIMATE, { messages: [hello] }]
]

const rowsFor = (callers: Callers): ReadonlyArray<Row> => {
  const { broke, foreign, rich, scant } = callers
  const body = JSON.stringify(plain)
  const zero = { message: /^Your balance is zero\. Add funds to make paid requests\.$/, limitSource: "balance" }
  const little = { message: /\$0\.000\d+.*\$0\.000001\b/, limitSource: "balance" }
  return [
    ...members.map(([name, patch, rest]) => ({
      name,
      sent: posted(rich, CHAT, JSON.stringify({ ...plain, ...patch })),
      ...rest
    })),
    ...estimates.map(([name, estimate, rest]) => ({
      name: `estimate: ${name}`,
      sent: posted(rich, ESTIMATE, JSON.stringify(estimate)),
      ...rest
    })),
    ...unlisted.map(([path, rest]) => ({
      name: `${path}: models: unknown`,
      sent: posted(rich, path, JSON.stringify({ ...rest, models: ["gpt-4o", "gpt-0"] })),
      ...told(400, "unknown_model", "models[1]")
    })),
    ...[CHAT, ESTIMATE].flatMap((path) =>
      bodies.map(([name, bytes, rest]) => ({ name: `${path}: ${name}`, sent: posted(rich, path, bytes), ...rest }))
    ),
    ...lists.map(([path, rest]) => ({ name: path, sent: { path: `/api/v1${path}`, headers: as(rich) }, ...rest })),
    {
      name: "the receipt of another account",
      sent: { path: `/api/v1/requests/${foreign}`, headers: as(rich) },
      ...told(404, "not_found")
    },
    { name: "outside the API", sent: { path: "/nothing" }, ...told(404, "unknown_route") },
    ...paths.flatMap(([path, allowed]) =>
      methods
        .filter((method) => !allowed.split(", ").includes(method))
        .map((method) => ({
          name: `${method} ${path}`,
          sent: { method, path, headers: as(rich) },
          ...told(405, "method_not_allowed", null, { headers: { allow: allowed } })
        }))
    ),
    ...credentials(callers).flatMap(([name, headers, rest]) => [
      {
        name: `chat with ${name}`,
        sent: { method: "POST", path: CHAT, body, headers: { "content-type": "application/json", ...headers } },
        ...rest
      },
      { name: `receipts with ${name}`, sent: { path: "/api/v1/requests", headers }, ...rest }
    ]),
    ...headerRows(callers).map(([name, headers, rest]) => ({ name, sent: posted(rich, CHAT, body, headers), ...rest })),
    {
      name: "declared longer than 32 MiB",
      sent: posted(rich, CHAT, "{", { "content-length": String(32 * 1_048_576 + 1) }),
      ...tooLarge
    },
    {
      name: "longer than 32 MiB in chunks",
      sent: { method: "POST", path: CHAT, headers: as(rich), body: blanks(33) },
      ...tooLarge
    },
    { name: "no balance", sent: posted(broke, CHAT, body), ...told(402, "insufficient_credits", null, zero) },
    {
      name: "no balance, another request",
      sent: posted(broke, CHAT, JSON.stringify({ ...plain, stream: true, max_tokens: 9 })),
      ...told(402, "insufficient_credits", null, zero)
    },
    { name: "too little balance", sent: posted(scant, CHAT, body), ...told(402, "insufficient_credits", null, little) },
    {
      name: "too little balance, streamed",
      sent: posted(scant, CHAT, JSON.stringify({ ...plain, stream: true })),
      ...told(402, "insufficient_credits", null, little)
    }
  ]
}

const open = (service: Service) =>
  Effect.gen(function* () {
    const [rich, scant, broke, other] = yield* Effect.all([
      service.account(100),
      service.account(0.000_001),
      service.account(0),
      service.account(1)
    ])
    const actor = { type: "operator", id: "test" } as const
    const second = { accountId: rich.account.id, kind: "inference", name: "second", scopes: [], actor } as const
    const revoked = yield* service.keys.create(second)
    const answered = yield* post(`${service.api}/chat/completions`, revoked.key, plain)
    assert.strictEqual(answered.status, 200)
    assert.isTrue(yield* service.keys.revoke(revoked.id, actor))
    const others = yield* Effect.flatMap(post(`${service.api}/chat/completions`, other.inferenceKey, plain), json)
    const callers: Callers = {
      rich: rich.inferenceKey,
      scant: scant.inferenceKey,
      broke: broke.inferenceKey,
      manager: rich.managementKey,
      revoked: revoked.key,
      foreign: others.request_id
    }
    const books = Effect.forEach([rich, scant, broke, other], ({ account, inferenceKey }) =>
      Effect.all({
        balance: service.balance(account.id),
        receipts: Effect.flatMap(get(`${service.api}/requests?limit=100`, inferenceKey), json)
      })
    )
    return { callers, books }
  })

describe("bad input", () => {
  it.live(
    "is refused in the error envelope with the name of the field, and leaves balances and receipts unchanged",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { books, callers } = yield* open(service)
        const before = yield* books
        assert.deepStrictEqual(
          before.map(({ receipts }) => receipts.data.length),
          [1, 0, 0, 1]
        )
        const send = yield* client(service.origin)
        const faults: Array<string> = []
        const rows = rowsFor(callers)
        for (const row of rows) {
          const fault = faultOf(row, yield* send(row.sent))
          if (fault !== undefined) faults.push(fault)
        }
        assert.deepStrictEqual(faults, [])
        assert.isAtLeast(rows.length, 250)
        assert.deepStrictEqual(yield* books, before)
        const good = yield* send(posted(callers.rich, CHAT, JSON.stringify(plain)))
        assert.strictEqual(good.status, 200)
      }).pipe(Effect.scoped)
  )

  it.live("leaves its idempotency key free for the corrected request", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(0)
      const url = `${service.api}/chat/completions`
      const ask = (body: unknown, steering: Record<string, string> = {}) =>
        post(url, inferenceKey, body, { "idempotency-key": "k", ...steering })
      const refused = [
        yield* ask("{"),
        yield* ask({ ...plain, temperature: 3 }),
        yield* ask({ ...plain, model: "gpt-0" }),
        yield* ask({ ...plain, routing: { providers: { only: ["nobody"] } } }),
        yield* ask(plain)
      ]
      yield* service.customers.topUp(account, 1_000_000_000n)
      refused.push(yield* ask({ ...plain, seed: 1 }, { "x-svc-sandbox": "fault=error" }))
      assert.deepStrictEqual(
        refused.map(({ status }) => status),
        [400, 400, 400, 503, 402, 502]
      )
      const good = yield* ask(plain)
      assert.strictEqual(good.status, 200)
      assert.isNull(good.headers.get("idempotency-replayed"))
      assert.strictEqual((yield* ask({ ...plain, seed: 1 })).status, 422)
    }).pipe(Effect.scoped)
  )
})

/** Bodies with so many mistakes that a list of them all would exhaust the memory. */
const amplifying: ReadonlyArray<readonly [name: string, param: string, member: string]> = [
  ["3,000,000 parts", "messages[0].content", `"messages":[{"role":"user","content":[${"1,".repeat(3_000_000)}1]}]`],
  ["3,000,000 messages", "messages", `"messages":[${"1,".repeat(3_000_000)}1]`],
  ["100,000 empty tools", "tools", `"tools":[${"{},".repeat(100_000)}{}]`],
  ["1,000,000 stops", "stop", `"stop":[${"1,".repeat(1_000_000)}1]`],
  ["1,000,000 providers", "routing.providers.only", `"routing":{"providers":{"only":[${"1,".repeat(1_000_000)}1]}}`],
  ["1,000,000 providers by the alias", "provider.only", `"provider":{"only":[${"1,".repeat(1_000_000)}1]}`],
  ["a member of 1,000,000 characters", `routing.${"m".repeat(247)}…`, `"routing":{"${"m".repeat(1_000_000)}":1}`],
  ["an unknown tool of 1,000,000 characters", "tool_choice.function.name", hugeChoice()]
]

function hugeChoice(): string {
  const choice = { type: "function", function: { name: "n".repeat(1_000_000) } }
  return `"tools":${JSON.stringify([tool])},"tool_choice":${JSON.stringify(choice)}`
}

const membersOf = (count: number, name: string) =>
  Array.from({ length: count }, (_, at) => `"${name}${at}":1`).join(",")
const unknownMembers = membersOf(9_900, "m")
const numbers = membersOf(9_900, "k")

describe("a body with more mistakes than the answer may list", () => {
  it.live("gets 400 with at most 32 details and 8 KiB, and the next request is served", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const send = yield* client(service.origin)
      const good = () => send(posted(inferenceKey, CHAT, JSON.stringify(plain)))
      const head = JSON.stringify(plain).slice(0, -1)
      const refused = (path: string, body: string, name: string, param: string | RegExp) =>
        Effect.gen(function* () {
          const got = yield* send(posted(inferenceKey, path, body))
          const { details, error } = assertEnvelope(got, name)
          assert.strictEqual(got.status, 400, name)
          if (typeof param === "string") assert.strictEqual(error.param, param, name)
          else assert.match(error.param ?? "", param, name)
          assert.isAtMost(details?.length ?? 0, 32, name)
          assert.isAtMost(got.text.length, 8_192, name)
          assert.strictEqual((yield* good()).status, 200, name)
        })
      for (const [name, param, member] of amplifying) {
        for (const path of [CHAT, ESTIMATE]) yield* refused(path, `${head},${member}}`, `${name} to ${path}`, param)
      }
      yield* refused(CHAT, `${head},"routing":{${unknownMembers}}}`, "unknown members of routing", /^routing\.m\d+$/)
      yield* refused(
        CHAT,
        `${head},"reasoning":{${unknownMembers}}}`,
        "unknown members of reasoning",
        /^reasoning\.m\d+$/
      )
      yield* refused(CHAT, `${head},"metadata":{${numbers}}}`, "metadata of numbers", /^metadata\.k\d+$/)
      yield* refused(ESTIMATE, `${head},${unknownMembers}}`, "unknown members of an estimate", /^m\d+$/)
      const crowd = membersOf(1_500_000, "m")
      for (const path of [CHAT, RESPONSES, `${RESPONSES}/input_tokens`]) {
        yield* refused(path, `${head},"input":"hi",${crowd}}`, `a crowd of members to ${path}`, "body")
      }
      const ignored = yield* send(posted(inferenceKey, CHAT, `${head},${unknownMembers}}`))
      assert.strictEqual(ignored.status, 200)
      assert.isAtMost(ignored.headers["x-svc-ignored-parameters"]?.length ?? 0, 2_048)
    }).pipe(Effect.scoped)
  )
})

const check = (row: Row, body: ErrorBody, got: Got) => {
  assert.deepStrictEqual([got.status, body.error.code, body.error.param], [row.status, row.code, row.param])
  assert.strictEqual(body.error.type, types[row.status])
  if (row.sent.path.startsWith("/api/v1")) assert.strictEqual(got.headers["access-control-allow-origin"], "*")
  else assert.isUndefined(got.headers["access-control-allow-origin"])
  assert.strictEqual(got.headers["x-svc-sandbox"], "true")
  const fields = body.details?.map((detail) => detail.field) ?? []
  for (const field of row.fields ?? []) assert.include(fields, field)
  if (row.message !== undefined) assert.match(body.error.message, row.message)
  assert.strictEqual(body.limit_source, row.limitSource as ErrorBody["limit_source"])
  for (const [name, value] of Object.entries(row.headers ?? {})) assert.strictEqual(got.headers[name], value)
}

/** Returns what is wrong with the answer to a row, so that one run reports every failing row. */
const faultOf = (row: Row, got: Got): string | undefined => {
  try {
    check(row, assertEnvelope(got, row.name), got)
    return undefined
  } catch (error) {
    return `${row.name}: ${String(error)} — ${got.status} ${got.text.slice(0, 400)}`
  }
}
