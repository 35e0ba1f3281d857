/** A cheap HTTP/1.1 client on plain sockets, with one request at a time on a connection. */
import { connect, type Socket } from "node:net"
import { MARK } from "./Traffic.ts"

/** A complete answer, with times of `performance.now()`. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** When the first content arrived. */
  readonly firstTokenAt: number
  readonly endedAt: number
}

interface PendingAnswer {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

const NEVER = -1

/**
 * A connection that was idle for longer is not used again. The gateway closes an idle connection after 75 seconds, and a request could
 * arrive just then.
 */
const MAX_IDLE_MS = 60_000

/** A persistent connection. It decodes bodies as Latin-1, which is enough to compare them. */
export class Connection {
  readonly #socket: Socket
  #pending: PendingAnswer | undefined
  #unread = ""
  #inBody = false
  #status = 0
  #body = ""
  /** Undefined for a chunked body. */
  #length: number | undefined
  #firstTokenAt = NEVER
  #answeredAt = performance.now()

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true })
    this.#socket.setEncoding("latin1")
    this.#socket.on("data", (text: string) => this.#read(text))
    this.#socket.on("error", () => {})
    this.#socket.on("close", () => {
      const part = this.#inBody ? "in the middle of the answer" : "before the answer"
      this.#pending?.reject(new Error(`the connection was closed ${part}`))
      this.#pending = undefined
    })
  }

  /** Whether the connection can carry another request. Closes one that was idle for too long. */
  isFresh(): boolean {
    if (performance.now() - this.#answeredAt > MAX_IDLE_MS) this.close()
    return !this.#socket.destroyed
  }

  /** Sends a request and returns its answer. Rejects when the connection closes first. */
  exchange(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#pending = undefined
    this.#socket.destroy()
  }

  #read(text: string): void {
    this.#unread = this.#unread === "" ? text : this.#unread + text
    if (!this.#inBody && !this.#readHead()) return
    const whole = this.#length === undefined ? this.#readChunks() : this.#readSized(this.#length)
    if (this.#firstTokenAt === NEVER && this.#body.includes(MARK)) this.#firstTokenAt = performance.now()
    if (whole) this.#recordResult()
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

  /** Reads the chunks that have arrived; returns whether the last one was among them. */
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

  #recordResult(): void {
    const answer = {
      status: this.#status,
      body: this.#body,
      firstTokenAt: this.#firstTokenAt,
      endedAt: performance.now()
    }
    const pending = this.#pending
    this.#answeredAt = answer.endedAt
    this.#pending = undefined
    this.#inBody = false
    this.#body = ""
    this.#firstTokenAt = NEVER
    pending?.resolve(answer)
  }
}

/** The idle connections to one server. */
export class ConnectionPool {
  readonly #port: number
  readonly #idle: Array<Connection> = []

  constructor(port: number) {
    this.#port = port
  }

  /** Returns an idle connection, or a new one. */
  take(): Connection {
    let connection = this.#idle.pop()
    while (connection?.isFresh() === false) connection = this.#idle.pop()
    return connection ?? new Connection(this.#port)
  }

  give(connection: Connection): void {
    this.#idle.push(connection)
  }

  /** Closes all idle connections but `kept`. */
  close(kept = 0): void {
    for (const connection of this.#idle.splice(0, this.#idle.length - kept)) connection.close()
  }
}
