/** The services that webhooks need, and accounts with webhooks. */
import { type Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { PublicFetch, type PublicFetchOptions } from "../../src/platform/outbound/PublicFetch.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { Outbox } from "../../src/webhooks/Outbox.ts"
import { Sender } from "../../src/webhooks/Sender.ts"
import { type EventType, Webhooks } from "../../src/webhooks/Webhooks.ts"

export const actor = { type: "operator", id: "test" } as const

export const SECRETS_KEY = "a key for tests that has 32 characters and more"

/** The services that webhooks need, without the database. */
export const webhookRooms = (
  options: Partial<PublicFetchOptions & { readonly key: string; readonly retention: Duration.Duration }> = {}
) =>
  Webhooks.layer.pipe(
    Layer.provideMerge(options.retention === undefined ? Outbox.layer : Outbox.layerKeeping(options.retention)),
    Layer.provideMerge(Sender.layer),
    Layer.provideMerge(Secrets.layerFrom(Redacted.make(options.key ?? SECRETS_KEY))),
    Layer.provideMerge(PublicFetch.layerFrom({ allowLoopback: true, connections: 640, ...options })),
    Layer.provideMerge(Accounts.layer),
    Layer.provideMerge(Audit.layer)
  )

let accounts = 0

/** Creates an account, and returns operations on its webhooks. */
export const webhookAccount = Effect.gen(function* () {
  const { create } = yield* Accounts
  const webhooks = yield* Webhooks
  const sql = yield* SqlClient.SqlClient
  const { id: accountId } = yield* create(`webhooks-${process.pid}-${accounts++}@example.com`, actor)
  return {
    accountId,
    register: (url: string, events: ReadonlyArray<EventType> = ["video.completed", "video.failed"]) =>
      webhooks.register({ accountId, url, events, actor }),
    /** Publishes an event in a transaction, and returns its id. */
    publish: (type: EventType = "video.completed", data: object = { object: "video", status: "completed" }) => {
      const id = `evt_${newResourceId()}`
      const event = { id, accountId, type, data: { id: "job", ...data }, createdAt: new Date() }
      return Effect.as(sql.withTransaction(webhooks.publish(event)), id)
    },
    deliveries: (id: string) =>
      Effect.map(webhooks.deliveries(accountId, id, { limit: 100, cursor: undefined }), ({ rows }) => rows)
  }
})
