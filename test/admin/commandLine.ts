/** Runs command lines in this process, on their own database. */
import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { ConfigProvider, Console, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { run } from "../../src/admin/Commands.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"

export interface Said {
  readonly code: number
  readonly stdout: ReadonlyArray<string>
  readonly stderr: ReadonlyArray<string>
}

/** Runs one command line in this process, with only these settings. */
export const commandWith = (env: Record<string, string>, line: string): Effect.Effect<Said> =>
  Effect.suspend(() => {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    const captured: Console.Console = Object.assign(Object.create(globalThis.console), {
      log: (...parts: ReadonlyArray<unknown>) => void stdout.push(parts.join(" ")),
      error: (...parts: ReadonlyArray<unknown>) => void stderr.push(parts.join(" "))
    })
    return run(line.split(" ").filter((word) => word !== "")).pipe(
      Effect.map((code) => ({ code, stdout, stderr })),
      Effect.provideService(Console.Console, captured),
      Effect.provide([ConfigProvider.layer(ConfigProvider.fromEnv({ env })), NodeServices.layer])
    )
  })

export const setUp = Effect.gen(function* () {
  const url = yield* freshDatabase("admin")
  const command = (line: string) => commandWith({ DATABASE_URL: url, LOG_FORMAT: "json" }, line)
  return {
    url,
    command,
    /** The JSON object that a successful command prints, and nothing else. */
    json: (line: string) =>
      Effect.map(command(`${line} --json`), ({ code, stderr, stdout }) => {
        assert.deepStrictEqual([code, stderr, stdout.length], [0, [], 1], `${line}: ${stderr.join("\n")}`)
        assert.notInclude(stdout[0]!, "\n")
        return JSON.parse(stdout[0]!)
      }),
    query: <A extends object>(text: string) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<A>(text)).pipe(Effect.provide(layerUrl(url, 2)))
  }
})

/** Everything that the commands can change. */
export const state = `SELECT (SELECT jsonb_agg(a ORDER BY id) FROM account a) AS accounts,
  (SELECT jsonb_agg(b ORDER BY account_id) FROM balance b) AS balances,
  (SELECT jsonb_agg(k ORDER BY id) FROM api_key k) AS keys,
  (SELECT jsonb_agg(e ORDER BY id) FROM audit_event e) AS events,
  (SELECT count(*) FROM transfer) AS transfers`
