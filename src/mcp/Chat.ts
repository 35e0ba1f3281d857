/** The tool that asks a language model. */
import { Effect, Result, Schema } from "effect"
import { Api } from "../../schemas/Api.ts"
import { sized, textOf } from "../../schemas/Bounds.ts"
import { ModelString } from "../../schemas/Ids.ts"
import {
  ChatCompletion,
  ChatCompletionRequest,
  ChatUsage,
  FinishReason
} from "../../schemas/inference/ChatCompletions.ts"
import { RichContent } from "../../schemas/inference/ChatMessages.ts"
import { BalanceWarning } from "../../schemas/Routing.ts"
import { modelFieldsOf } from "../dialects/Decode.ts"
import { encodeCompletion } from "../dialects/chat/ChatEncode.ts"
import { basePolicy } from "../dialects/Routing.ts"
import { type Failure, invalid } from "../domain/Failure.ts"
import { centsFromNano, nanoFromUsd } from "../domain/Money.ts"
import { OutputFold } from "../domain/Output.ts"
import { chatDialect } from "../http/handlers/Chat.ts"
import { chatRequestOf, withMessageLimit, withDialectNames } from "../http/handlers/ChatOperation.ts"
import { takePaidPreset } from "../http/handlers/Preset.ts"
import { type ChatResult, Inference } from "../inference/Inference.ts"
import type { AnswerStream } from "../inference/StreamFlow.ts"
import type { StreamItem } from "../domain/Answer.ts"
import { ReasoningSeals } from "../inference/ReasoningSeals.ts"
import { Config } from "../platform/config/Config.ts"
import { Presets } from "../presets/Presets.ts"
import { makeRequestContext, callCostOf, reportWhile } from "./Paying.ts"
import { type Call, costFields, type ToolOf } from "./Tool.ts"

const { max_tokens, reasoning_effort, response_format, temperature } = ChatCompletionRequest.fields

/** The other way to ask than `prompt`: messages with roles. */
const Message = Schema.Struct({
  role: Schema.Literals(["system", "user", "assistant"]),
  content: RichContent
}).annotate({ identifier: "ToolMessage" })

const Input = Schema.Struct({
  model: ModelString.annotateKey({
    description:
      "A model id from `list_models`, a fallback chain of ids joined by commas, a preset as `@slug`, or `svc/auto` to let the service choose."
  }),
  prompt: Schema.optionalKey(textOf(1, 1_000_000)).annotateKey({
    description: "The question. Send this or `messages`."
  }),
  system: Schema.optionalKey(textOf(1, 1_000_000)).annotateKey({
    description: "Instructions that go before the prompt or the messages."
  }),
  messages: Schema.optionalKey(Schema.Array(Message).check(...sized(1, 100, "items"))).annotateKey({
    description: "A conversation, or a prompt with images as `image_url` parts. Send this or `prompt`."
  }),
  max_tokens: max_tokens.annotateKey({ description: "The most tokens that the answer may have." }),
  temperature: temperature.annotateKey({ description: "0 for the likeliest answer, more for varied ones." }),
  reasoning_effort: reasoning_effort.annotateKey({ description: "How much a reasoning model thinks." }),
  response_format: response_format.annotateKey({
    description: "Ask for JSON: `json_object`, or `json_schema` with a schema."
  })
})

/** An answer, or why it broke off and the part that came, which is paid for. */
type ChatOutcome = ChatResult | { readonly broken: Failure; readonly text: string }

const Output = Schema.Struct({
  text: Schema.String,
  model: ChatCompletion.fields.resolved_model,
  provider: Schema.String,
  finish_reason: FinishReason,
  usage: ChatUsage,
  ...costFields,
  balance_warning: Schema.optionalKey(BalanceWarning)
})

/** The chat request of the arguments. */
const bodyOf = ({ body }: Call): Result.Result<object, Failure> => {
  const { messages, prompt, system, ...rest } = body
  if ((prompt === undefined) === (messages === undefined)) {
    return Result.fail(invalid("prompt", "must be present if `messages` is absent, and absent otherwise"))
  }
  const first = system === undefined ? [] : [{ role: "system", content: system }]
  if (prompt !== undefined) return Result.succeed({ ...rest, messages: [...first, { role: "user", content: prompt }] })
  return Result.succeed({ ...rest, messages: Array.isArray(messages) ? [...first, ...messages] : messages })
}

