/** An HTTP client that records what it receives of an answer, and can disconnect at any frame. */
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { type AnswerPart, bodyOf, dataOf, parsePart, pathOf } from "./Dialects.ts"
import type { ClientAnswer, Operation, Outcome, ReceiptsRead } from "./Evidence.ts"

/** Longer than every timeout of the gateway. */
const TIMEOUT_MS = 90_000

/** Reads one answer as it arrives. */
class AnswerReader {
  readonly #head: Pick<ClientAnswer, "status" | "requestId" | "retryAfter" | "replayed">
  readonly #operation: Operation
  readonly #stream: boolean
  #text = ""
  #content = ""
  #contentAt: number | undefined
  #code: string | undefined
  #answerId: string | undefined
  #cost: bigint | undefined
  #complete = false
  /** Frames with content. */
  frames = 0

  constructor(operation: Operation, { headers, statusCode }: IncomingMessage) {
    this.#operation = operation
    const requestId = headers["x-request-id"]
    this.#stream = headers["content-type"]?.startsWith("text/event-stream") === true
    this.#head = {
      status: statusCode ?? 0,
      requestId: typeof requestId === "string" ? requestId : "",
      retryAfter: headers["retry-after"],
      replayed: headers["idempotency-replayed"] === "true"
    }
  }

  push(text: string): void {
    this.#text += text
    if (!this.#stream) return
    const frames = this.#text.split("\n\n")
    this.#text = frames.pop() ?? ""
    for (const frame of frames) {
      const data = dataOf(frame)
      if (data !== undefined) this.#add(parsePart(this.#operation, data))
    }
  }

  #add(part: AnswerPart | undefined): void {
    if (part === undefined) return
    const { answerId, code, content, cost, last } = part
    if (content !== "") {
      this.frames++
      this.#contentAt = Date.now()
    }
    this.#content += content
    this.#code ??= code
    this.#answerId ??= answerId
    this.#cost ??= cost
    if (last) this.#complete = this.#code === undefined
  }

  /** Ends the reading of a response that arrived entirely. */
  end(): void {
    if (this.#stream) return
    const part = parsePart(this.#operation, this.#text)
    this.#add(part)
    this.#complete = part !== undefined && this.#code === undefined
  }

  get answer(): ClientAnswer {
    return {
      ...this.#head,
      code: this.#code,
      complete: this.#head.status === 200 && this.#complete,
      content: this.#content,
      contentAt: this.#contentAt,
      answerId: this.#answerId,
      cost: this.#cost
    }
  }
}

export interface SendOptions {
  readonly port: number
  readonly key: string
  readonly traceId: string
  readonly operation: Operation
  /** When a client with `cutAfter: 0` disconnects. */
  readonly beforeHead?: Promise<unknown>
}

/** Opens the request of an operation on a new connection. The caller sends its body. */
export const openRequest = (
  port: number,
  key: string,
  operation: Operation,
  headers: Readonly<Record<string, string>> = {}
): ClientRequest =>
  httpRequest({
    host: "127.0.0.1",
    port,
    method: "POST",
    path: pathOf(operation),
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(bodyOf(operation)),
      ...headers,
      ...(operation.idempotencyKey === undefined ? {} : { "idempotency-key": operation.idempotencyKey })
    }
  })

/** Sends an operation once and returns the outcome. Never fails. */
export const send = ({ beforeHead, key, operation, port, traceId }: SendOptions): Promise<Outcome> =>
  new Promise((resolve) => {
    let reader: AnswerReader | undefined
    const request = openRequest(port, key, operation, { traceparent: `00-${traceId}-00000000000000aa-01` })
    const timer = setTimeout(() => end({ _tag: "Silent" }), TIMEOUT_MS)
    const end = (outcome: Outcome) => {
      clearTimeout(timer)
      resolve(outcome)
      request.destroy()
    }
    const lost = () => end({ _tag: "Lost", answer: reader?.answer })
    request.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") end({ _tag: "Refused" })
      else lost()
    })
    request.once("response", (response) => {
      const reading = new AnswerReader(operation, response)
      reader = reading
      response.setEncoding("utf8")
      response.on("error", lost)
      response.on("data", (text: string) => {
        reading.push(text)
        if (operation.cutAfter !== undefined && reading.frames > 0 && reading.frames >= operation.cutAfter) {
          end({ _tag: "Cut", answer: reading.answer })
        }
      })
      response.once("end", () => {
        if (!response.complete) return lost()
        reading.end()
        end({ _tag: "Answered", answer: reading.answer })
      })
      response.once("close", lost)
    })
    request.end(bodyOf(operation))
    if (operation.cutAfter === 0) void beforeHead?.then(() => end({ _tag: "Cut", answer: reader?.answer }))
  })

/** Reads an account's newest receipts. Returns undefined after a lost connection, and status 0 after a timeout. */
export const readReceipts = async (
  port: number,
  key: string
): Promise<Pick<ReceiptsRead, "retryAfter" | "status"> | undefined> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/requests?limit=5`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(TIMEOUT_MS)
    })
    await response.arrayBuffer()
    return { status: response.status, retryAfter: response.headers.get("retry-after") ?? undefined }
  } catch (error) {
    const timedOut = error instanceof Error && error.name === "TimeoutError"
    return timedOut ? { status: 0, retryAfter: undefined } : undefined
  }
}
