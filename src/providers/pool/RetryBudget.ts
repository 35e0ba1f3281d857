/** Additional attempts at a provider, as a share of its requests. Retries must not bring a failing host down. */
const SHARE = 0.1
/** The minimum budget of a provider with few requests, and how fast it refills. */
const LEAST = 10
const MIN_PER_MS = LEAST / 10_000
/** The maximum budget: requests of long ago must not pay for many retries now. */
const MOST = 100

/** Limits additional attempts at one provider: a tenth of its requests, and at least ten in ten seconds. */
export class RetryBudget {
  #earned = 0
  #least = LEAST
  #at = 0

  /** Records a request to the provider. */
  requested(): void {
    if (this.#earned < MOST) this.#earned += SHARE
  }

  /** Takes one attempt from the budget. Returns false when none is left. */
  take(now: number): boolean {
    this.#least = Math.min(LEAST, this.#least + Math.max(0, now - this.#at) * MIN_PER_MS)
    this.#at = now
    if (this.#earned >= 1) this.#earned -= 1
    else if (this.#least >= 1) this.#least -= 1
    else return false
    return true
  }
}
