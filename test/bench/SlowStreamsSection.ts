/** Very many streams that say a little every second: what they take of memory, and whether each word comes when it is said. */
import { Effect } from "effect"
import { connect } from "node:net"
import { type Dialect, dialects } from "./Dialects.ts"
import { percentile } from "./Figures.ts"
import { type Faults, progress, type Samples } from "./Measure.ts"
import { cpuSeconds, listen, memoryMiB, node } from "./Processes.ts"
import { atMost, mebibytes, microseconds, milliseconds, type Row } from "./Report.ts"
import { fileOf, type Stage } from "./Stage.ts"
import { type Endpoint, faultOf, MARK, requestBytes } from "./Traffic.ts"

const STREAMS = 1_000
const PIECES = 40
const EVERY_MS = 1_000

/** So that not all of them are opened, and later speak, in the same instant. */
const OPENED_EVERY_MS = 4

/** 500 MB. */
const MOST_MIB = 476

/** A tenth of the time between two pieces. */
const MOST_LATE_MS = 100

interface Heard {
  /** Milliseconds from the upstream's saying it to its being read here, of every piece. */
  readonly late: Array<number>
  failed: number
  completed: number
  example: string | undefined
}

const SAID = new RegExp(`${MARK}(\\d{13})`, "g")
const LAST_CHUNK = "\r\n0\r\n\r\n"

/** What came in the chunks of a body. */
const unchunked = (body: string): string => body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, "")

/** Reads one stream to its end; a connection of its own, as a browser has. */
const hear = (endpoint: Endpoint, heard: Heard) =>
  new Promise<void>((resolve) => {
    const socket = connect({ port: endpoint.port, host: "127.0.0.1", noDelay: true })
    let text = ""
    const end = (reason: string | undefined) => {
      socket.destroy()
      if (reason === undefined) heard.completed += 1
      else heard.failed += 1
      heard.example ??= reason
      resolve()
    }
    socket.setEncoding("latin1")
    socket.on("error", (error) => end(error.message))
    socket.once("end", () => end("the connection was closed before the answer was whole"))
    socket.on("data", (piece: string) => {
      const now = Date.now()
      // The events that end a response repeat what was said long ago.
      if (!piece.includes("event: response.output_text.done")) {
        for (const [, at] of piece.matchAll(SAID)) heard.late.push(now - Number(at))
      }
      text += piece
      if (!text.endsWith(LAST_CHUNK)) return
      const head = text.indexOf("\r\n\r\n")
      const answer = { status: Number(text.slice(9, 12)), body: unchunked(text.slice(head + 4, -LAST_CHUNK.length)) }
      end(faultOf(answer, endpoint, true))
    })
    socket.write(requestBytes(endpoint, true))
  })

/** One stream in so many is followed by another one straight from the upstream. */
const DIRECT_EVERY = 20

const nothingHeard = (): Heard => ({ late: [], failed: 0, completed: 0, example: undefined })

const hearAll = async (endpoints: ReadonlyArray<Endpoint>, direct: Endpoint) => {
  const heard = { through: nothingHeard(), direct: nothingHeard() }
  const streams: Array<Promise<void>> = []
  for (let index = 0; index < STREAMS; index++) {
    streams.push(hear(endpoints[index % endpoints.length]!, heard.through))
    if (index % DIRECT_EVERY === 0) streams.push(hear(direct, heard.direct))
    await new Promise((resolve) => setTimeout(resolve, OPENED_EVERY_MS))
  }
  await Promise.all(streams)
  return heard
}

const spoken: ReadonlyArray<Dialect> = ["chat", "messages", "responses"]

export const slowStreams = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const words = ["paced", PIECES, 1, EVERY_MS].map(String)
  const mock = yield* listen({ name: "a mock upstream", ...node(fileOf("mockUpstream"), ...words) })
  const gateway = yield* stage.gatewayTo({ slow: mock.port })
  const endpoints = spoken.map((dialect) => ({
    ...gateway.endpoint,
    dialect,
    path: dialects[dialect].path,
    chunks: PIECES
  }))
  const idle = memoryMiB(gateway.pid)?.now ?? Number.NaN
  yield* progress(`slow streams: ${STREAMS} for ${(PIECES * EVERY_MS) / 1_000} s`)
  const before = cpuSeconds(gateway.pid)
  const straight = { ...stage.upstream.endpoint, port: mock.port, chunks: PIECES }
  const { direct, through: heard } = yield* Effect.promise(() => hearAll(endpoints, straight))
  const after = cpuSeconds(gateway.pid)
  faults.add("slow streams", heard)
  faults.add("slow streams, upstream", direct)
  const peak = memoryMiB(gateway.pid)?.peak ?? Number.NaN
  const [p99, most] = [percentile(heard.late, 0.99), percentile(heard.late, 1)]
  const directP99 = percentile(direct.late, 0.99)
  samples.add("slow streams MiB at rest", idle)
  samples.add("slow streams peak MiB", peak)
  samples.add("slow streams p99 late ms", p99)
  samples.add("slow streams p99 late ms, upstream", directP99)
  samples.add("slow streams most late ms", most)
  const perPiece = before === undefined || after === undefined ? Number.NaN : (after - before) / heard.late.length
  const rows: ReadonlyArray<Row> = [
    {
      label: `Peak memory of ${STREAMS} streams at once of a piece a second`,
      gateway: mebibytes(peak),
      must: atMost(peak, MOST_MIB, " MiB")
    },
    { label: "– at rest, before them", gateway: mebibytes(idle) },
    { label: "– for each of them", gateway: `${((1_024 * (peak - idle)) / STREAMS).toFixed(0)} KiB` },
    {
      label: `– added to how late pieces come, p99 (the latest of all ${milliseconds(most)})`,
      baseline: milliseconds(directP99),
      gateway: milliseconds(p99),
      must: atMost(p99 - directP99, MOST_LATE_MS, " ms")
    },
    { label: "– processor time for each piece, all told", gateway: microseconds(1_000_000 * perPiece) }
  ]
  return rows
}, Effect.scoped)
