/** A node that only writes and sends emails, for tests that kill it. Its arguments are the database and the mail server. */
import { Effect, Layer } from "effect"
import { Notifications } from "../../src/notifications/Notifications.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { Mail } from "../../src/platform/messaging/Mail.ts"
import { PublicUrl } from "../../src/platform/outbound/PublicUrl.ts"
import { layer as emails } from "../../src/workers/NotificationEmails.ts"
import { layerUrl } from "../support/Database.ts"

const [, , database = "", SMTP_URL = ""] = process.argv

const node = emails("1 hour").pipe(
  Layer.provide(Notifications.layer),
  Layer.provide(Layer.merge(Mail.layer, PublicUrl.layer)),
  Layer.provide(Config.layerFrom({ SMTP_URL, MAIL_FROM: "no-reply@example.com" })),
  Layer.provide(layerUrl(database, 4))
)

Effect.runFork(Effect.scoped(Effect.andThen(Layer.build(node), Effect.never)))
