import Anthropic, { APIError } from "@anthropic-ai/sdk"
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod"
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod"
import type { Message, Tool } from "@anthropic-ai/sdk/resources/messages"
import { toJSONSchema } from "zod"
import { cityOf, costOf, NEXT, Sky, type SurfaceOf, thrownBy, time, type Turn, weather } from "./Surface.ts"

const { description, name, parameters } = weather
const tools = [weather, time].map((tool): Tool => ({
  name: tool.name,
  description: tool.description,
  input_schema: toJSONSchema(tool.parameters) as Tool["input_schema"]
}))

const bodyOf = ({ model, text }: Pick<Turn, "model" | "text">) => ({
  model,
  max_tokens: 500,
  messages: [{ role: "user" as const, content: text }]
})

const textOf = (content: ReadonlyArray<{ readonly type: string; readonly text?: string }>) =>
  content.map((block) => block.text ?? "").join("")

/** `messages` of the package, with its helpers for streams, schemas and tools. */
export const anthropicMessages: SurfaceOf = {
  name: "Anthropic's messages",
  noMoney: "PaymentRequiredError",
  make: ({ origin }, apiKey, defaultHeaders = {}) => {
    const { beta, messages } = new Anthropic({ apiKey, baseURL: `${origin}/api`, maxRetries: 0, defaultHeaders })
    return {
      say: async (turn) => {
        const pieces: Array<string> = []
        let costUsd = 0
        const ask = (): PromiseLike<Message> => {
          if (!turn.stream) return messages.create(bodyOf(turn))
          const stream = messages.stream(bodyOf(turn))
          stream.on("text", (piece) => pieces.push(piece))
          stream.on("streamEvent", (event) => (costUsd = event.type === "message_delta" ? costOf(event) : costUsd))
          return stream.finalMessage()
        }
        const answer = await ask()
        return {
          text: textOf(answer.content as ReadonlyArray<{ type: string; text?: string }>),
          pieces,
          inputTokens: answer.usage.input_tokens,
          outputTokens: answer.usage.output_tokens,
          costUsd: turn.stream ? costUsd : costOf(answer)
        }
      },
      loop: async (turn, ran) => {
        const run = ({ city }: { readonly city: string }) => {
          ran(city)
          return weather.answer
        }
        const tool = betaZodTool({ name, description, inputSchema: parameters, run })
        const runner = beta.messages.toolRunner({ ...bodyOf(turn), stream: turn.stream, tools: [tool] })
        const { content } = await runner.runUntilDone()
        return textOf(content as ReadonlyArray<{ type: string; text?: string }>)
      },
      calls: async (turn) => {
        const body = { ...bodyOf(turn), tools }
        const answer = turn.stream ? await messages.stream(body).finalMessage() : await messages.create(body)
        return answer.content
          .filter((block) => block.type === "tool_use")
          .map((call) => [call.name, cityOf(call.input)])
      },
      parse: async (turn) => {
        const body = { ...bodyOf(turn), output_config: { format: zodOutputFormat(Sky) } }
        const answer = turn.stream ? await messages.stream(body).finalMessage() : await messages.parse(body)
        return answer.parsed_output
      },
      think: async (turn) => {
        const body = {
          ...bodyOf(turn),
          max_tokens: 4_000,
          thinking: { type: "enabled" as const, budget_tokens: 1_024 }
        }
        const answer = await (turn.stream ? messages.stream(body).finalMessage() : messages.create(body))
        const next = await messages.create({
          ...bodyOf(turn),
          messages: [...body.messages, { role: "assistant", content: answer.content }, { role: "user", content: NEXT }]
        })
        return {
          thought: answer.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
          text: textOf(answer.content as ReadonlyArray<{ type: string; text?: string }>),
          next: textOf(next.content as ReadonlyArray<{ type: string; text?: string }>)
        }
      },
      abort: (turn) => {
        const stream = messages.stream(bodyOf(turn))
        stream.on("text", () => stream.abort())
        return thrownBy(stream.finalMessage())
      },
      told: (error) => {
        if (!(error instanceof APIError)) throw error
        const { code, param } = (error.error as { readonly error: { code: string; param: string | null } }).error
        return { kind: error.constructor.name, status: error.status, code, param }
      }
    }
  }
}
