import { Deferred, Effect, type Exit } from "effect"
import type { ProviderError } from "../ProviderError.ts"
import type { ArrivingVectors } from "../Work.ts"

/** The largest chunk for a reader, in bytes. It limits how much of what the reader has taken can still wait to be written. */
const TOGETHER_BYTES = 262_144

const wait = (set: (resume: (() => void) | undefined) => void): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    set(() => {
      set(undefined)
      resume(Effect.void)
    })
    return Effect.sync(() => set(undefined))
  })

/** A list of vectors that an adapter writes as it arrives and one reader takes. */
export class ArrivingList implements ArrivingVectors {
  readonly #mostWaiting: number
  #waiting: Array<Uint8Array> = []
  #length = 0
  #more: (() => void) | undefined
  #room: (() => void) | undefined
  #ended = false
  #left = false
  count = 0
  readonly #end = Deferred.makeUnsafe<number | undefined, ProviderError>()

  /** `mostWaitingBytes` is the number of unread bytes above which the adapter waits for the reader. */
  constructor(beginning: ReadonlyArray<Uint8Array>, mostWaitingBytes: number) {
    this.#mostWaiting = mostWaitingBytes
    this.push(beginning)
  }

  readonly whole = Deferred.await(this.#end)

  readonly next: ArrivingVectors["next"] = Effect.suspend(() => {
    if (this.#left) return Effect.interrupt
    if (this.#length > 0 || this.#ended) return Effect.succeed(this.#take())
    return Effect.andThen(
      wait((resume) => (this.#more = resume)),
      this.next
    )
  })

  /** Whether too many bytes are unread. */
  get isFull(): boolean {
    return this.#length > this.#mostWaiting
  }

  /** Waits while too many bytes are unread. */
  readonly taken: Effect.Effect<void> = Effect.suspend(() =>
    this.isFull ? wait((resume) => (this.#room = resume)) : Effect.void
  )

  push(pieces: ReadonlyArray<Uint8Array>): void {
    if (this.#left) return
    for (const piece of pieces) {
      this.#waiting.push(piece)
      this.#length += piece.length
    }
    if (this.#length > 0) this.#more?.()
  }

  end(exit: Exit.Exit<number | undefined, ProviderError>): void {
    this.#ended = true
    Deferred.doneUnsafe(this.#end, exit)
    this.#more?.()
  }

  leave(): void {
    this.#left = true
    this.#waiting = []
    this.#length = 0
    this.#more?.()
    this.#room?.()
  }

  #take(): ReadonlyArray<Uint8Array> | undefined {
    let length = 0
    const behind = this.#waiting.findIndex((piece) => (length += piece.length) >= TOGETHER_BYTES)
    const pieces = this.#waiting.splice(0, behind === -1 ? this.#waiting.length : behind + 1)
    this.#length -= length
    if (!this.isFull) this.#room?.()
    return pieces.length === 0 ? undefined : pieces
  }
}
