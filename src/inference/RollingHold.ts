import { Effect, Fiber } from "effect"
import type { OutputEvent } from "../domain/Output.ts"
import type { Candidate } from "../domain/Plan.ts"
import type { AdmittedChat } from "./ChatFlow.ts"
import { costAt, outputAt, outputCap, ROLLING_STEP } from "../domain/Estimate.ts"
import { extendHold, type AdmissionOptions } from "./Admission.ts"
import type { Progress } from "./Progress.ts"

/** A rolling hold is extended when it covers fewer further output tokens than this. */
const EXTEND_BELOW = 512

/** After a refused extension, the next one is tried after this many more tokens. */
const RETRY_AFTER_TOKENS = 64

/** Other vendors' tokenizers split the same text into more tokens than ours, at most by about this factor, in percent. */
const TOKENIZER_SPREAD = 120

/**
 * Extends a rolling hold ahead of its stream's output. For each piece that has arrived and not yet been sent, `ahead` tells whether
 * nothing needs to be done. If it returns false, the caller must call `advance`, which extends the hold before it is used up, while the
 * stream continues. `advance` returns false when the piece exceeds the hold and no more money is available.
 */
export class RollingHold {
  readonly #options: AdmissionOptions
  readonly #admitted: AdmittedChat
  readonly #served: Candidate
  readonly #progress: Progress
  readonly #cap: number
  #covered: number
  #refusedAt = Number.NEGATIVE_INFINITY
  #underWay: Fiber.Fiber<void> | undefined

  constructor(options: AdmissionOptions, admitted: AdmittedChat, served: Candidate, progress: Progress) {
    this.#options = options
    this.#admitted = admitted
    this.#served = served
    this.#progress = progress
    this.#cap = outputCap(served, admitted.estimate)
    this.#covered = outputAt(served, admitted.estimate, admitted.held)
  }

  ahead(piece: ReadonlyArray<OutputEvent>): boolean {
    return this.#whole || this.#progress.atMostWith(piece) + EXTEND_BELOW < this.#covered
  }

  advance(piece: ReadonlyArray<OutputEvent>): Effect.Effect<boolean> {
    return Effect.suspend(() => (this.ahead(piece) ? goOn : this.#reach(this.#progress.countWith(piece))))
  }

  /** Whether the hold covers all of the output. */
  get #whole(): boolean {
    return !this.#admitted.estimate.rolling || this.#covered >= this.#cap
  }

  #reach(used: number): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const likely = Math.ceil((used * TOKENIZER_SPREAD) / 100)
      if (this.#whole || likely + EXTEND_BELOW < this.#covered) return goOn
      const wants = this.#underWay === undefined && used - this.#refusedAt >= RETRY_AFTER_TOKENS
      return wants ? Effect.andThen(this.#begin(likely, used), this.#within(used)) : this.#within(used)
    })
  }

  /** At the end of the hold, waits for the extension that is running. */
  #within(used: number): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      if (used <= this.#covered) return goOn
      return this.#underWay === undefined
        ? Effect.succeed(false)
        : Effect.flatMap(Fiber.await(this.#underWay), () => this.#reach(used))
    })
  }

  /** Starts an extension that covers the output so far and the likely next part. */
  #begin(likely: number, used: number): Effect.Effect<void> {
    const step = Math.min(Math.max(ROLLING_STEP, likely + EXTEND_BELOW - this.#covered), this.#cap - this.#covered)
    const work = this.#extend(step).pipe(
      Effect.map((extended) => {
        if (!extended) this.#refusedAt = used
      }),
      Effect.ensuring(Effect.sync(() => (this.#underWay = undefined)))
    )
    return Effect.map(Effect.forkChild(work), (fiber) => {
      this.#underWay = fiber
    })
  }

  /** A database that does not answer is no reason to cut a stream short: the stream continues within the hold. */
  #extend(step: number): Effect.Effect<boolean> {
    const { estimate } = this.#admitted
    const costOf = (output: number) => costAt(this.#served, estimate, output)
    const more = costOf(this.#covered + step) - costOf(this.#covered)
    return Effect.map(extendHold(this.#options, this.#admitted, more), (extended) => {
      if (extended) this.#covered += step
      return extended
    })
  }
}

const goOn = Effect.succeed(true)
