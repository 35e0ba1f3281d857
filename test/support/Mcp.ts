/** Clients of the MCP server, and raw messages of its protocol. */
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect } from "effect"

const self = { name: "test", version: "1.0.0" }

/** The official client of the revisions with sessions, with this key. It closes with the scope. */
export const sessionClient = (origin: string, key: string, headers: Record<string, string> = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client(self)
      const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } }
      const transport = new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit })
      await client.connect(transport as Parameters<typeof client.connect>[0])
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

/** The official client of the newest revision, which has no sessions. It closes with the scope. */
export const modernClient = (origin: string, key: string, headers: Record<string, string> = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new ModernClient(self, { versionNegotiation: { mode: "auto" } })
      const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } }
      await client.connect(new ModernTransport(new URL(`${origin}/mcp`), { requestInit }))
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

/** The headers of every message. */
export const rpcHeaders = { "content-type": "application/json", accept: "application/json, text/event-stream" }

/** Sends a raw message. */
export const send = (
  origin: string,
  key: string | undefined,
  message: unknown,
  headers: Record<string, string> = {}
): Effect.Effect<Response> =>
  Effect.promise(() =>
    fetch(`${origin}/mcp`, {
      method: "POST",
      headers: { ...rpcHeaders, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
      body: typeof message === "string" ? message : JSON.stringify(message)
    })
  )

/** Opens a session of a revision with a raw message, and returns its id. */
export const openSession = (origin: string, key: string, protocolVersion = "2025-11-25") =>
  Effect.map(
    send(origin, key, {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion, capabilities: {}, clientInfo: self }
    }),
    (response) => response.headers.get("mcp-session-id") ?? ""
  )

/** The message that calls a tool. */
export const callOf = (name: string, args: object, id: number = 1, meta?: object) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) }
})
