import { Context, Data, Effect, Layer, Scope } from "effect"
import { type Dispatcher, Pool } from "undici"

/** How long each part of a call may take, in milliseconds; an absent clock never strikes. */
export interface OutboundClocks {
  /** From the call to a connection that carries it, waiting for a free one included. */
  readonly connectMs?: number | undefined
  /** Streams only: from the request on the wire until the reader calls `started`. */
  readonly firstMs?: number | undefined
  /** Streams only: the longest silence after that. Time in which a slow reader keeps it paused does not count. */
  readonly idleMs?: number | undefined
  /** The whole call, from its first instant to its last byte. */
  readonly totalMs?: number | undefined
}

export type OutboundClock = "connect" | "first" | "idle" | "total"

export interface OutboundRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Scheme, host and port, such as `https://api.example.com`. */
  readonly origin: string
  /** Path and query, beginning with a slash. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly clocks: OutboundClocks
  /** The longest body `send` accepts, in bytes; 16 MiB when absent. */
  readonly maxBodyBytes?: number | undefined
}

/** Header names are in lower case. */
export type OutboundHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** A whole answer, whatever its status. */
export interface OutboundResponse {
  readonly status: number
  readonly headers: OutboundHeaders
  readonly body: Uint8Array
}

/** An answer whose body is still arriving. It holds at most a small buffer: a reader that waits makes the sender wait. */
export interface OutboundStream {
  readonly status: number
  readonly headers: OutboundHeaders
  /** The next bytes, or undefined at the end, as often as asked. What arrived before a failure is given before it. */
  readonly read: Effect.Effect<Uint8Array | undefined, OutboundError>
  /**
   * Gives `take` what has arrived and what will, as it comes and without a fiber that wakes for it: until that answers false, when
   * there may be more, which this answers with true, or until the end.
   */
  readonly each: (take: (bytes: Uint8Array) => boolean) => Effect.Effect<boolean, OutboundError>
  /** The reader has what it waited for: the first clock stops and the idle clock begins. */
  readonly started: () => void
  /** The reader has all it wants: closing the scope then keeps a connection whose body ends within a moment. */
  readonly finished: () => void
}

export type OutboundReason =
  /** No connection could be made; nothing was sent. */
  | { readonly _tag: "Connect"; readonly detail: string }
  | { readonly _tag: "TimedOut"; readonly clock: OutboundClock }
  /** The connection failed while in use; `answered` tells whether a response head had come. */
  | { readonly _tag: "Broken"; readonly detail: string; readonly answered: boolean }
  | { readonly _tag: "TooLarge"; readonly limitBytes: number }

/** A call that got no whole answer. `detail` is an error code and never has any part of the request. */
export class OutboundError extends Data.TaggedError("OutboundError")<{ readonly reason: OutboundReason }> {
  override get message() {
    const reason = this.reason
    if (reason._tag === "TimedOut") return `timed out (${reason.clock})`
    return reason._tag === "TooLarge" ? `longer than ${reason.limitBytes} bytes` : `${reason._tag}: ${reason.detail}`
  }
}

export interface OutboundOptions {
  /** The most connections to one origin; a call beyond them waits on its connect clock. Each carries one call at a time. */
  readonly connectionsPerOrigin: number
  /** How long an unused connection is kept, unless its server asks for less. */
  readonly keepAliveMs: number
}

/**
 * HTTP calls to providers, straight on connection pools: no redirects, no retries, no decompression, no trace headers.
 * Origins come from configuration, never from a caller. Any status is a success; interrupting a call, or closing the scope
 * of a stream, drops its connection at once.
 */
export class Outbound extends Context.Service<
  Outbound,
  {
    readonly send: (request: OutboundRequest) => Effect.Effect<OutboundResponse, OutboundError>
    readonly open: (request: OutboundRequest) => Effect.Effect<OutboundStream, OutboundError, Scope.Scope>
  }
