/** The MCP server as official clients and the official conformance suite see it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer, request as forward } from "node:http"
import type { AddressInfo } from "node:net"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { McpToolName } from "../../schemas/Mcp.ts"
import { modernClient, openSession, send, sessionClient } from "../support/Mcp.ts"
import { textOf } from "../support/Sources.ts"
import { json, startService } from "../support/Service.ts"

const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]

const fixture = (what: string) => `calls ${what}, which servers offer only for the suite`
const tool = (name: string) => fixture(`the tool \`${name}\``)
const resource = (uri: string) => fixture(`the resource \`${uri}\``)
const prompt = (name: string) => fixture(`the prompt \`${name}\``)

/** Every server scenario of the suite: "run", or the reason why it does not apply. */
const SCENARIOS: Readonly<Record<string, "run" | string>> = {
  "server-initialize": "run",
  "logging-set-level": "run",
  ping: "run",
  "tools-list": "run",
  "resources-list": "run",
  "prompts-list": "run",
  "server-sse-multiple-streams": "run",
  "dns-rebinding-protection": "run",
  "server-sse-polling": `${tool("test_reconnection")}; the server has no GET stream to poll, and the scenario then checks nothing`,
  "completion-complete": prompt("test_prompt_with_arguments"),
  "tools-call-simple-text": tool("test_simple_text"),
  "tools-call-image": tool("test_image_content"),
  "tools-call-audio": tool("test_audio_content"),
  "tools-call-embedded-resource": tool("test_embedded_resource"),
  "tools-call-mixed-content": tool("test_multiple_content_types"),
  "tools-call-with-logging": tool("test_tool_with_logging"),
  "tools-call-error": tool("test_error_handling"),
  "tools-call-with-progress": tool("test_tool_with_progress"),
  "tools-call-sampling": `${tool("test_sampling")}; no tool of the server asks the client's model`,
  "tools-call-elicitation": `${tool("test_elicitation")}; no tool of the server asks the client's user`,
  "elicitation-sep1034-defaults": tool("test_elicitation_sep1034_defaults"),
  "elicitation-sep1330-enums": tool("test_elicitation_sep1330_enums"),
  "json-schema-2020-12": tool("json_schema_2020_12_tool"),
  "resources-read-text": resource("test://static-text"),
  "resources-read-binary": resource("test://static-binary"),
  "resources-templates-read": resource("test://template/123/data"),
  "resources-subscribe": `${resource("test://watched-resource")}; no resource of the server changes while it runs`,
  "resources-unsubscribe": resource("test://watched-resource"),
  "prompts-get-simple": prompt("test_simple_prompt"),
  "prompts-get-with-args": prompt("test_prompt_with_arguments"),
  "prompts-get-embedded-resource": prompt("test_prompt_with_embedded_resource"),
  "prompts-get-with-image": prompt("test_prompt_with_image")
}

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

/** Runs a command of the suite. Returns its exit code and its output. */
const conformance = (...args: ReadonlyArray<string>) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
        const run = spawn(process.execPath, [suite, ...args])
        let output = ""
        run.stdout.on("data", (data) => (output += data))
        run.stderr.on("data", (data) => (output += data))
        run.on("close", (code) => resolve({ code, output }))
      })
  )

const NAMES: ReadonlyArray<string> = McpToolName.literals

describe("the MCP server", () => {
  it.live("serves the official client of protocol revisions with sessions", () =>
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

  it.live("serves the official client of the protocol revision without sessions", () =>
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

  it("has every tool in the table of the guide", () => {
    const page = textOf("docs/guide/mcp.md")
    const described = [...page.matchAll(/^\| `(\w+)` \| .* \| (free|by \w+) \|$/gm)].map(([, name]) => name!)
    assert.sameMembers(described, [...NAMES])
  })

  it.live("supports every protocol revision with sessions", () =>
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

  it.live("lists and calls only the tools that the key allows", () =>
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
      assert.include(yield* call("chat"), "There is no tool chat.")
      const balance = yield* Effect.promise(() => client.callTool({ name: "get_balance", arguments: {} }))
      assert.isUndefined(balance.isError)
      const rotated = yield* ask("POST", `/${id}/rotate`, {})
      assert.deepStrictEqual(rotated.body.data.allowed_tools, ["get_balance", "list_models"])
      const wrong = yield* ask("PATCH", `/${rotated.body.data.id}`, { allowed_tools: ["shout"] })
      assert.deepStrictEqual([wrong.status, wrong.body.error.param], [400, "allowed_tools[0]"])
      const all = yield* ask("PATCH", `/${rotated.body.data.id}`, { allowed_tools: null })
      assert.isNull(all.body.data.allowed_tools)
      const made = yield* ask("POST", "", { name: "reader", allowed_tools: [] })
      const none = yield* sessionClient(origin, made.body.key)
      assert.lengthOf((yield* Effect.promise(() => none.listTools())).tools, 0)
    }).pipe(Effect.scoped)
  )

  it.live("has a decision about every server scenario of the conformance suite", () =>
    Effect.gen(function* () {
      const { output } = yield* conformance("list")
      const [, servers = ""] = /Server scenarios[^\n]*\n([^]*?)\n\n/.exec(output) ?? []
      const listed = [...servers.matchAll(/^ +- (\S+)/gm)].map(([, name]) => name!)
      assert.sameMembers(Object.keys(SCENARIOS), listed)
      // A fixture that the suite no longer names would hide a scenario that applies.
      const text = readFileSync(suite, "utf8")
      for (const [scenario, reason] of Object.entries(SCENARIOS)) {
        const [, name] = /`([^`]+)`/.exec(reason) ?? []
        if (name !== undefined) assert.include(text, name, scenario)
      }
    })
  )

  it.live(
    "passes the applicable scenarios of the conformance suite",
    () =>
      Effect.gen(function* () {
        const { account, origin } = yield* startService()
        const { inferenceKey } = yield* account()
        const { url } = yield* authorizing(origin, inferenceKey)
        for (const [scenario, does] of Object.entries(SCENARIOS)) {
          if (does !== "run") continue
          const { code, output } = yield* conformance("server", "--url", url, "--scenario", scenario)
          assert.strictEqual(code, 0, `${scenario}: ${output}`)
          assert.notInclude(output, "FAILURE", scenario)
          assert.match(output, /Passed: [1-9]/, scenario)
        }
      }).pipe(Effect.scoped),
    120_000
  )
})
