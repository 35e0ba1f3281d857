import { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { Caller } from "../../../../schemas/Access.ts"
import type { Api } from "../../../../schemas/Api.ts"
import type { AuditLog } from "../../../../schemas/management/Audit.ts"
import { Audit, MAX_COMBINATIONS } from "../../../account/Audit.ts"
import type { AuditRow } from "../../../account/AuditSql.ts"
import { invalid } from "../../../domain/Failure.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { answer, pageOf } from "./Answers.ts"
import { operations } from "../../edge/Operations.ts"

/** An audit log line as the API shows it. */
export const auditLogOf = (row: AuditRow): AuditLog => ({
  id: row.id,
  object: "audit_log",
  type: row.type,
  effective_at: secondsOf(row.effective_at),
  actor: { type: row.actor_type, id: row.actor_id } as AuditLog["actor"],
  resource: { type: row.resource_type, id: row.resource_id },
  request_id: row.request_id,
  status: row.status,
  outcome: row.outcome,
  code: row.code,
  changes: row.changes as AuditLog["changes"]
})

/**
 * The time range of a query in milliseconds: the start is inclusive, the end exclusive. A line's timestamp in seconds is rounded down.
 */
const timesOf = (query: {
  readonly "effective_at[gt]"?: number
  readonly "effective_at[gte]"?: number
  readonly "effective_at[lt]"?: number
  readonly "effective_at[lte]"?: number
}) => {
  const {
    "effective_at[gt]": after = -1,
    "effective_at[gte]": from = 0,
    "effective_at[lt]": before = Infinity,
    "effective_at[lte]": upTo = Infinity
  } = query
  const until = Math.min(before, upTo + 1)
  return { fromMs: Math.max(after + 1, from) * 1_000, untilMs: until === Infinity ? undefined : until * 1_000 }
}

type AuditQuery = HttpApiEndpoint.Query<typeof Api.groups.managementAudit.endpoints.listAudit>["Type"]

/** Returns a page of an account's audit log as the API shows it. */
export const makeAuditPage = Effect.map(
  Audit,
  (audit) => (accountId: string, query: AuditQuery) =>
    Effect.gen(function* () {
      const { "actor_ids[]": actors, "event_types[]": types, "resource_ids[]": resources } = query
      const lengths = [types, actors, resources].map((values) => new Set(values).size || 1)
      if (lengths.reduce((product, length) => product * length, 1) > MAX_COMBINATIONS) {
        const field = types === undefined ? "actor_ids[]" : "event_types[]"
        return yield* invalid(
          field,
          `must select at most ${MAX_COMBINATIONS} combinations of types, actors and resources`
        )
      }
      return yield* audit.page(accountId, { ...pageOf(query), ...timesOf(query), types, actors, resources })
    }).pipe((page) =>
      answer(page, ({ next, rows }) => ({ object: "list", data: rows.map(auditLogOf), next_cursor: next }))
    )
)

/** `/management/audit`. */
export const managementAuditHandlers = Effect.map(makeAuditPage, (page) =>
  operations("managementAudit", {
    listAudit: ({ query }) => Effect.flatMap(Caller, ({ accountId }) => page(accountId, query))
  })
)
