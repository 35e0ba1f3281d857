#!/usr/bin/env node
// Compiles schemas to functions; it must be loaded before the first of them is used.
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

/** Columns of help that goes to no terminal. */
const COLUMNS = 120

const help = (): string => `tollgate ${VERSION}: a paid gateway to many hosted AI models behind one HTTP API.

Usage: npm start [-- --help | --version]

Settings come from the environment. Each is listed with one sentence and its default in brackets; docs/reference/settings.md says more.
A key or another secret may stand in a file: set its variable with the ending _FILE, such as DATABASE_URL_FILE, to the path.

${settingsHelp(process.stdout.columns ?? COLUMNS)}
`

const service = Layer.effectDiscard(announce).pipe(
  // A client that waits until the service is ready finds the demo account there.
  Layer.provide(layerAfter(Layer.effectDiscard(Effect.andThen(introduce, firstAccount)))),
  Layer.provide(telemetry),
  Layer.provide(logLayer),
  Layer.provide(Config.layer)
)

/** Tells why a start fails in one line, without a stack trace. Mistakes of the program are defects and keep theirs. */
const main = Layer.launch(service).pipe(
  Effect.catch((error) =>
    Effect.andThen(
      Console.error(`tollgate cannot start: ${error.message.replaceAll(/\s*\n\s*/g, " ")}`),
      Effect.sync(() => process.exit(1))
    )
  )
)

// The reader of the log may go before the service does, as with Ctrl-C in front of a pipe. An error without a listener ends the
// process where it stands.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {})

/** A stop on request, after running work is finished, is no failure. */
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
