/** The MCP server as official clients and the official conformance suite see it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { createServer, request as forward } from "node:http"
import type { AddressInfo } from "node:net"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { ToolName } from "../../schemas/Mcp.ts"
import { modernClient, openSession, send, sessionClient } from "../support/Mcp.ts"
import { textOf } from "../support/Sources.ts"
import { json, startService } from "../support/Service.ts"

const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

/** Those of the suite that need no tool, resource or prompt of the suite's own. */
const SCENARIOS = [
  "server-initialize",
  "logging-set-level",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "server-sse-multiple-streams",
  "dns-rebinding-protection"
]

/** The suite sends no credentials, so a proxy adds them; it keeps every other header. */
const authorizing = (origin: string, key: string) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly url: string; readonly close: () => void }>((resolve) => {
          const { hostname, port } = new URL(origin)
          const server = createServer((incoming, outgoing) => {
            const { method, url } = incoming
            const headers = { ...incoming.headers, authorization: `Bearer ${key}` }
            const onward = forward({ hostname, port, method, path: url, headers }, (answer) => {
              outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
              answer.pipe(outgoing)
            })
            onward.on("error", () => outgoing.destroy())
            incoming.pipe(onward)
          })
          server.listen(0, "127.0.0.1", () => {
            const url = `http://localhost:${(server.address() as AddressInfo).port}/mcp`
            resolve({ url, close: () => void server.close() })
          })
        })
    ),
    ({ close }) => Effect.sync(close)
  )

const suite = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js"
)

/** Runs one scenario of the suite; answers its exit code and what it printed. */
const conformance = (url: string, scenario: string) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
        const run = spawn(process.execPath, [suite, "server", "--url", url, "--scenario", scenario])
        let output = ""
        run.stdout.on("data", (data) => (output += data))
        run.stderr.on("data", (data) => (output += data))
        run.on("close", (code) => resolve({ code, output }))
      })
  )

const NAMES: ReadonlyArray<string> = ToolName.literals

describe("the MCP server", () => {
  it.live("serves the official client of revisions with sessions", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account(12)
      const client = yield* sessionClient(origin, inferenceKey)
      assert.deepInclude(client.getServerVersion(), { name: "tollgate" })
      assert.match(client.getInstructions() ?? "", /max_cost_usd/)
      const { tools } = yield* Effect.promise(() => client.listTools())
      assert.sameMembers(
        tools.map(({ name }) => name),
        [...NAMES]
      )
      const balance = yield* Effect.promise(() => client.callTool({ name: "get_balance", arguments: {} }))
      assert.deepInclude(balance.structuredContent, { balance_usd: 12, available_usd: 12, currency: "USD" })
    }).pipe(Effect.scoped)
  )

  it.live("serves the official client of the revision without sessions", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account(12)
      const client = yield* modernClient(origin, inferenceKey)
      const { tools } = yield* Effect.promise(() => client.listTools())
      assert.sameMembers(
        tools.map(({ name }) => name),
        [...NAMES]
      )
      const balance = yield* Effect.promise(() => client.callTool({ name: "get_balance", arguments: {} }))
      assert.deepInclude(balance.structuredContent, { balance_usd: 12 })
    }).pipe(Effect.scoped)
  )

  it("is described in the guide, tool by tool", () => {
    const page = textOf("docs/guide/mcp.md")
    const described = [...page.matchAll(/^\| `(\w+)` \| .* \| (free|by \w+) \|$/gm)].map(([, name]) => name!)
    assert.sameMembers(described, [...NAMES])
  })

  it.live("speaks every revision with sessions", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      for (const revision of REVISIONS) {
        const session = yield* openSession(origin, inferenceKey, revision)
        const headers = { "mcp-session-id": session, "mcp-protocol-version": revision }
        const answer = yield* send(origin, inferenceKey, { jsonrpc: "2.0", id: 1, method: "tools/list" }, headers)
        assert.strictEqual(answer.headers.get("mcp-protocol-version"), revision)
        assert.isAtLeast((yield* json(answer)).result.tools.length, NAMES.length)
      }
    }).pipe(Effect.scoped)
  )

  it.live("shows a key its allowed tools alone, and calls no others for it", () =>
    Effect.gen(function* () {
      const { account, api, origin } = yield* startService()
      const { inferenceKey, managementKey } = yield* account()
      const client = yield* sessionClient(origin, inferenceKey)
      const names = Effect.map(
        Effect.promise(() => client.listTools()),
        ({ tools }) => tools.map(({ name }) => name)
      )
      assert.include(yield* names, "chat")
      const authorization = `Bearer ${managementKey}`
      const ask = (method: string, path: string, body?: object) =>
        Effect.promise(async () => {
          const init = { method, headers: { authorization, "content-type": "application/json" } }
          const response = await fetch(`${api}/management/keys${path}`, { ...init, body: JSON.stringify(body) ?? null })
          return { status: response.status, body: await response.json() }
        })
      const [{ id }] = (yield* ask("GET", "")).body.data
      const changed = yield* ask("PATCH", `/${id}`, { allowed_tools: ["get_balance", "list_models"] })
      assert.deepStrictEqual(changed.body.data.allowed_tools, ["get_balance", "list_models"])
      assert.sameMembers([...(yield* names)], ["get_balance", "list_models"])
      const call = (name: string) =>
        Effect.promise(() =>
          client.callTool({ name, arguments: { model: "gpt-4o-mini", prompt: "Hello!" } }).then(
            ({ isError }) => (isError === true ? "failed" : "called"),
            (error: Error) => error.message
          )
        )
      assert.match(yield* call("chat"), /not found/i)
      const balance = yield* Effect.promise(() => client.callTool({ name: "get_balance", arguments: {} }))
      assert.isUndefined(balance.isError)
      const rotated = yield* ask("POST", `/${id}/rotate`, {})
      assert.deepStrictEqual(rotated.body.data.allowed_tools, ["get_balance", "list_models"])
      const wrong = yield* ask("PATCH", `/${rotated.body.data.id}`, { allowed_tools: ["shout"] })
      assert.deepStrictEqual([wrong.status, wrong.body.error.param], [400, "allowed_tools.0"])
      const all = yield* ask("PATCH", `/${rotated.body.data.id}`, { allowed_tools: null })
      assert.isNull(all.body.data.allowed_tools)
      const made = yield* ask("POST", "", { name: "reader", allowed_tools: [] })
      const none = yield* sessionClient(origin, made.body.key)
      assert.lengthOf((yield* Effect.promise(() => none.listTools())).tools, 0)
    }).pipe(Effect.scoped)
  )

  it.live(
    "passes the applicable scenarios of the conformance suite",
    () =>
      Effect.gen(function* () {
        const { account, origin } = yield* startService()
        const { inferenceKey } = yield* account()
        const { url } = yield* authorizing(origin, inferenceKey)
        for (const scenario of SCENARIOS) {
          const { code, output } = yield* conformance(url, scenario)
          assert.strictEqual(code, 0, `${scenario}: ${output}`)
          assert.notInclude(output, "FAILURE", scenario)
        }
      }).pipe(Effect.scoped),
    120_000
  )
})
