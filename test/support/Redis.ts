import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { Context, Effect, Layer, Redacted } from "effect"
import { freePort } from "./FreePort.ts"
import { temporaryDirectory } from "./Directories.ts"

/** Why tests on a real Redis cannot run on this machine; undefined when they can. */
export const missing: string | undefined =
  spawnSync("redis-server", ["--version"]).status === 0
    ? undefined
    : "redis-server is not on the PATH (Debian: apt-get install redis-server)"

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

/** A redis-server for one test, on loopback, which writes nothing to disk and ends when its scope closes. */
export class RedisServer extends Context.Service<
  RedisServer,
  {
    readonly url: Redacted.Redacted
    readonly port: number
    /** Ends the server, which loses all its data. */
    readonly stop: Effect.Effect<void>
    /** Starts it again, empty, at the same port. */
    readonly start: Effect.Effect<void>
    /** Suspends the process: connections stay open, and commands get no reply. */
    readonly hang: Effect.Effect<void>
    readonly resume: Effect.Effect<void>
  }
>()("tollgate/test/RedisServer") {
  static readonly layer = Layer.effect(
    RedisServer,
    Effect.gen(function* () {
      const dir = yield* temporaryDirectory
      const port = yield* freePort
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
