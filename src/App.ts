/** Joins all layers, in the order in which a request flows through them. */
import { Duration, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import { SqlClient } from "effect/sql"
import { Accounts } from "./account/Accounts.ts"
import { hosts, keyedProviders, catalogue, pool, ownFetch } from "./AppProviders.ts"
import { Audit } from "./account/Audit.ts"
import { Budgets } from "./account/Budgets.ts"
import { Codes } from "./account/Codes.ts"
import { EmailChange } from "./account/EmailChange.ts"
import { Keys } from "./account/Keys.ts"
import { Mutations } from "./account/Mutations.ts"
import { OwnerSessions } from "./account/OwnerSessions.ts"
import { Projects } from "./account/Projects.ts"
import { SignIn } from "./account/SignIn.ts"
import { Auth } from "./auth/Auth.ts"
import { BillingDetails } from "./account/BillingDetails.ts"
import { Customers } from "./billing/Customers.ts"
import { Payments } from "./billing/Payments.ts"
import { Phones } from "./billing/Phones.ts"
import { hasTraces, tracesOf } from "./billing/Sandbox.ts"
import { TopUps } from "./billing/TopUps.ts"
import { Operator } from "./operator/Operator.ts"
import { SpendLimits } from "./operator/SpendLimits.ts"
import { OperatorEvents } from "./account/OperatorEvents.ts"
import { OperatorKeys } from "./account/OperatorKeys.ts"
import { OperatorSessions } from "./account/OperatorSessions.ts"
import { Plans } from "./account/Plans.ts"
import { Margins } from "./usage/Margins.ts"
import { ProviderSpend } from "./usage/ProviderSpend.ts"
import { Transactions } from "./billing/Transactions.ts"
import { ChatCache } from "./cache/ChatCache.ts"
import { Catalogue } from "./catalogue/Catalogue.ts"
import { LiveFigures } from "./catalogue/LiveFigures.ts"
import { formatUsd } from "./domain/Money.ts"
import { Ops, readiness, servable } from "./http/handlers/Ops.ts"
import { layer as server } from "./http/edge/Server.ts"
import { Shutdown } from "./http/edge/Shutdown.ts"
import { layer as batchOperations } from "./http/handlers/BatchOperations.ts"
import { CachedChat } from "./inference/CachedChat.ts"
import { Batch } from "./batches/Batch.ts"
import { Batches } from "./batches/Batches.ts"
import { ImageWork } from "./inference/ImageWork.ts"
import { Inference } from "./inference/Inference.ts"
import { PromptImages } from "./inference/PromptImages.ts"
import { ReasoningSeals } from "./inference/ReasoningSeals.ts"
import { Videos } from "./videos/Videos.ts"
import { Work } from "./inference/Work.ts"
import { Jobs } from "./jobs/Jobs.ts"
import { VideoJobs } from "./videos/VideoJobs.ts"
import { Ledger } from "./ledger/Ledger.ts"
import { layer as mcp } from "./mcp/Server.ts"
import { Notifications } from "./notifications/Notifications.ts"
import { Config } from "./platform/config/Config.ts"
import { DataDirectory } from "./platform/database/DataDirectory.ts"
import { layer as prepared } from "./ledger/FunctionsSql.ts"
import { Mail } from "./platform/messaging/Mail.ts"
import { Media } from "./platform/files/Media.ts"
import { Outbound } from "./platform/outbound/Outbound.ts"
import { PhoneVerification } from "./platform/messaging/PhoneVerification.ts"
import { portsFree } from "./platform/Ports.ts"
import { PublicFetch } from "./platform/outbound/PublicFetch.ts"
import { PublicUrl } from "./platform/outbound/PublicUrl.ts"
import { Secrets } from "./platform/Secrets.ts"
import { layer as sql } from "./platform/database/Sql.ts"
import { StartError } from "./platform/config/Variables.ts"
import { Presets } from "./presets/Presets.ts"
import { RateLimiter } from "./ratelimit/RateLimiter.ts"
import { Router } from "./router/Router.ts"
import { Sessions } from "./sessions/Sessions.ts"
import { layer as sessionSweeps } from "./sessions/SessionSweeps.ts"
import { Breakdown } from "./usage/Breakdown.ts"
import { UsageReads } from "./usage/UsageReads.ts"
import { Receipts } from "./usage/Receipts.ts"
import { Requests } from "./usage/Requests.ts"
import { Rollups } from "./usage/Rollups.ts"
import { UsageSeries } from "./usage/Series.ts"
import { Usage } from "./usage/Usage.ts"
import { BudgetAlerts } from "./webhooks/BudgetAlerts.ts"
import { Outbox } from "./webhooks/Outbox.ts"
import { Sender } from "./webhooks/Sender.ts"
import { Webhooks } from "./webhooks/Webhooks.ts"
import { layer as idleMemory } from "./platform/telemetry/IdleMemory.ts"
import { layer as auditSweeps } from "./workers/AuditSweeps.ts"
import { layer as backlogs } from "./workers/Backlogs.ts"
import { layer as batchRuns } from "./batches/BatchRuns.ts"
import { layer as budgetAlerts } from "./workers/BudgetAlertDelivery.ts"
import { DAILY_MONEY_INTERVAL, layer as dailyMoney } from "./workers/DailyMoney.ts"
import { layer as fileSweeps, STRAYS_INTERVAL } from "./workers/FileSweeps.ts"
import { layer as notificationEmails } from "./workers/NotificationEmails.ts"
import { layer as sweeps } from "./workers/Sweeps.ts"
import { layer as topUpSweeps } from "./workers/TopUpSweeps.ts"
import { layer as ledgerProofs } from "./workers/LedgerProofs.ts"
import { layer as rollupsLayer, ROLLUP_INTERVAL } from "./workers/UsageRollups.ts"
import { layer as videoWork } from "./videos/VideoWorker.ts"
import { layer as webhookDeliveriesLayer } from "./workers/WebhookDelivery.ts"

/** The interval of sweeps that only delete old rows. It is longer than the interval of money sweeps, because each costs a transaction. */
const deletionInterval = ({ sweepInterval }: Config["Service"]) => Duration.times(sweepInterval, 4)

/** Fetches the URLs that callers name. */
const publicFetch = Layer.unwrap(Effect.map(Config, ({ outbound }) => PublicFetch.layerFrom(outbound)))

/** Calls providers. A connection attempt lasts at least as long as the calls that wait for it, because its end would fail them. */
const outbound = Layer.unwrap(
  Effect.map(Config, ({ upstream }) => Outbound.layerPatient(Duration.toMillis(upstream.connectTimeout)))
)

/** The time limit for storing the result of a request. A store takes seconds for ten large images, so a slower one is broken. */
const DELIVERY = Duration.minutes(2)

/** The maximum number of webhook connections of a node: for all concurrent deliveries, and for tests of endpoints beside them. */
const WEBHOOK_CONNECTIONS = 640

/** The model that classifies for `svc/auto`. Any model but a text model fails the start, because its classification would always fail. */
const classifier = Effect.gen(function* () {
  const { model, timeout } = (yield* Config).autoClassifier
  if (model === undefined) return undefined
  const found = (yield* Catalogue).find(model)
  if (found?.modality === "text" && !found.virtual) return { model, timeout }
  return yield* new StartError({ message: `AUTO_CLASSIFIER_MODEL must name a text model; got ${model}` })
})

const inference = Layer.unwrap(
  Effect.gen(function* () {
    const { clientDrain, holdTtl, shutdownGrace, upstream } = yield* Config
    const chargeTtl = Duration.sum(Duration.sum(holdTtl, upstream.totalTimeout), DELIVERY)
    const options = { holdTtl, chargeTtl, drain: clientDrain, shutdownGrace }
    // Parallel layers, so that each has the whole grace period when the service stops.
    return Layer.mergeAll(
      Batch.layerFrom(options),
      Inference.layerFrom({ ...options, classifier: yield* classifier }),
      Work.layerFrom({ ...options, delivery: DELIVERY })
    )
  })
)

const router = Layer.unwrap(Effect.map(Config, ({ routing }) => Router.layerFrom(routing)))

const limiter = Layer.unwrap(Effect.map(Config, ({ redisUrl }) => RateLimiter.layerFrom({ redisUrl })))

const cache = Layer.unwrap(Effect.map(Config, ({ redisUrl }) => ChatCache.layerFrom({ redisUrl })))

const jobs = Layer.unwrap(
  Effect.map(Config, ({ shutdownGrace }) =>
    Jobs.layerFrom({
      lease: "30 seconds",
      pollInterval: "500 millis",
      idlePollInterval: "2 seconds",
      grace: shutdownGrace
    })
  )
)

/** The video service and its worker. */
const videos = Layer.unwrap(
  Effect.map(Config, ({ files: { retention }, sweepInterval, videos: options }) =>
    videoWork(Duration.times(sweepInterval, 4)).pipe(
      Layer.provideMerge(Videos.layerFrom({ ...options, retention })),
      Layer.provideMerge(VideoJobs.layer)
    )
  )
)

/** Webhooks have a separate connection pool. Hanging receivers would otherwise delay the images of prompts. */
const sender = Sender.layer.pipe(Layer.provide(ownFetch({ connections: WEBHOOK_CONNECTIONS })))

const outbox = Layer.unwrap(Effect.map(Config, ({ retention }) => Outbox.layerKeeping(retention.webhooks)))

const webhooks = Webhooks.layer.pipe(
  Layer.provideMerge(outbox),
  Layer.provide(Secrets.layer),
  Layer.provideMerge(sender)
)

const deliveries = Layer.mergeAll(
  Layer.unwrap(Effect.map(Config, (config) => webhookDeliveriesLayer({ sweepInterval: deletionInterval(config) }))),
  budgetAlerts.pipe(Layer.provide(BudgetAlerts.layer)),
  Layer.unwrap(Effect.map(Config, (config) => notificationEmails(deletionInterval(config))))
)

const sweepsLayer = Layer.unwrap(
  Effect.map(Config, ({ retention, sweepInterval, verifyInterval }) =>
    Layer.mergeAll(
      sessionSweeps(retention.sessions),
      sweeps(sweepInterval),
      ledgerProofs(verifyInterval),
      auditSweeps(Duration.times(sweepInterval, 4)),
      // Half as often as sweeps, because these figures are only displayed.
      backlogs(Duration.times(sweepInterval, 2)),
      fileSweeps(Duration.times(sweepInterval, 4), STRAYS_INTERVAL),
      topUpSweeps(Duration.times(sweepInterval, 4)),
      idleMemory
    )
  )
)

const dailyFigures = Layer.unwrap(
  Effect.map(Catalogue, (catalogue) => {
    const callable = catalogue.current().providers.filter(({ serving }) => serving !== "none")
    return dailyMoney(
      DAILY_MONEY_INTERVAL,
      callable.map(({ id }) => id)
    )
  })
)

/**
 * Fails the start when a former sandbox's database would serve real providers, until the operator chooses what happens to its simulated
 * money and keys.
 */
const refuseSandboxDatabase = Layer.effectDiscard(
  Effect.gen(function* () {
    const { sandbox } = yield* Config
    const real = [...(yield* keyedProviders), ...(yield* hosts).filter(({ keyed }) => keyed)].map(({ id }) => id)
    if (sandbox || real.length === 0) return
    const traces = yield* tracesOf(yield* SqlClient.SqlClient)
    if (!hasTraces(traces)) return
    const { accounts, keys, simulated } = traces
    return yield* new StartError({
      message:
        `this database was a sandbox's, and a key of a real provider is set (${real.join(", ")}). It has ${formatUsd(simulated)} of ` +
        `simulated money in ${accounts} account(s) and ${keys} working demo key(s). Choose: SANDBOX=on keeps the sandbox, in which ` +
        `simulated money pays for simulated providers alone; \`npm run admin -- sandbox clear\` voids the simulated money and the demo ` +
        `keys, keeps everything else, and lets the service start`
    })
  })
)

const database = refuseSandboxDatabase.pipe(
  Layer.provideMerge(prepared),
  Layer.provideMerge(sql),
  Layer.provideMerge(DataDirectory.layer),
  Layer.provide(Layer.effectDiscard(portsFree))
)

/** Completes the public URL. With `PORT=0` the operating system chooses the port when the server starts to listen. */
const publicUrlLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    if (NetAddress.isInetAddress(address)) (yield* PublicUrl).listening(address.port)
  })
)

