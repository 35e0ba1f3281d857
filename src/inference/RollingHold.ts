import { Effect } from "effect"
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
 * Keeps a stream's hold ahead of its output. `advance` is called as output arrives; it renews the hold in time, extends a rolling
 * one before it is used up, and answers false when the output has reached the end of what is held and no more is to be had.
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
      if (!this.#admitted.estimate.rolling) return renew ? Effect.as(this.#extend(0), true) : Effect.succeed(true)
      if (this.#progress.atMost + EXTEND_BELOW < this.#covered && !renew) return Effect.succeed(true)
      const used = Math.ceil((this.#progress.count() * TOKENIZER_SPREAD) / 100)
      const wants = used + EXTEND_BELOW >= this.#covered && this.#covered < this.#cap
      const step = wants ? Math.min(ROLLING_STEP, this.#cap - this.#covered) : 0
      if (step === 0 && !renew) return Effect.succeed(used < this.#covered || this.#covered >= this.#cap)
      if (step > 0 && used - this.#refusedAt < RETRY_AFTER_TOKENS) return Effect.succeed(used < this.#covered)
      return Effect.map(this.#extend(step), (extended) => {
        if (!extended) this.#refusedAt = used
        return extended || used < this.#covered
      })
    })
  }

  /** What the request has cost so far, at the least: what an expiry of its hold would charge. */
  get #progressCost(): bigint {
    const { estimate, held } = this.#admitted
    const usage = { ...noTokens, input: likelyTokens(estimate.promptBound), output: this.#progress.count() }
    const cost = tokenCost(this.#served.price, usage)
    return cost < held ? cost : held
  }

  /** A database that does not answer is no reason to cut a stream short: it goes on within what is held. */
  #extend(step: number): Effect.Effect<boolean> {
    const { budgets, estimate, request } = this.#admitted
    const { price } = this.#served
    const more =
      maximumCost(price, estimate.promptBound, this.#covered + step) -
      maximumCost(price, estimate.promptBound, this.#covered)
    return this.#options.ledger
      .commit({
        _tag: "Extend",
        requestId: request.requestId,
        accountId: request.principal.accountId,
        budgets,
        more: step === 0 ? 0n : more,
        progress: this.#progressCost,
        ttlMs: this.#options.holdTtlMs
      })
      .pipe(
        Effect.map((result) => {
          if (result._tag !== "Extended") return false
          this.#renewedAt = performance.now()
          if (step > 0) {
            this.#admitted.held += more
            this.#covered += step
          }
          return true
        }),
        Effect.catch(() => Effect.succeed(false))
      )
  }
}
