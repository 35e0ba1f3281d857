/** The adapters, each with a model of its own and the parser of its host's streams. */
import type { ChatFold } from "../../src/providers/wire/EventSource.ts"
import { chatStreamFold as anthropicFold } from "../../src/providers/anthropic/ChatStream.ts"
import { chatStreamFold as geminiFold } from "../../src/providers/gemini/ChatStream.ts"
import { chatStreamFold as openAiFold } from "../../src/providers/openai/ChatStream.ts"

export interface Adapter {
  readonly name: string
  /** A model of the catalogue that supports every case. */
  readonly model: string
  readonly provider: string
  /** The prefix of this adapter's paths at the host. */
  readonly base: string
  /** The settings that point the gateway at the host. */
  readonly env: (origin: string) => Readonly<Record<string, string>>
  /** Whether a request asks for a stream. */
  readonly streams: (path: string, body: { readonly stream?: boolean }) => boolean
  readonly fold: (requestId: string) => ChatFold
}

/** The id of the host of open models in `PROVIDERS_FILE`. */
export const COMPATIBLE_HOST = "local"

/** Its model, and the host's name for it. */
export const COMPATIBLE_MODEL = { id: "qwen/qwen3.7-plus", upstream: "qwen3.7-plus-local" }

export const adapters: ReadonlyArray<Adapter> = [
  {
    name: "openai",
    model: "gpt-5.4-mini",
    provider: "openai",
    base: "/openai/",
    env: (origin) => ({ OPENAI_API_KEY: "sk-golden", OPENAI_BASE_URL: `${origin}/openai/v1` }),
    streams: (_, { stream }) => stream === true,
    fold: (requestId) => openAiFold(requestId)
  },
  {
    name: "compatible",
    model: COMPATIBLE_MODEL.id,
    provider: COMPATIBLE_HOST,
    base: "/compatible/",
    env: () => ({}),
    streams: (_, { stream }) => stream === true,
    fold: (requestId) => openAiFold(requestId)
  },
  {
    name: "anthropic",
    model: "claude-sonnet-4-5",
    provider: "anthropic",
    base: "/anthropic/",
    env: (origin) => ({ ANTHROPIC_API_KEY: "sk-ant-golden", ANTHROPIC_BASE_URL: `${origin}/anthropic` }),
    streams: (_, { stream }) => stream === true,
    fold: (requestId) => anthropicFold(requestId)
  },
  {
    name: "gemini",
    model: "gemini-2.5-flash",
    provider: "gemini",
    base: "/gemini/",
    env: (origin) => ({ GEMINI_API_KEY: "AIza-golden", GEMINI_BASE_URL: `${origin}/gemini` }),
    streams: (path) => path.includes(":streamGenerateContent"),
    fold: (requestId) => geminiFold(requestId)
  }
]
