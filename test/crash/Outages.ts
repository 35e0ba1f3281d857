import { Effect } from "effect"
import type { Outage } from "./Notes.ts"

/** Notes when something was away. */
export class Outages<More extends object = object> {
  readonly #all: Array<Outage & More> = []

  get all(): ReadonlyArray<Outage & More> {
    return this.#all
  }

  /** It is about to go. */
  begin(more: More): void {
    this.#all.push({ from: Date.now(), to: Number.POSITIVE_INFINITY, ...more })
  }

  /** It is back. */
  end(more: Partial<More> = {}): void {
    const last = this.#all.at(-1)
    if (last !== undefined) this.#all[this.#all.length - 1] = { ...last, ...more, to: Date.now() }
  }

  /** Notes the time that something takes. */
  during<A, E, R>(body: Effect.Effect<A, E, R>, more: More): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.begin(more)
      return Effect.ensuring(
        body,
        Effect.sync(() => this.end())
      )
    })
  }
}
