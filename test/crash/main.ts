#!/usr/bin/env node
/** The long run: everything that can break, under load, then the audit; once, or in rounds of new seeds. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Random } from "../ledger/Random.ts"
import { COMPILE_CACHE } from "../support/CompileCache.ts"
import { audit } from "./Audit.ts"
import { keepEvidence, readEvidence } from "./EvidenceFile.ts"
import { type Counts, everything, type Kind, kinds, NO_FAULTS, possible } from "./Faults.ts"
import { type Report, run, type RunOptions } from "./Run.ts"
import { lineOf, requestsOf, summaryOf } from "./Summary.ts"

const HELP = `Breaks gateways and their database under load, and proves that the books come out right.

Usage: npm run crash -- [options]

  --seed N         replays what a run of this seed asked and broke (random)
  --kills N        SIGKILLs of gateways in all (200, when no other fault is named)
  --restarts N     restarts of the database (one for ten kills)
  --pauses N       gateways suspended by SIGSTOP for a while
  --deploys N      gateways stopped by SIGTERM and started again
  --partitions N   gateways cut off from the database without an end of connections
  --steps N        steps of a gateway's wall clock (needs libfaketime)
  --fills N        the database's disk is full for a while (needs root)
  --slows N        the database's disk is slow for a while (needs strace)
  --failovers N    the database's standby takes its place (needs PostgreSQL 15)
  --gateways N     processes on one database (2)
  --clients N      clients at work at one time (8)
  --within S       at most so many seconds between two faults of one victim (2.5)
  --minutes M      begins no further fault after so long (15)

  --hour           an hour of everything, in rounds of new seeds
  --for M          the same for so many minutes
  --requests N     ends after the round that reaches so many requests in all

  --evidence FILE  where to keep the evidence of a broken promise (a file in the system's temporary directory)
  --audit FILE     audits kept evidence again, and breaks nothing

Prints a summary in Markdown, in rounds a line for each; exits with 1 when a promise was broken.
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

const number = (name: (typeof numeric)[number], otherwise: number): number => {
  const text = values[name]
  const value = text === undefined ? otherwise : Number(text)
  if (!(value >= 0)) throw new Error(`--${name} must be a number of at least 0; got ${text}.`)
  return value
}

/** How long rounds go on, in minutes; undefined for a single run. */
const forMinutes = values.for === undefined ? (values.hour === true ? 60 : undefined) : number("for", 0)

const countsBy = (otherwise: Counts): Counts =>
  Object.fromEntries(kinds.map((kind: Kind) => [kind, number(kind, otherwise[kind])])) as Counts

const counts = (): Counts => {
  if (forMinutes !== undefined) return countsBy(everything)
  if (kinds.some((kind) => kind !== "kills" && kind !== "restarts" && values[kind] !== undefined)) {
    return countsBy(NO_FAULTS)
  }
  const kills = number("kills", 200)
  return { ...NO_FAULTS, kills, restarts: number("restarts", Math.ceil(kills / 10)) }
}

const options: RunOptions = {
  seed: number("seed", Math.floor(Math.random() * 2 ** 31)),
  counts: possible(counts()),
  gateways: number("gateways", 2),
  clients: number("clients", forMinutes === undefined ? 8 : 48),
  withinMs: number("within", forMinutes === undefined ? 2.5 : 12) * 1000,
  minutes: number("minutes", forMinutes === undefined ? 15 : 4),
  say: (line) => process.stderr.write(`${line}\n`)
}

/** Whether all was kept. The evidence of what was not is kept in a file. */
const isKept = ({ evidence, violations }: Report): boolean => {
  if (violations.length === 0) return true
  const path = values.evidence ?? join(tmpdir(), `tollgate-crash-${Date.now()}.json`)
  keepEvidence(path, evidence)
  options.say?.(`the evidence is in ${path}`)
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
  options.say?.(`seed ${options.seed}`)
  const report = yield* Effect.scoped(run(options))
  process.stdout.write(summaryOf(report))
  isKept(report)
})

/** Round after round; nothing of one is kept for the next but its seed and its counts. */
const rounds = (minutes: number) =>
  Effect.gen(function* () {
    const random = new Random(options.seed)
    const endsAt = Date.now() + minutes * 60_000
    const mostRequests = number("requests", Number.POSITIVE_INFINITY)
    let [requests, round, seed] = [0, 0, options.seed]
    while (Date.now() < endsAt && requests < mostRequests) {
      round++
      options.say?.(`round ${round}, seed ${seed}`)
      const report = yield* Effect.scoped(run({ ...options, seed }))
      requests += requestsOf(report.evidence)
      process.stdout.write(`${lineOf(report, round, requests)}\n`)
      if (!isKept(report)) {
        process.stdout.write(`\n${summaryOf(report)}`)
        return
      }
      seed = random.below(2 ** 31)
    }
    process.stdout.write(`\nEvery promise was kept in ${round} rounds with ${requests} requests.\n`)
  })

// Each start of a gateway would compile the program anew, which takes longer than a thousand requests.
process.env["NODE_COMPILE_CACHE"] ??= COMPILE_CACHE

if (values.help === true) process.stdout.write(HELP)
else if (values.audit !== undefined) auditAgain(values.audit)
else NodeRuntime.runMain(forMinutes === undefined ? once : rounds(forMinutes))
