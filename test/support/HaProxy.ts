import { Effect, Schedule } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "./FreePort.ts"
import { temporaryDirectory } from "./Directories.ts"

/** Debian puts it where only root looks for programs. */
const program = ["haproxy", "/usr/sbin/haproxy"].find((path) => spawnSync(path, ["-v"]).status === 0)

/** Why tests behind HAProxy cannot run on this machine; undefined when they can. */
export const missing: string | undefined =
  program === undefined ? "haproxy is not installed (Debian: apt-get install haproxy)" : undefined

/** A node behind the load balancer, with the port of its `/readyz`. */
export interface Node {
  readonly name: string
  readonly port: number
  readonly opsPort: number
}

/** As in `deploy/haproxy.cfg`: HAProxy repeats only requests that have not reached a node. */
const redispatching = ["  retries 2", "  retry-on conn-failure", "  option redispatch"]

/** The path of HAProxy's own statistics. */
const STATS = "/haproxy"

/** Keeps connections open on both sides, and names the node that answered in `x-node`. */
const configuration = (port: number, nodes: ReadonlyArray<Node>, retries: ReadonlyArray<string>) =>
  [
    "defaults",
    "  mode http",
    "  timeout connect 5s",
    "  timeout client 60s",
    "  timeout server 60s",
    // Without it, a check fails unless it ends before the next one, which a busy machine may not manage.
    "  timeout check 5s",
    ...retries,
    "frontend public",
    `  bind 127.0.0.1:${port}`,
    `  stats uri ${STATS}`,
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
 * Runs HAProxy before these nodes until the scope closes, and returns its origin once every node has been checked. With `redispatches`, it repeats requests that reached
 * no node.
 */
export const startHaProxy = Effect.fnUntraced(function* (nodes: ReadonlyArray<Node>, redispatches = false) {
  const directory = yield* temporaryDirectory
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
  // HAProxy takes a node for healthy until its first check, whose status is INI before it ends.
  const checked = Effect.tryPromise(async () => {
    const stats = await fetch(`${origin}${STATS};csv`).then((response) => response.text())
    const [header = [], ...rows] = stats.split("\n").map((line) => line.split(","))
    const statuses = rows
      .filter(([backend, server]) => backend === "nodes" && nodes.some(({ name }) => name === server))
      .map((row) => row[header.indexOf("check_status")])
    if (statuses.length < nodes.length || statuses.includes("INI")) throw new Error(`checks: ${statuses.join()}`)
  })
  yield* Effect.retry(checked, Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))).pipe(
    Effect.orDie
  )
  return origin
})
