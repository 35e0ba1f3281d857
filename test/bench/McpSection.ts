/** The time of a tool call beside the same request of the API, in sequence on one connection. */
import { Effect } from "effect"
import { Agent, request } from "node:http"
import { type Failures, rotate, type Samples } from "./Measure.ts"
import { atMost, milliseconds, type Row } from "./Report.ts"
import type { Target, Testbed } from "./Testbed.ts"
import { MODEL } from "./Traffic.ts"

/** A tool call may take a tenth longer than the same request of the API. */
const MAX_RATIO = 1.1
const MAX_LIST_MS = 5

interface Side {
  readonly name: "chat by the API" | "chat by the tool" | "tools/list"
  readonly path: string
  readonly body: object
  /** Text in every complete answer. */
  readonly has: string
}

const REVISION = "2025-06-18"

const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params })
const messages = [{ role: "user", content: "Hello!" }]

const sides: ReadonlyArray<Side> = [
  {
    name: "chat by the API",
    path: "/api/v1/chat/completions",
    body: { model: MODEL, messages, max_tokens: 64 },
    has: '"cost_usd":'
  },
  {
    name: "chat by the tool",
    path: "/mcp",
    body: rpc("tools/call", { name: "chat", arguments: { model: MODEL, messages, max_tokens: 64 } }),
    has: '"cost_usd":'
  },
  { name: "tools/list", path: "/mcp", body: rpc("tools/list", {}), has: '"estimate_cost"' }
]

interface Answer {
  readonly ms: number
  readonly session: string | undefined
  readonly wrong: string | undefined
}

const initialize = {
  path: "/mcp",
  body: rpc("initialize", {
    protocolVersion: REVISION,
    capabilities: {},
    clientInfo: { name: "bench", version: "1" }
  }),
  has: '"serverInfo"'
}

const measureRequest = (
  agent: Agent,
  { endpoint: { key, port } }: Target,
  { body, has, path }: Pick<Side, "body" | "has" | "path">,
  session?: string
) =>
  Effect.callback<Answer>((resume) => {
    const began = performance.now()
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session === undefined ? {} : { "mcp-protocol-version": REVISION, "mcp-session-id": session })
    }
    const sent = request({ agent, host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
      const pieces: Array<Buffer> = []
      response.on("data", (piece: Buffer) => pieces.push(piece))
      response.on("end", () => {
        const text = Buffer.concat(pieces).toString()
        const whole = response.statusCode === 200 && text.includes(has)
        const wrong = whole ? undefined : `${response.statusCode}: ${text.slice(0, 200)}`
        const opened = response.headers["mcp-session-id"]
        resume(
          Effect.succeed({
            ms: performance.now() - began,
            session: typeof opened === "string" ? opened : undefined,
            wrong
          })
        )
      })
    })
    sent.on("error", ({ message }) => resume(Effect.succeed({ ms: 0, session: undefined, wrong: message })))
    sent.end(JSON.stringify(body))
  })

export const mcp = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const gateway = yield* testbed.freshGateway({})
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
    (open) => Effect.sync(() => open.destroy())
  )
  const { session } = yield* measureRequest(agent, gateway, initialize)
  const turn = (side: Side, seconds: number, counts: boolean) =>
    Effect.gen(function* () {
      const until = performance.now() + seconds * 1_000
      let [completed, failed, example] = [0, 0, ""]
      do {
        const { ms, wrong } = yield* measureRequest(agent, gateway, side, session)
        if (wrong === undefined) completed += 1
        else [failed, example] = [failed + 1, wrong]
        if (counts) samples.add(`mcp, ${side.name}`, ms)
      } while (performance.now() < until)
      failures.add(`mcp, ${side.name}`, { completed, failed, example })
    })
  for (const side of sides) yield* turn(side, Math.min(10, testbed.options.warmSeconds), false)
  yield* rotate("mcp", testbed.options.rounds, sides, (side) => turn(side, testbed.options.seconds, true))
  const of = (name: Side["name"]) => samples.median(`mcp, ${name}`)
  const ratio = of("chat by the tool") / of("chat by the API")
  return [
    {
      label: "A paid call of the tool chat, beside POST /chat/completions",
      baseline: milliseconds(of("chat by the API")),
      gateway: milliseconds(of("chat by the tool")),
      ratio,
      must: atMost(ratio, MAX_RATIO, " ×")
    },
    {
      label: "tools/list",
      gateway: milliseconds(of("tools/list")),
      must: atMost(of("tools/list"), MAX_LIST_MS, " ms")
    }
  ] satisfies ReadonlyArray<Row>
}, Effect.scoped)
