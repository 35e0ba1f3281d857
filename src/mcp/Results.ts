/** The results of tool calls: the tool's answer, or why it failed. */
import { McpSchema } from "effect/ai"
import type { Failure } from "../domain/Failure.ts"
import { formatUsd } from "../domain/Money.ts"
import { bodyOf, headersOf } from "../http/Failures.ts"
import type { ToolResult, Content } from "./Tool.ts"

/** The part of the message for an unknown model that names an endpoint, and the same with the tool of MCP clients. */
const MODELS_ENDPOINT = "GET /models lists"
const MODELS_TOOL = "`list_models` lists"

/** The argument that a failure is about, by the name that tools give it. */
const argumentNames: Readonly<Record<string, string>> = {
  budget_cents: "max_cost_usd",
  "Idempotency-Key": "idempotency_key"
}

/** The result of a call that succeeded. `_meta` has its cost and request too, for clients that do not know the tool. */
export const resultOf = ({ content, cost, structured }: ToolResult): McpSchema.CallToolResult => {
  const meta =
    cost === undefined
      ? undefined
      : {
          request_id: cost.requestId,
          cost_usd: cost.costUsd,
          ...(cost.replayed ? { idempotency_replayed: true } : {})
        }
  return new McpSchema.CallToolResult({
    content: content ?? [{ type: "text", text: JSON.stringify(structured) }],
    structuredContent: structured,
    ...(meta === undefined ? {} : { _meta: meta })
  })
}

/** The result of a call that failed: the API's error, and whether the same call may succeed later. */
export const failedResultOf = (
  failed: Failure,
  requestId: string,
  content: ReadonlyArray<Content> = []
): McpSchema.CallToolResult => {
  const { error, ...more } = bodyOf(failed)
  const headers = headersOf(failed)
  const retry = headers["x-should-retry"] === "true"
  const seconds = headers["retry-after"]
  const param = error.param === null ? null : (argumentNames[error.param] ?? error.param)
  const advice = retry
    ? ` You may repeat the call${seconds === undefined ? "" : ` in ${seconds} s`}.`
    : " Do not repeat the call unchanged."
  const { reason } = failed
  const message =
    reason._tag === "NoModelInBudget"
      ? `This call may cost ${formatUsd(reason.least)} at the least, which is more than \`max_cost_usd\`.`
      : error.message.replace(MODELS_ENDPOINT, MODELS_TOOL)
  const text = `${error.code}: ${message.replace(/\.?$/, ".")}${advice}`
  return new McpSchema.CallToolResult({
    isError: true,
    content: [{ type: "text", text }, ...content],
    // Clients check structured content against the schema of results, even of failed calls.
    _meta: {
      request_id: requestId,
      retry,
      ...(seconds === undefined ? {} : { retry_after_seconds: Number(seconds) }),
      error: { ...error, message, param },
      ...more
    }
  })
}
