import { type Duration, Effect, Layer, Schedule } from "effect"
import { Audit, PENDING_AFTER_MS } from "../account/Audit.ts"
import type { PendingRow } from "../account/AuditSql.ts"
import { Metrics } from "../platform/Metrics.ts"

/** Lines named in one message; those beyond are named in the next. */
const MAX_NAMED = 100

const named = ({ id, request_id, type }: PendingRow): string => `${type} ${id} (${request_id ?? "no request"})`

/**
 * Looks again and again for lines of the audit log that were opened and not completed. Each is named once by each node; how many
 * there are is a metric. Nothing is changed: what became of their deeds is to be looked into by people.
 */
export const layer = (interval: Duration.Duration) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const audit = yield* Audit
      const metrics = yield* Metrics
      let count = 0
      metrics.gauge("svc.audit.pending", "Lines of the audit log pending for over a minute", "{line}", () => count)
      let told: ReadonlySet<string> = new Set()
      const sweep = Effect.gen(function* () {
        const { rows, total } = yield* audit.pending(PENDING_AFTER_MS)
        count = total
        const fresh = rows.filter(({ id }) => !told.has(id)).slice(0, MAX_NAMED)
        const still = rows.filter(({ id }) => told.has(id))
        told = new Set([...still, ...fresh].map(({ id }) => id))
        if (fresh.length === 0) return
        const text = `lines of the audit log stay pending, so that it does not say how these ended: ${fresh.map(named).join(", ")}`
        const requests = fresh.flatMap(({ request_id }) => request_id ?? [])
        yield* Effect.annotateLogs(Effect.logWarning(text), { request_ids: requests })
      })
      yield* sweep.pipe(
        // Inside the repeat: one bad sweep must not be the last.
        Effect.catchCause((cause) => Effect.logWarning("pending lines of the audit log are not looked for", cause)),
        Effect.repeat(Schedule.spaced(interval).pipe(Schedule.jittered)),
        Effect.forkScoped
      )
    })
  )
