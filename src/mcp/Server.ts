/** The MCP server: its tools, served in every revision of the protocol. */
import { Effect, Layer } from "effect"
import { McpProtocol, McpServer } from "effect/ai"
import { McpEndpoint } from "../http/edge/Mcp.ts"
import { MCP_PATH } from "../http/edge/KnownPaths.ts"
import { accountTools } from "./Account.ts"
import { catalogueTools } from "./Catalogue.ts"
import { chatTool } from "./Chat.ts"
import { mediaTools } from "./Media.ts"
import { registerResources } from "./Resources.ts"
import { retrievalTools } from "./Retrieval.ts"
import { registerPrompts } from "./Prompts.ts"
import { registerTools } from "./Registration.ts"
import { handlersOf, makeEndpoint } from "./Endpoint.ts"
import { mcpCall } from "./McpCall.ts"
import type { ToolOf } from "./Tool.ts"

const tools = Effect.map(
  Effect.all([catalogueTools, Effect.map(chatTool, (chat) => [chat]), mediaTools, retrievalTools, accountTools]),
  (rooms): ReadonlyArray<ToolOf> => rooms.flat()
)

/** The revisions with sessions, the newest first, which a client with an unknown revision is offered. */
const withSessions = [
  McpProtocol.v2025_11_25,
  McpProtocol.v2025_06_18,
  McpProtocol.v2025_03_26,
  McpProtocol.v2024_11_05
] as const

/** Hides the tools that a key may not call. */
const allowedTools = McpServer.visibility(
  ({ method, target }) =>
    method === "tools/list" || method === "tools/call"
      ? Effect.map(mcpCall, ({ principal }) => principal.allowedTools?.includes(target) ?? true)
      : Effect.succeed(true),
  { global: true }
)

const INSTRUCTIONS = [
  "A paid gateway to many AI models. Tools that call a model cost money from the account's prepaid balance, and every result says what it cost.",
  "Choose a model with `list_models`. Before expensive work, call `estimate_cost`, and set `max_cost_usd`.",
  "Send an `idempotency_key` with paid calls, so that a repeated call is charged once."
].join(" ")

const serverOf = (all: ReadonlyArray<ToolOf>) =>
  McpServer.layerHttp({
    name: "tollgate",
    version: "1.0.0",
    instructions: INSTRUCTIONS,
    path: MCP_PATH,
    protocols: [McpProtocol.v2026_07_28, ...withSessions],
    allowSessionTermination: true,
    // The lists of a running service never change.
    allowSubscriptions: false,
    registrations: Layer.effectDiscard(Effect.all([registerTools(all), registerResources, registerPrompts])).pipe(
      Layer.provideMerge(allowedTools)
    )
  })

/** What the HTTP room serves at `/mcp`. */
export const layer = Layer.effect(
  McpEndpoint,
  Effect.gen(function* () {
    const all = yield* tools
    const paid = new Map<string, boolean>(all.map(({ kind, name }) => [name, kind === "paid"]))
    return yield* makeEndpoint({
      ...(yield* handlersOf(serverOf(all))),
      isPaid: (name) => paid.get(name),
      revisions: new Set<string>(withSessions.map(({ protocolVersion }) => protocolVersion))
    })
  })
)