const media = Media.layer.pipe(Layer.provideMerge(PublicUrl.layer))

const accounts = Layer.mergeAll(
  ...[
    Accounts.layer,
    Keys.layer,
    Mutations.layer,
    OperatorSessions.layer,
    OwnerSessions.layer,
    Plans.layer,
    Projects.layer
  ]
).pipe(Layer.provideMerge(Layer.mergeAll(Audit.layer, Budgets.layer, OperatorEvents.layer)))

/** Sign-in, email changes, notifications, phones and transactions of account owners. */
const owners = Layer.mergeAll(
  SignIn.layer,
  EmailChange.layer,
  Notifications.layer,
  Phones.layer,
  Transactions.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(BillingDetails.layer, Codes.layer)),
  Layer.provide(Layer.mergeAll(Mail.layer, PhoneVerification.layer)),
  Layer.provide(Secrets.layer)
)

const topUps = TopUps.layer.pipe(Layer.provide(Payments.layer))

const reasoningSeals = ReasoningSeals.layer.pipe(Layer.provide(Secrets.layer))

const serviceLayer = <E, R>(ledger: typeof Ledger.layer, first: Layer.Layer<never, E, R>) =>
  readiness.pipe(
    Layer.provideMerge(first),
    Layer.provideMerge(servable),
    Layer.provideMerge(publicUrlLayer),
    // Parallel layers: a stopping service starts no step of a batch while requests use the grace period.
    Layer.provideMerge(Layer.mergeAll(server, batchRuns)),
    Layer.provideMerge(mcp),
    Layer.provideMerge(Layer.mergeAll(CachedChat.layer, Batches.layer, ImageWork.layer, batchOperations)),
    Layer.provideMerge(Layer.mergeAll(inference, videos)),
    Layer.provideMerge(Layer.mergeAll(PromptImages.layer, reasoningSeals)),
    Layer.provideMerge(pool),
    Layer.provideMerge(router),
    Layer.provideMerge(
      Layer.mergeAll(sweepsLayer, rollupsLayer(ROLLUP_INTERVAL), dailyFigures, deliveries, ProviderSpend.layer)
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        Requests.layer,
        Receipts.layer,
        Usage.layer,
        Breakdown.layer,
        UsageSeries.layer,
        Margins.layer,
        Operator.layer,
        OperatorKeys.layer,
        SpendLimits.layer,
        Rollups.layer,
        Sessions.layer
      ).pipe(Layer.provide(UsageReads.layer))
    ),
    Layer.provideMerge(topUps),
    Layer.provideMerge(catalogue),
    Layer.provideMerge(Layer.mergeAll(owners, webhooks)),
    Layer.provideMerge(media),
    Layer.provideMerge(Layer.mergeAll(LiveFigures.layer, outbound, publicFetch, limiter, cache, jobs)),
    Layer.provideMerge(Auth.layer),
    Layer.provideMerge(
      Layer.mergeAll(Customers.layer, Presets.layer).pipe(Layer.provideMerge(ledger), Layer.provideMerge(accounts))
    ),
    Layer.provideMerge(Layer.mergeAll(Ops.layer, Shutdown.layer))
  )

/** The whole service on its database, with the given ledger. The bench uses a ledger without a database. */
export const layerWith = (ledger: typeof Ledger.layer) =>
  serviceLayer(ledger, Layer.empty).pipe(Layer.provideMerge(database))

/** The whole service on its database. It is ready when the layer `first` has been built on it. */
export const layerAfter = <E, R>(first: Layer.Layer<never, E, R>) =>
  serviceLayer(Ledger.layer, first).pipe(Layer.provideMerge(database))

/** The whole service on its database. It requires only the settings. */
export const layer = layerWith(Ledger.layer)
