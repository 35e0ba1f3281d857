import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { insertEvent } from "./WebhooksSql.ts"

/** What endpoints can be told of. */
export type EventType = "video.completed" | "video.failed"

/** Something that happened to what an account owns. */
export interface WebhookEvent {
  /** `evt_…`; the event happens once for each. */
  readonly id: string
  readonly accountId: string
  readonly type: EventType
  /** The object it happened to, as the API shows it; small, for it is sent whole. */
  readonly data: object
  readonly createdAt: Date
}

/** Tells the addresses that accounts have registered what happened to their work. */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /**
     * Writes an event and a delivery to each enabled endpoint of the account that is subscribed to its type. Call it inside the
     * transaction of the change that it tells of, so that the two are one. The event happens once per `id`.
     */
    readonly publish: (event: WebhookEvent) => Effect.Effect<void, SqlError.SqlError>
  }
>()("tollgate/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Webhooks.of({
        publish: (event) => Effect.asVoid(insertEvent(sql, { ...event, body: bodyOf(event) }))
      })
    )
  )
}

/** What is sent: the members that Standard Webhooks asks for, and those of OpenAI's events. */
const bodyOf = ({
  createdAt,
  data,
  id,
  type
}: Pick<WebhookEvent, "createdAt" | "data" | "id"> & { readonly type: string }) =>
  JSON.stringify({
    id,
    object: "event",
    type,
    created_at: Math.floor(createdAt.getTime() / 1000),
    timestamp: createdAt.toISOString(),
    data
  })
