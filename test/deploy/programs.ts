/** Runs Debian's balancers with the recipes of `deploy/`. */
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../support/FreePort.ts"
import { textOf } from "../support/Sources.ts"

/** Where a node listens on this machine. */
export interface Listening {
  readonly port: number
  readonly opsPort: number
}

/** The recipe of a balancer, and the command of Debian's program for it. */
export interface Balancer {
  readonly name: string
  readonly recipe: string
  /** The recipe with this machine's address in place of the public one and its certificate. */
  readonly local: (recipe: string, port: number, directory: string) => string
  /**
   * The local recipe with a line on standard output for each request: `REQ`, the node (`<NOSRV>` or `-` when no node received the request), the status, and the request line.
   */
  readonly logged?: (local: string) => string
  readonly commands: ReadonlyArray<string>
  readonly args: (file: string, directory: string) => ReadonlyArray<string>
}

export const balancers: ReadonlyArray<Balancer> = [
  {
    name: "HAProxy",
    recipe: "deploy/haproxy.cfg",
    local: (recipe, port) => recipe.replace("bind :443 ssl crt /etc/haproxy/certs/", `bind 127.0.0.1:${port}`),
    logged: (local) =>
      local.replace(
        "frontend public\n",
        'frontend public\n  log stdout format raw local0\n  log-format "REQ %s %ST %{+Q}r"\n'
      ),
    commands: ["haproxy", "/usr/sbin/haproxy"],
    args: (file) => ["-db", "-f", file]
  },
  {
    name: "nginx",
    recipe: "deploy/nginx.conf",
    local: (recipe, port, directory) =>
      [
        // As root it would give its work to a user who cannot read the directory.
        "daemon off; master_process off; error_log /dev/null;",
        `pid ${directory}/pid;`,
        "events {}",
        `http { access_log off; client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;`,
        `fastcgi_temp_path ${directory}/a; uwsgi_temp_path ${directory}/b; scgi_temp_path ${directory}/c;`,
        recipe.replace("listen 443 ssl;", `listen 127.0.0.1:${port};`).replaceAll(/^ *ssl_certificate.*\n/gm, ""),
        "}"
      ].join("\n"),
    logged: (local) =>
      local.replace(
        "http { access_log off;",
        "http { log_format seen 'REQ $upstream_addr $status \"$request\"'; access_log /dev/stdout seen;"
      ),
    commands: ["nginx", "/usr/sbin/nginx"],
    args: (file, directory) => ["-p", directory, "-c", file]
  },
  {
    name: "Caddy",
    recipe: "deploy/Caddyfile",
    local: (recipe, port) => `{\n\tadmin off\n}\n${recipe.replace("ai.example.com", `http://127.0.0.1:${port}`)}`,
    commands: ["caddy"],
    args: (file) => ["run", "--config", file, "--adapter", "caddyfile"]
  }
]

/** Where the program is; undefined when it is not installed. Each of them knows one of these words. */
export const programOf = ({ commands }: Balancer): string | undefined =>
  commands.find((path) => ["-v", "version"].some((word) => spawnSync(path, [word]).status === 0))

const answers = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("connect", () => resume(Effect.succeed(true)))
    socket.on("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => socket.destroy())
  })

/**
 * Runs a balancer with its recipe until the scope closes; its origin. The recipe's nodes become these, the last of them for all that are
 * left, and all are checked at one ops port, as the recipes have it. `onLine` takes the lines of its log.
 */
export const startBalancer = Effect.fnUntraced(function* (
  balancer: Balancer,
  nodes: readonly [Listening, ...ReadonlyArray<Listening>],
  log?: string
) {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-balancer-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const port = yield* freePort
  const file = join(directory, "recipe")
  const recipe = [11, 12, 13].reduce(
    (text, host, at) => text.replaceAll(`10.0.0.${host}:8787`, `127.0.0.1:${(nodes[at] ?? nodes.at(-1)!).port}`),
    textOf(balancer.recipe).replace("9464", String(nodes[0].opsPort))
  )
  const local = balancer.local(recipe, port, directory)
  writeFileSync(file, log === undefined ? local : balancer.logged!(local))
  const env = { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory }
  const output: Array<string> = []
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const started = spawn(programOf(balancer)!, balancer.args(file, directory), {
        env,
        stdio: ["ignore", log === undefined ? "pipe" : openSync(log, "a"), "pipe"]
      })
      for (const stream of [started.stdout, started.stderr])
        stream?.on("data", (text) => void output.push(String(text)))
      return started
    }),
    (started) =>
      Effect.promise(async () => {
        if (started.exitCode !== null) return
        started.kill("SIGKILL")
        await once(started, "exit")
      })
  )
  yield* Effect.repeat(Effect.andThen(Effect.sleep("50 millis"), answers(port)), {
    until: (up) => up || child.exitCode !== null
  })
  if (child.exitCode !== null) throw new Error(`${balancer.name} did not start: ${output.join("")}`)
  return `http://127.0.0.1:${port}`
})
