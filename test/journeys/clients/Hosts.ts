/** The providers of the gateway: the sandbox, or an independent simulation of a vendor's wire format. */
import { LLMock } from "@copilotkit/aimock"
import { Effect, type Scope } from "effect"
import { time, weather } from "./Surface.ts"

export interface Behind {
  /** The settings of a gateway with this provider. */
  readonly env: Record<string, string>
  readonly model: string
  /** A model that reasons when a request asks for it. */
  readonly thinker: string
  /** The headers that slow the answer down. */
  readonly slow: Readonly<Record<string, string>>
  /** The usage of each answer to `hello`, if it is fixed. */
  readonly usage: { readonly input: number; readonly output: number } | undefined
}

export interface Host {
  readonly name: string
  readonly start: Effect.Effect<Behind, never, Scope.Scope>
}

const WORDS = "the sea and the ships on it ".repeat(100)
const sandbox: Host = {
  name: "the sandbox",
  start: Effect.succeed({
    env: {},
    model: "gpt-4o-mini",
    thinker: "claude-sonnet-4-6",
    slow: { "x-svc-sandbox": "chunk_ms=20,output_tokens=480" },
    usage: undefined
  })
}

const calling = (...tools: ReadonlyArray<{ readonly name: string }>) => ({
  toolCalls: tools.map(({ name }) => ({ name, arguments: JSON.stringify({ city: "Oslo" }) }))
})

const usage = { input: 1_000, output: 200 }

const simulation = Effect.acquireRelease(
  Effect.promise(async () => {
    const mock = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" })
    const used = { prompt_tokens: usage.input, completion_tokens: usage.output }
    mock.onMessage("hello", { content: "Hello there, friend", usage: used })
    mock.onMessage("long", { content: WORDS }, { latency: 20 })
    mock.on({ userMessage: "weather and time", hasToolResult: false }, calling(weather, time))
    mock.on({ userMessage: "Oslo", hasToolResult: false }, calling(weather))
    mock.on({ userMessage: "Oslo", hasToolResult: true }, { content: `It is ${weather.answer} there` })
    mock.onMessage("ponder", { reasoning: "The sea is wide.", content: "It is wide" })
    mock.onMessage("sky", { content: JSON.stringify({ sky: "grey", degrees: -4 }) })
    mock.onMessage("refuse", { error: { message: "not this", type: "invalid_request_error" }, status: 400 })
    mock.onMessage("fail", { error: { message: "broken", type: "server_error" }, status: 500 })
    await mock.start()
    return mock
  }),
  (mock) => Effect.promise(() => mock.stop())
)

const simulated = (name: string, model: string, prefix: string, base: string): Host => ({
  name,
  start: Effect.map(simulation, ({ url }) => ({
    env: { SANDBOX: "off", [`${prefix}_API_KEY`]: "planted", [`${prefix}_BASE_URL`]: `${url}${base}` },
    model,
    thinker: model === "gpt-4o-mini" ? "gpt-5-mini" : model,
    slow: {},
    usage
  }))
})

export const hosts: ReadonlyArray<Host> = [
  sandbox,
  simulated("a simulated OpenAI", "gpt-4o-mini", "OPENAI", "/v1"),
  simulated("a simulated Anthropic", "claude-sonnet-4-6", "ANTHROPIC", ""),
  simulated("a simulated Gemini", "gemini-2.5-flash", "GEMINI", "/v1beta")
]
