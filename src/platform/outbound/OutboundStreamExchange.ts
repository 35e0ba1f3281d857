import { Effect } from "effect"
import type { OutboundError, OutboundStream } from "./OutboundCall.ts"
import { Exchange, type Resume } from "./OutboundExchange.ts"

/** The bytes buffered for a slow reader before the socket is paused. */
const HIGH_WATER_BYTES = 64 * 1024
/** Small chunks are delivered together up to this length, in bytes. */
const TOGETHER_BYTES = 4 * 1024
/** How long the end of the body may take, in milliseconds, after the reader has finished, so that the connection can be reused. */
const LINGER_MS = 1_000
const LINGER_BYTES = 64 * 1024

/** A call that streams its response body. */
export class StreamExchange extends Exchange {
  #open: Resume<OutboundStream> | undefined
  /** Called in a microtask when bytes have arrived. */
  #waiting: (() => void) | undefined
  #queue: Array<Uint8Array> = []
  #queued = 0
  #started = false
  #finished = false
  #lingered = 0
  #pausedAt: number | undefined
  #pausedMs = 0
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

  protected override get heldMs(): number {
    return this.#pausedMs + (this.#pausedAt === undefined ? 0 : performance.now() - this.#pausedAt)
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
      // The reader takes the bytes itself. If it is interrupted at this moment, they stay for the next read.
      const waiting = () => resume(this.#read)
      this.#waiting = waiting
      return Effect.sync(() => {
        this.#waiting = undefined
      })
    })
  }

  #each(take: (bytes: Uint8Array) => boolean): Effect.Effect<boolean, OutboundError> {
    return Effect.callback((resume) => {
      let isClosed = false
      const give = () => {
        try {
          while (this.#queue.length > 0) {
            if (isClosed) return
            if (!take(this.#shift())) return resume(Effect.succeed(true))
          }
        } catch (defect) {
          return resume(Effect.die(defect))
        }
        if (isClosed) return
        if (this.#end !== undefined) return resume(Effect.as(this.#end, false))
        this.#waiting = give
      }
      give()
      return Effect.sync(() => {
        isClosed = true
        this.#waiting = undefined
      })
    })
  }

  /** Returns what has arrived, joined up to a limit: a reader that meters the output must not receive far more than its hold covers. */
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
    this.#pausedAt = performance.now()
    if (this.#started) this.stopClock()
  }

  #resume(): void {
    if (this.controller?.paused !== true || this.over) return
    this.#pausedMs = this.heldMs
    this.#pausedAt = undefined
    if (this.#started) this.clock("idle", this.request.clocks.idleMs)
    this.controller.resume()
  }
}
