import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { firstResourceIdAt, newResourceId, timeOfResourceId } from "../platform/Ids.ts"
import { type Page, readPage } from "../platform/database/Page.ts"
import { storable, storeErrors, type Unavailable } from "../platform/database/Sql.ts"
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

/** The actor of an event: an operator at the command line, the service itself, an API key, or the owner in the console. */
export interface Actor {
  readonly type: "operator" | "service" | "key" | "owner"
  readonly id: string
}

/** An event to record: the action, its actor and its resource. */
export interface AuditEvent {
  readonly accountId: string
  /** The action in the past tense, such as `key.revoked`. */
  readonly type: string
  readonly actor: Actor
  readonly resource: { readonly type: string; readonly id: string }
  /** The changed fields. `append` redacts everything that has the form of one of our secrets. */
  readonly changes: object
  /** The request that caused the event, when no entry was opened for it. */
  readonly requestId?: string
}

/** An entry written before its action runs. It collects the changes that the action reports. */
export interface OpenEntry {
  readonly id: string
  readonly type: string
  readonly requestId: string
  changes: object
}

/** The open entry of the current action, if there is one. `append` merges an event of the same type into it. */
export const CurrentEntry = Context.Reference<OpenEntry | undefined>("tollgate/account/CurrentEntry", {
  defaultValue: () => undefined
})

/** A page of entries. Each list matches any of its values. The lists may form at most 32 combinations. */
export interface AuditPage {
  readonly limit: number
  /** The page continues with entries older than this ID. */
  readonly cursor?: string | undefined
  /** The first moment of the range, in milliseconds since 1970 (inclusive). */
  readonly fromMs?: number | undefined
  /** The end of the range, in milliseconds since 1970 (exclusive). */
  readonly untilMs?: number | undefined
  readonly types?: ReadonlyArray<string> | undefined
  readonly actors?: ReadonlyArray<string> | undefined
  readonly resources?: ReadonlyArray<string> | undefined
}

/** No action runs this long. An entry that is still pending after this time has lost the process that would complete it. */
export const PENDING_AFTER_MS = 60_000

/** The maximum number of combinations of type, actor and resource that one page may select. */
export const MAX_COMBINATIONS = 32

/** The audit log of an account. Entries never change: the outcome of an action is a separate row beside its entry. */
export class Audit extends Context.Service<
  Audit,
  {
    /**
     * Writes in the caller's transaction if there is one, so that the action and its entry commit together. Within an action that
     * has an open entry, it keeps the changes for that entry's completion instead.
     */
    readonly append: (event: AuditEvent) => Effect.Effect<void, SqlError.SqlError>
    /** Durably records, before the action runs, that it is about to run. */
    readonly open: (
      event: Omit<AuditEvent, "changes"> & { readonly requestId: string }
    ) => Effect.Effect<OpenEntry, Unavailable>
    /** Records the outcome: the changes, or the code of an error. Until then the entry is pending. */
    readonly complete: (entry: OpenEntry, code: string | undefined) => Effect.Effect<void, Unavailable>
    /** Returns the newest entries first. */
    readonly list: (accountId: string, limit: number) => Effect.Effect<ReadonlyArray<AuditRow>, Unavailable>
    /** Returns entries, newest first, and the cursor of the next page. The cost does not depend on the filters. */
    readonly page: (accountId: string, page: AuditPage) => Effect.Effect<Page<AuditRow>, Unavailable>
    /**
     * Returns the oldest entries, at most 1,000, that have been pending for longer than `olderThanMs`, and their total number. With
     * an account ID, it returns only that account's entries. An operator must find out how their actions ended.
     */
    readonly pending: (
      olderThanMs: number,
      accountId?: string
    ) => Effect.Effect<{ readonly total: number; readonly rows: ReadonlyArray<PendingRow> }, Unavailable>
    /**
     * Removes an entry from the list of those pending for over a minute, because an operator has investigated it. The entry itself
     * does not change; a new entry names the actor. Returns the account, or undefined when no such entry is pending.
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
            const changes = changesText(event.changes)
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
            id,
            type: event.type,
            requestId: event.requestId,
            changes: {}
          })
        },
        complete: ({ changes, id }, code) =>
          Effect.asVoid(
            storeErrors(
              completeAuditEvent(sql, {
                id,
                code: code ?? null,
                changes: changesText(code === undefined ? changes : {})
              })
            )
          ),
        list: (accountId, limit) => storeErrors(auditEvents(sql, selected(accountId, { limit }))),
        page: (accountId, page) =>
          storeErrors(readPage(page, (request) => auditEvents(sql, selected(accountId, request)))),
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

const changesText = (changes: object): string => storable(withoutSecrets(JSON.stringify(changes)))

/** Sorts after every ID. */
const NO_ID = "g"

const MAX_MS = 2 ** 48 - 1

const idAt = (timeMs: number): string => firstResourceIdAt(Math.min(Math.max(Math.trunc(timeMs), 0), MAX_MS))

const distinct = (values: ReadonlyArray<string> | undefined) => values && [...new Set(values)]

/** The time of an entry is the time in its ID. */
const selected = (
  accountId: string,
  { actors, cursor = NO_ID, fromMs = 0, limit, resources, types, untilMs }: AuditPage
) => {
  const end = untilMs === undefined ? NO_ID : idAt(untilMs)
  return {
    accountId,
    types: distinct(types),
    actors: distinct(actors),
    resources: distinct(resources),
    least: idAt(fromMs),
    end: end < cursor ? end : cursor,
    limit
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
