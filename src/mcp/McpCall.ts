import { Context, Effect } from "effect"
import type { Principal } from "../../schemas/Access.ts"
import type { Exchange } from "../http/edge/Exchange.ts"

/** The facts about a request that its tool gets. */
export interface McpCall {
  readonly principal: Principal
  readonly exchange: Exchange
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** The reference in which the server finds them while it answers. */
export const PresentCall = Context.Service<McpCall>("tollgate/http/McpCall")

/** The request that called the running tool. */
export const mcpCall: Effect.Effect<McpCall> = Effect.withFiberSucceed(({ context }) =>
  Context.getUnsafe(context, PresentCall)
)
