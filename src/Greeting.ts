/** Tells the operator what started: readable lines on a terminal, one JSON line elsewhere. */
import { Console, Effect, Redacted, References } from "effect"
import { localOrigin } from "./Demo.ts"
import { Ops } from "./http/handlers/Ops.ts"
import { Config } from "./platform/config/Config.ts"
import { DataDirectory } from "./platform/database/DataDirectory.ts"
import { urlsOf } from "./platform/config/Variables.ts"
import { VERSION } from "./platform/config/Version.ts"

/** Describes where the database is, without the user and the password. */
const databaseOf = (url: Redacted.Redacted | undefined, directory: string): string => {
  if (url === undefined) return `embedded PostgreSQL in ${directory}`
  const urls = urlsOf(Redacted.value(url)).map((one) => new URL(one))
  const [{ pathname } = { pathname: "/" }] = urls
  return `PostgreSQL at ${urls.map(({ host }) => host).join(" or ")}${pathname === "/" ? "" : pathname}`
}

/** The facts about a start, with the names of its JSON line. */
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

/** Prints the version, the URLs and the database on a terminal. */
export const introduce = Effect.gen(function* () {
  const { log } = yield* Config
  if (log.format === "pretty") yield* Console.log(forReaders(yield* facts))
})

/**
 * Writes the last line of a start: the service is ready, or what it lacks. Every `LOG_LEVEL` includes this line, because scripts wait for
 * it.
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
