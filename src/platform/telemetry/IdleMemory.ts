import { Effect, Layer } from "effect"
import { Metrics } from "./Metrics.ts"

/** A node that had no request for as long as this is idle. */
const QUIET_MS = 30_000

/** The collector, when Node runs with `--expose-gc`. */
const collector = (): (() => void) | undefined => (globalThis as { readonly gc?: () => void }).gc

/**
 * Collects garbage once when the node becomes idle, after its start and after each burst. A collection stops the node for a tenth of a
 * second, so it waits until no request is there.
 */
export const layerWith = (collect: (() => void) | undefined, quietMs = QUIET_MS) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { http } = yield* Metrics
      if (collect === undefined) return
      let before = -1
      let collectedAt = -1
      const look = () => {
        const { count, inFlight } = http.seen()
        if (inFlight === 0 && count === before && count !== collectedAt) {
          collectedAt = count
          collect()
        }
        before = count
      }
      yield* Effect.acquireRelease(
        Effect.sync(() => setInterval(look, quietMs).unref()),
        (timer) => Effect.sync(() => clearInterval(timer))
      )
    })
  )

export const layer = Layer.suspend(() => layerWith(collector()))
