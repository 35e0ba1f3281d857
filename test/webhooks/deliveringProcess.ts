/** A node that only delivers webhooks, for tests that kill it. Its database is the first argument. */
import { Effect, Layer } from "effect"
import { layer as webhookDelivery } from "../../src/workers/WebhookDelivery.ts"
import { layerUrl } from "../support/Database.ts"
import { webhookRooms } from "../support/WebhookRooms.ts"

const node = webhookDelivery({ sweepInterval: "1 hour" }).pipe(
  Layer.provide(webhookRooms()),
  Layer.provide(layerUrl(process.argv[2]!, 4))
)

Effect.runFork(Effect.scoped(Effect.andThen(Layer.build(node), Effect.never)))
