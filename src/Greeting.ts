/** What a start tells its operator: lines to read on a terminal, one JSON line elsewhere. */
import { Console, Effect, Redacted, References } from "effect"
import { localOrigin } from "./Demo.ts"
import { Ops } from "./http/handlers/Ops.ts"
import { Config } from "./platform/config/Config.ts"
import { DataDirectory } from "./platform/database/DataDirectory.ts"
import { urlsOf } from "./platform/config/Variables.ts"
import { VERSION } from "./platform/config/Version.ts"

/** Where the database is, without a user or a password. */
const databaseOf = (url: Redacted.Redacted | undefined, directory: string): string => {
  if (url === undefined) return `embedded PostgreSQL in ${directory}`
  const urls = urlsOf(Redacted.value(url)).map((one) => new URL(one))
  const [{ pathname } = { pathname: "/" }] = urls
  return `PostgreSQL at ${urls.map(({ host }) => host).join(" or ")}${pathname === "/" ? "" : pathname}`
}

/** The facts of a start, by the names that its JSON line gives them. */
const facts = Effect.gen(function* () {
  const { database, sandbox } = yield* Config
  const { path } = yield* DataDirectory
  const { host, port } = yield* Ops
  const origin = yield* localOrigin
  return {
    version: VERSION,
    api: `${origin}/api/v1`,
    console: `${origin}/`,
    docs: `${origin}/docs`,
    mcp: `${origin}/mcp`,
    ops: `http://${host}:${port}`,
    database: databaseOf(database.url, path),
    sandbox
  }
})

const forReaders = (readerFacts: Effect.Success<typeof facts>): string => {
  const { api, database, docs, mcp, ops, sandbox, version } = readerFacts
  const rows = [
    ["API", api],
    ["MCP", mcp],
    ["Console", readerFacts.console],
    ["Docs", docs],
    ["Ops", `${ops} (/healthz, /readyz, /metrics)`],
    ["Database", database],
    ...(sandbox ? [["Sandbox", "on: providers without a key are simulated, and so is the money"]] : [])
  ]
  return ["", `tollgate ${version}`, "", ...rows.map(([name = "", what]) => `  ${name.padEnd(10)}${what}`)].join("\n")
}

/** Prints on a terminal what this start is and where it is found. */
export const introduce = Effect.gen(function* () {
  const { log } = yield* Config
  if (log.format === "pretty") yield* Console.log(forReaders(yield* facts))
})

/**
 * Says in the last line of a start that the service is ready, or what it lacks. Scripts wait for this line, so it is written at every
 * `LOG_LEVEL`.
 */
export const announce = Effect.gen(function* () {
  const { log } = yield* Config
  const { missing } = yield* Ops
  const found = yield* facts
  const lacks = missing()
  const ready = lacks.length === 0
  const line = ready
    ? `tollgate is ready at ${found.api}`
    : `tollgate is not ready at ${found.api}: ${lacks.join("; ")}`
  if (log.format === "pretty") return yield* Console.log(`\n${line}`)
  yield* (ready ? Effect.logInfo(line) : Effect.logWarning(line)).pipe(
    Effect.annotateLogs(found),
    Effect.provideService(References.MinimumLogLevel, "All")
  )
})