>()("tollgate/platform/Outbound") {
  static readonly layerWith = (options: OutboundOptions) =>
    Layer.effect(
      Outbound,
      Effect.gen(function* () {
        const pools = new Map<string, Pool>()
        yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all([...pools.values()].map((_) => _.destroy()))))
        const poolOf = (origin: string): Pool => {
          let pool = pools.get(origin)
          if (pool === undefined) pools.set(origin, (pool = makePool(origin, options)))
          return pool
        }
        return Outbound.of({
          send: (request) =>
            Effect.callback<OutboundResponse, OutboundError>((resume) => {
              const exchange = new WholeExchange(request, resume)
              exchange.dispatch(poolOf(request.origin))
              return Effect.sync(() => exchange.drop())
            }),
          open: (request) =>
            Effect.suspend(() => {
              const exchange = new StreamExchange(request)
              // Unlike one of Effect.addFinalizer, this finalizer does not keep and restore the context it was added in.
              return Effect.andThen(
                Effect.flatMap(Effect.scope, (scope) =>
                  Scope.addFinalizer(
                    scope,
                    Effect.sync(() => exchange.close())
                  )
                ),
                Effect.callback<OutboundStream, OutboundError>((resume) => {
                  exchange.onOpen(resume)
                  exchange.dispatch(poolOf(request.origin))
                  return Effect.sync(() => exchange.drop())
                })
              )
            })
        })
      })
    )
  static readonly layer = Outbound.layerWith({ connectionsPerOrigin: 1024, keepAliveMs: 30_000 })
}

