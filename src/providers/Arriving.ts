import { Deferred, Effect, type Exit } from "effect"
import type { ProviderError } from "./Provider.ts"
import type { ArrivingVectors } from "./Work.ts"

/** What an adapter writes of a list that is still arriving, and one reader takes. */
export class Arriving implements ArrivingVectors {
  #waiting: Array<Uint8Array>
  #resume: (() => void) | undefined
  #ended = false
  readonly #end = Deferred.makeUnsafe<number | undefined, ProviderError>()

  constructor(beginning: ReadonlyArray<Uint8Array>) {
    this.#waiting = [...beginning]
  }

  readonly whole = Deferred.await(this.#end)

  readonly next = Effect.callback<ReadonlyArray<Uint8Array> | undefined>((resume) => {
    if (this.#waiting.length > 0 || this.#ended) return resume(Effect.sync(() => this.#take()))
    this.#resume = () => resume(Effect.sync(() => this.#take()))
    return Effect.sync(() => (this.#resume = undefined))
  })

  push(pieces: ReadonlyArray<Uint8Array>): void {
    if (pieces.length === 0) return
    this.#waiting.push(...pieces)
    this.#wake()
  }

  end(exit: Exit.Exit<number | undefined, ProviderError>): void {
    this.#ended = true
    Deferred.doneUnsafe(this.#end, exit)
    this.#wake()
  }

  #take(): ReadonlyArray<Uint8Array> | undefined {
    const pieces = this.#waiting
    this.#waiting = []
    return pieces.length === 0 ? undefined : pieces
  }

  #wake(): void {
    const resume = this.#resume
    this.#resume = undefined
    resume?.()
  }
}
