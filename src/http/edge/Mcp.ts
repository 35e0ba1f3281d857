/** Mounts the MCP server at `/mcp`. Everything else about it is in the room `mcp`. */
import { Context, Effect } from "effect"
import { HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { MCP_PATH } from "./KnownPaths.ts"

/** The methods that `/mcp` refuses. */
export const OTHER_METHODS = ["GET", "PUT", "PATCH", "OPTIONS"] as const

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

/** What `/mcp` answers by method. */
export class McpEndpoint extends Context.Service<
  McpEndpoint,
  {
    /** Answers one message. */
    readonly post: Answer
    /** Ends a session. */
    readonly end: Answer
    /** Refuses another method. */
    readonly refused: (method: (typeof OTHER_METHODS)[number]) => Answer
  }
>()("tollgate/http/McpEndpoint") {}

/** The routes of `/mcp`. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { end, post, refused } = yield* McpEndpoint
    yield* router.add("POST", MCP_PATH, post)
    yield* router.add("DELETE", MCP_PATH, end)
    for (const method of OTHER_METHODS) yield* router.add(method, MCP_PATH, refused(method))
  })
)
