/**
 * Three nodes behind a load balancer, restarted one after the other under load. `npm run rolling` repeats the restarts
 * until the nodes have served 50,000 requests.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../support/FreePort.ts"
import { client, type Got } from "../http/wire.ts"
import { freshDatabase } from "../support/Database.ts"
import { missing, type Node, startHaProxy } from "../support/HaProxy.ts"
import { keysOf, start } from "../support/Process.ts"

if (missing !== undefined) process.stderr.write(`\n***** SKIPPED: rolling restarts: ${missing} ***\n\n`)

const CLIENTS = 6

/** The smallest number of requests to serve. Every node restarts at least once. */
const REQUESTS = Number(process.env["ROLLING_REQUESTS"] ?? 0)

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-rolling-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

describe.skipIf(missing !== undefined)("nodes behind HAProxy", () => {
  it.live(
    "restart one after the other without a failed request, although neither clients nor HAProxy retry",
    () =>
      Effect.gen(function* () {
        const settings = {
          DATABASE_URL: yield* freshDatabase("rolling"),
          DATA_DIR: yield* temporaryDirectory,
          SANDBOX: "on",
          SHUTDOWN_DELAY: "3 seconds"
        }
        const place = (name: string) =>
          Effect.map(Effect.all([freePort, freePort]), ([port, opsPort]) => ({ name, port, opsPort }))
        const nodes = [yield* place("one"), yield* place("two"), yield* place("three")]
        const launch = ({ opsPort, port }: Node) =>
          start({ ...settings, PORT: String(port), OPS_PORT: String(opsPort) })
        const outer = yield* Effect.scope
        const running = new Map<string, Scope.Closeable>()
        const begin = Effect.fnUntraced(function* (node: Node) {
          const scope = yield* Scope.fork(outer)
          running.set(node.name, scope)
          return yield* Scope.provide(launch(node), scope)
        })
        const { greeting } = yield* begin(nodes[0]!)
        yield* begin(nodes[1]!)
        yield* begin(nodes[2]!)
        const key = keysOf(greeting).inference
        const origin = yield* startHaProxy(nodes)

        const failures: Array<Got> = []
        const served = new Map<string, number>()
        const run = { over: false }
        const user = Effect.fnUntraced(function* (at: number) {
          const send = yield* client(origin)
          const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
          const body = JSON.stringify({
            model: "gpt-4o-mini",
            max_tokens: 10,
            stream: at % 2 === 0,
            messages: [{ role: "user", content: "hello" }]
          })
          while (!run.over) {
            const got = yield* send({ method: "POST", path: "/api/v1/chat/completions", headers, body })
            const node = got.headers["x-node"] ?? "none"
            if (got.status === 200 && (at % 2 === 1 || got.text.includes("[DONE]"))) {
              served.set(node, (served.get(node) ?? 0) + 1)
            } else failures.push(got)
            yield* Effect.sleep("5 millis")
          }
        })
        /** Waits until this node has served new requests. */
        const serves = ({ name }: Node) =>
          Effect.suspend(() => {
            const before = served.get(name) ?? 0
            return Effect.repeat(Effect.sleep("20 millis"), { until: () => (served.get(name) ?? 0) > before + CLIENTS })
          })
        const users = yield* Effect.forkChild(
          Effect.all(
            Array.from({ length: CLIENTS }, (_, at) => user(at)),
            { concurrency: CLIENTS }
          )
        )
        const total = () => [...served.values()].reduce((sum, count) => sum + count, 0)
        let rounds = 0
        do {
          rounds += 1
          for (const node of nodes) {
            yield* Effect.all(nodes.map(serves))
            yield* Scope.close(running.get(node.name)!, Exit.void)
            yield* begin(node)
          }
        } while (total() < REQUESTS)
        yield* Effect.all(nodes.map(serves))
        run.over = true
        yield* Fiber.join(users)
        if (REQUESTS > 0) console.log(`rolled ${rounds} times: ${total()} requests served, ${failures.length} failed`)
        assert.deepStrictEqual(failures, [])
      }).pipe(Effect.scoped),
    240_000 + REQUESTS * 50
  )
})