/** Reads a stream to its end, and reports its progress to the client. */
const gathered = (call: Call, stream: AnswerStream): Effect.Effect<ChatOutcome> =>
  Effect.suspend(() => {
    const fold = new OutputFold()
    let last: StreamItem | undefined
    const read = stream.read((items) => {
      last = items.at(-1)
      for (const item of items) if (item._tag === "Events") for (const event of item.events) fold.push(event)
      return true
    })
    const progress = () => ({
      progress: fold.length,
      message: `${fold.length.toLocaleString("en-US")} characters so far`
    })
    return Effect.flatMap(reportWhile(call, progress, read), (): Effect.Effect<ChatOutcome> => {
      const output = fold.output()
      if (last?._tag === "Error") return Effect.succeed({ broken: last.failure, text: output.text })
      if (last?._tag !== "End") return Effect.interrupt
      // The stream has handed its content on, and only keeps how it ended.
      const answer = { ...last.answer, output: { ...output, finish: last.answer.output.finish ?? output.finish } }
      return Effect.succeed({ answer, replayed: stream.replayed })
    })
  })

/** `chat`. */
export const chatTool = Effect.gen(function* () {
  const inference = yield* Inference
  const presets = yield* Presets
  const seals = yield* ReasoningSeals
  const requestContextOf = yield* makeRequestContext
  const dialect = withMessageLimit(chatDialect, (yield* Config).maxMessages)
  const ask = Effect.fnUntraced(function* (call: Call) {
    const { exchange, idempotencyKey, maxCostUsd, principal, report } = call
    const { accountId } = principal
    const body = yield* Effect.fromResult(bodyOf(call))
    const most = maxCostUsd === undefined ? undefined : nanoFromUsd(maxCostUsd)
    const repeatable = idempotencyKey !== undefined
    const found = yield* takePaidPreset(presets, exchange, { accountId, sent: modelFieldsOf(body), repeatable })
    const read = dialect.decode(body, found.preset, false, basePolicy(principal), seals.openFor(accountId))
    const decoded = yield* Effect.fromResult(Result.mapError(read, (failed) => found.missing ?? failed))
    const chatFields = {
      ...decoded,
      stream: report !== undefined,
      ...(most === undefined ? {} : { budgetCents: centsFromNano(most) })
    }
    const requestContext = yield* Effect.fromResult(requestContextOf(call))
    const request = yield* Effect.fromResult(chatRequestOf(requestContext, found, chatFields))
    const whole: Effect.Effect<ChatOutcome, Failure> = inference.chat(request)
    if (report === undefined) return yield* whole
    return yield* Effect.flatMap(inference.chatStream(request), (stream) => gathered(call, stream))
  })
  return {
    name: "chat",
    title: "Ask a language model",
    description:
      "Send a prompt or a conversation to a language model and get its answer. Use it for a second opinion, for a task that another model does better or cheaper, or to compare models. Costs money by tokens; the result says how much.",
    input: Input,
    output: Output,
    kind: "paid",
    openWorld: true,
    like: Api.groups.chat.endpoints.chatCompletions,
    run: (call) =>
      Effect.map(
        Effect.mapError(ask(call), (failed) => withDialectNames(dialect.names, failed)),
        (asked) => {
          if ("broken" in asked) {
            return { failed: asked.broken, content: [{ type: "text", text: `What had come: ${asked.text}` }] }
          }
          const { answer, replayed } = asked
          const completion = encodeCompletion(answer)
          const { balance_warning, choices, provider, resolved_model: model, usage } = completion
          const cost = callCostOf(completion, replayed)
          const { content = "", refusal } = choices[0]?.message ?? {}
          const text = content === "" ? (refusal ?? "") : content
          const structured = {
            text,
            model,
            provider,
            usage,
            finish_reason: choices[0]?.finish_reason,
            cost_usd: cost.costUsd,
            request_id: cost.requestId,
            ...(balance_warning === undefined ? {} : { balance_warning })
          }
          return { structured, cost, content: [{ type: "text", text }] }
        }
      )
  } satisfies ToolOf
})
