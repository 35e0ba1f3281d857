import { Effect, Fiber } from "effect"
import { minNano } from "../domain/Money.ts"
import { type Candidate } from "../domain/Plan.ts"
import { maximumCost, outputWithin, tokenCost } from "../domain/Pricing.ts"
import { likelyTokens } from "../domain/Tokens.ts"
import { noTokens } from "../domain/Usage.ts"
import { outputCap, ROLLING_STEP } from "./Estimate.ts"
import type { Admitted, MeteredOptions } from "./Metered.ts"
import type { Progress } from "./Progress.ts"

/** A rolling hold is extended when fewer output tokens than this are left in it. */
const EXTEND_BELOW = 512

/** After a refusal the next try waits for so many more tokens. */
const RETRY_AFTER_TOKENS = 64

/** Other vendors' tokenizers cut the same text into more pieces than ours by about this much, in parts of 100. */
const TOKENIZER_SPREAD = 120

/**
 * Keeps a stream's hold ahead of its output. `advance` is called as output arrives; it renews the hold in time and extends a
 * rolling one before it is used up, both while the stream goes on. It answers false when the output has reached the end of what
 * is held and no more is to be had.
 */
export class RollingHold {
  readonly #options: MeteredOptions
  readonly #admitted: Admitted
  readonly #served: Candidate
  readonly #progress: Progress
  readonly #cap: number
  #covered: number
  #renewedAt = performance.now()
  #refusedAt = Number.NEGATIVE_INFINITY
  #underWay: Fiber.Fiber<void> | undefined

  constructor(options: MeteredOptions, admitted: Admitted, served: Candidate, progress: Progress) {
    this.#options = options
    this.#admitted = admitted
    this.#served = served
    this.#progress = progress
    this.#cap = outputCap(served, admitted.estimate.maxTokens)
    this.#covered = outputWithin(served.price, admitted.estimate.promptBound, admitted.held)
  }

  get advance(): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const renew = performance.now() - this.#renewedAt > this.#options.holdTtlMs / 3
      if (!this.#admitted.estimate.rolling) return renew ? this.#begin(0, 0) : goOn
      if (this.#progress.atMost + EXTEND_BELOW < this.#covered) return renew ? this.#begin(0, 0) : goOn
      const used = Math.ceil((this.#progress.count() * TOKENIZER_SPREAD) / 100)
      const wants = used + EXTEND_BELOW >= this.#covered && used - this.#refusedAt >= RETRY_AFTER_TOKENS
      const step = wants ? Math.min(ROLLING_STEP, this.#cap - this.#covered) : 0
      const begun = step > 0 || renew ? this.#begin(step, used) : goOn
      return Effect.flatMap(begun, () => this.#within(used))
    })
  }

  /** Whether there is room for more; at the end of what is held, the answer to what is under way is waited for. */
  #within(used: number): Effect.Effect<boolean> {
    if (used < this.#covered || this.#covered >= this.#cap) return goOn
    if (this.#underWay === undefined) return Effect.succeed(false)
    return Effect.map(Fiber.await(this.#underWay), () => used < this.#covered)
  }

  #begin(step: number, used: number): Effect.Effect<boolean> {
    if (this.#underWay !== undefined) return goOn
    const work = this.#extend(step).pipe(
      Effect.map((extended) => {
        if (!extended) this.#refusedAt = used
      }),
      Effect.ensuring(Effect.sync(() => (this.#underWay = undefined)))
    )
    return Effect.map(Effect.forkChild(work), (fiber) => {
      this.#underWay = fiber
      return true
    })
  }

  /** What the request has cost so far, at the least: what an expiry of its hold would charge. */
  get #progressCost(): bigint {
    const { estimate, held } = this.#admitted
    const usage = { ...noTokens, input: likelyTokens(estimate.promptBound), output: this.#progress.count() }
    return minNano(tokenCost(this.#served.price, usage), held)
  }

  /** A database that does not answer is no reason to cut a stream short: it goes on within what is held. */
  #extend(step: number): Effect.Effect<boolean> {
    const { estimate, held, request } = this.#admitted
    const costOf = (output: number) => maximumCost(this.#served.price, estimate.promptBound, output)
    const more = step === 0 ? 0n : costOf(this.#covered + step) - costOf(this.#covered)
    const extend = this.#options.ledger.commit({
      _tag: "Extend",
      requestId: request.requestId,
      accountId: request.principal.accountId,
      held,
      more,
      progress: this.#progressCost,
      ttlMs: this.#options.holdTtlMs
    })
    return extend.pipe(
      Effect.map((result) => {
        if (result._tag !== "Extended") return false
        this.#renewedAt = performance.now()
        this.#admitted.held += more
        this.#covered += step
        return true
      }),
      Effect.catch(() => Effect.succeed(false))
    )
  }
}

const goOn = Effect.succeed(true)
