/** A fake host for each kind in `PROVIDERS_FILE`, which refuses what the real host refuses and reasons when the real host does. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import type { HostKind } from "../../src/platform/config/HostQuirks.ts"

/** A request body that a host received. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Sent = Record<string, any>

/** The behaviour of a kind of host. */
interface HostBehaviour {
  /** Why the host refuses a request, if it does. */
  readonly refuses: (body: Sent, headers: IncomingHttpHeaders) => string | undefined
  /** Whether the host's model reasons in its answer to a request. */
  readonly thinks: (body: Sent) => boolean
  /** The members of a message or a delta that contain the reasoning. */
  readonly said: (reasoning: string) => object
}

/** Members of OpenAI's chat completions; a strict host refuses any other. */
const OPENAI = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_completion_tokens",
  "tools",
  "tool_choice",
  "user",
  "seed",
  "parallel_tool_calls",
  "response_format",
  "temperature",
  "top_p",
  "frequency_penalty",
  "presence_penalty",
  "stop",
  "logprobs",
  "top_logprobs",
  "reasoning_effort",
  "prompt_cache_key",
  "verbosity"
])

const unknownIn = (body: Sent, known: ReadonlySet<string>): string | undefined => {
  const name = Object.keys(body).find((member) => !known.has(member))
  return name === undefined ? undefined : `property '${name}' is unsupported`
}

const has = (body: Sent, ...names: ReadonlyArray<string>): string | undefined => {
  const name = names.find((member) => body[member] !== undefined)
  return name === undefined ? undefined : `${name} is not supported`
}

/** Many hosts accept parts only in messages of users. */
const onlyStrings = (body: Sent): string | undefined => {
  const at = (body["messages"] as ReadonlyArray<Sent>).findIndex(
    ({ content, role }) => role !== "user" && content !== null && typeof content !== "string"
  )
  return at === -1 ? undefined : `messages[${at}]: invalid type: sequence, expected a string`
}

const noDeveloper = (body: Sent): string | undefined =>
  (body["messages"] as ReadonlyArray<Sent>).some(({ role }) => role === "developer")
    ? "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`"
    : undefined

const effortAmong = (body: Sent, ...words: ReadonlyArray<string>): string | undefined =>
  body["reasoning_effort"] === undefined || words.includes(body["reasoning_effort"])
    ? undefined
    : `reasoning_effort must be one of ${words.join(", ")}`

const content = (reasoning: string) => ({ reasoning_content: reasoning })
const plain = (reasoning: string) => ({ reasoning })
const byType = (body: Sent): boolean => body["thinking"]?.type !== "disabled"

const behaviours: Readonly<Record<HostKind, HostBehaviour>> = {
  deepseek: {
    refuses: (body) => onlyStrings(body) ?? noDeveloper(body),
    thinks: byType,
    said: content
  },
  groq: {
    refuses: (body) =>
      unknownIn(body, new Set([...OPENAI, "reasoning_format"])) ??
      has(body, "logprobs", "top_logprobs") ??
      effortAmong(body, "none", "default"),
    thinks: (body) => body["reasoning_effort"] !== "none",
    said: plain
  },
  together: {
    refuses: onlyStrings,
    thinks: (body) => body["reasoning"]?.enabled !== false,
    said: plain
  },
  fireworks: {
    refuses: (body) => effortAmong(body, "none", "low", "medium", "high"),
    thinks: (body) => body["reasoning_effort"] !== "none",
    said: content
  },
  openrouter: {
    refuses: (body) =>
      body["reasoning"] !== undefined && body["reasoning_effort"] !== undefined
        ? "Only one of reasoning and reasoning_effort may be given"
        : undefined,
    thinks: (body) => body["reasoning"]?.enabled !== false,
    said: (reasoning) => ({ reasoning, reasoning_details: [{ type: "reasoning.text", text: reasoning }] })
  },
  ollama: {
    refuses: (body) => onlyStrings(body) ?? effortAmong(body, "none", "low", "medium", "high"),
    thinks: (body) => body["reasoning_effort"] !== "none",
    said: plain
  },
  vllm: {
    refuses: (body) => effortAmong(body, "low", "medium", "high"),
    thinks: (body) => body["chat_template_kwargs"]?.enable_thinking !== false,
    said: content
  },
  lmstudio: {
    refuses: (body) =>
      typeof body["tool_choice"] === "object"
        ? "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
        : body["response_format"]?.type === "json_object"
          ? "'response_format.type' must be 'json_schema' or 'text'"
          : undefined,
    thinks: (body) => body["chat_template_kwargs"]?.enable_thinking !== false,
    said: content
  },
  moonshot: {
    refuses: (body) =>
      body["temperature"] !== undefined && body["temperature"] !== 1
        ? "invalid temperature: only 1 is allowed for this model"
        : has(body, "top_k", "min_p", "repetition_penalty"),
    thinks: byType,
    said: content
  },
  zai: {
    refuses: (body) =>
      has(body, "stream_options", "max_completion_tokens", "frequency_penalty", "presence_penalty") ??
      (body["tools"]?.some((tool: Sent) => tool["function"].strict !== undefined)
        ? "tools.strict is not known"
        : undefined),
    thinks: byType,
    said: content
  },
  minimax: {
    refuses: (body) =>
      has(
        body,
        "reasoning_effort",
        "frequency_penalty",
        "presence_penalty",
        "parallel_tool_calls",
        "seed",
        "max_tokens"
      ),
    thinks: byType,
    said: (reasoning) => ({ reasoning_details: [{ type: "reasoning.text", text: reasoning }] })
  },
  azure: {
    refuses: (body, headers) =>
      headers["api-key"] === undefined
        ? "Access denied due to missing api-key"
        : (unknownIn(body, OPENAI) ?? effortAmong(body, "low", "medium", "high", "minimal")),
    thinks: () => false,
    said: () => ({})
  }
}

