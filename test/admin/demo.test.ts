import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { freshDatabase } from "../support/Database.ts"

const program = fileURLToPath(new URL("../../src/admin/demo.ts", import.meta.url))

const demo = (env: Record<string, string>, options: ReadonlyArray<string>) =>
  Effect.callback<{ readonly code: number | null; readonly stderr: string }>((resume) => {
    const child = execFile(process.execPath, [program, ...options], { env }, (_error, _stdout, stderr) =>
      resume(Effect.succeed({ code: child.exitCode, stderr }))
    )
    return Effect.sync(() => child.kill("SIGTERM"))
  })

describe("the demo as a process", () => {
  it.live(
    "fails with one line that states why it cannot run",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase("demo")
        const short = yield* demo({ DATABASE_URL: url, SANDBOX: "on" }, ["--days=1"])
        assert.deepInclude(short, { code: 1 })
        assert.match(short.stderr, /^The demo cannot run: --days must be 2 to 90[^\n]*\n$/)
        const unknown = yield* demo({ DATABASE_URL: url, SANDBOX: "on" }, ["--dayz=3"])
        assert.deepInclude(unknown, { code: 1 })
        assert.match(unknown.stderr, /^The demo cannot run: Unknown option '--dayz'[^\n]*\n$/)
        const real = yield* demo({ DATABASE_URL: url, SANDBOX: "off", OPENAI_API_KEY: "sk-test" }, [])
        assert.deepInclude(real, { code: 1 })
        assert.match(real.stderr, /SANDBOX=on/)
      }).pipe(Effect.scoped),
    120_000
  )
})
