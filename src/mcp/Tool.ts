/** A tool of the MCP server: its description for a model, and the service behind it. */
import { type Effect, Schema } from "effect"
import type { McpSchema } from "effect/ai"
import type { HttpApiEndpoint } from "effect/http-api"
import { between, textOf } from "../../schemas/Bounds.ts"
import type { McpToolName } from "../../schemas/Mcp.ts"
import type { Failure } from "../domain/Failure.ts"
import type { McpCall } from "./McpCall.ts"

/** One piece of a result, for a model or its user to read. */
export type Content = typeof McpSchema.ContentBlock.Type

/** Reports the progress of a call to the client. */
export type Report = (progress: number, message: string, total?: number) => Effect.Effect<void>

/** A call of a tool that passed the checks. */
export interface Call extends McpCall {
  /** The id of the request that the call makes. */
  readonly requestId: string
  /** The name of its operation on the receipt, such as `mcp.chat`. */
  readonly operation: string
  /** Its arguments without those about money. */
  readonly body: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string | undefined
  /** The most that the call may cost, in US dollars. */
  readonly maxCostUsd: number | undefined
  /** Absent when the client does not want progress reports. */
  readonly report: Report | undefined
}

/** The cost of a paid call. */
export interface CallCost {
  readonly requestId: string
  readonly costUsd: number
  /** Whether an earlier call with the same idempotency key paid for it. */
  readonly replayed: boolean
}

/** What a tool answers. */
export interface ToolResult {
  readonly structured: object
  /** The JSON of `structured` when absent. */
  readonly content?: ReadonlyArray<Content>
  readonly cost?: CallCost
}

/** Why a tool failed, and the part of its answer that exists anyway. */
export interface PartialResult {
  readonly failed: Failure
  readonly content: ReadonlyArray<Content>
}

export type ToolAnswer = ToolResult | PartialResult

/** The effects of a tool's calls, besides their answers. */
export type Kind =
  /** Changes nothing and costs nothing. */
  | "read"
  /** Is paid for. */
  | "paid"

/** A tool. */
export interface ToolOf {
  readonly name: McpToolName
  readonly title: string
  readonly description: string
  readonly input: Schema.Top
  readonly output: Schema.Top
  readonly kind: Kind
  /** Whether it calls others than this service: providers, or the web. */
  readonly openWorld: boolean
  /** The operation of the API that does the same; a call counts against its limit. */
  readonly like: HttpApiEndpoint.Top
  readonly run: (call: Call) => Effect.Effect<ToolAnswer, Failure>
}

/** The arguments that paid tools have besides those of their operation. */
export const moneyFields = {
  idempotency_key: Schema.optionalKey(textOf(1, 255)).annotateKey({
    description:
      "Repeat a call with the same key and arguments and you get the first answer again, charged once. Use a new key for new work."
  }),
  max_cost_usd: Schema.optionalKey(between(0, 10_000_000)).annotateKey({
    description:
      "The most this call may cost, in US dollars. A call that could cost more fails before it spends anything."
  })
}

/** The members that the result of every paid tool has. */
export const costFields = {
  cost_usd: Schema.Finite,
  request_id: Schema.String
}
