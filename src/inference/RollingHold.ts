import { Effect, Fiber } from "effect"
import type { OutputEvent } from "../domain/Output.ts"
import { type Candidate } from "../domain/Plan.ts"
import type { AdmittedChat } from "./ChatFlow.ts"
import { costAt, outputAt, outputCap, ROLLING_STEP } from "./Estimate.ts"
import { extendHold, type MeteredOptions } from "./Metered.ts"
import type { Progress } from "./Progress.ts"

/** A rolling hold is extended when fewer output tokens than this are left in it. */
const EXTEND_BELOW = 512

/** After a refusal the next try waits for so many more tokens. */
const RETRY_AFTER_TOKENS = 64

/** Other vendors' tokenizers cut the same text into more pieces than ours by about this much, in parts of 100. */
const TOKENIZER_SPREAD = 120

/**
 * Keeps a rolling hold ahead of its stream's output. When a piece of it has arrived, before it is given out, `ahead` tells
 * whether nothing is to be done; where it does not, `advance` is called: it extends the hold before it is used up, while the stream
 * goes on. It answers false when the piece goes beyond what is held and no more is to be had.
 */
export class RollingHold {
  readonly #options: MeteredOptions
  readonly #admitted: AdmittedChat
  readonly #served: Candidate
  readonly #progress: Progress
  readonly #cap: number
  #covered: number
  #refusedAt = Number.NEGATIVE_INFINITY
  #underWay: Fiber.Fiber<void> | undefined

  constructor(options: MeteredOptions, admitted: AdmittedChat, served: Candidate, progress: Progress) {
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

  /** Whether all of the output is held for. */
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

  /** At the end of what is held, the answer to what is under way is waited for. */
  #within(used: number): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      if (used <= this.#covered) return goOn
      return this.#underWay === undefined
        ? Effect.succeed(false)
        : Effect.flatMap(Fiber.await(this.#underWay), () => this.#reach(used))
    })
  }

  /** Begins an extension that covers what has come and what may come next. */
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

  /** A database that does not answer is no reason to cut a stream short: it goes on within what is held. */
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
