/** Requests as bytes on real sockets, for what no well-behaved client would send. */
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import { Agent, request as open } from "node:http"
import { connect, type Socket } from "node:net"

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Several pieces go out chunked. */
  readonly body?: string | Uint8Array | Iterable<Uint8Array>
}

export interface Got {
  /** 0 when the connection ended without an answer; `text` then says how. */
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

const exchange = (origin: string, agent: Agent, { body, headers = {}, method = "GET", path }: Sent): Promise<Got> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin)
    let answered = false
    const request = open({ hostname, port, method, path, headers, agent }, (response) => {
      answered = true
      const pieces: Array<Buffer> = []
      response.on("data", (piece: Buffer) => pieces.push(piece))
      response.on("error", reject)
      response.on("end", () => {
        const got = response.headers as Got["headers"]
        resolve({ status: response.statusCode ?? 0, headers: got, text: Buffer.concat(pieces).toString("utf8") })
        if (!request.writableEnded) request.destroy()
      })
    })
    // A server that answers before the body is complete may close the connection on the rest of it.
    request.on("error", (error) => {
      if (!answered) resolve({ status: 0, headers: {}, text: String(error) })
    })
    if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return void request.end(body)
    const write = async () => {
      for (const piece of body) {
        if (answered) return
        if (request.write(piece)) continue
        const room = new AbortController()
        const { signal } = room
        await Promise.race([once(request, "drain", { signal }), once(request, "close", { signal })]).catch(
          () => undefined
        )
        room.abort()
      }
      request.end()
    }
    void write()
  })

/** Sends requests to a server over kept connections, which end with the scope. */
export const client = (origin: string): Effect.Effect<(sent: Sent) => Effect.Effect<Got>, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 4 })),
      (agent) => Effect.sync(() => agent.destroy())
    ),
    (agent) => (sent) => Effect.promise(() => exchange(origin, agent, sent))
  )

/** A plain socket to a server. It reads on its own, and does not close its half when the server closes the other. */
export class Line {
  readonly #socket: Socket
  #text = ""
  #ended = false
  #closed = false
  #changed: () => void = () => undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    const changed = () => this.#changed()
    socket.setEncoding("latin1")
    socket.on("data", (text: string) => {
      this.#text += text
      changed()
    })
    socket.on("end", () => {
      this.#ended = true
      changed()
    })
    socket.on("close", () => {
      this.#closed = true
      changed()
    })
    // A reset is one way of being closed.
    socket.on("error", () => undefined)
  }

  static readonly open = (origin: string): Effect.Effect<Line, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const { hostname, port } = new URL(origin)
        const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
        await once(socket, "connect")
        return new Line(socket)
      }),
      (line) => Effect.sync(() => line.#socket.destroy())
    )

  /** All that has come so far. */
  get text(): string {
    return this.#text
  }

  write(text: string): void {
    this.#socket.write(text, "latin1")
  }

  /** Takes what came off the line, once it is complete. */
  take(isComplete: (text: string) => boolean): Effect.Effect<string> {
    return Effect.map(
      this.#until(() => isComplete(this.#text)),
      () => {
        const taken = this.#text
        this.#text = ""
        return taken
      }
    )
  }

  /** Waits until the server has closed its half. */
  get ended(): Effect.Effect<void> {
    return this.#until(() => this.#ended || this.#closed)
  }

  /** Waits until the server no longer knows the connection: it answers nothing but a reset. */
  get gone(): Effect.Effect<void> {
    return Effect.promise(async () => {
      const probe = setInterval(() => this.#socket.write(" "), 20)
      try {
        await Effect.runPromise(this.#until(() => this.#closed))
      } finally {
        clearInterval(probe)
      }
    })
  }

  #until(holds: () => boolean): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const check = () => {
        if (holds()) resume(Effect.void)
      }
      this.#changed = check
      check()
    })
  }
}

/** An answer read off a line. */
export const parse = (text: string): Got => {
  const at = text.indexOf("\r\n\r\n")
  const [first = "", ...lines] = text.slice(0, at).split("\r\n")
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":")
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    })
  )
  const status = Number(first.split(" ")[1])
  return { status, headers, text: Buffer.from(text.slice(at + 4), "latin1").toString("utf8") }
}

/** Whether a text holds so many whole answers with a declared length. */
export const answers =
  (count: number) =>
  (text: string): boolean => {
    let rest = text
    for (let seen = 0; seen < count; seen++) {
      const at = rest.indexOf("\r\n\r\n")
      const length = Number(/content-length: (\d+)/i.exec(rest.slice(0, at))?.[1])
      if (at === -1 || !(rest.length >= at + 4 + length)) return false
      rest = rest.slice(at + 4 + length)
    }
    return true
  }

/** A response as it was sent: compressed, if it was. */
export interface Raw {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

/** Sends one request with these headers alone, on a connection of its own. The path goes out as it is. */
export const raw = (
  origin: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<Raw> =>
  Effect.callback((resume) => {
    const { hostname, port } = new URL(origin)
    open({ hostname, port, method, path, headers, agent: false }, (response) => {
      const pieces: Array<Buffer> = []
      response.on("data", (piece: Buffer) => pieces.push(piece))
      response.on("end", () => {
        const got = response.headers as Raw["headers"]
        resume(Effect.succeed({ status: response.statusCode ?? 0, headers: got, body: Buffer.concat(pieces) }))
      })
    }).end()
  })
