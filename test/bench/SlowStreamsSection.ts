/** Many streams with one chunk a second: their memory, and the delay of each chunk. */
import { Effect } from "effect"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { type Dialect, dialects } from "./Dialects.ts"
import { percentile } from "./Figures.ts"
import { type Failures, progress, type Samples } from "./Measure.ts"
import { cpuSeconds, memoryMiB, node, startServer } from "./Processes.ts"
import { atMost, mebibytes, microseconds, milliseconds, type Row } from "./Report.ts"
import { fileOf, type Testbed } from "./Testbed.ts"
import { type Endpoint, failureOf, MARK, requestBytes } from "./Traffic.ts"

const STREAMS = 1_000
const PIECES = 40
const EVERY_MS = 1_000

/** Spreads the starts of the streams, and so their later chunks. */
const OPENED_EVERY_MS = 4

/** 500 MB in MiB. */
const MAX_MIB = 476

/** A tenth of the time between two chunks. */
const MAX_LATE_MS = 100

interface StreamTimings {
  /** Milliseconds from the upstream's write to the client's read, for each chunk. */
  readonly late: Array<number>
  failed: number
  completed: number
  example: string | undefined
}

const SENT_AT = new RegExp(`${MARK}(\\d{13})`, "g")
const LAST_CHUNK = "\r\n0\r\n\r\n"

/** The content of a chunked body. */
const unchunked = (body: string): string => body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, "")

/** Reads one stream to its end on its own connection, like a browser. */
const readStream = (endpoint: Endpoint, timings: StreamTimings) =>
  new Promise<void>((resolve) => {
    const socket = connect({ port: endpoint.port, host: "127.0.0.1", noDelay: true })
    let text = ""
    const end = (reason: string | undefined) => {
      socket.destroy()
      if (reason === undefined) timings.completed += 1
      else timings.failed += 1
      timings.example ??= reason
      resolve()
    }
    socket.setEncoding("latin1")
    socket.on("error", (error) => end(error.message))
    socket.once("end", () => end("the connection was closed before the end of the answer"))
    socket.on("data", (piece: string) => {
      const now = Date.now()
      // The last events of a response repeat the text of earlier ones.
      if (!piece.includes("event: response.output_text.done")) {
        for (const [, at] of piece.matchAll(SENT_AT)) timings.late.push(now - Number(at))
      }
      text += piece
      if (!text.endsWith(LAST_CHUNK)) return
      const head = text.indexOf("\r\n\r\n")
      const answer = { status: Number(text.slice(9, 12)), body: unchunked(text.slice(head + 4, -LAST_CHUNK.length)) }
      end(failureOf(answer, endpoint, true))
    })
    socket.write(requestBytes(endpoint, true))
  })

/** After every 20th stream, the client opens one directly to the upstream. */
const DIRECT_EVERY = 20

const noTimings = (): StreamTimings => ({ late: [], failed: 0, completed: 0, example: undefined })

const readAllStreams = async (endpoints: ReadonlyArray<Endpoint>, direct: Endpoint) => {
  const timings = { through: noTimings(), direct: noTimings() }
  const streams: Array<Promise<void>> = []
  for (let index = 0; index < STREAMS; index++) {
    streams.push(readStream(endpoints[index % endpoints.length]!, timings.through))
    if (index % DIRECT_EVERY === 0) streams.push(readStream(direct, timings.direct))
    await sleep(OPENED_EVERY_MS)
  }
  await Promise.all(streams)
  return timings
}

const testedDialects: ReadonlyArray<Dialect> = ["chat", "messages", "responses"]

export const slowStreams = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const words = ["paced", PIECES, 1, EVERY_MS].map(String)
  const mock = yield* startServer({ name: "a mock upstream", ...node(fileOf("mockUpstream"), ...words) })
  const gateway = yield* testbed.gatewayTo({ slow: mock.port })
  const endpoints = testedDialects.map((dialect) => ({
    ...gateway.endpoint,
    dialect,
    path: dialects[dialect].path,
    chunks: PIECES
  }))
  const idle = memoryMiB(gateway.pid)?.now ?? Number.NaN
  yield* progress(`slow streams: ${STREAMS} for ${(PIECES * EVERY_MS) / 1_000} s`)
  const before = cpuSeconds(gateway.pid)
  const straight = { ...testbed.upstream.endpoint, port: mock.port, chunks: PIECES }
  const { direct, through: timings } = yield* Effect.promise(() => readAllStreams(endpoints, straight))
  const after = cpuSeconds(gateway.pid)
  failures.add("slow streams", timings)
  failures.add("slow streams, upstream", direct)
  const peak = memoryMiB(gateway.pid)?.peak ?? Number.NaN
  const [p99, most] = [percentile(timings.late, 0.99), percentile(timings.late, 1)]
  const directP99 = percentile(direct.late, 0.99)
  samples.add("slow streams MiB at rest", idle)
  samples.add("slow streams peak MiB", peak)
  samples.add("slow streams p99 late ms", p99)
  samples.add("slow streams p99 late ms, upstream", directP99)
  samples.add("slow streams most late ms", most)
  const perPiece = before === undefined || after === undefined ? Number.NaN : (after - before) / timings.late.length
  const rows: ReadonlyArray<Row> = [
    {
      label: `Peak memory of ${STREAMS} concurrent streams with a chunk a second`,
      gateway: mebibytes(peak),
      must: atMost(peak, MAX_MIB, " MiB")
    },
    { label: "– before them", gateway: mebibytes(idle) },
    { label: "– per stream", gateway: `${((1_024 * (peak - idle)) / STREAMS).toFixed(0)} KiB` },
    {
      label: `– added delay of a chunk, p99 (maximum ${milliseconds(most)})`,
      baseline: milliseconds(directP99),
      gateway: milliseconds(p99),
      must: atMost(p99 - directP99, MAX_LATE_MS, " ms")
    },
    { label: "– processor time per chunk", gateway: microseconds(1_000_000 * perPiece) }
  ]
  return rows
}, Effect.scoped)
