/** The same numbers for the same seed; LEDGER_SEED gives the seed of a history that is to be run again. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Below one, from a 32-bit generator (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let z = this.#state
    z = Math.imul(z ^ (z >>> 15), z | 1)
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61)
    return ((z ^ (z >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number below this. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  amount(limit: number): bigint {
    return BigInt(this.below(limit))
  }

  /** So many hexadecimal characters. */
  hex(length: number): string {
    return Array.from({ length }, () => this.below(16).toString(16)).join("")
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<A>(choices: ReadonlyArray<A>): A {
    return choices[this.below(choices.length)]!
  }
}

const given = process.env["LEDGER_SEED"]

/** So many seeds, or the one that is given. */
export const seeds = (count: number): ReadonlyArray<number> =>
  given === undefined ? Array.from({ length: count }, () => Math.floor(Math.random() * 2 ** 31)) : [Number(given)]
