import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { auditEvents, type AuditRow, insertAuditEvent } from "./AuditSql.ts"

/** Who did it: somebody at the command line, the service itself, or the holder of a key. */
export interface Actor {
  readonly type: "operator" | "service" | "key"
  readonly id: string
}

export interface AuditEvent {
  readonly accountId: string
  readonly type: string
  readonly actor: Actor
  readonly resource: { readonly type: string; readonly id: string }
  /** What changed. Never a secret. */
  readonly changes: object
}

/** The log of what was done to an account. */
export class Audit extends Context.Service<
  Audit,
  {
    /** Writes in the caller's transaction when there is one, so that the deed and its record are one. */
    readonly append: (event: AuditEvent) => Effect.Effect<void, SqlError.SqlError>
    /** The newest first. */
    readonly list: (accountId: string, limit: number) => Effect.Effect<ReadonlyArray<AuditRow>, Unavailable>
  }
>()("tollgate/account/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Audit.of({
        append: ({ accountId, actor, changes, resource, type }) =>
          Effect.asVoid(
            insertAuditEvent(sql, {
              id: newResourceId(),
              account_id: accountId,
              type,
              actor_type: actor.type,
              actor_id: actor.id,
              resource_type: resource.type,
              resource_id: resource.id,
              changes: JSON.stringify(changes)
            })
          ),
        list: (accountId, limit) => storeErrors(auditEvents(sql, accountId, limit))
      })
    )
  )
}
