#!/usr/bin/env node
/** The long run: kills and restarts under load, then the audit. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { parseArgs } from "node:util"
import { run, type RunOptions } from "./Run.ts"
import { summaryOf } from "./Summary.ts"

const HELP = `Kills gateways and restarts their database under load, and proves that the books come out right.

Usage: npm run crash -- [options]

  --seed N       replays what a run of this seed asked and broke (random)
  --kills N      SIGKILLs of gateways in all (200)
  --restarts N   restarts of the database (one for ten kills)
  --gateways N   processes on one database (2)
  --clients N    clients at work at one time (8)
  --minutes M    begins no further fault after so long (15)

Prints a summary in Markdown; exits with 1 when a promise was broken.
`

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    kills: { type: "string" },
    restarts: { type: "string" },
    gateways: { type: "string" },
    clients: { type: "string" },
    minutes: { type: "string" },
    help: { type: "boolean" }
  }
})

const number = (text: string | undefined, otherwise: number): number => {
  const value = text === undefined ? otherwise : Number(text)
  if (!(value >= 0)) throw new Error(`not a number: ${text}`)
  return value
}

const kills = number(values.kills, 200)

const options: RunOptions = {
  seed: number(values.seed, Math.floor(Math.random() * 2 ** 31)),
  kills,
  restarts: number(values.restarts, Math.ceil(kills / 10)),
  gateways: number(values.gateways, 2),
  clients: number(values.clients, 8),
  minutes: number(values.minutes, 15),
  say: (line) => process.stderr.write(`${line}\n`)
}

const program = Effect.gen(function* () {
  options.say?.(`seed ${options.seed}`)
  const report = yield* run(options)
  process.stdout.write(summaryOf(report))
  process.exitCode = report.violations.length === 0 ? 0 : 1
}).pipe(Effect.scoped)

if (values.help === true) process.stdout.write(HELP)
else NodeRuntime.runMain(program)
