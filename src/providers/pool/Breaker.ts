/** The thresholds and times of every breaker. Times are in milliseconds. */
export const rules = {
  /** The breaker opens after this many consecutive failures. */
  consecutive: 5,
  /** The failure ratio covers the attempts that ended in the current window of this length and in the one before it. */
  windowMs: 10_000,
  /** With fewer attempts than this, the failure ratio does not count. */
  minimumSamples: 20,
  /** The failure ratio from which the breaker opens. */
  failureShare: 0.5,
  /** How long the breaker stays open the first time. Each further time is twice as long, up to `longestOpenMs`. */
  firstOpenMs: 2_000,
  longestOpenMs: 60_000,
  /** The largest random reduction of the open time, as a fraction, so that nodes do not probe at the same moment. */
  jitter: 0.25,
  /** After being closed for this long, the breaker opens for its first, shortest duration again. */
  stableMs: 60_000,
  /** After this long without a result, a probe no longer blocks the next one. */
  probePatienceMs: 10_000,
  /** A request without another provider may probe early, but not sooner than this after the last attempt. */
  earlyProbeMs: 1_000,
  /** The longest pause the breaker accepts from a host: a wrong header must not disable a provider for good. */
  longestPauseMs: 3_600_000
} as const

export type BreakerState = "closed" | "open" | "half_open"

/** Details of a failed attempt. */
export interface FailureDetails {
  /** The pause the host asks for, in milliseconds: the breaker opens at once and admits nothing earlier. */
  readonly pauseMs?: number
  /** Whether waiting for more failures is pointless: the breaker opens at once for the longest time. */
  readonly atOnce?: boolean
  /** Whether the failure may concern only this request: it counts in the failure ratio, but not as one of consecutive failures. */
  readonly inShareOnly?: boolean
}

/** When an open breaker admits a probe. Before `pausedUntil`, which may be in the past, it admits nothing. */
export interface Opening {
  readonly until: number
  readonly pausedUntil: number
}

/**
 * The circuit breaker of one model at one provider. A closed breaker admits every attempt, an open one none until its time is over. A
 * half-open one admits one probe at a time, and a successful probe closes it. The breaker depends only on its arguments: it has no
 * clock and no randomness. Every admitted attempt has a permit, with which its outcome is reported. An attempt that began before the
 * last opening says nothing about the state after it, so its outcome is ignored, except for a pause that the host asks for.
 */
export class Breaker {
  readonly #onChange: (state: BreakerState) => void
  readonly #onOpening: (opening: Opening) => void
  #state: BreakerState = "closed"
  /** Counts openings and closings. A permit is the number at the time it was given. */
  #epoch = 0
  #streak = 0
  #window = 0
  #now = { ended: 0, failed: 0 }
  #before = { ended: 0, failed: 0 }
  #openings = 0
  #until = 0
  /** The end of the pause that the host asked for. */
  #pausedUntil = 0
  /** When the breaker opened or last admitted a probe. */
  #triedAt = 0
  #closedAt = Number.NEGATIVE_INFINITY

  /** `onChange` receives every new state; `onOpening` receives only openings that this node caused. */
  constructor(onChange: (state: BreakerState) => void = () => {}, onOpening: (opening: Opening) => void = () => {}) {
    this.#onChange = onChange
    this.#onOpening = onOpening
  }

  get state(): BreakerState {
    return this.#state
  }

