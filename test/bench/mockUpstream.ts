/**
 * A process that answers chat completions at once, as a provider would at its best; called with `failing`, with a 500. It speaks HTTP on bare sockets, so that it
 * takes less of a core than what is measured and does not become what is measured.
 */
import { createServer, type Socket } from "node:net"
import { announceReady } from "./Ready.ts"
import { CHUNKS, MARK } from "./Traffic.ts"

const PROMPT_TOKENS = 148
const created = 1_780_000_000

const usage = (completion: number) => ({
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: completion,
  total_tokens: PROMPT_TOKENS + completion
})

const whole = JSON.stringify({
  id: "chatcmpl-bench",
  object: "chat.completion",
  created,
  model: "gpt-4o-mini",
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: `This is a case for the warranty (${MARK}). Please do not open the piano; we will have it picked up.`
      },
      finish_reason: "stop"
    }
  ],
  usage: usage(24)
})

const wholeAnswer = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(whole)}\r\n\r\n${whole}`
)

const failure = JSON.stringify({ error: { message: "out of order", type: "server_error" } })
const failedAnswer = Buffer.from(
  `HTTP/1.1 500 Internal Server Error\r\ncontent-type: application/json\r\ncontent-length: ${failure.length}\r\n\r\n${failure}`
)
const failing = process.argv.includes("failing")

const streamHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

const chunked = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

const event = (choices: ReadonlyArray<object>, more: object = {}) =>
  chunked(
    `data: ${JSON.stringify({ id: "chatcmpl-bench", object: "chat.completion.chunk", created, model: "gpt-4o-mini", choices, ...more })}\n\n`
  )

const delta = (content: object, finish: string | null = null) => [{ index: 0, delta: content, finish_reason: finish }]

/** What goes out in one write each. */
const streamWrites: ReadonlyArray<Buffer> = [
  `${streamHead}${event(delta({ role: "assistant", content: "" }))}`,
  ...Array.from({ length: CHUNKS }, (_, index) => event(delta({ content: ` ${MARK}${index}` }))),
  `${event(delta({}, "stop"))}${event([], { usage: usage(CHUNKS) })}${chunked("data: [DONE]\n\n")}0\r\n\r\n`
].map((text) => Buffer.from(text))

const HEAD_END = Buffer.from("\r\n\r\n")
const lengthOf = (head: string) => Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)

const stream = (socket: Socket, index = 0) => {
  if (socket.destroyed) return
  socket.write(streamWrites[index]!)
  if (index + 1 < streamWrites.length) setImmediate(stream, socket, index + 1)
}

const serve = (socket: Socket) => {
  socket.setNoDelay(true)
  socket.on("error", () => socket.destroy())
  let pending: Buffer = Buffer.alloc(0)
  socket.on("data", (bytes: Buffer) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes])
    const headEnd = pending.indexOf(HEAD_END)
    if (headEnd < 0) return
    const end = headEnd + HEAD_END.length + lengthOf(pending.toString("latin1", 0, headEnd))
    if (pending.length < end) return
    const streamed = pending.toString("latin1", headEnd, end).includes(`"stream":true`)
    pending = pending.subarray(end)
    if (failing) socket.write(failedAnswer)
    else if (streamed) stream(socket)
    else socket.write(wholeAnswer)
  })
}

announceReady(createServer(serve))
