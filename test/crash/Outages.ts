import type { Outage } from "./Notes.ts"

/** Notes when something was away. */
export class Outages {
  readonly #all: Array<{ from: number; to: number }> = []

  get all(): ReadonlyArray<Outage> {
    return this.#all
  }

  /** It is about to go. */
  begin(): void {
    this.#all.push({ from: Date.now(), to: Number.POSITIVE_INFINITY })
  }

  /** It is back. */
  end(): void {
    const last = this.#all.at(-1)
    if (last !== undefined) last.to = Date.now()
  }
}
