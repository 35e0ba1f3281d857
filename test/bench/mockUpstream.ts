/**
 * A provider with the APIs of all three kinds, whole and streamed. It speaks HTTP on plain sockets, so that it uses less of a core than
 * the measured process. Its arguments:
 *
 * - none: answers at once;
 * - `failing`: answers with 500;
 * - `paced <chunks> <together> <everyMs>`: streams this many chunks, of which it writes `together` at once every `everyMs` milliseconds
 *   with the time of the write; with 0, it writes as fast as the client reads, without times.
 */
import { createServer, type Socket } from "node:net"
import { announceReady } from "./Ready.ts"
import { CHUNKS, MARK } from "./Traffic.ts"
import { SHORT_DIMENSIONS, SHORT_INPUTS } from "./Vectors.ts"
import { type Wire, wireAt } from "./Wires.ts"

const [how, ...numbers] = process.argv.slice(2)
const [pieces = 0, together = 1, everyMs = 0] = numbers.map(Number)

const sized = (status: string, body: string) =>
  Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )

const EMBEDDINGS = "/v1/embeddings"

/** A few short vectors; `vectorUpstream.ts` serves large answers. */
const embeddingsAnswer = sized(
  "200 OK",
  JSON.stringify({
    object: "list",
    data: Array.from({ length: SHORT_INPUTS }, (_, index) => ({
      object: "embedding",
      index,
      embedding: Array.from({ length: SHORT_DIMENSIONS }, (_, place) => (place - index) / 1_000)
    })),
    model: "text-embedding-3-small",
    usage: { prompt_tokens: 8 * SHORT_INPUTS, total_tokens: 8 * SHORT_INPUTS }
  })
)

const failedAnswer = sized(
  "500 Internal Server Error",
  JSON.stringify({ error: { message: "out of order", type: "server_error" } })
)

const streamHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

const chunked = (text: string) => (text === "" ? "" : `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)

interface Answers {
  readonly wire: Wire
  readonly whole: Buffer
  /** The buffers of a stream, one for each write. */
  readonly writes: ReadonlyArray<Buffer>
}

const cache = new Map<Wire, Answers>()

const answersOf = (path: string): Answers => {
  const wire = wireAt(path)
  let answers = cache.get(wire)
  if (answers === undefined) {
    const writes = [
      `${streamHead}${chunked(wire.opening)}`,
      ...Array.from({ length: CHUNKS }, (_, index) => chunked(wire.piece(` ${MARK}${index}`))),
      `${chunked(wire.closing(CHUNKS))}0\r\n\r\n`
    ].map((text) => Buffer.from(text))
    answers = { wire, whole: sized("200 OK", wire.whole), writes }
    cache.set(wire, answers)
  }
  return answers
}

const stream = (socket: Socket, writes: ReadonlyArray<Buffer>, index = 0) => {
  if (socket.destroyed) return
  socket.write(writes[index]!)
  if (index + 1 < writes.length) setImmediate(stream, socket, writes, index + 1)
}

/** Streams at a set pace, and waits for a slow reader. */
const paced = (socket: Socket, { wire }: Answers) => {
  const began = performance.now()
  const still = chunked(wire.piece(` ${MARK}`).repeat(together))
  let turn = 0
  socket.write(`${streamHead}${chunked(wire.opening)}`)
  const next = () => {
    if (socket.destroyed) return
    if (turn * together >= pieces) return void socket.write(`${chunked(wire.closing(pieces))}0\r\n\r\n`)
    turn += 1
    const now = everyMs === 0 ? still : chunked(wire.piece(` ${MARK}${Date.now()}`).repeat(together))
    if (!socket.write(now)) return void socket.once("drain", next)
    if (everyMs === 0) setImmediate(next)
    else setTimeout(next, began + turn * everyMs - performance.now())
  }
  next()
}

const HEAD_END = Buffer.from("\r\n\r\n")
const lengthOf = (head: string) => Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
const pathOf = (head: string) => head.slice(head.indexOf(" ") + 1, head.indexOf(" HTTP/"))

const answer = (socket: Socket, path: string, body: string) => {
  if (how === "failing") return void socket.write(failedAnswer)
  if (path === EMBEDDINGS) return void socket.write(embeddingsAnswer)
  const answers = answersOf(path)
  if (!body.includes('"stream":true') && !path.includes(":streamGenerateContent")) socket.write(answers.whole)
  else if (how === "paced") paced(socket, answers)
  else stream(socket, answers.writes)
}

const serve = (socket: Socket) => {
  socket.setNoDelay(true)
  socket.on("error", () => socket.destroy())
  let pending: Buffer = Buffer.alloc(0)
  socket.on("data", (bytes: Buffer) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes])
    const headEnd = pending.indexOf(HEAD_END)
    if (headEnd < 0) return
    const head = pending.toString("latin1", 0, headEnd)
    const end = headEnd + HEAD_END.length + lengthOf(head)
    if (pending.length < end) return
    const body = pending.toString("latin1", headEnd, end)
    pending = pending.subarray(end)
    answer(socket, pathOf(head), body)
  })
}

announceReady(createServer(serve))
