/** What the command line of the bench says. */
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

/** Sections that run only when they are named: they download something, or take an hour or tens of gigabytes. */
const named: ReadonlySet<Section> = new Set(["portkey", "growth", "soak"])

export interface Options {
  readonly rounds: number
  /** Of one measurement. */
  readonly seconds: number
  /** Of load before each measurement that is not counted. */
  readonly warmSeconds: number
  /** Of load before the first of them. */
  readonly startSeconds: number
  readonly only: ReadonlySet<Section>
  /** Of the section `memory`. */
  readonly requests: number
  /** Of the section `failover`, through each of its gateways. */
  readonly failoverRequests: number
  /** Of the section `usage`: receipts of its account, and times that each period is asked for. */
  readonly receipts: number
  readonly usageRequests: number
  /** Of the section `growth`: receipts of the larger of its databases. */
  readonly growthReceipts: number
  /** Of the section `growth`: a directory that keeps its larger database for the next run. */
  readonly keep: string | undefined
  /** Of the section `soak`. */
  readonly minutes: number
  /** Of the section `management`: keys and lines of the audit log of its account, and times that each page is asked for at a rate. */
  readonly keys: number
  readonly audit: number
  readonly managementRequests: number
  /** Of the section `jobs`, in each round. */
  readonly jobs: number
  /** Whether the processors are kept from halting. */
  readonly awake: boolean
  /** Where to write the figures as JSON. */
  readonly json: string | undefined
  /** Where to write CPU profiles of the gateway. */
  readonly profile: string | undefined
}

export const HELP = `npm run bench: what the gateway costs, beside a bare proxy, in one run.

  --rounds n      measurements of each kind, in rotation; figures are their medians (5)
  --seconds n     of one measurement (4)
  --warm n        of load of each kind before the first measurement, in seconds (40)
  --only a,b      of ${sections.join(", ")} (all but ${[...named].join(", ")})
  --requests n    through the gateway for the section memory (300000)
  --receipts n    of the account of the section usage (5000000), of the database of the section growth (10000000)
  --keep dir      writes the database of the section growth here and leaves it, or takes the one that an earlier run left
  --minutes n     of load of the section soak (60)
  --keys n        of the account of the section management (1000000)
  --audit n       lines of its audit log (10000000)
  --quick         a smoke of less than a minute: 1 round of 1 second, 5000 requests; its figures mean little
  --awake         keeps the processors from halting, by the kernel's own means (Linux, as root): in a virtual machine one that
                  halts may take longer to wake than what is measured takes
  --json file     writes the figures as JSON as well
  --profile dir   writes CPU profiles of the gateway; its figures are lower then
  --help          this

Exits with 1 when an answer was not whole or the books are not in order; a figure that is short does not.
`

const wholeNumber = (name: string, text: string): number => {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new BenchError({ message: `--${name} must be a whole number of at least 1` })
}

const sectionsOf = (text: string | undefined): ReadonlySet<Section> => {
  const wanted = text?.split(",") ?? sections.filter((one) => !named.has(one))
  return new Set(
    wanted.map((name) => {
      const section = sections.find((one) => one === name)
      if (section !== undefined) return section
      throw new BenchError({ message: `--only: "${name}" is none of ${sections.join(", ")}` })
    })
  )
}

/** Undefined when help is asked for. Throws `BenchError` for what is not allowed. */
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
