/** Registers tools with the MCP server: how it lists each, and how it runs a call. */
import { Cause, Context, Effect, Schema } from "effect"
import { McpSchema, McpServer } from "effect/ai"
import { decoder, objectOf } from "../dialects/Decode.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { MAX_PROBLEMS, NOT_AN_OBJECT, UNKNOWN } from "../domain/SchemaProblems.ts"
import { factsOf, makeCounter } from "../http/edge/Access.ts"
import { logFailure, markFailedResponse } from "../http/Failures.ts"
import { type McpCall, mcpCall } from "./McpCall.ts"
import { newRequestId } from "../platform/Ids.ts"
import { inputSchemaOf, outputSchemaOf } from "./JsonSchemas.ts"
import { failedResultOf, resultOf } from "./Results.ts"
import { type Call, type Content, moneyFields, type Report, type ToolOf } from "./Tool.ts"

const decodeMoney = decoder(Schema.Struct(moneyFields), { strict: false })

const withMoney = ({ input, kind }: ToolOf): Schema.Top =>
  kind === "paid" ? Schema.Struct({ ...(input as Schema.Struct<Schema.Struct.Fields>).fields, ...moneyFields }) : input

/** The listing of a tool for clients. */
const toolOf = (tool: ToolOf): McpSchema.Tool =>
  new McpSchema.Tool({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: inputSchemaOf(withMoney(tool)),
    outputSchema: outputSchemaOf(tool.output),
    annotations: {
      title: tool.title,
      readOnlyHint: tool.kind === "read",
      destructiveHint: false,
      // A paid tool charges again without an idempotency key.
      idempotentHint: tool.kind === "read",
      openWorldHint: tool.openWorld
    }
  })

/** Several calls may come in one HTTP request; the first has its id. */
const requestIds = () => {
  const taken = new WeakSet<object>()
  return ({ exchange }: McpCall): string => {
    if (taken.has(exchange)) return newRequestId()
    taken.add(exchange)
    return exchange.requestId
  }
}

/** Reports the progress of a call to a client that asks for it. */
const makeReport = Effect.gen(function* () {
  const { notifications } = yield* McpServer.McpServer
  return Effect.map(McpSchema.McpRequestContext, ({ requestMetadata }): Report | undefined => {
    const token = objectOf(requestMetadata)?.["progressToken"]
    if (typeof token !== "string" && typeof token !== "number") return undefined
    return (progress, message, total) =>
      Effect.ignore(
        notifications["notifications/progress"]({
          progressToken: token,
          progress,
          message,
          ...(total === undefined ? {} : { total })
        })
      )
  })
})

/** Fails for arguments that the tool does not have. */
const makeArgumentCheck = (tool: ToolOf) => {
  const names = new Set(Object.keys((inputSchemaOf(withMoney(tool))["properties"] ?? {}) as object))
  return (body: Readonly<Record<string, unknown>>): Effect.Effect<void, Failure> => {
    const others = Object.keys(body).filter((name) => !names.has(name))
    const [first, ...more] = others.slice(0, MAX_PROBLEMS).map((field) => ({ field, message: UNKNOWN }))
    return first === undefined
      ? Effect.void
      : Effect.fail(failure({ _tag: "ValidationError", problems: [first, ...more] }))
  }
}

/** The call of a tool, from the client's message. */
const callOf = (
  { kind, name }: ToolOf,
  base: McpCall,
  requestId: string,
  report: Report | undefined,
  payload: unknown
): Effect.Effect<Call, Failure> => {
  const body = payload === undefined ? {} : objectOf(payload)
  if (body === undefined) return Effect.fail(invalid("arguments", NOT_AN_OBJECT))
  const call = { ...base, requestId, operation: `mcp.${name}`, report }
  if (kind === "read") return Effect.succeed({ ...call, body, idempotencyKey: undefined, maxCostUsd: undefined })
  const { idempotency_key: _, max_cost_usd: __, ...rest } = body
  return Effect.map(Effect.fromResult(decodeMoney(body)), (money) => ({
    ...call,
    body: rest,
    idempotencyKey: money.idempotency_key,
    maxCostUsd: money.max_cost_usd
  }))
}

/** Registers these tools with the server. */
export const registerTools = (tools: ReadonlyArray<ToolOf>) =>
  Effect.gen(function* () {
    const server = yield* McpServer.McpServer
    const { count } = yield* makeCounter
    const reporting = yield* makeReport
    const idOf = requestIds()

    const answer = (tool: ToolOf, checked: ReturnType<typeof makeArgumentCheck>, payload: unknown) =>
      Effect.gen(function* () {
        const present = yield* mcpCall
        const report = yield* reporting
        const requestId = idOf(present)
        const { exchange, principal } = present
        if (exchange.line !== undefined) exchange.line.route = `mcp ${tool.name}`
        const ran = Effect.andThen(
          count(exchange, principal, factsOf(tool.like).limit),
          Effect.flatMap(callOf(tool, present, requestId, report, payload), (call) =>
            Effect.andThen(checked(call.body), tool.run(call))
          )
        )
        const fail = (failed: Failure, content: ReadonlyArray<Content> = []) => {
          markFailedResponse(failed, exchange)
          return Effect.as(logFailure(failed, exchange), failedResultOf(failed, requestId, content))
        }
        return yield* Effect.matchCauseEffect(ran, {
          onSuccess: (answered) =>
            "failed" in answered ? fail(answered.failed, answered.content) : Effect.succeed(resultOf(answered)),
          onFailure: (cause) => {
            const failed = cause.reasons.find(Cause.isFailReason)?.error
            if (failed !== undefined) return fail(failed)
            return Cause.hasInterrupts(cause)
              ? Effect.failCause(cause as Cause.Cause<never>)
              : fail(failure({ _tag: "InternalError" }, cause))
          }
        })
      })

    yield* Effect.forEach(
      tools,
      (tool) => {
        const checked = makeArgumentCheck(tool)
        return server.addTool({
          tool: toolOf(tool),
          annotations: Context.empty(),
          handle: (payload) => answer(tool, checked, payload)
        })
      },
      { discard: true }
    )
  })
