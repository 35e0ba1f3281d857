import { zodTextFormat } from "openai/helpers/zod"
import type { Response, ResponseInput } from "openai/resources/responses/responses"
import { toJSONSchema } from "zod"
import { openAiOf, toldByOpenAi } from "./OpenAiChat.ts"
import { cityOf, costOf, NEXT, Sky, type SurfaceOf, thrownBy, time, type Turn, weather } from "./Surface.ts"

const described = ({ description, name, parameters }: typeof time) => ({
  type: "function" as const,
  name,
  description,
  parameters: toJSONSchema(parameters) as Record<string, unknown>,
  strict: true
})

const bodyOf = ({ model, text }: Pick<Turn, "model" | "text">) => ({ model, max_output_tokens: 500, input: text })

const callsIn = ({ output }: Response) => output.filter((item) => item.type === "function_call")

/** `responses`, with its helpers for streams and schemas. It has no helper that runs tools. */
export const openAiResponses: SurfaceOf = {
  name: "openai's responses",
  noMoney: "APIError",
  make: ({ api }, key, headers) => {
    const { responses } = openAiOf(api, key, headers)
    const answerTo = (
      { model, stream }: Turn,
      input: string | ResponseInput,
      ...offered: ReadonlyArray<typeof time>
    ): PromiseLike<Response> => {
      const body = { model, max_output_tokens: 500, input, tools: offered.map(described) }
      return stream ? responses.stream(body).finalResponse() : responses.create(body)
    }
    return {
      say: async (turn) => {
        const pieces: Array<string> = []
        const ask = () => {
          if (!turn.stream) return responses.create(bodyOf(turn))
          const stream = responses.stream(bodyOf(turn))
          stream.on("response.output_text.delta", ({ delta }) => pieces.push(delta))
          return stream.finalResponse()
        }
        const answer = await ask()
        return {
          text: answer.output_text,
          pieces,
          inputTokens: answer.usage?.input_tokens ?? 0,
          outputTokens: answer.usage?.output_tokens ?? 0,
          costUsd: costOf(answer)
        }
      },
      loop: async (turn, ran) => {
        const input: ResponseInput = [{ role: "user", content: turn.text }]
        for (let round = 0; round < 5; round++) {
          const answer = await answerTo(turn, input, weather)
          const calls = callsIn(answer)
          if (calls.length === 0) return answer.output_text
          input.push(...(answer.output as ResponseInput))
          for (const call of calls) {
            ran(cityOf(JSON.parse(call.arguments)))
            input.push({ type: "function_call_output", call_id: call.call_id, output: weather.answer })
          }
        }
        return "calls without end"
      },
      calls: async (turn) =>
        callsIn(await answerTo(turn, turn.text, weather, time)).map((call) => [
          call.name,
          cityOf(JSON.parse(call.arguments))
        ]),
      parse: async (turn) => {
        const body = { ...bodyOf(turn), text: { format: zodTextFormat(Sky, "sky") } }
        const answer = turn.stream ? await responses.stream(body).finalResponse() : await responses.parse(body)
        return answer.output_parsed
      },
      think: async (turn) => {
        const body = { ...bodyOf(turn), max_output_tokens: 4_000, reasoning: { effort: "low" as const } }
        const answer = await (turn.stream ? responses.stream(body).finalResponse() : responses.create(body))
        const input: ResponseInput = [{ role: "user", content: turn.text }, ...(answer.output as ResponseInput)]
        const next = await responses.create({ ...bodyOf(turn), input: [...input, { role: "user", content: NEXT }] })
        const thought = answer.output.flatMap((item) => (item.type === "reasoning" ? item.summary : []))
        return {
          thought: thought.map(({ text }) => text).join(""),
          text: answer.output_text,
          next: next.output_text
        }
      },
      abort: (turn) => {
        const stream = responses.stream(bodyOf(turn))
        stream.on("response.output_text.delta", () => stream.abort())
        return thrownBy(stream.finalResponse())
      },
      told: toldByOpenAi
    }
  }
}