/** A model that each kind of host serves: its id in the catalogue and at the host. */
export const HOST_MODELS: Readonly<Record<HostKind, readonly [id: string, upstream: string]>> = {
  deepseek: ["deepseek-v4-flash", "deepseek-v4-flash"],
  groq: ["qwen/qwen3-32b", "qwen/qwen3-32b"],
  together: ["deepseek-v3.2", "deepseek-ai/DeepSeek-V3.2"],
  fireworks: ["kimi-k2.6", "accounts/fireworks/models/kimi-k2p6"],
  openrouter: ["glm-5.2", "z-ai/glm-5.2"],
  ollama: ["qwen/qwen3-32b", "qwen3:32b"],
  vllm: ["qwen/qwen3-32b", "Qwen/Qwen3-32B"],
  lmstudio: ["qwen/qwen3-32b", "qwen/qwen3-32b"],
  moonshot: ["kimi-k2.6", "kimi-k2.6"],
  zai: ["glm-4.7", "glm-4.7"],
  minimax: ["minimax-m3", "MiniMax-M3"],
  azure: ["gpt-5", "gpt-5"]
}

/** A request that a host received. */
interface HostRequest {
  readonly kind: HostKind
  readonly body: Sent
  readonly headers: IncomingHttpHeaders
}

const REASONING = "Let me think."
/** The text of every answer. */
export const CONTENT = "It works."

const USAGE = { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 }

/** The value of each required member in the arguments of a tool call. */
export const ARGUMENT = 'a "b"\n'

const callOf = (tool: Sent) => {
  const required: ReadonlyArray<string> = tool["function"].parameters?.required ?? []
  const given = Object.fromEntries(required.map((name) => [name, ARGUMENT]))
  return {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: tool["function"].name, arguments: JSON.stringify(given) }
  }
}

/** The answer: a call of the first offered tool, or a text when the last message is the result of a tool. */
const messageOf = (behaviour: HostBehaviour, body: Sent): Sent => {
  const reasoning = behaviour.thinks(body) ? behaviour.said(REASONING) : {}
  const [tool] = (body["tools"] ?? []) as ReadonlyArray<Sent>
  return tool === undefined || body["messages"].at(-1)?.role === "tool"
    ? { role: "assistant", content: CONTENT, ...reasoning }
    : { role: "assistant", content: null, ...reasoning, tool_calls: [callOf(tool)] }
}

const answer = (response: ServerResponse, behaviour: HostBehaviour, body: Sent) => {
  const message = messageOf(behaviour, body)
  const finish = message["tool_calls"] === undefined ? "stop" : "tool_calls"
  if (body["stream"] !== true) {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: finish }], usage: USAGE }))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream" })
  const event = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`)
  event({ choices: [{ index: 0, delta: message, finish_reason: null }] })
  event({ choices: [{ index: 0, delta: {}, finish_reason: finish }], usage: USAGE })
  response.end("data: [DONE]\n\n")
}

/** Starts hosts of all kinds on one port, each below the path of its kind. They end when the scope closes. */
export const startHostKinds = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly requests: Array<HostRequest>; readonly close: () => void }>(
    (resume) => {
      const requests: Array<HostRequest> = []
      const server = createServer((request, response) => {
        let text = ""
        request.setEncoding("utf8").on("data", (piece) => (text += piece))
        request.on("end", () => {
          const kind = request.url?.split("/")[1] as HostKind
          const body = JSON.parse(text) as Sent
          requests.push({ kind, body, headers: request.headers })
          const refusal = behaviours[kind].refuses(body, request.headers)
          if (refusal === undefined) return answer(response, behaviours[kind], body)
          response.writeHead(400, { "content-type": "application/json" })
          response.end(JSON.stringify({ error: { message: refusal, type: "invalid_request_error" } }))
        })
      })
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      server.listen(0, "127.0.0.1", () =>
        resume(Effect.succeed({ port: (server.address() as AddressInfo).port, requests, close }))
      )
    }
  ),
  ({ close }) => Effect.sync(close)
)
