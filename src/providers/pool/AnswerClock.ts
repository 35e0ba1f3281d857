/** Decides how long an attempt at a complete (not streamed) answer may take before the pool tries the next candidate. */
import type { Clock } from "effect"
import { LruCache } from "../../platform/LruCache.ts"

/** The time limit of an attempt at a complete answer. */
export interface AnswerClock {
  readonly ms: number
  /** Whether the limit is the caller's `first_token` limit, because the answer arrives in one piece, or the gateway's own. */
  readonly clock: "first_token" | "answer"
  /** Whether this node has seen answers of this kind before. Only then does a late answer count against the provider. */
  readonly known: boolean
}

/** Answers of the same kind take about equally long. */
export interface AnswerKind {
  readonly provider: string
  readonly model: string
  /** For chat, the power of two below the output cap and whether the model reasons; for other work, its operation. */
  readonly size: string
  /** The shortest limit for such an answer, in milliseconds. */
  readonly leastMs: number
}

/** How many durations are kept per kind, and how many it takes before they determine the limit. */
const MAX_TIMES = 32
const MIN_TIMES = 5
/** How many kinds are kept, each for this long after its last answer. */
const MAX_KINDS = 4_096
const LIFE_MS = 3_600_000
/** An answer is late when it takes this many times as long as 95 % of those before it. */
const PATIENCE = 4
/**
 * A kind without any answer gets twice the limit after each timeout, up to this many doublings. Otherwise a slow kind might never
 * produce a first answer.
 */
const MAX_DOUBLINGS = 6

/** The record of one kind at this node. */
interface KindRecord {
  /** In milliseconds, newest last. */
  readonly times: Array<number>
  /** The limit of the last attempt that timed out, in milliseconds; zero after an answer. */
  timedOutMs: number
}

const keyOf = ({ model, provider, size }: AnswerKind): string => `${provider} ${model} ${size}`

/** The time within which 95 % of the answers arrived. */
const p95Of = (times: ReadonlyArray<number>): number =>
  times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.95) - 1] ?? 0

/** How long answers have taken at this node, per provider and kind. */
export class AnswerTimes {
  readonly #seen = new LruCache<KindRecord>({ capacity: MAX_KINDS, lifeMs: LIFE_MS })

  /** The time limit of an attempt at such an answer. */
  clockOf(kind: AnswerKind, clock: Clock.Clock): AnswerClock {
    const seen = this.#seen.get(keyOf(kind), clock.currentTimeMillisUnsafe())
    const times = seen?.times ?? []
    const known = times.length >= MIN_TIMES
    const usual = Math.max(kind.leastMs, PATIENCE * p95Of(times))
    const ms = Math.max(usual, Math.min(2 * (seen?.timedOutMs ?? 0), 2 ** MAX_DOUBLINGS * usual))
    return { ms, clock: "answer", known }
  }

  /** Records an answer that took this long. */
  answered(kind: AnswerKind, ms: number, clock: Clock.Clock): void {
    const seen = this.#of(kind, clock)
    seen.times.push(ms)
    if (seen.times.length > MAX_TIMES) seen.times.shift()
    seen.timedOutMs = 0
  }

  /** Records an attempt that timed out after this long. A host that has answered before does not get a longer limit because of it. */
  timedOut(kind: AnswerKind, ms: number, clock: Clock.Clock): void {
    const seen = this.#of(kind, clock)
    if (seen.times.length < MIN_TIMES) seen.timedOutMs = ms
  }

  #of(kind: AnswerKind, clock: Clock.Clock): KindRecord {
    const now = clock.currentTimeMillisUnsafe()
    const seen = this.#seen.get(keyOf(kind), now) ?? { times: [], timedOutMs: 0 }
    this.#seen.set(keyOf(kind), seen, now)
    return seen
  }
}

/** The time limits of one attempt, in milliseconds. */
export interface Clocks {
  readonly connectMs: number
  /** From sending the request to the first content of a stream. */
  readonly firstTokenMs: number
  /** The longest silence between two chunks of a stream. */
  readonly idleMs: number
  /** The whole attempt. */
  readonly totalMs: number
  /** The limit after which the next candidate is tried, for an answer that is not streamed; absent: none. */
  readonly answer?: AnswerClock | undefined
}
