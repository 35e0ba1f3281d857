/** What a breaker judges by; times are in milliseconds. */
export const rules = {
  /** So many failures in a row open it, with no success between them. */
  consecutive: 5,
  /** Failures are weighed against all that ended in the last one to two of these. */
  windowMs: 10_000,
  /** Fewer than these say nothing of a share. */
  minimumSamples: 20,
  failureShare: 0.5,
  /** The first time it opens. Each time after that is twice as long as the one before, up to the longest. */
  firstOpenMs: 2_000,
  longestOpenMs: 60_000,
  /** The part of the open time that chance takes off, at the most, so that nodes do not come back together. */
  jitter: 0.25,
  /** Closed for so long, it opens for the first time again. */
  stableMs: 60_000,
  /** A probe without news for so long no longer keeps the next one waiting. */
  probePatienceMs: 10_000,
  /** A request that nobody else can serve may probe before it is time, but not sooner than this after the last try. */
  earlyProbeMs: 1_000,
  /** A longer pause than this is not believed: a wrong header must not take a provider away for good. */
  longestPauseMs: 3_600_000
} as const

export type BreakerState = "closed" | "open" | "half_open"

/** What a failed attempt says beyond that it failed. */
export interface FailedHow {
  /** The host has asked not to be called for so long: it opens at once, and nothing is let through before. */
  readonly pauseMs?: number
  /** More of the same is of no use: it opens at once, for the longest time. */
  readonly atOnce?: boolean
  /** It may be about the one request: it counts among all that ended, but not in a row of failures. */
  readonly inShareOnly?: boolean
}

/** When an open breaker lets a probe through; before `pausedUntil`, which may be past, nothing at all. */
export interface Opening {
  readonly until: number
  readonly pausedUntil: number
}

/**
 * The breaker of one model at one provider. Closed lets all through; open nothing, until its time is over; half-open one at a time,
 * whose success closes it. It is a function of what it is told: it has no clock of its own, and no chance.
 *
 * Whoever is let through has a permit, and tells with it how it went. What began before the last opening says nothing about what is
 * behind it, so such news is not heard, but for a pause that the host asks for.
 */
export class Breaker {
  readonly #onChange: (state: BreakerState) => void
  readonly #onOpening: (opening: Opening) => void
  #state: BreakerState = "closed"
  /** Counts openings and closings; a permit is the number at which it was given. */
  #epoch = 0
  #streak = 0
  #window = 0
  #now = { ended: 0, failed: 0 }
  #before = { ended: 0, failed: 0 }
  #openings = 0
  #until = 0
  /** The end of the pause the host has asked for. */
  #pausedUntil = 0
  /** When it was opened or last probed. */
  #triedAt = 0
  #closedAt = Number.NEGATIVE_INFINITY

  /** `onChange` hears of every new state, `onOpening` only of what was found out here. */
  constructor(onChange: (state: BreakerState) => void = () => {}, onOpening: (opening: Opening) => void = () => {}) {
    this.#onChange = onChange
    this.#onOpening = onOpening
  }

  get state(): BreakerState {
    return this.#state
  }

  /** A permit, or undefined where the attempt is not to be made. */
  admit(now: number): number | undefined {
    if (this.#state === "closed") return this.#epoch
    return now < this.#dueAt ? undefined : this.#probe(now)
  }

  /** The same for a request that has nobody else to turn to. */
  admitEarly(now: number): number | undefined {
    if (this.#state === "closed") return this.#epoch
    return now < this.availableAt() ? undefined : this.#probe(now)
  }

  /** From when on a request that has nobody else would be let through; in the past when that is now. */
  availableAt(): number {
    if (this.#state === "closed") return 0
    return Math.max(this.#pausedUntil, Math.min(this.#dueAt, this.#triedAt + rules.earlyProbeMs))
  }

  /** Content has come. That is enough to close it, and ends a row of failures; how it went is told at its end. */
  answered(permit: number, now: number): void {
    if (permit !== this.#epoch) return
    this.#streak = 0
    if (this.#state === "half_open") this.#close(now)
  }

  succeeded(permit: number, now: number): void {
    this.answered(permit, now)
    if (permit === this.#epoch) this.#count(now, false)
  }

  /** `chance` is a number from 0 to 1. */
  failed(permit: number, now: number, chance: number, how: FailedHow = {}): void {
    const pauseMs = Math.min(how.pauseMs ?? 0, rules.longestPauseMs)
    if (pauseMs > 0) this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs)
    if (this.#state === "open") {
      this.#until = Math.max(this.#until, this.#pausedUntil)
      if (pauseMs > 0) this.#tell()
      return
    }
    const heard = permit === this.#epoch
    if (heard && this.#state === "closed") {
      if (how.inShareOnly !== true) this.#streak += 1
      this.#count(now, true)
    }
    const reopens = heard && this.#state === "half_open"
    if (pauseMs > 0 || reopens || (heard && (how.atOnce === true || this.#isFailing))) {
      this.#open(now, chance, pauseMs > 0 && !reopens ? "paused" : how.atOnce === true ? "longest" : "backoff")
    }
  }

  /** The attempt was given up, or says nothing of the provider: a probe's place is free again. */
  left(permit: number): void {
    if (permit === this.#epoch && this.#state === "half_open") this.#turn("open")
  }

  /**
   * Another node has opened its own: open here as well, for so long at the least. `paused` where the host has asked for it. A probe
   * under way here knows better than who only found a failure elsewhere.
   */
  openUntil(now: number, until: number, paused: boolean): void {
    if (until <= now) return
    if (paused) this.#pausedUntil = Math.max(this.#pausedUntil, until)
    this.#until = Math.max(this.#state === "closed" ? 0 : this.#until, until)
    if (this.#state === "open" || (this.#state === "half_open" && !paused)) return
    this.#triedAt = now
    this.#epoch += 1
    this.#turn("open")
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
    if (this.#state !== "half_open") this.#turn("half_open")
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
    this.#turn("open")
    this.#tell()
  }

  #tell(): void {
    this.#onOpening({ until: this.#until, pausedUntil: this.#pausedUntil })
  }

  #close(now: number): void {
    this.#epoch += 1
    this.#closedAt = now
    this.#streak = 0
    this.#now = { ended: 0, failed: 0 }
    this.#before = { ended: 0, failed: 0 }
    this.#turn("closed")
  }

  #turn(state: BreakerState): void {
    this.#state = state
    this.#onChange(state)
  }
}
