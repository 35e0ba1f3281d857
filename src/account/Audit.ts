import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { firstResourceIdAt, newResourceId, timeOfResourceId } from "../platform/Ids.ts"
import { storable, storeErrors, type Unavailable } from "../platform/Sql.ts"
import {
  auditEvents,
  type AuditRow,
  closePending,
  completeAuditEvent,
  insertAuditEvent,
  openAuditEvent,
  pendingEvents,
  type PendingRow
} from "./AuditSql.ts"
import { withoutSecrets } from "./SecretForms.ts"

/** Who did it: somebody at the command line, the service itself, the holder of a key, or the owner in the console. */
export interface Actor {
  readonly type: "operator" | "service" | "key" | "owner"
  readonly id: string
}

/** What was done by whom to what. */
export interface AuditEvent {
  readonly accountId: string
  /** The deed in the past tense, such as `key.revoked`. */
  readonly type: string
  readonly actor: Actor
  readonly resource: { readonly type: string; readonly id: string }
  /** What changed. Never a secret: what has the form of one of ours is left out. */
  readonly changes: object
  /** The request that asked for it, where no line was opened for that. */
  readonly requestId?: string
}

/** A line that was opened before its deed, and takes what the deed says of its changes. */
export interface OpenEntry {
  readonly id: string
  readonly type: string
  readonly requestId: string
  changes: object
}

/** The line that was opened for the deed under way, if one was: what is appended of the same type becomes part of it. */
export const CurrentEntry = Context.Reference<OpenEntry | undefined>("tollgate/account/CurrentEntry", {
  defaultValue: () => undefined
})

/** Lines that are asked for. What is narrowed to several values is to be of any of them, and at most 32 combinations. */
export interface AuditPage {
  readonly limit: number
  /** The id after which, going back in time, the page begins. */
  readonly cursor?: string | undefined
  /** From this moment on, in milliseconds since 1970. */
  readonly fromMs?: number | undefined
  /** Before this moment. */
  readonly untilMs?: number | undefined
  readonly types?: ReadonlyArray<string> | undefined
  readonly actors?: ReadonlyArray<string> | undefined
  readonly resources?: ReadonlyArray<string> | undefined
}

/** No deed takes as long: who was to complete a line of before is gone. */
export const PENDING_AFTER_MS = 60_000

/** Combinations of a type, an actor and a resource that one page may be asked for. */
export const MAX_COMBINATIONS = 32

/** The log of what was done to an account. Lines are never changed: what is found out later is a line of its own beside them. */
export class Audit extends Context.Service<
  Audit,
  {
    /**
     * Writes in the caller's transaction when there is one, so that the deed and its record are one. Within a deed whose line was
     * opened before, the changes are kept for its completion instead.
     */
    readonly append: (event: AuditEvent) => Effect.Effect<void, SqlError.SqlError>
    /** Writes, durably and before the deed, that it is about to be done. */
    readonly open: (
      event: Omit<AuditEvent, "changes"> & { readonly requestId: string }
    ) => Effect.Effect<OpenEntry, Unavailable>
    /** Writes how it ended: with its changes, or with the code of an error. Until then the line is pending. */
    readonly complete: (entry: OpenEntry, code: string | undefined) => Effect.Effect<void, Unavailable>
    /** The newest first. */
    readonly list: (accountId: string, limit: number) => Effect.Effect<ReadonlyArray<AuditRow>, Unavailable>
    /** The newest first, and the cursor of the next page. Costs the same whatever it is narrowed to. */
    readonly page: (
      accountId: string,
      page: AuditPage
    ) => Effect.Effect<{ readonly rows: ReadonlyArray<AuditRow>; readonly next: string | null }, Unavailable>
    /**
     * The oldest lines, 1,000 at most, that have been pending for so long, and how many there are in all; of one account where it is
     * named. How their deeds ended is to be looked into.
     */
    readonly pending: (
      olderThanMs: number,
      accountId?: string
    ) => Effect.Effect<{ readonly total: number; readonly rows: ReadonlyArray<PendingRow> }, Unavailable>
    /**
     * Counts a line no more among those that have been pending for over a minute, because it was looked into. It stays as it is, and a
     * line of its own says who did. Answers whose it is; undefined where no such line is pending.
     */
    readonly acknowledge: (id: string, actor: Actor) => Effect.Effect<string | undefined, Unavailable>
  }
