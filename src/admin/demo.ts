#!/usr/bin/env node
// Fills the sandbox's demo account with a month of requests: `npm run demo`.
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer } from "effect"
import { parseArgs } from "node:util"
import { shiftClock } from "./demo/ShiftedClock.ts"
import { checkOptions, DemoError, runDemo } from "./demo/Run.ts"
import { layer } from "../App.ts"
import { originAt } from "../Demo.ts"
import { Config } from "../platform/config/Config.ts"
import { layer as telemetry, logLayer } from "../platform/telemetry/Telemetry.ts"

shiftClock()

/** The settings of the service, on ports of the system's choice and without limits that the demo's pace would meet. */
const settings = Layer.effect(
  Config,
  Effect.map(Config, (config) => ({
    ...config,
    http: { ...config.http, host: "127.0.0.1", port: 0 },
    ops: { host: "127.0.0.1", port: 0 },
    rateLimitScale: 10_000,
    // The demo receives its own webhooks.
    outbound: { ...config.outbound, allowLoopback: true },
    log: { ...config.log, level: "Error" as const }
  }))
).pipe(Layer.provide(Config.layer))

/** The options of the command line, as numbers. */
const options = Effect.try({
  try: () => {
    const { values } = parseArgs({
      options: {
        days: { type: "string", default: "30" },
        requests: { type: "string", default: "3000" },
        seed: { type: "string", default: "1" }
      }
    })
    return { days: Number(values.days), requests: Number(values.requests), seed: Number(values.seed) }
  },
  catch: (error) => new DemoError({ message: error instanceof Error ? error.message : String(error) })
})

const origin = Effect.map(Config, ({ http }) => originAt(http.host, http.port)).pipe(Effect.provide(Config.layer))

const services = layer.pipe(Layer.provideMerge(telemetry), Layer.provideMerge(logLayer), Layer.provideMerge(settings))

const main = options.pipe(
  Effect.tap(checkOptions),
  Effect.bind("origin", () => origin),
  Effect.flatMap((all) => Effect.provide(runDemo(all), services)),
  Effect.catch((error) =>
    Effect.andThen(
      Console.error(`The demo cannot run: ${error.message.replaceAll(/\s*\n\s*/g, " ")}`),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  )
)

NodeRuntime.runMain(main)
