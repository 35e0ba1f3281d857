#!/usr/bin/env node
/** The command `npm run crash`: one run of load, faults and audit, or rounds of runs with new seeds. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Random } from "../ledger/Random.ts"
import { COMPILE_CACHE } from "../support/CompileCache.ts"
import { audit } from "./Audit.ts"
import { readEvidence, writeEvidence } from "./EvidenceFile.ts"
import { type Counts, type Kind, kinds, NO_FAULTS, ROUND_COUNTS, supportedCounts } from "./Faults.ts"
import { type Report, run, type RunOptions } from "./Run.ts"
import { requestsOf, roundLine, summaryOf } from "./Summary.ts"

const HELP = `Breaks gateways and their database under load, then checks that every promise about money held.

Usage: npm run crash -- [options]

  --seed N         repeats the requests and faults of the run with this seed (random)
  --kills N        SIGKILLs of gateways in all (200 if no other fault is named)
  --restarts N     restarts of the database (one for ten kills)
  --pauses N       suspends a gateway by SIGSTOP for a while
  --deploys N      stops a gateway by SIGTERM and starts it again
  --partitions N   cuts a gateway off from the database, with its connections open
  --steps N        steps a gateway's wall clock (needs libfaketime)
  --fills N        fills the database's disk for a while (needs root)
  --slows N        slows the database's disk down for a while (needs strace)
  --failovers N    fails the database over to its standby (needs PostgreSQL 15)
  --gateways N     gateways on one database (2)
  --clients N      concurrent clients (8)
  --within S       longest time between two faults of one target, in seconds (2.5)
  --minutes M      starts no fault after this time (15)

  --hour           runs an hour of every fault, in rounds of new seeds
  --for M          the same for M minutes
  --requests N     ends after the round that reaches N requests in all

  --evidence FILE  where to write the evidence of a broken promise (a file in the system's temporary directory)
  --audit FILE     audits an evidence file again, without a run

Prints a summary in Markdown, or a line for each round. Exits with 1 when a promise was broken.
`

const numeric = [...kinds, "seed", "gateways", "clients", "within", "minutes", "for", "requests"] as const

const { values } = parseArgs({
  options: {
    ...(Object.fromEntries(numeric.map((name) => [name, { type: "string" }])) as Record<
      (typeof numeric)[number],
      { type: "string" }
    >),
    evidence: { type: "string" },
    audit: { type: "string" },
    hour: { type: "boolean" },
    help: { type: "boolean" }
  }
})

const number = (name: (typeof numeric)[number], byDefault: number): number => {
  const text = values[name]
  const value = text === undefined ? byDefault : Number(text)
  if (!(value >= 0)) throw new Error(`--${name} must be a number of at least 0; got ${text}.`)
  return value
}

/** The time for rounds, in minutes; undefined for a single run. */
const forMinutes = values.for === undefined ? (values.hour === true ? 60 : undefined) : number("for", 0)

const countsFrom = (defaults: Counts): Counts =>
  Object.fromEntries(kinds.map((kind: Kind) => [kind, number(kind, defaults[kind])])) as Counts

const counts = (): Counts => {
  if (forMinutes !== undefined) return countsFrom(ROUND_COUNTS)
  if (kinds.some((kind) => kind !== "kills" && kind !== "restarts" && values[kind] !== undefined)) {
    return countsFrom(NO_FAULTS)
  }
  const kills = number("kills", 200)
  return { ...NO_FAULTS, kills, restarts: number("restarts", Math.ceil(kills / 10)) }
}

const options: RunOptions = {
  seed: number("seed", Math.floor(Math.random() * 2 ** 31)),
  counts: supportedCounts(counts()),
  gateways: number("gateways", 2),
  clients: number("clients", forMinutes === undefined ? 8 : 48),
  withinMs: number("within", forMinutes === undefined ? 2.5 : 12) * 1000,
  minutes: number("minutes", forMinutes === undefined ? 15 : 4),
  log: (line) => process.stderr.write(`${line}\n`)
}

/** Whether a run kept every promise. Otherwise writes its evidence to a file. */
const passes = ({ evidence, violations }: Report): boolean => {
  if (violations.length === 0) return true
  const path = values.evidence ?? join(tmpdir(), `tollgate-crash-${Date.now()}.json`)
  writeEvidence(path, evidence)
  options.log?.(`evidence: ${path}`)
  process.exitCode = 1
  return false
}

const auditAgain = (path: string): void => {
  const violations = audit(readEvidence(path))
  process.stdout.write(violations.map(({ detail, rule }) => `- ${rule}: ${detail}\n`).join(""))
  process.stdout.write(violations.length === 0 ? "Every promise was kept.\n" : `${violations.length} violations\n`)
  if (violations.length > 0) process.exitCode = 1
}

const once = Effect.gen(function* () {
  options.log?.(`seed ${options.seed}`)
  const report = yield* Effect.scoped(run(options))
  process.stdout.write(summaryOf(report))
  passes(report)
})

/** Runs rounds until one breaks a promise. Only the seed and the counts survive a round, so memory does not grow. */
const rounds = (minutes: number) =>
  Effect.gen(function* () {
    const random = new Random(options.seed)
    const endsAt = Date.now() + minutes * 60_000
    const mostRequests = number("requests", Number.POSITIVE_INFINITY)
    let [requests, round, seed] = [0, 0, options.seed]
    while (Date.now() < endsAt && requests < mostRequests) {
      round++
      options.log?.(`round ${round}, seed ${seed}`)
      const report = yield* Effect.scoped(run({ ...options, seed }))
      requests += requestsOf(report.evidence)
      process.stdout.write(`${roundLine(report, round, requests)}\n`)
      if (!passes(report)) {
        process.stdout.write(`\n${summaryOf(report)}`)
        return
      }
      seed = random.below(2 ** 31)
    }
    process.stdout.write(`\nEvery promise was kept in ${round} rounds with ${requests} requests.\n`)
  })

// Without a cache each start of a gateway compiles the program, which takes longer than a thousand requests.
process.env["NODE_COMPILE_CACHE"] ??= COMPILE_CACHE

if (values.help === true) process.stdout.write(HELP)
else if (values.audit !== undefined) auditAgain(values.audit)
else NodeRuntime.runMain(forMinutes === undefined ? once : rounds(forMinutes))