  /** Returns a permit, or undefined when the attempt must not be made. */
  admit(now: number): number | undefined {
    if (this.#state === "closed") return this.#epoch
    return now < this.#dueAt ? undefined : this.#probe(now)
  }

  /** Returns a permit for a request that has no other provider. */
  admitEarly(now: number): number | undefined {
    if (this.#state === "closed") return this.#epoch
    return now < this.availableAt() ? undefined : this.#probe(now)
  }

  /** When a request without another provider would be admitted. A time in the past means now. */
  availableAt(): number {
    if (this.#state === "closed") return 0
    return Math.max(this.#pausedUntil, Math.min(this.#dueAt, this.#triedAt + rules.earlyProbeMs))
  }

  /**
   * Records the first content. It closes the breaker and ends a series of failures. The outcome is reported at the end of the answer.
   */
  answered(permit: number, now: number): void {
    if (permit !== this.#epoch) return
    this.#streak = 0
    if (this.#state === "half_open") this.#close(now)
  }

  succeeded(permit: number, now: number): void {
    this.answered(permit, now)
    if (permit === this.#epoch) this.#count(now, false)
  }

  /** Records a failure. `chance` is a random number from 0 to 1. */
  failed(permit: number, now: number, chance: number, how: FailureDetails = {}): void {
    const pauseMs = Math.min(how.pauseMs ?? 0, rules.longestPauseMs)
    if (pauseMs > 0) this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs)
    if (this.#state === "open") {
      this.#until = Math.max(this.#until, this.#pausedUntil)
      if (pauseMs > 0) this.#report()
      return
    }
    const isCurrent = permit === this.#epoch
    if (isCurrent && this.#state === "closed") {
      if (how.inShareOnly !== true) this.#streak += 1
      this.#count(now, true)
    }
    const reopens = isCurrent && this.#state === "half_open"
    if (pauseMs > 0 || reopens || (isCurrent && (how.atOnce === true || this.#isFailing))) {
      this.#open(now, chance, pauseMs > 0 && !reopens ? "paused" : how.atOnce === true ? "longest" : "backoff")
    }
  }

  /** Records an attempt that was abandoned, or says nothing about the provider. It frees the place of a probe. */
  abandoned(permit: number): void {
    if (permit === this.#epoch && this.#state === "half_open") this.#setState("open")
  }

  /**
   * Opens the breaker until at least this time, because another node has opened its own. `paused` tells that the host asked for it. A
   * probe that is running here is more recent than a failure that another node found, so the breaker then stays half-open unless the
   * host asked for the pause.
   */
  openUntil(now: number, until: number, paused: boolean): void {
    if (until <= now) return
    if (paused) this.#pausedUntil = Math.max(this.#pausedUntil, until)
    this.#until = Math.max(this.#state === "closed" ? 0 : this.#until, until)
    if (this.#state === "open" || (this.#state === "half_open" && !paused)) return
    this.#triedAt = now
    this.#epoch += 1
    this.#setState("open")
  }

  get #dueAt(): number {
    return this.#state === "half_open" ? this.#triedAt + rules.probePatienceMs : this.#until
  }

  get #isFailing(): boolean {
    if (this.#streak >= rules.consecutive) return true
    const ended = this.#now.ended + this.#before.ended
    return ended >= rules.minimumSamples && this.#now.failed + this.#before.failed >= rules.failureShare * ended
  }

  #probe(now: number): number {
    this.#triedAt = now
    if (this.#state !== "half_open") this.#setState("half_open")
    return this.#epoch
  }

  #count(now: number, failed: boolean): void {
    const window = Math.floor(now / rules.windowMs)
    if (window !== this.#window) {
      this.#before = window === this.#window + 1 ? this.#now : { ended: 0, failed: 0 }
      this.#now = { ended: 0, failed: 0 }
      this.#window = window
    }
    this.#now.ended += 1
    if (failed) this.#now.failed += 1
  }

  #open(now: number, chance: number, long: "backoff" | "longest" | "paused"): void {
    if (this.#state === "closed" && now - this.#closedAt >= rules.stableMs) this.#openings = 0
    const longest = long === "longest" ? rules.longestOpenMs : rules.firstOpenMs * 2 ** this.#openings
    const openMs = long === "paused" ? 0 : Math.min(longest, rules.longestOpenMs) * (1 - rules.jitter * chance)
    if (long !== "paused") this.#openings += 1
    this.#until = Math.max(now + openMs, this.#pausedUntil)
    this.#triedAt = now
    this.#epoch += 1
    this.#setState("open")
    this.#report()
  }

  #report(): void {
    this.#onOpening({ until: this.#until, pausedUntil: this.#pausedUntil })
  }

  #close(now: number): void {
    this.#epoch += 1
    this.#closedAt = now
    this.#streak = 0
    this.#now = { ended: 0, failed: 0 }
    this.#before = { ended: 0, failed: 0 }
    this.#setState("closed")
  }

  #setState(state: BreakerState): void {
    this.#state = state
    this.#onChange(state)
  }
}
