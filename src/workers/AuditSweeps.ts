import { type Duration, Effect, Layer } from "effect"
import { Audit, PENDING_AFTER_MS } from "../account/Audit.ts"
import type { PendingRow } from "../account/AuditSql.ts"
import { repeatForever } from "../platform/RepeatForever.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"

/** The maximum number of entries in one message. The next message names the rest. */
const MAX_NAMED = 100

const nameOf = ({ id, request_id, type }: PendingRow): string => `${type} ${id} (${request_id ?? "no request"})`

/**
 * Periodically looks for audit entries that were opened and not completed. Each node logs each entry once and publishes their
 * number as a metric. It changes nothing, because only people can find out how the actions ended.
 */
export const layer = (interval: Duration.Duration) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const audit = yield* Audit
      const metrics = yield* Metrics
      let count = 0
      metrics.gauge("svc.audit.pending", "Lines of the audit log pending for over a minute", "{line}", () => count)
      let reported: ReadonlySet<string> = new Set()
      const sweep = Effect.gen(function* () {
        const { rows, total } = yield* audit.pending(PENDING_AFTER_MS)
        count = total
        const fresh = rows.filter(({ id }) => !reported.has(id)).slice(0, MAX_NAMED)
        const still = rows.filter(({ id }) => reported.has(id))
        reported = new Set([...still, ...fresh].map(({ id }) => id))
        if (fresh.length === 0) return
        const text = `audit entries stay pending, so their outcomes are unknown: ${fresh.map(nameOf).join(", ")}`
        const requests = fresh.flatMap(({ request_id }) => request_id ?? [])
        yield* Effect.annotateLogs(Effect.logWarning(text), { request_ids: requests })
      })
      yield* repeatForever(sweep, { every: interval, warning: "the gateway cannot look for pending audit entries" })
    })
  )
