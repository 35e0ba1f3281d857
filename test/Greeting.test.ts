import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { NetAddress } from "effect/net"
import { HttpServer } from "effect/http"
import { announce, introduce } from "../src/Greeting.ts"
import { Ops } from "../src/http/handlers/Ops.ts"
import { Config } from "../src/platform/config/Config.ts"
import { DataDirectory } from "../src/platform/database/DataDirectory.ts"
import { logLayer } from "../src/platform/telemetry/Telemetry.ts"
import { VERSION } from "../src/platform/config/Version.ts"

const ops = (missing: ReadonlyArray<string>) =>
  Layer.succeed(Ops, Ops.of({ host: "127.0.0.1", port: 9464, say: () => {}, needs: () => {}, missing: () => missing }))

const server = Layer.succeed(
  HttpServer.HttpServer,
  HttpServer.make({
    address: NetAddress.inetAddressFromIpStringUnsafe("0.0.0.0", 8787),
    serve: () => Effect.void
  })
)

/** Returns what a start with these settings prints. */
const printed = (settings: Record<string, string>, missing: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const captured: Console.Console = Object.assign(Object.create(globalThis.console), {
      log: (line: string) => void lines.push(line)
    })
    yield* Effect.andThen(introduce, announce).pipe(
      Effect.provide(
        Layer.mergeAll(logLayer, server, ops(missing), Layer.succeed(DataDirectory, { path: "/data" })).pipe(
          Layer.provideMerge(Config.layerFrom(settings))
        )
      ),
      Effect.provideService(Console.Console, captured)
    )
    return lines.join("\n")
  })

const api = "http://127.0.0.1:8787/api/v1"

describe("a start", () => {
  it.effect("prints aligned lines in the pretty format, and the line that it is ready last", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* printed({ LOG_FORMAT: "pretty", SANDBOX: "on" })).split("\n"), [
        "",
        `tollgate ${VERSION}`,
        "",
        `  API       ${api}`,
        "  MCP       http://127.0.0.1:8787/mcp",
        "  Console   http://127.0.0.1:8787/",
        "  Docs      http://127.0.0.1:8787/docs",
        "  Ops       http://127.0.0.1:9464 (/healthz, /readyz, /metrics)",
        "  Database  embedded PostgreSQL in /data",
        "  Sandbox   on: providers without a key are simulated, and so is the money",
        "",
        `tollgate is ready at ${api}`
      ])
    })
  )

  it.effect("prints one line with all facts in the JSON format, at every log level", () =>
    Effect.gen(function* () {
      for (const level of ["info", "warn", "none"]) {
        const text = yield* printed({ LOG_FORMAT: "json", LOG_LEVEL: level, SANDBOX: "on" })
        assert.deepInclude(JSON.parse(text), {
          level: "INFO",
          message: `tollgate is ready at ${api}`,
          version: VERSION,
          api,
          console: "http://127.0.0.1:8787/",
          docs: "http://127.0.0.1:8787/docs",
          mcp: "http://127.0.0.1:8787/mcp",
          ops: "http://127.0.0.1:9464",
          database: "embedded PostgreSQL in /data",
          sandbox: true
        })
      }
    })
  )

  it.effect("prints the host of the database without its user and password", () =>
    Effect.gen(function* () {
      const settings = { DATABASE_URL: "postgres://ann:hunter2@db.internal:6432/money?sslmode=require" }
      for (const format of ["json", "pretty"]) {
        const text = yield* printed({ ...settings, LOG_FORMAT: format })
        assert.include(text, "PostgreSQL at db.internal:6432/money")
        assert.notMatch(text, /ann|hunter2|sslmode|Sandbox/)
      }
    })
  )

  it.effect("prints what is missing instead of the line that it is ready", () =>
    Effect.gen(function* () {
      const line = `tollgate is not ready at ${api}: no model can be served`
      const pretty = yield* printed({ LOG_FORMAT: "pretty" }, ["no model can be served"])
      assert.strictEqual(pretty.split("\n").at(-1), line)
      const json = JSON.parse(yield* printed({ LOG_FORMAT: "json" }, ["no model can be served"]))
      assert.deepStrictEqual([json.level, json.message], ["WARN", line])
    })
  )
})
