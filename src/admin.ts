#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { run } from "./admin/Commands.ts"

const main = run(process.argv.slice(2)).pipe(
  Effect.map((code) => {
    if (code !== 0) process.exitCode = code
  }),
  Effect.provide(NodeServices.layer)
)

// A key is shown only once, so the operator must learn when the output failed. EPIPE is no failure: the reader, such as `head`, has read
// enough.
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") return
  process.exitCode = 1
  process.stderr.write(`error: The result could not be written (${code}); the command has taken effect\n`)
})
process.stderr.on("error", () => {})

NodeRuntime.runMain(main)
