/** The console's reads for an account with millions of receipts: lists of requests, lists with rare matches, and usage over time. */
import { Effect } from "effect"
import { percentile } from "./Figures.ts"
import { type Failures, type Samples } from "./Measure.ts"
import { RARE_MODEL } from "./ReceiptsSql.ts"
import { atMost, milliseconds, type Row } from "./Report.ts"

const FIRST_ROWS_MS = 300
const FILTERED_MS = 500

interface Read {
  readonly label: string
  readonly path: string
  readonly most: number
  /** The least number of rows in `data`. */
  readonly rows: number
}

const reads: ReadonlyArray<Read> = [
  { label: "First rows of the requests", path: "/requests?limit=100", most: FIRST_ROWS_MS, rows: 100 },
  { label: "– with a rare status", path: "/requests?limit=100&status=failed", most: FILTERED_MS, rows: 1 },
  { label: "– with a rare model", path: `/requests?limit=100&model=${RARE_MODEL}`, most: FILTERED_MS, rows: 1 },
  { label: "– with both", path: `/requests?limit=100&status=failed&model=${RARE_MODEL}`, most: FILTERED_MS, rows: 1 },
  { label: "– of one provider", path: "/requests?limit=100&provider=provider-1", most: FILTERED_MS, rows: 100 },
  {
    label: "Usage of 30 days by model and day",
    path: "/management/usage/series?period=30d&group_by=model",
    most: FILTERED_MS,
    rows: 9
  },
  { label: "– by key and day", path: "/management/usage/series?period=30d&group_by=key", most: FILTERED_MS, rows: 1 },
  {
    label: "– by model and hour",
    path: "/management/usage/series?period=30d&interval=hour&group_by=model",
    most: FILTERED_MS,
    rows: 9
  }
]

interface Caller {
  readonly port: number
  readonly key: string
  readonly managementKey: string
}

const measureRead = ({ key, managementKey, port }: Caller, path: string) =>
  Effect.promise(async () => {
    const began = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      headers: { authorization: `Bearer ${path.startsWith("/management") ? managementKey : key}` }
    })
    const body = (await response.json()) as { readonly data?: ReadonlyArray<unknown> }
    return { ms: performance.now() - began, rows: body.data?.length ?? 0 }
  })

/** Measures each read this many times, after a tenth of that as a warm-up. */
export const consoleReads = Effect.fnUntraced(function* (
  caller: Caller,
  times: number,
  samples: Samples,
  failures: Failures
) {
  const rows: Array<Row> = []
  for (const { label, most, path, rows: least } of reads) {
    const took: Array<number> = []
    let failed = 0
    for (let sent = -Math.ceil(times / 10); sent < times; sent++) {
      const read = yield* measureRead(caller, path)
      if (sent >= 0) took.push(read.ms)
      if (read.rows < least) failed++
    }
    failures.add(`console, ${path}`, { completed: took.length, failed, example: "rows are missing" })
    const [p50, p99] = [percentile(took, 0.5), percentile(took, 0.99)]
    samples.add(`console ${path} p99 ms`, p99)
    rows.push({ label: `${label}, p50`, gateway: milliseconds(p50) })
    rows.push({ label: "– p99", gateway: milliseconds(p99), must: atMost(p99, most, " ms") })
  }
  return rows
})
