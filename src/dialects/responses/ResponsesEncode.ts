/** Encodes a paid answer as OpenAI's response object. */
import type { ErrorBody } from "../../../schemas/Errors.ts"
import type {
  ResponseBegun,
  ResponseObject,
  ResponsesOutputItem,
  ResponsesUsage
} from "../../../schemas/inference/ResponsesAnswer.ts"
import { type Nano, usdFromNano } from "../../domain/Money.ts"
import { type FinishReason, type Output, outputPieces } from "../../domain/Output.ts"
import { promptTokens, type TokenUsage, totalTokens } from "../../domain/Usage.ts"
import type { Answer } from "../../domain/Answer.ts"
import type { StreamOpening } from "../StreamEncoder.ts"
import { itemId, outputText, reasoningItem } from "./ItemParts.ts"
import { callItemOf } from "./ResponsesCalls.ts"
import type { ItemStatus } from "./ResponsesItems.ts"
import type { Echo } from "./ResponsesDecode.ts"

/** Why an answer is incomplete; null for a complete one. */
const incompleteOf = (finish: FinishReason | undefined): ResponseObject["incomplete_details"] => {
  if (finish === "length") return { reason: "max_output_tokens" }
  return finish === "content_filter" ? { reason: "content_filter" } : null
}

const usageOf = (usage: TokenUsage): typeof ResponsesUsage.Type => ({
  input_tokens: promptTokens(usage),
  input_tokens_details: { cached_tokens: usage.cached, cache_creation_tokens: usage.cacheWrite },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: totalTokens(usage)
})

/** The items of a complete answer. When the answer was cut short, its last item has this status. */
export type Items = (lastStatus: ItemStatus) => ReadonlyArray<ResponsesOutputItem>

/** The items in order. A refusal is part of the message that it ends. */
const itemsOf =
  (output: Output, requestId: string, { encryptsReasoning = false, toolForms: forms }: Echo): Items =>
  (lastStatus) => {
    const items: Array<ResponsesOutputItem> = []
    const head = <T extends "message" | "reasoning">(type: T) => ({
      id: itemId(type, requestId, items.length),
      type,
      status: "completed" as const
    })
    for (const one of outputPieces(output)) {
      const last = items.at(-1)
      if (one.kind === "tool") items.push(callItemOf(one.call, forms, requestId, items.length))
      else if (one.kind === "reasoning") {
        const seal = encryptsReasoning ? one.seal : undefined
        if (one.text !== "" || seal !== undefined) items.push(reasoningItem(head("reasoning"), one.text, seal))
      } else if (last?.type === "message") {
        items[items.length - 1] = { ...last, content: [...last.content, outputText(one.text)] }
      } else items.push({ ...head("message"), role: "assistant", content: [outputText(one.text)] })
    }
    return items.map((item, index) => (index === items.length - 1 ? { ...item, status: lastStatus } : item))
  }

const textOf = (items: ReadonlyArray<ResponsesOutputItem>): string =>
  items.flatMap((item) => (item.type === "message" ? item.content.map((part) => part.text) : [])).join("")

/** The facts that an answer has from its start. */
const startFieldsOf = (
  { created, model, requestId }: Pick<StreamOpening, "created" | "model" | "requestId">,
  echo: Echo
) =>
  ({
    id: `resp_${requestId.slice(4)}`,
    object: "response",
    created_at: created,
    error: null,
    instructions: echo.instructions,
    max_output_tokens: echo.maxOutputTokens,
    model,
    parallel_tool_calls: echo.parallelToolCalls,
    previous_response_id: null,
    store: false,
    request_id: requestId,
    metadata: echo.metadata
  }) as const

/** The object at the start of a stream. */
export const encodeBegun = (opening: StreamOpening, echo: Echo): ResponseBegun => ({
  ...startFieldsOf(opening, echo),
  status: "in_progress",
  incomplete_details: null,
  output: [],
  output_text: "",
  usage: null,
  cost_usd: null,
  provider: null,
  routing: null
})

/** The object of a failed stream. */
export const encodeFailed = (
  opening: StreamOpening,
  echo: Echo,
  { code, message }: ErrorBody["error"],
  cost: Nano | undefined
) => ({
  ...encodeBegun(opening, echo),
  cost_usd: cost === undefined ? null : usdFromNano(cost),
  status: "failed" as const,
  error: { code, message }
})

/** A complete answer. `itemsWith` provides the items of a stream in their order. */
export const encodeResponse = (
  answer: Answer,
  echo: Echo,
  itemsWith: Items = itemsOf(answer.output, answer.requestId, echo)
): ResponseObject => {
  const incomplete = incompleteOf(answer.output.finish)
  const status = incomplete === null ? "completed" : "incomplete"
  const output = itemsWith(status)
  return {
    ...startFieldsOf(answer, echo),
    status,
    incomplete_details: incomplete,
    output,
    output_text: textOf(output),
    usage: usageOf(answer.usage),
    cost_usd: usdFromNano(answer.cost),
    provider: answer.provider,
    routing: answer.routing
  }
}

/** Headers for facts of a complete answer that the closed object cannot contain. */
export const headersOf = ({ balanceWarning }: Answer): Readonly<Record<string, string>> =>
  balanceWarning === undefined ? {} : { "x-balance-warning": balanceWarning }