>()("tollgate/account/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Audit.of({
        append: (event) =>
          Effect.flatMap(CurrentEntry, (entry) => {
            if (entry?.type === event.type) {
              return Effect.sync(() => void (entry.changes = { ...entry.changes, ...event.changes }))
            }
            const changes = told(event.changes)
            return Effect.asVoid(
              insertAuditEvent(sql, {
                ...written(newResourceId(), event, entry?.requestId ?? event.requestId),
                changes
              })
            )
          }),
        open: (event) => {
          const id = newResourceId()
          return Effect.as(storeErrors(openAuditEvent(sql, written(id, event, event.requestId))), {
            ...{ id, type: event.type, requestId: event.requestId },
            changes: {}
          })
        },
        complete: ({ changes, id }, code) =>
          Effect.asVoid(
            storeErrors(
              completeAuditEvent(sql, {
                id,
                code: code ?? null,
                changes: told(code === undefined ? changes : {})
              })
            )
          ),
        list: (accountId, limit) => storeErrors(auditEvents(sql, { ...selected(accountId, { limit }), limit })),
        page: (accountId, page) =>
          Effect.map(storeErrors(auditEvents(sql, selected(accountId, page))), (found) => {
            const rows = found.slice(0, page.limit)
            return { rows, next: found.length > page.limit ? (rows.at(-1)?.id ?? null) : null }
          }),
        pending: (olderThanMs, accountId) => storeErrors(pendingEvents(sql, { olderThanMs, accountId, limit: 1_000 })),
        acknowledge: (id, actor) =>
          Effect.gen(function* () {
            const accountId = yield* closePending(sql, { id, olderThanMs: PENDING_AFTER_MS })
            if (accountId === undefined) return undefined
            const event = { accountId, actor, type: "audit.acknowledged", resource: { type: "audit_event", id } }
            yield* insertAuditEvent(sql, { ...written(newResourceId(), event, undefined), changes: "{}" })
            return accountId
          }).pipe(sql.withTransaction, storeErrors)
      })
    )
  )
}

const told = (changes: object): string => storable(withoutSecrets(JSON.stringify(changes)))

/** Above every id. */
const NO_ID = "g"

const MAX_MS = 2 ** 48 - 1

const idAt = (timeMs: number): string => firstResourceIdAt(Math.min(Math.max(Math.trunc(timeMs), 0), MAX_MS))

const distinct = (values: ReadonlyArray<string> | undefined) => values && [...new Set(values)]

/** One line more than is asked for says whether there is a next page. A line's moment is that of its id. */
const selected = (
  accountId: string,
  { actors, cursor = NO_ID, fromMs = 0, limit, resources, types, untilMs }: AuditPage
) => {
  const end = untilMs === undefined ? NO_ID : idAt(untilMs)
  return {
    ...{ accountId, types: distinct(types), actors: distinct(actors), resources: distinct(resources) },
    ...{ least: idAt(fromMs), end: end < cursor ? end : cursor, limit: limit + 1 }
  }
}

const written = (
  id: string,
  { accountId, actor, resource, type }: Omit<AuditEvent, "changes">,
  requestId: string | undefined
) => ({
  id,
  effective_at: new Date(timeOfResourceId(id)),
  account_id: accountId,
  type,
  actor_type: actor.type,
  actor_id: actor.id,
  resource_type: resource.type,
  resource_id: resource.id,
  request_id: requestId ?? null
})
