import { Effect, Schedule } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../crash/Ports.ts"

/** Debian puts it where only root looks for programs. */
const program = ["haproxy", "/usr/sbin/haproxy"].find((path) => spawnSync(path, ["-v"]).status === 0)

/** Why tests behind HAProxy cannot run on this machine; undefined when they can. */
export const missing: string | undefined =
  program === undefined ? "haproxy is not installed (Debian: apt-get install haproxy)" : undefined

/** A node behind the load balancer, and where it says whether it is ready. */
export interface Node {
  readonly name: string
  readonly port: number
  readonly opsPort: number
}

/** As `deploy/haproxy.cfg` has it: a request is sent again only where it has not reached a node. */
const redispatching = ["  retries 2", "  retry-on conn-failure", "  option redispatch"]

/** Keeps connections on both sides, and says by `x-node` which node answered. */
const configuration = (port: number, nodes: ReadonlyArray<Node>, retries: ReadonlyArray<string>) =>
  [
    "defaults",
    "  mode http",
    "  timeout connect 5s",
    "  timeout client 60s",
    "  timeout server 60s",
    // Without it a check has to be answered before the next one, which a busy machine may not manage.
    "  timeout check 5s",
    ...retries,
    "frontend public",
    `  bind 127.0.0.1:${port}`,
    "  default_backend nodes",
    "backend nodes",
    "  balance roundrobin",
    "  http-reuse always",
    "  option httpchk GET /readyz",
    "  http-response set-header x-node %s",
    ...nodes.map(
      (node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.opsPort} inter 200ms fall 3 rise 1`
    ),
    ""
  ].join("\n")

/**
 * Runs HAProxy before these nodes until the scope closes; its origin. It sends no request twice, unless it is to send those again
 * that reached no node.
 */
export const startHaProxy = Effect.fnUntraced(function* (nodes: ReadonlyArray<Node>, redispatches = false) {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-haproxy-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const port = yield* freePort
  const file = join(directory, "haproxy.cfg")
  writeFileSync(file, configuration(port, nodes, redispatches ? redispatching : ["  retries 0"]))
  yield* Effect.acquireRelease(
    Effect.sync(() => spawn(program!, ["-db", "-f", file], { stdio: "ignore" })),
    (child) =>
      Effect.promise(async () => {
        if (child.exitCode !== null) return
        child.kill("SIGKILL")
        await once(child, "exit")
      })
  )
  const origin = `http://127.0.0.1:${port}`
  // Any answer will do.
  yield* Effect.retry(
    Effect.tryPromise(() => fetch(origin)),
    Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))
  ).pipe(Effect.orDie)
  return origin
})
