/** The command line of the bench. */
import { parseArgs } from "node:util"
import { BenchError } from "./BenchError.ts"

export const sections = [
  "requests",
  "latency",
  "streams",
  "memory",
  "ledger",
  "routing",
  "failover",
  "dialects",
  "longstream",
  "slowstreams",
  "embeddings",
  "mcp",
  "usage",
  "management",
  "webhooks",
  "jobs",
  "portkey",
  "growth",
  "soak"
] as const
export type Section = (typeof sections)[number]

/** Sections that run only on request: they download something, or take an hour or tens of gigabytes. */
const onRequest: ReadonlySet<Section> = new Set(["portkey", "growth", "soak"])

export interface Options {
  readonly rounds: number
  /** The length of one measurement. */
  readonly seconds: number
  /** The length of the load before each measurement. */
  readonly warmSeconds: number
  /** The length of the load before the first measurement. */
  readonly startSeconds: number
  readonly only: ReadonlySet<Section>
  /** Requests of the section `memory`. */
  readonly requests: number
  /** Requests of the section `failover` through each gateway. */
  readonly failoverRequests: number
  /** Section `usage`: receipts of the account, and requests for each period. */
  readonly receipts: number
  readonly usageRequests: number
  /** Section `growth`: receipts of the full database. */
  readonly growthReceipts: number
  /** Section `growth`: a directory that keeps the full database for later runs. */
  readonly keep: string | undefined
  /** The length of the section `soak`. */
  readonly minutes: number
  /** Section `management`: keys and audit lines of the account, and requests for each page at a fixed rate. */
  readonly keys: number
  readonly audit: number
  readonly managementRequests: number
  /** Jobs of the section `jobs`, in each round. */
  readonly jobs: number
  /** Keeps the processors from halting. */
  readonly awake: boolean
  /** The file for the figures as JSON. */
  readonly json: string | undefined
  /** The directory for CPU profiles of the gateway. */
  readonly profile: string | undefined
}

export const HELP = `npm run bench: measures what the gateway costs beside a bare proxy, in one run.

  --rounds n      measurements of each kind, in rotation; figures are their medians (5)
  --seconds n     length of one measurement (4)
  --warm n        length of the warm-up load of each kind, in seconds (40)
  --only a,b      sections to run, of ${sections.join(", ")} (all but ${[...onRequest].join(", ")})
  --requests n    requests of the section memory (300000)
  --receipts n    receipts of the section usage (5000000) or growth (10000000)
  --keep dir      keeps the database of the section growth in this directory, and uses the one from an earlier run
  --minutes n     length of the section soak (60)
  --keys n        keys of the section management (1000000)
  --audit n       audit lines of the section management (10000000)
  --quick         smoke test of a minute: 1 round of 1 second, 5000 requests; its figures mean little
  --awake         keeps the processors from halting (Linux, as root): in a virtual machine, waking one up may take longer than
                  the measured operation
  --json file     writes the figures as JSON as well
  --profile dir   writes CPU profiles of the gateway; its figures are lower then
  --help          prints this help

Exits with 1 when an answer is incomplete or the ledger is wrong, but not when a figure misses its bound.
`

const wholeNumber = (name: string, text: string): number => {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new BenchError({ message: `--${name} must be a whole number of at least 1; got "${text}".` })
}

const sectionsOf = (text: string | undefined): ReadonlySet<Section> => {
  const wanted = text?.split(",") ?? sections.filter((one) => !onRequest.has(one))
  return new Set(
    wanted.map((name) => {
      const section = sections.find((one) => one === name)
      if (section !== undefined) return section
      throw new BenchError({ message: `--only must list sections of ${sections.join(", ")}; got "${name}".` })
    })
  )
}

/** Returns undefined for `--help`. Throws `BenchError` for a wrong argument. */
export const parseOptions = (args: ReadonlyArray<string>): Options | undefined => {
  const text = { type: "string" } as const
  const flag = { type: "boolean", default: false } as const
  let values
  try {
    values = parseArgs({
      args: [...args],
      options: {
        rounds: text,
        seconds: text,
        warm: text,
        only: text,
        requests: text,
        receipts: text,
        keep: text,
        minutes: text,
        keys: text,
        audit: text,
        quick: flag,
        awake: flag,
        json: text,
        profile: text,
        help: flag
      }
    }).values
  } catch (error) {
    throw new BenchError({ message: error instanceof Error ? error.message : String(error) })
  }
  if (values.help) return undefined
  const or = (
    name: "rounds" | "seconds" | "warm" | "requests" | "receipts" | "minutes" | "keys" | "audit",
    usual: number,
    quick: number
  ) => wholeNumber(name, values[name] ?? String(values.quick ? quick : usual))
  return {
    rounds: or("rounds", 5, 1),
    seconds: or("seconds", 4, 1),
    warmSeconds: 1,
    startSeconds: or("warm", 40, 1),
    only: sectionsOf(values.only),
    requests: or("requests", 300_000, 5_000),
    receipts: or("receipts", 5_000_000, 20_000),
    growthReceipts: or("receipts", 10_000_000, 20_000),
    keep: values.keep,
    minutes: or("minutes", 60, 1),
    usageRequests: values.quick ? 20 : 500,
    keys: or("keys", 1_000_000, 2_000),
    audit: or("audit", 10_000_000, 20_000),
    managementRequests: values.quick ? 20 : 500,
    jobs: values.quick ? 500 : 10_000,
    failoverRequests: values.quick ? 1_000 : 10_000,
    awake: values.awake,
    json: values.json,
    profile: values.profile
  }
}