/** The origin and the path of a URL, as a request wants them. */
export const targetOf = (url: string): { readonly origin: string; readonly path: string } => {
  const { origin, pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

/** The first value of a header. */
export const headerOf = (headers: OutboundHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === "string" ? value : value?.[0]
}

/** The rest of a stream, cut at `limitBytes`: enough of an error body to say what went wrong. */
export const readUpTo = (stream: OutboundStream, limitBytes: number): Effect.Effect<Uint8Array, OutboundError> =>
  Effect.gen(function* () {
    const chunks: Array<Uint8Array> = []
    let length = 0
    while (length < limitBytes) {
      const chunk = yield* stream.read
      if (chunk === undefined) break
      chunks.push(chunk)
      length += chunk.length
    }
    return Buffer.concat(chunks).subarray(0, limitBytes)
  })

const MAX_BODY_BYTES = 16 * 1024 * 1024
const NOTHING = new Uint8Array()
/** A connect attempt that no call waits for any more ends by itself. */
const SOCKET_CONNECT_MS = 10_000
/** Bytes held for a slow reader before the socket is paused. */
const HIGH_WATER_BYTES = 64 * 1024
/** Small pieces are handed over together until they are this long. */
const TOGETHER_BYTES = 4 * 1024
/** What may still come after a reader has finished, so that the connection can be used again. */
const LINGER_MS = 1_000
const LINGER_BYTES = 64 * 1024

const makePool = (origin: string, options: OutboundOptions) =>
  new Pool(origin, {
    connections: options.connectionsPerOrigin,
    pipelining: 1,
    // On HTTP/1.1 dropping a call drops exactly its socket, which is what makes a provider stop.
    allowH2: false,
    keepAliveTimeout: options.keepAliveMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: SOCKET_CONNECT_MS
  })

const DROPPED = new Error("dropped")
DROPPED.stack = ""

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "ERR_UNKNOWN"

/**
 * One call. undici calls the handlers from inside its parser, where a fiber that dispatches or resumes another call would
 * meet the parser busy; so outcomes are handed over in a microtask.
 */
abstract class Exchange implements Dispatcher.DispatchHandler {
  protected readonly request: OutboundRequest
  protected controller: Dispatcher.DispatchController | undefined
  protected status = 0
  protected headers: OutboundHeaders = {}
  /** Nothing more is wanted from, or will come over, the wire. */
  protected over = false
  #timer: NodeJS.Timeout | undefined
  #timed: OutboundClock = "connect"
  #total: NodeJS.Timeout | undefined
  #heard = 0

  constructor(request: OutboundRequest) {
    this.request = request
  }

  protected abstract onHead(): void
  protected abstract onBytes(chunk: Uint8Array): void
  protected abstract onEnd(): void
  protected abstract onFailure(error: OutboundError): void
  protected onSent(): void {}

  dispatch(pool: Pool): void {
    const { method, path, headers, body = null, clocks } = this.request
    if (clocks.totalMs !== undefined) this.#total = setTimeout(() => this.#strike("total"), clocks.totalMs)
    pool.dispatch({ method, path, headers, body }, this)
    // Most often there was a connection, and the request is on its way.
    if (this.controller === undefined && !this.over) this.clock("connect", clocks.connectMs)
  }

  /** Ends the call without a word: whoever asked is gone. */
  drop(): void {
    if (this.over) return
    this.settle()
    this.controller?.abort(DROPPED)
  }

  protected fail(reason: OutboundReason): void {
    if (this.over) return
    this.drop()
    this.onFailure(new OutboundError({ reason }))
  }

  protected settle(): void {
    this.over = true
    clearTimeout(this.#timer)
    clearTimeout(this.#total)
  }

  protected clock(clock: OutboundClock, ms: number | undefined): void {
    clearTimeout(this.#timer)
    this.#timed = clock
    this.#timer = ms === undefined ? undefined : setTimeout(() => this.#strikeSoon(), ms)
  }

  protected stopClock(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  protected refreshClock(): void {
    this.#timer?.refresh()
  }

  /** A process that was held up finds silence and waiting bytes at once, so the bytes are looked at first. */
  #strikeSoon(): void {
    if (this.#timed !== "idle") return this.#strike(this.#timed)
    const heard = this.#heard
    setImmediate(() => {
      if (heard === this.#heard) this.#strike("idle")
    })
  }

  #strike(clock: OutboundClock): void {
    this.fail({ _tag: "TimedOut", clock })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown here, an unwanted request leaves the queue without costing the connection.
    if (this.over) throw DROPPED
    this.controller = controller
    this.stopClock()
    this.onSent()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: OutboundHeaders): void {
    if (this.over || status < 200) return
    this.status = status
    this.headers = headers
    this.onHead()
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.over) return
    this.#heard += 1
    this.onBytes(chunk)
  }

  onResponseEnd(): void {
    if (this.over) return
    this.settle()
    this.onEnd()
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    const detail = codeOf(error)
    this.fail(
      this.controller === undefined
        ? { _tag: "Connect", detail }
        : { _tag: "Broken", detail, answered: this.status !== 0 }
    )
  }
}

type Resume<A> = (effect: Effect.Effect<A, OutboundError>) => void

class WholeExchange extends Exchange {
  readonly #resume: Resume<OutboundResponse>
  readonly #limit: number
  #announced = 0
  #body: Uint8Array = NOTHING
  #length = 0

  constructor(request: OutboundRequest, resume: Resume<OutboundResponse>) {
    super(request)
    this.#resume = resume
    this.#limit = request.maxBodyBytes ?? MAX_BODY_BYTES
  }

  protected onHead(): void {
    const announced = Number(headerOf(this.headers, "content-length") ?? 0)
    if (announced > this.#limit) return this.#tooLarge()
    this.#announced = announced
  }

  protected onBytes(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#limit) return this.#tooLarge()
    if (this.#length === 0) this.#body = chunk
    else this.#append(chunk, length)
    this.#length = length
  }

  /** Pieces are put together as they come: at the end of a long body that would take as long as a part of its way here. */
  #append(chunk: Uint8Array, length: number): void {
    if (length > this.#body.length) {
      const wider = Buffer.allocUnsafeSlow(Math.max(length, this.#announced, 2 * this.#body.length))
      wider.set(this.#body.subarray(0, this.#length))
      this.#body = wider
    }
    this.#body.set(chunk, this.#length)
  }

  protected onEnd(): void {
    const { status, headers } = this
    const body = this.#body.subarray(0, this.#length)
    queueMicrotask(() => this.#resume(Effect.succeed({ status, headers, body })))
  }

  protected onFailure(error: OutboundError): void {
    queueMicrotask(() => this.#resume(Effect.fail(error)))
  }

  #tooLarge(): void {
    this.fail({ _tag: "TooLarge", limitBytes: this.#limit })
  }
}

class StreamExchange extends Exchange {
  #open: Resume<OutboundStream> | undefined
  /** Told in a microtask that something has come. */
  #waiting: (() => void) | undefined
  #queue: Array<Uint8Array> = []
  #queued = 0
  #started = false
  #finished = false
  #lingered = 0
  #end: Effect.Effect<undefined, OutboundError> | undefined
  readonly #read = Effect.suspend(() => this.#take())

  onOpen(resume: Resume<OutboundStream>): void {
    this.#open = resume
  }

  close(): void {
    if (!this.#finished) this.drop()
  }

  protected override onSent(): void {
    this.clock("first", this.request.clocks.firstMs)
  }

  protected onHead(): void {
    const open = this.#open
    this.#open = undefined
    const stream: OutboundStream = {
      status: this.status,
      headers: this.headers,
      read: this.#read,
      each: (take) => this.#each(take),
      started: () => this.#start(),
      finished: () => this.#finish()
    }
    queueMicrotask(() => open?.(Effect.succeed(stream)))
  }

  protected onBytes(chunk: Uint8Array): void {
    if (this.#finished) {
      this.#lingered += chunk.length
      if (this.#lingered > LINGER_BYTES) this.drop()
      return
    }
    if (this.#started) this.refreshClock()
    this.#queue.push(chunk)
    this.#queued += chunk.length
    if (this.#queued >= HIGH_WATER_BYTES) this.#pause()
    this.#wake()
  }

  protected onEnd(): void {
    this.#end ??= Effect.undefined
    this.#wake()
  }

  protected onFailure(error: OutboundError): void {
    this.#end ??= Effect.fail(error)
    const open = this.#open
    if (open !== undefined) queueMicrotask(() => open(Effect.fail(error)))
    this.#wake()
  }

  #take(): Effect.Effect<Uint8Array | undefined, OutboundError> {
    if (this.#queue.length > 0) return Effect.succeed(this.#shift())
    if (this.#end !== undefined) return this.#end
    return Effect.callback((resume) => {
      // The reader takes the bytes itself, so that one interrupted at this moment leaves them for the next.
      const waiting = () => resume(this.#read)
      this.#waiting = waiting
      return Effect.sync(() => {
        this.#waiting = undefined
      })
    })
  }

  #each(take: (bytes: Uint8Array) => boolean): Effect.Effect<boolean, OutboundError> {
    return Effect.callback((resume) => {
      let gone = false
      const give = () => {
        try {
          while (this.#queue.length > 0) {
            if (gone) return
            if (!take(this.#shift())) return resume(Effect.succeed(true))
          }
        } catch (defect) {
          return resume(Effect.die(defect))
        }
        if (gone) return
        if (this.#end !== undefined) return resume(Effect.as(this.#end, false))
        this.#waiting = give
      }
      give()
      return Effect.sync(() => {
        gone = true
        this.#waiting = undefined
      })
    })
  }

  /** What has arrived, together up to a bound: a reader that meters what it reads must not be given far more than it holds for. */
  #shift(): Uint8Array {
    let length = 0
    const end = this.#queue.findIndex((chunk) => (length += chunk.length) >= TOGETHER_BYTES)
    const chunks = this.#queue.splice(0, end === -1 ? this.#queue.length : end + 1)
    const [only, second] = chunks
    const bytes = only !== undefined && second === undefined ? only : Buffer.concat(chunks, length)
    this.#queued -= bytes.length
    if (this.#queued < HIGH_WATER_BYTES) this.#resume()
    return bytes
  }

  #wake(): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    this.#waiting = undefined
    queueMicrotask(waiting)
  }

  #start(): void {
    if (this.over || this.#started) return
    this.#started = true
    this.clock("idle", this.request.clocks.idleMs)
  }

  #finish(): void {
    if (this.over || this.#finished) return
    this.#finished = true
    this.#queue = []
    this.#end = Effect.undefined
    this.#resume()
    this.clock("idle", LINGER_MS)
  }

  #pause(): void {
    if (this.controller?.paused !== false) return
    this.controller.pause()
    if (this.#started) this.stopClock()
  }

  #resume(): void {
    if (this.controller?.paused !== true || this.over) return
    if (this.#started) this.clock("idle", this.request.clocks.idleMs)
    this.controller.resume()
  }
}
