import { Effect } from "effect"
import type { Dispatcher, Pool } from "undici"
import {
  codeOf,
  headerOf,
  type OutboundClock,
  OutboundError,
  type OutboundHeaders,
  type OutboundReason,
  type OutboundRequest,
  type OutboundResponse
} from "./OutboundCall.ts"

const MAX_BODY_BYTES = 16 * 1024 * 1024
const NOTHING = new Uint8Array()
/** The share of time above which a paused sender counts as held. A fast reader stays below it even with large bodies. */
const HELD_PART = 0.1

const DROPPED = new Error("dropped")
DROPPED.stack = ""

/**
 * One call. undici calls the handlers from inside its parser. A fiber that starts or resumes another call there would find the parser
 * busy, so outcomes are delivered in a microtask.
 */
export abstract class Exchange implements Dispatcher.DispatchHandler {
  protected readonly request: OutboundRequest
  protected controller: Dispatcher.DispatchController | undefined
  protected status = 0
  protected headers: OutboundHeaders = {}
  /** The call needs, or will receive, nothing more from the connection. */
  protected over = false
  #timer: NodeJS.Timeout | undefined
  #timed: OutboundClock = "connect"
  #total: NodeJS.Timeout | undefined
  #received = 0

  constructor(request: OutboundRequest) {
    this.request = request
  }

  protected abstract onHead(): void
  protected abstract onBytes(chunk: Uint8Array): void
  protected abstract onEnd(): void
  protected abstract onFailure(error: OutboundError): void
  protected onSent(): void {}
  /** How long the reader has made the sender wait, in milliseconds. */
  protected get heldMs(): number {
    return 0
  }

  dispatch(pool: Pool): void {
    const { method, path, headers, body = null, clocks } = this.request
    if (clocks.totalMs !== undefined) this.#total = setTimeout(() => this.#strike("total"), clocks.totalMs)
    pool.dispatch({ method, path, headers, body }, this)
    // Usually a connection was free and the request is already on its way.
    if (this.controller === undefined && !this.over) this.clock("connect", clocks.connectMs)
  }

  /** Ends the call without an outcome, because its caller is gone. */
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

  /** After a blocked event loop, the timer and the waiting bytes become due together, so the bytes are handled first. */
  #strikeSoon(): void {
    if (this.#timed !== "idle") return this.#strike(this.#timed)
    const received = this.#received
    setImmediate(() => {
      if (received === this.#received) this.#strike("idle")
    })
  }

  #strike(clock: OutboundClock): void {
    const held = clock === "total" && this.heldMs > HELD_PART * (this.request.clocks.totalMs ?? Infinity)
    this.fail(held ? { _tag: "TimedOut", clock, held } : { _tag: "TimedOut", clock })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing here removes an abandoned request from the queue without closing the connection.
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
    this.#received += 1
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

/** Delivers the outcome of a call. */
export type Resume<A> = (effect: Effect.Effect<A, OutboundError>) => void

/** A call that returns the complete response. */
export class WholeExchange extends Exchange {
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
    if (announced > this.#limit && this.#isSuccess) return this.#tooLarge()
    this.#announced = Math.min(announced, this.#limit)
  }

  protected onBytes(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#limit) return this.#isSuccess ? this.#tooLarge() : this.#cut(chunk)
    if (this.#length === 0) this.#body = chunk
    else this.#append(chunk, length)
    this.#length = length
  }

  /** Appends chunks as they arrive. Joining them all at the end of a long body would delay the response noticeably. */
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

  get #isSuccess(): boolean {
    return this.status >= 200 && this.status < 300
  }

  /** Ends an error response at the limit, because its status and its beginning tell the cause. */
  #cut(chunk: Uint8Array): void {
    const room = this.#limit - this.#length
    if (room > 0) this.#append(chunk.subarray(0, room), this.#limit)
    this.#length = this.#limit
    this.drop()
    this.onEnd()
  }

  #tooLarge(): void {
    this.fail({ _tag: "TooLarge", limitBytes: this.#limit })
  }
}
