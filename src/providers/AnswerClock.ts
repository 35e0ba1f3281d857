/** How long an attempt at a whole answer may take before the next candidate is asked. */
import type { Clock } from "effect"
import { Remembered } from "../platform/Remembered.ts"

/** The clock of an attempt at a whole answer. */
export interface AnswerClock {
  readonly ms: number
  /** The caller's clock for the first token where the answer comes in one piece, or the gateway's own. */
  readonly clock: "first_token" | "answer"
  /** Answers of this kind have been seen, so that one that takes longer says something of its provider. */
  readonly known: boolean
}

/** What is asked of a provider: answers to the same take about as long as one another. */
export interface AnswerKind {
  readonly provider: string
  readonly model: string
  /** Of a chat, the power of two below its output cap, and whether the model reasons; of other work, its operation. */
  readonly size: string
  /** The least time that such an answer is given, in milliseconds. */
  readonly leastMs: number
}

/** The answers of a kind that are remembered, and how many tell how long it takes. */
const MOST_TIMES = 32
const LEAST_TIMES = 5
/** Kinds that are remembered, each for as long after its last answer. */
const MOST_KINDS = 4_096
const LIFE_MS = 3_600_000
/** An answer is late when it takes so many times as long as all but a twentieth of those before it. */
const PATIENCE = 4
/** A kind of which no answer has come is given twice as long after each attempt that was left, or it might never be known. */
const MOST_DOUBLINGS = 6

/** What this node has seen of a kind. */
interface Seen {
  /** In milliseconds, the newest last. */
  readonly times: Array<number>
  /** The clock of the attempt that was left last, in milliseconds; zero once an answer has come. */
  left: number
}

const keyOf = ({ model, provider, size }: AnswerKind): string => `${provider} ${model} ${size}`

/** The time within which all but a twentieth of the answers came. */
const p95Of = (times: ReadonlyArray<number>): number =>
  times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.95) - 1] ?? 0

/** How long answers have taken at this node, by what was asked of whom. */
export class AnswerTimes {
  readonly #seen = new Remembered<Seen>({ capacity: MOST_KINDS, lifeMs: LIFE_MS })

  /** The clock of an attempt at such an answer. */
  clockOf(kind: AnswerKind, clock: Clock.Clock): AnswerClock {
    const seen = this.#seen.get(keyOf(kind), clock.currentTimeMillisUnsafe())
    const times = seen?.times ?? []
    const known = times.length >= LEAST_TIMES
    const usual = Math.max(kind.leastMs, PATIENCE * p95Of(times))
    const ms = Math.max(usual, Math.min(2 * (seen?.left ?? 0), 2 ** MOST_DOUBLINGS * usual))
    return { ms, clock: "answer", known }
  }

  /** An answer came after so long. */
  came(kind: AnswerKind, ms: number, clock: Clock.Clock): void {
    const seen = this.#of(kind, clock)
    seen.times.push(ms)
    if (seen.times.length > MOST_TIMES) seen.times.shift()
    seen.left = 0
  }

  /** An attempt was left after so long. A host that has been seen to answer is not given longer for it. */
  left(kind: AnswerKind, ms: number, clock: Clock.Clock): void {
    const seen = this.#of(kind, clock)
    if (seen.times.length < LEAST_TIMES) seen.left = ms
  }

  #of(kind: AnswerKind, clock: Clock.Clock): Seen {
    const now = clock.currentTimeMillisUnsafe()
    const seen = this.#seen.get(keyOf(kind), now) ?? { times: [], left: 0 }
    this.#seen.set(keyOf(kind), seen, now)
    return seen
  }
}
