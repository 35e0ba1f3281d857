#!/usr/bin/env node
// Compiles schemas to functions; it must be loaded before the first of them is used.
import "effect/schema/SchemaJITCompiler/enable"
import { NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Effect, Exit, Layer, Runtime } from "effect"
import { layerAfter } from "./App.ts"
import { firstAccount, localOrigin } from "./Demo.ts"
import { Ops } from "./http/Ops.ts"
import { Config } from "./platform/Config.ts"
import { layer as telemetry, logging } from "./platform/Telemetry.ts"

const HELP = `tollgate: a paid gateway to many hosted AI models behind one HTTP API.

Usage: npm start

Settings come from the environment; README.md lists them. The most used:
  PORT          public port (8787)
  DATA_DIR      where the embedded PostgreSQL and files live (.data)
  DATABASE_URL  a PostgreSQL of your own, 15 or later, instead of the embedded one
  REDIS_URL     shares rate limits and cached answers between nodes
  SANDBOX       auto, on or off: simulated providers
`

const announce = Effect.gen(function* () {
  const { sandbox } = yield* Config
  const origin = yield* localOrigin
  const { host, missing, port } = yield* Ops
  yield* Console.log(`/healthz, /readyz and /metrics are at http://${host}:${port}`)
  const lacks = missing()
  if (lacks.length > 0) {
    yield* Effect.logWarning(`Not ready: ${lacks.join("; ")}`)
    return yield* Console.log(`tollgate is not ready at ${origin}/api/v1: ${lacks.join("; ")}`)
  }
  yield* Console.log(`tollgate is ready at ${origin}/api/v1${sandbox ? " (sandbox: providers are simulated)" : ""}`)
})

const service = Layer.effectDiscard(announce).pipe(
  // Who waits until the service is ready finds the demo account there.
  Layer.provide(layerAfter(Layer.effectDiscard(firstAccount))),
  Layer.provide(telemetry),
  Layer.provide(logging),
  Layer.provide(Config.layer)
)

/** A start that cannot be is said in one line, not in a stack trace. Mistakes of the program are defects and keep theirs. */
const main = Layer.launch(service).pipe(
  Effect.catch((error) =>
    Effect.andThen(
      Console.error(`tollgate cannot start: ${error.message.replaceAll(/\s*\n\s*/g, " ")}`),
      Effect.sync(() => process.exit(1))
    )
  )
)

// Who takes the log may go before the service does, as with Ctrl-C in front of a pipe. An error that nobody listens for ends the
// process where it stands.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {})

/** To stop when told to, having finished what was under way, is no failure. */
const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)

if (process.argv.includes("--help") || process.argv.includes("-h")) process.stdout.write(HELP)
else NodeRuntime.runMain(main, { teardown })
