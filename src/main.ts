#!/usr/bin/env node
// Compiles schemas to functions. It must load before any schema is used.
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Console, Effect, Exit, Layer, Runtime } from "effect"
import { layerAfter } from "./App.ts"
import { firstAccount } from "./Demo.ts"
import { announce, introduce } from "./Greeting.ts"
import { Config } from "./platform/config/Config.ts"
import { settingsHelp } from "./platform/config/SettingsHelp.ts"
import { layer as telemetry, logLayer } from "./platform/telemetry/Telemetry.ts"
import { VERSION } from "./platform/config/Version.ts"

/** The width of `--help` in columns when the output is not a terminal. */
const COLUMNS = 120

const help = (): string => `tollgate ${VERSION}: a paid gateway to many hosted AI models behind one HTTP API.

Usage: npm start [-- --help | --version]

Settings come from the environment. Each is listed with one sentence and its default in brackets; docs/reference/settings.md says more.
A key or another secret may stand in a file: set its variable with the ending _FILE, such as DATABASE_URL_FILE, to the path.

${settingsHelp(process.stdout.columns ?? COLUMNS)}
`

const service = Layer.effectDiscard(announce).pipe(
  // The service becomes ready after this layer, so a client that waits for readiness finds the demo account.
  Layer.provide(layerAfter(Layer.effectDiscard(Effect.andThen(introduce, firstAccount)))),
  Layer.provide(telemetry),
  Layer.provide(logLayer),
  Layer.provide(Config.layer)
)

/** Prints the reason of a failed start in one line, without a stack trace. A bug in the program is a defect and keeps its stack trace. */
const main = Layer.launch(service).pipe(
  Effect.catch((error) =>
    Effect.andThen(
      Console.error(`tollgate cannot start: ${error.message.replaceAll(/\s*\n\s*/g, " ")}`),
      Effect.sync(() => process.exit(1))
    )
  )
)

// The program that reads the log may end before the service, as after Ctrl-C in a pipeline. Without a listener, the error event would
// end this process at once.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {})

/** Exits with code 0 when a signal stopped the service, because that is not a failure. */
const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)

const [option] = process.argv.slice(2)
if (option === undefined) NodeRuntime.runMain(main, { teardown })
else if (option === "--help" || option === "-h") process.stdout.write(help())
else if (option === "--version" || option === "-v") process.stdout.write(`tollgate ${VERSION}\n`)
else {
  process.stderr.write(`tollgate cannot start: the option must be --help or --version; got ${option}.\n`)
  process.exitCode = 1
}
