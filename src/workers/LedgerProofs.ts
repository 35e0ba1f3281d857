import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { proveBooks } from "../billing/Books.ts"
import { claimVerification, type LastVerification, readLast } from "../ledger/CheckpointSql.ts"
import { repeatForever } from "../platform/RepeatForever.ts"
import { storeErrors } from "../platform/database/Sql.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"

/** The delay of the first verification, so that a starting service answers requests first. */
const FIRST_DELAY = Duration.minutes(1)

/** How often a node reads the outcome of the others, as a share of the interval. This is also the longest delay of a due verification. */
const LOOKS = 10

/** The time limit of a claim: longer than any verification takes. After it, the other nodes take over from a dead node. */
const TAKES_MS = 3_600_000

/**
 * Periodically verifies the books on one of the nodes, and publishes the outcome as metrics on all. `firstDelay` is how long a node
 * waits before it looks the first time.
 */
export const layer = (interval: Duration.Duration, firstDelay: Duration.Duration = FIRST_DELAY) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const metrics = yield* Metrics
      // Before the first verification, ages count from the start, so an alert on old ages also detects a missing verification.
      let read: LastVerification = { ageMs: 0, wholeAgeMs: 0, durationMs: 0, failed: [] }
      let readAt = performance.now()
      const age = (ms: number) => (ms + performance.now() - readAt) / 1_000
      metrics.gauge("svc.ledger.verify.age", "Since any node last verified the books", "s", () => age(read.ageMs))
      metrics.gauge("svc.ledger.verify.whole.age", "Since all of the books were last proved", "s", () =>
        age(read.wholeAgeMs ?? read.ageMs)
      )
      metrics.gauge(
        "svc.ledger.verify.duration",
        "How long the last verification of the books took",
        "s",
        () => read.durationMs / 1_000
      )
      metrics.gauge(
        "svc.ledger.verify.failed",
        "Checks that failed in the last verification of the books",
        "{check}",
        () => read.failed.length
      )
      if (Duration.toMillis(interval) === 0) return
      const look = Effect.gen(function* () {
        const everyMs = Duration.toMillis(interval)
        const claimed = yield* storeErrors(claimVerification(sql, { everyMs, takesMs: TAKES_MS }))
        if (claimed) {
          const { checks, ok } = yield* proveBooks(sql, { whole: false })
          const failed = checks.filter((check) => !check.ok).map(({ detail, name }) => `${name} (${detail})`)
          if (!ok) yield* Effect.logError(`the books have errors: ${failed.join("; ")}`)
        }
        const found = yield* storeErrors(readLast(sql))
        if (found !== undefined) [read, readAt] = [found, performance.now()]
      })
      yield* repeatForever(look, {
        every: Duration.divideUnsafe(interval, LOOKS),
        after: firstDelay,
        warning: "the gateway cannot verify the books"
      })
    })
  )
