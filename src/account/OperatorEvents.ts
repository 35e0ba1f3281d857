import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { insertOperatorEvent, type OperatorEventRow, operatorEvents } from "./OperatorEventsSql.ts"

/** The operator behind a change: the ID of an operator key, or the admin command, and the request if there is one. */
export interface OperatorActor {
  readonly id: string
  readonly requestId?: string
}

/** A change by an operator that concerns no single account. */
export interface OperatorChange {
  /** The action in the past tense, such as `plan.changed`. */
  readonly type: string
  readonly actor: OperatorActor
  readonly resource: { readonly type: string; readonly id: string }
  readonly changes: object
}

/** The audit log of changes that concern no single account, such as price plans. The database keeps its lines unchanged for ever. */
export class OperatorEvents extends Context.Service<
  OperatorEvents,
  {
    /** Writes a line, in the transaction of its change. */
    readonly append: (change: OperatorChange) => Effect.Effect<void, SqlError.SqlError>
    /** Returns lines, newest first, that are older than the one with the ID `after`. */
    readonly list: (page: {
      readonly after: string | null
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<OperatorEventRow>, Unavailable>
  }
>()("tollgate/account/OperatorEvents") {
  static readonly layer = Layer.effect(
    OperatorEvents,
    Effect.map(SqlClient.SqlClient, (sql) =>
      OperatorEvents.of({
        append: ({ actor, changes, resource, type }) =>
          Effect.asVoid(
            insertOperatorEvent(sql, {
              id: newResourceId(),
              type,
              changes,
              actor_id: actor.id,
              resource_type: resource.type,
              resource_id: resource.id,
              request_id: actor.requestId ?? null
            })
          ),
        list: (page) => storeErrors(operatorEvents(sql, page))
      })
    )
  )
}
