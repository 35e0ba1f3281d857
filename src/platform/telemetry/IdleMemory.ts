import { Effect, Layer } from "effect"
import { Metrics } from "./Metrics.ts"

/** A node that had no request for as long as this is idle. */
const QUIET_MS = 30_000

/** How many of these times without a request pass before a node gives memory back. */
const RESTING = 4

/** How a node collects garbage. A usual collection keeps the memory that it frees, for the next burst. */
export interface Collector {
  readonly collect: () => void
  /** Gives freed memory back to the system as well, and forgets compiled code that has not run lately. */
  readonly giveBack: () => void
}

/** The collector, when Node runs with `--expose-gc`. */
const collector = (): Collector | undefined => {
  const { gc } = globalThis
  if (gc === undefined) return undefined
  return {
    collect: () => gc(),
    giveBack: () => gc({ type: "major", execution: "sync", flavor: "last-resort" })
  }
}

/**
 * Collects garbage once when the node becomes idle, after its start and after each burst, and gives memory back when it stays idle. A
 * collection stops the node for a tenth of a second and giving back for half a second, so both wait until no request is there. A node
 * with a request now and then pays only for the first.
 */
export const layerWith = (collector: Collector | undefined) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { http } = yield* Metrics
      if (collector === undefined) return
      let before = -1
      let quiet = 0
      const look = Effect.sync(() => {
        const { count, inFlight } = http.seen()
        quiet = inFlight === 0 && count === before ? quiet + 1 : 0
        before = count
        if (quiet === 1) collector.collect()
        if (quiet === RESTING) collector.giveBack()
      })
      yield* Effect.forkScoped(Effect.forever(Effect.delay(look, QUIET_MS)))
    })
  )

export const layer = Layer.suspend(() => layerWith(collector()))
