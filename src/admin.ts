#!/usr/bin/env node
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { run } from "./admin/Commands.ts"

const main = run(process.argv.slice(2)).pipe(
  Effect.map((code) => {
    process.exitCode = code
  }),
  Effect.provide(NodeServices.layer)
)

NodeRuntime.runMain(main)
