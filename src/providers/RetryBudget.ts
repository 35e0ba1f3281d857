/** Attempts beyond the first at a provider, in parts of the requests that go there: a failing host is not to be failed by retries. */
const SHARE = 0.1
/** What a provider with few requests may have all the same, and how soon it has it back. */
const LEAST = 10
const LEAST_PER_MS = LEAST / 10_000
/** Requests of long ago do not pay for a rush of retries now. */
const MOST = 100

/** How many more attempts one provider may be sent: a tenth of its requests, and ten in ten seconds whatever they are. */
export class RetryBudget {
  #earned = 0
  #least = LEAST
  #at = 0

  /** A request has gone to the provider. */
  requested(): void {
    if (this.#earned < MOST) this.#earned += SHARE
  }

  /** Takes one attempt from it; false where none is left. */
  take(now: number): boolean {
    this.#least = Math.min(LEAST, this.#least + Math.max(0, now - this.#at) * LEAST_PER_MS)
    this.#at = now
    if (this.#earned >= 1) this.#earned -= 1
    else if (this.#least >= 1) this.#least -= 1
    else return false
    return true
  }
}
