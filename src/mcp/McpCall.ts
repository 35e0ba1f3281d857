import { Context, Effect } from "effect"
import type { Principal } from "../../schemas/Access.ts"
import type { Exchange } from "../http/edge/Exchange.ts"

/** What a tool knows of the request that calls it. */
export interface McpCall {
  readonly principal: Principal
  readonly exchange: Exchange
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** Where the server finds it while it answers. */
export const PresentCall = Context.Service<McpCall>("tollgate/http/McpCall")

/** The request that the running tool is called by. */
export const mcpCall: Effect.Effect<McpCall> = Effect.withFiberSucceed(({ context }) =>
  Context.getUnsafe(context, PresentCall)
)
