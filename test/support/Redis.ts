import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer, Redacted } from "effect"

/** Why tests on a real Redis cannot run on this machine; undefined when they can. */
export const missing: string | undefined =
  spawnSync("redis-server", ["--version"]).status === 0
    ? undefined
    : "redis-server is not on the PATH (Debian: apt-get install redis-server)"

/** Says on standard error, past any capture by the test runner, that the Redis half of a suite is not run. */
export const announceSkip = (suite: string): void => {
  if (missing === undefined) return
  process.stderr.write(`\n*** SKIPPED: the Redis half of ${suite} is not run: ${missing} ***\n\n`)
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("no port")
  return address.port
}

const launch = async (port: number, dir: string): Promise<ChildProcess> => {
  const options = { port, bind: "127.0.0.1", dir, daemonize: "no", appendonly: "no", maxmemory: "64mb" }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`])
  const child = spawn("redis-server", [...args, "--save", ""], { stdio: ["ignore", "pipe", "inherit"] })
  const { stdout } = child
  let said = ""
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("exit", (code) => reject(new Error(`redis-server ended with ${code} before it was ready:\n${said}`)))
    stdout.setEncoding("utf8").on("data", (text: string) => {
      if (said.includes("Ready to accept connections")) return
      said += text
      if (said.includes("Ready to accept connections")) resolve(child)
    })
  })
}

const kill = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}

/** A redis-server of the test's own, on loopback, with nothing written to disk. Ends with its scope. */
export class RedisServer extends Context.Service<
  RedisServer,
  {
    readonly url: Redacted.Redacted
    readonly port: number
    /** Ends the server with everything in it. */
    readonly stop: Effect.Effect<void>
    /** Starts it again, empty, on the same port. */
    readonly start: Effect.Effect<void>
    /** The process hangs: connections stay open and nothing is answered. */
    readonly hang: Effect.Effect<void>
    readonly resume: Effect.Effect<void>
  }
>()("tollgate/test/RedisServer") {
  static readonly layer = Layer.effect(
    RedisServer,
    Effect.gen(function* () {
      const dir = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-redis-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const port = yield* Effect.promise(freePort)
      let child: ChildProcess | undefined
      // A test run that ends without closing its scopes leaves no server behind.
      const sweep = () => child?.kill("SIGKILL")
      process.once("exit", sweep)
      const start = Effect.promise(async () => {
        child = await launch(port, dir)
      })
      const stop = Effect.promise(async () => {
        if (child !== undefined) await kill(child)
      })
      yield* Effect.acquireRelease(start, () =>
        Effect.andThen(
          stop,
          Effect.sync(() => process.off("exit", sweep))
        )
      )
      const signal = (name: NodeJS.Signals) => Effect.sync(() => void child?.kill(name))
      const url = Redacted.make(`redis://127.0.0.1:${port}`)
      return { url, port, stop, start, hang: signal("SIGSTOP"), resume: signal("SIGCONT") }
    })
  )
}
