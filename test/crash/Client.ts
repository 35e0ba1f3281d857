/** A client on raw HTTP that notes all it sees of an answer, and can hang up at any frame of it. */
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { bodyOf, dataOf, hear, type Heard, pathOf } from "./Dialects.ts"
import type { Ask, Ending, Reading, Seen } from "./Notes.ts"

/** Longer than the service itself waits for anything. */
const PATIENCE_MS = 90_000

/** What has been seen of one answer so far. */
class Sight {
  readonly #head: Pick<Seen, "status" | "requestId" | "retryAfter" | "replayed">
  readonly #ask: Ask
  readonly #stream: boolean
  #text = ""
  #content = ""
  #contentAt: number | undefined
  #code: string | undefined
  #answerId: string | undefined
  #cost: bigint | undefined
  #whole = false
  /** Frames with content. */
  frames = 0

  constructor(ask: Ask, { headers, statusCode }: IncomingMessage) {
    this.#ask = ask
    const requestId = headers["x-request-id"]
    this.#stream = headers["content-type"]?.startsWith("text/event-stream") === true
    this.#head = {
      status: statusCode ?? 0,
      requestId: typeof requestId === "string" ? requestId : "",
      retryAfter: headers["retry-after"],
      replayed: headers["idempotency-replayed"] === "true"
    }
  }

  take(text: string): void {
    this.#text += text
    if (!this.#stream) return
    const frames = this.#text.split("\n\n")
    this.#text = frames.pop() ?? ""
    for (const frame of frames) {
      const data = dataOf(frame)
      if (data !== undefined) this.#frame(hear(this.#ask, data))
    }
  }

  #frame(heard: Heard | undefined): void {
    if (heard === undefined) return
    const { answerId, code, content, cost, last } = heard
    if (content !== "") {
      this.frames++
      this.#contentAt = Date.now()
    }
    this.#content += content
    this.#code ??= code
    this.#answerId ??= answerId
    this.#cost ??= cost
    if (last) this.#whole = this.#code === undefined
  }

  /** The response has ended as its head had announced. */
  end(): void {
    if (this.#stream) return
    const heard = hear(this.#ask, this.#text)
    this.#frame(heard)
    this.#whole = heard !== undefined && this.#code === undefined
  }

  get seen(): Seen {
    return {
      ...this.#head,
      code: this.#code,
      whole: this.#head.status === 200 && this.#whole,
      content: this.#content,
      contentAt: this.#contentAt,
      answerId: this.#answerId,
      cost: this.#cost
    }
  }
}

export interface Sending {
  readonly port: number
  readonly key: string
  readonly traceId: string
  readonly ask: Ask
  /** Where the client hangs up before the head: when. */
  readonly beforeHead?: Promise<unknown>
}

/** The request of an ask, on a connection of its own; its body is the caller's to send. */
export const requestOf = (
  port: number,
  key: string,
  ask: Ask,
  headers: Readonly<Record<string, string>> = {}
): ClientRequest =>
  httpRequest({
    host: "127.0.0.1",
    port,
    method: "POST",
    path: pathOf(ask),
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(bodyOf(ask)),
      ...headers,
      ...(ask.idempotencyKey === undefined ? {} : { "idempotency-key": ask.idempotencyKey })
    }
  })

/** Sends an ask once and answers how that ended. Never fails. */
export const send = ({ ask, beforeHead, key, port, traceId }: Sending): Promise<Ending> =>
  new Promise((resolve) => {
    let sight: Sight | undefined
    const request = requestOf(port, key, ask, { traceparent: `00-${traceId}-00000000000000aa-01` })
    const timer = setTimeout(() => end({ _tag: "Silent" }), PATIENCE_MS)
    const end = (ending: Ending) => {
      clearTimeout(timer)
      resolve(ending)
      request.destroy()
    }
    const lost = () => end({ _tag: "Lost", seen: sight?.seen })
    request.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") end({ _tag: "Refused" })
      else lost()
    })
    request.once("response", (response) => {
      const seeing = new Sight(ask, response)
      sight = seeing
      response.setEncoding("utf8")
      response.on("error", lost)
      response.on("data", (text: string) => {
        seeing.take(text)
        if (ask.cutAfter !== undefined && seeing.frames > 0 && seeing.frames >= ask.cutAfter) {
          end({ _tag: "Cut", seen: seeing.seen })
        }
      })
      response.once("end", () => {
        if (!response.complete) return lost()
        seeing.end()
        end({ _tag: "Answered", seen: seeing.seen })
      })
      response.once("close", lost)
    })
    request.end(bodyOf(ask))
    if (ask.cutAfter === 0) void beforeHead?.then(() => end({ _tag: "Cut", seen: sight?.seen }))
  })

/** Looks at an account's newest receipts; undefined where the connection is lost, a status of 0 where nobody answers. */
export const read = async (port: number, key: string): Promise<Pick<Reading, "retryAfter" | "status"> | undefined> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/requests?limit=5`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(PATIENCE_MS)
    })
    await response.arrayBuffer()
    return { status: response.status, retryAfter: response.headers.get("retry-after") ?? undefined }
  } catch (error) {
    const silent = error instanceof Error && error.name === "TimeoutError"
    return silent ? { status: 0, retryAfter: undefined } : undefined
  }
}
