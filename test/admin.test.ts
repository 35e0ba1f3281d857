import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawn } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { freshDatabase } from "./support/Database.ts"

const program = fileURLToPath(new URL("../src/admin.ts", import.meta.url))

const admin = (env: Record<string, string>, line: string) =>
  Effect.callback<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resume) => {
    const child = execFile(process.execPath, [program, ...line.split(" ")], { env }, (_error, stdout, stderr) =>
      resume(Effect.succeed({ code: child.exitCode, stdout, stderr }))
    )
    return Effect.sync(() => child.kill("SIGTERM"))
  })

describe("the command line as a process", () => {
  it.live("prints its result on standard output and errors on standard error, and exits with 0 or 1", () =>
    Effect.gen(function* () {
      const env = { DATABASE_URL: yield* freshDatabase("admin"), LOG_LEVEL: "all" }
      const made = yield* admin(env, "account create --email ann@example.com --balance-usd 1 --json")
      assert.strictEqual(made.code, 0, made.stderr)
      assert.match(made.stdout, /^\{[^\n]*\}\n$/)
      assert.strictEqual(JSON.parse(made.stdout).email, "ann@example.com")
      const refused = yield* admin(env, "--json topup --email ann@example.com --amount-usd -1")
      assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
      assert.match(refused.stderr, /^error: [^\n]*--amount-usd[^\n]*\n$/)
    }).pipe(Effect.scoped)
  )

  it.live("fails when its result cannot be written, as on a full disk, but not when its reader stops reading", () =>
    Effect.gen(function* () {
      const env = { DATABASE_URL: yield* freshDatabase("admin"), LOG_LEVEL: "none" }
      const into = (stdio: number | "pipe") =>
        Effect.callback<{ readonly code: number | null; readonly said: string }>((resume) => {
          const child = spawn(process.execPath, [program, "ledger", "verify"], {
            env,
            stdio: ["ignore", stdio, "pipe"]
          })
          let said = ""
          child.stderr?.on("data", (chunk) => (said += String(chunk)))
          child.stdout?.destroy()
          child.once("close", (code) => resume(Effect.succeed({ code, said })))
        })
      const full = openSync("/dev/full", "w")
      yield* Effect.addFinalizer(() => Effect.sync(() => closeSync(full)))
      const lost = yield* into(full)
      assert.deepStrictEqual([lost.code, /^error: [^\n]*ENOSPC[^\n]*\n$/.test(lost.said)], [1, true], lost.said)
      assert.deepStrictEqual(yield* into("pipe"), { code: 0, said: "" })
    }).pipe(Effect.scoped)
  )
})
