/** A client on bare sockets that costs as little as it can: one connection, one request at a time, HTTP/1.1. */
import { connect, type Socket } from "node:net"
import { MARK } from "./Traffic.ts"

/** A whole answer; moments are those of `performance.now()`. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** When the first piece with content had come. */
  readonly firstTokenAt: number
  readonly endedAt: number
}

interface Waiting {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

const NEVER = -1

/**
 * A connection that rested for longer is not used again, as with every careful client: the gateway closes one after 75 seconds, and a
 * request may cross its end.
 */
const MOST_REST_MS = 60_000

/** A connection that is kept from request to request. Bodies are read as Latin-1, which is enough to compare them. */
export class Connection {
  readonly #socket: Socket
  #waiting: Waiting | undefined
  #unread = ""
  #inBody = false
  #status = 0
  #body = ""
  /** Undefined: the body comes in chunks. */
  #length: number | undefined
  #firstTokenAt = NEVER
  #answeredAt = performance.now()

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true })
    this.#socket.setEncoding("latin1")
    this.#socket.on("data", (text: string) => this.#read(text))
    this.#socket.on("error", () => {})
    this.#socket.on("close", () => {
      const part = this.#inBody ? "in the middle of the answer" : "before the answer began"
      this.#waiting?.reject(new Error(`the connection was closed ${part}`))
      this.#waiting = undefined
    })
  }

  /** False for a connection that must not be used again; one that rested for too long is closed here. */
  isFresh(): boolean {
    if (performance.now() - this.#answeredAt > MOST_REST_MS) this.close()
    return !this.#socket.destroyed
  }

  /** Rejects when the connection ends first. */
  exchange(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #read(text: string): void {
    this.#unread = this.#unread === "" ? text : this.#unread + text
    if (!this.#inBody && !this.#readHead()) return
    const whole = this.#length === undefined ? this.#readChunks() : this.#readSized(this.#length)
    if (this.#firstTokenAt === NEVER && this.#body.includes(MARK)) this.#firstTokenAt = performance.now()
    if (whole) this.#finish()
  }

  #readHead(): boolean {
    const end = this.#unread.indexOf("\r\n\r\n")
    if (end < 0) return false
    const head = this.#unread.slice(0, end)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    this.#status = Number(head.slice(9, 12))
    this.#length = length === undefined ? undefined : Number(length)
    this.#unread = this.#unread.slice(end + 4)
    this.#inBody = true
    return true
  }

  #readSized(length: number): boolean {
    if (this.#unread.length < length) return false
    this.#body = this.#unread.slice(0, length)
    this.#unread = this.#unread.slice(length)
    return true
  }

  /** Takes the chunks that are there whole; tells whether the last of them is among them. */
  #readChunks(): boolean {
    let from = 0
    let last = false
    while (!last) {
      const line = this.#unread.indexOf("\r\n", from)
      if (line < 0) break
      const size = Number.parseInt(this.#unread.slice(from, line), 16)
      const end = line + 2 + size
      if (this.#unread.length < end + 2) break
      this.#body += this.#unread.slice(line + 2, end)
      from = end + 2
      last = size === 0
    }
    this.#unread = this.#unread.slice(from)
    return last
  }

  #finish(): void {
    const answer = {
      status: this.#status,
      body: this.#body,
      firstTokenAt: this.#firstTokenAt,
      endedAt: performance.now()
    }
    const waiting = this.#waiting
    this.#answeredAt = answer.endedAt
    this.#waiting = undefined
    this.#inBody = false
    this.#body = ""
    this.#firstTokenAt = NEVER
    waiting?.resolve(answer)
  }
}
