import OpenAI, { APIError } from "openai"
import { zodResponseFormat } from "openai/helpers/zod"
import type { ChatCompletion } from "openai/resources/chat"
import { toJSONSchema } from "zod"
import {
  cityOf,
  costOf,
  NEXT,
  type Said,
  Sky,
  type SurfaceOf,
  thrownBy,
  type Told,
  time,
  type Turn,
  weather
} from "./Surface.ts"

/** The package `openai`, for all of its operations. */
export const openAiOf = (baseURL: string, apiKey: string, defaultHeaders: Readonly<Record<string, string>> = {}) =>
  new OpenAI({ apiKey, baseURL, maxRetries: 0, defaultHeaders })

/** Returns the facts of an error of the package. */
export const toldByOpenAi = (error: unknown): Told => {
  if (!(error instanceof APIError)) throw error
  return { kind: error.constructor.name, status: error.status, code: error.code ?? undefined, param: error.param }
}

const described = ({ description, name, parameters }: typeof time) => ({
  name,
  description,
  parameters: toJSONSchema(parameters) as Record<string, unknown>
})
const tools = [weather, time].map((tool) => ({ type: "function" as const, function: described(tool) }))

const bodyOf = ({ model, text }: Pick<Turn, "model" | "text">) => ({
  model,
  max_tokens: 500,
  messages: [{ role: "user" as const, content: text }]
})

const saidIn = (answer: ChatCompletion, pieces: ReadonlyArray<string>, costUsd: number): Said => ({
  text: answer.choices[0]?.message.content ?? "",
  pieces,
  inputTokens: answer.usage?.prompt_tokens ?? 0,
  outputTokens: answer.usage?.completion_tokens ?? 0,
  costUsd
})

/** Returns the reasoning of a message or of a piece of one. The client has no type for it. */
const thoughtIn = (said: unknown): string => (said as { readonly reasoning?: string } | undefined)?.reasoning ?? ""

/** `chat.completions`, with its helpers for streams, schemas and tools. */
export const openAiChat: SurfaceOf = {
  name: "openai's chat",
  noMoney: "APIError",
  make: ({ api }, key, headers) => {
    const { completions } = openAiOf(api, key, headers).chat
    const answerTo = (turn: Turn): PromiseLike<ChatCompletion> =>
      turn.stream
        ? completions.stream({ ...bodyOf(turn), tools }).finalChatCompletion()
        : completions.create({ ...bodyOf(turn), tools })
    return {
      say: async (turn) => {
        if (!turn.stream) {
          const answer = await completions.create(bodyOf(turn))
          return saidIn(answer, [], costOf(answer))
        }
        const pieces: Array<string> = []
        let costUsd = 0
        const stream = completions.stream(bodyOf(turn))
        stream.on("content", (piece) => pieces.push(piece))
        stream.on("chunk", (chunk) => (costUsd = costOf(chunk) ?? costUsd))
        return saidIn(await stream.finalChatCompletion(), pieces, costUsd)
      },
      loop: async (turn, ran) => {
        const run = ({ city }: { readonly city: string }) => {
          ran(city)
          return weather.answer
        }
        const runnable = {
          ...described(weather),
          parse: (text: string) => weather.parameters.parse(JSON.parse(text)),
          function: run
        }
        const all = { ...bodyOf(turn), tools: [{ type: "function" as const, function: runnable }] }
        const runner = turn.stream ? completions.runTools({ ...all, stream: true }) : completions.runTools(all)
        return (await runner.finalContent()) ?? ""
      },
      calls: async (turn) =>
        ((await answerTo(turn)).choices[0]?.message.tool_calls ?? []).map((call) =>
          call.type === "function" ? [call.function.name, cityOf(JSON.parse(call.function.arguments))] : [call.type, ""]
        ),
      parse: async (turn) => {
        const body = { ...bodyOf(turn), response_format: zodResponseFormat(Sky, "sky") }
        const answer = turn.stream
          ? await completions.stream(body).finalChatCompletion()
          : await completions.parse(body)
        return answer.choices[0]?.message.parsed
      },
      think: async (turn) => {
        const body = { ...bodyOf(turn), max_tokens: 4_000, reasoning_effort: "low" as const }
        const thoughts: Array<string> = []
        const ask = () => {
          if (!turn.stream) return completions.create(body)
          const stream = completions.stream(body)
          // The helper does not know the field, and keeps only its last piece.
          stream.on("chunk", ({ choices }) => thoughts.push(thoughtIn(choices[0]?.delta)))
          return stream.finalChatCompletion()
        }
        const { message } = (await ask()).choices[0]!
        const history = [...body.messages, message, { role: "user" as const, content: NEXT }]
        const next = await completions.create({ ...bodyOf(turn), messages: history })
        return {
          thought: turn.stream ? thoughts.join("") : thoughtIn(message),
          text: message.content ?? "",
          next: next.choices[0]?.message.content ?? ""
        }
      },
      abort: (turn) => {
        const stream = completions.stream(bodyOf(turn))
        stream.on("content", () => stream.abort())
        return thrownBy(stream.finalChatCompletion())
      },
      told: toldByOpenAi
    }
  }
}
