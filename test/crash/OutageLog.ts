import { Effect } from "effect"
import type { Outage } from "./Evidence.ts"

/** Records the outages of a gateway or the database. */
export class OutageLog<More extends object = object> {
  readonly #all: Array<Outage & More> = []

  get all(): ReadonlyArray<Outage & More> {
    return this.#all
  }

  begin(more: More): void {
    this.#all.push({ from: Date.now(), to: Number.POSITIVE_INFINITY, ...more })
  }

  end(more: Partial<More> = {}): void {
    const last = this.#all.at(-1)
    if (last !== undefined) this.#all[this.#all.length - 1] = { ...last, ...more, to: Date.now() }
  }

  /** Records an outage for as long as the effect runs. */
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
