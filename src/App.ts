/** Joins all layers, in the order in which a request flows through them. */
import { NodeServices } from "@effect/platform-node"
import { Duration, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import { SqlClient } from "effect/sql"
import { Accounts } from "./account/Accounts.ts"
import { Audit } from "./account/Audit.ts"
import { Budgets } from "./account/Budgets.ts"
import { Codes } from "./account/Codes.ts"
import { Keys } from "./account/Keys.ts"
import { Mutations } from "./account/Mutations.ts"
import { OwnerSessions } from "./account/OwnerSessions.ts"
import { Projects } from "./account/Projects.ts"
import { SignIn } from "./account/SignIn.ts"
import { Auth } from "./auth/Auth.ts"
import { Customers } from "./billing/Customers.ts"
import { Payments } from "./billing/Payments.ts"
import { Phones } from "./billing/Phones.ts"
import { hasTraces, tracesOf } from "./billing/Sandbox.ts"
import { TopUps } from "./billing/TopUps.ts"
import { Operator } from "./operator/Operator.ts"
import { OperatorKeys } from "./account/OperatorKeys.ts"
import { Margins } from "./usage/Margins.ts"
import { Transactions } from "./billing/Transactions.ts"
import { ChatCache } from "./cache/ChatCache.ts"
import { Catalogue } from "./catalogue/Catalogue.ts"
import { catalogueFile } from "./catalogue/CatalogueFile.ts"
import { LiveFigures } from "./catalogue/LiveFigures.ts"
import { modelIds } from "./catalogue/models.ts"
import { listedProviders } from "./catalogue/Providers.ts"
import { formatUsd } from "./domain/Money.ts"
import { Ops, readiness, servable } from "./http/handlers/Ops.ts"
import { layer as server } from "./http/edge/Server.ts"
import { Stopping } from "./http/edge/Stopping.ts"
import { layer as surfaces } from "./http/handlers/Surfaces.ts"
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
import { Config } from "./platform/config/Config.ts"
import { DataDirectory } from "./platform/database/DataDirectory.ts"
import { layer as ledgerFunctions } from "./ledger/FunctionsSql.ts"
import { layer as migrations } from "./platform/database/Migrations.ts"
import { Mail } from "./platform/messaging/Mail.ts"
import { Media } from "./platform/files/Media.ts"
import { Outbound } from "./platform/outbound/Outbound.ts"
import { PhoneVerification } from "./platform/messaging/PhoneVerification.ts"
import { portsFree } from "./platform/Ports.ts"
import { type Host, loadProvidersFile } from "./platform/config/ProvidersFile.ts"
import { PublicFetch, type PublicFetchOptions } from "./platform/outbound/PublicFetch.ts"
import { PublicUrl } from "./platform/outbound/PublicUrl.ts"
import { Secrets } from "./platform/Secrets.ts"
import { layer as sql } from "./platform/database/Sql.ts"
import { StartError } from "./platform/config/Variables.ts"
import { Presets } from "./presets/Presets.ts"
import { makeAnthropic } from "./providers/anthropic/Anthropic.ts"
import { makeFal } from "./providers/fal/Fal.ts"
import { makeGemini } from "./providers/gemini/Gemini.ts"
import { makeOpenAi, optionsOfHost } from "./providers/openai/OpenAi.ts"
import type { Provider } from "./providers/Provider.ts"
import { ProviderPool } from "./providers/pool/ProviderPool.ts"
import { makeSandbox } from "./providers/sandbox/Sandbox.ts"
import { makeTavily } from "./providers/tavily/Tavily.ts"
import { makeVoyage } from "./providers/voyage/Voyage.ts"
import { makeXai } from "./providers/xai/Xai.ts"
import { RateLimiter } from "./ratelimit/RateLimiter.ts"
import { Router } from "./router/Router.ts"
import { Sessions } from "./sessions/Sessions.ts"
import { Breakdown } from "./usage/Breakdown.ts"
import { ReadTurns } from "./usage/ReadTurns.ts"
import { Receipts } from "./usage/Receipts.ts"
import { Requests } from "./usage/Requests.ts"
import { Rollups } from "./usage/Rollups.ts"
import { UsageSeries } from "./usage/Series.ts"
import { Usage } from "./usage/Usage.ts"
import { BudgetAlerts } from "./webhooks/BudgetAlerts.ts"
import { Outbox } from "./webhooks/Outbox.ts"
import { Sender } from "./webhooks/Sender.ts"
import { Webhooks } from "./webhooks/Webhooks.ts"
import { layer as auditSweeps } from "./workers/AuditSweeps.ts"
import { layer as batchRuns } from "./batches/BatchRuns.ts"
import { layer as budgetAlerts } from "./workers/BudgetAlerts.ts"
import { layer as fileSweeps, STRAYS_INTERVAL } from "./workers/FileSweeps.ts"
import { layer as sweeps } from "./workers/Sweeps.ts"
import { layer as topUpSweeps } from "./workers/TopUps.ts"
import { layer as rollingUp, ROLLUP_INTERVAL } from "./workers/UsageRollups.ts"
import { layer as videoWork } from "./videos/VideoWorker.ts"
import { layer as delivering } from "./workers/Webhooks.ts"

/** Where providers with an adapter are found, unless another address is set. */
const addresses = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com",
  voyage: "https://api.voyageai.com/v1",
  tavily: "https://api.tavily.com",
  fal: "https://fal.run",
  xai: "https://api.x.ai/v1"
} as const

/** What reads the addresses that callers name. */
const publicFetch = Layer.unwrap(Effect.map(Config, ({ outbound }) => PublicFetch.layerFrom(outbound)))

/** No attempt to connect ends before the clock of the calls that wait for it. */
const outbound = Layer.unwrap(
  Effect.map(Config, ({ upstream }) => Outbound.layerPatient(Duration.toMillis(upstream.connectTimeout)))
)

/** A separate pool with this many connections, which no other code uses. */
const ownFetch = (options: Pick<PublicFetchOptions, "connections" | "waits">) =>
  Layer.fresh(Layer.unwrap(Effect.map(Config, ({ outbound }) => PublicFetch.layerFrom({ ...outbound, ...options }))))

/** An adapter puts its paths behind the address as it is written. */
const addressOf = (url: URL): string => url.href.replace(/\/+$/, "")

/** Ten large images are stored in seconds; a store that takes so long is out of order. */
const DELIVERY = Duration.minutes(2)

/** Files of providers that a node reads at a time. Each was paid for, so the next one waits. */
const FILE_CONNECTIONS = 128

/** All that a node delivers at a time, and tests beside it. */
const WEBHOOK_CONNECTIONS = 640

/** Providers with a key in the settings; each needs an adapter to be served for real. */
const ADAPTED = ["openai", "anthropic", "gemini", "voyage", "tavily", "fal", "xai"] as const

const hosts = Effect.gen(function* () {
  const { providers } = yield* Config
  if (providers.file === undefined) return []
  return yield* loadProvidersFile({
    path: providers.file,
    models: modelIds,
    reserved: new Set(ADAPTED),
    keyFrom: providers.keyFrom
  })
}).pipe(Effect.provide(NodeServices.layer))

/** The providers with an adapter and a key, with the address to reach them at. */
const keyedProviders = Effect.map(Config, ({ providers }) =>
  ADAPTED.flatMap((id) => {
    const { apiKey, baseUrl } = providers[id]
    return apiKey === undefined
      ? []
      : [{ id, apiKey, baseUrl: baseUrl === undefined ? addresses[id] : addressOf(baseUrl) }]
  })
)

const catalogue = Layer.unwrap(
  Effect.gen(function* () {
    const { catalogueFile: path, sandbox } = yield* Config
    const keyed = new Set<string>((yield* keyedProviders).map(({ id }) => id))
    const custom = yield* hosts
    const changes = path === undefined ? {} : { changes: yield* catalogueFile({ path, hosts: custom }) }
    return Catalogue.layerFrom({ sandbox, keyed, hosts: custom, ...changes })
  }).pipe(Effect.provide(NodeServices.layer))
)

const realProvider = (settings: Effect.Success<typeof keyedProviders>[number]) => {
  switch (settings.id) {
    case "openai":
      return makeOpenAi({ ...settings, flavour: "openai", stopsBillingOnAbort: true })
    case "anthropic":
      return makeAnthropic({ ...settings, stopsBillingOnAbort: true })
    case "gemini":
      // Google does not say that hanging up ends the bill.
      return makeGemini({ ...settings, stopsBillingOnAbort: false })
    case "voyage":
      return makeVoyage(settings)
    case "tavily":
      return makeTavily(settings)
    case "fal":
      return makeFal(settings)
    case "xai":
      return makeXai(settings)
  }
}

const realProviders = (custom: ReadonlyArray<Host>) =>
  Effect.gen(function* () {
    const real: Array<Provider> = []
    for (const settings of yield* keyedProviders) {
      real.push({ ...(yield* realProvider(settings)), server: serverOf(settings.baseUrl) })
    }
    for (const { apiKey, baseUrl, id, keyed, wire } of custom) {
      if (!keyed) continue
      const address = addressOf(baseUrl)
      const options = { id, baseUrl: address, apiKey, ...optionsOfHost(wire), stopsBillingOnAbort: true }
      real.push({ ...(yield* makeOpenAi(options)), server: serverOf(address) })
    }
    return real
  })

/** The server of a provider's calls, for its spans. */
const serverOf = (url: string): NonNullable<Provider["server"]> => {
  const { hostname, port, protocol } = new URL(url)
  return { address: hostname, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) }
}

/** The providers that are told of traces; one that is not there would be told of none, unnoticed. */
const traceTo = (ids: ReadonlySet<string>) =>
  Effect.gen(function* () {
    const { contextTo } = (yield* Config).telemetry
    const unknown = contextTo.find((id) => !ids.has(id))
    if (unknown === undefined) return new Set(contextTo)
    return yield* new StartError({ message: `TRACE_CONTEXT_PROVIDERS names ${unknown}, and there is no such provider` })
  })

const pool = Layer.unwrap(
  Effect.gen(function* () {
    const { redisUrl, sandbox, upstream } = yield* Config
    const live = yield* LiveFigures
    const custom = yield* hosts
    const real = yield* realProviders(custom)
    const served = new Set(real.map((provider) => provider.id))
    const known = [...listedProviders, ...custom].map(({ id }) => id)
    const ids = known.filter((id) => !served.has(id))
    return ProviderPool.layerFrom({
      providers: [...real, ...(sandbox ? ids.map(makeSandbox) : [])],
      clocks: {
        connectMs: Duration.toMillis(upstream.connectTimeout),
        firstTokenMs: Duration.toMillis(upstream.firstTokenTimeout),
        idleMs: Duration.toMillis(upstream.idleTimeout),
        totalMs: Duration.toMillis(upstream.totalTimeout)
      },
      observe: live.record,
      traceTo: yield* traceTo(new Set(known)),
      redisUrl
    })
  })
).pipe(Layer.provide(ownFetch({ connections: FILE_CONNECTIONS, waits: true })))

/** The model that classifies for `svc/auto`; one that cannot would be asked for nothing, unnoticed. */
const classifier = Effect.gen(function* () {
  const { model, timeout } = (yield* Config).autoClassifier
  if (model === undefined) return undefined
  const found = (yield* Catalogue).find(model)
  if (found?.modality === "text" && !found.virtual) return { model, timeout }
  return yield* new StartError({ message: `AUTO_CLASSIFIER_MODEL names ${model}, which is no text model` })
})

const inference = Layer.unwrap(
  Effect.gen(function* () {
    const { clientDrain, holdTtl, shutdownGrace, upstream } = yield* Config
    const chargeTtl = Duration.sum(Duration.sum(holdTtl, upstream.totalTimeout), DELIVERY)
    const options = { holdTtl, chargeTtl, drain: clientDrain, shutdownGrace }
    // Side by side, so that both have their time to finish at once when the service stops.
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

/** Videos, and the work on them. */
const videos = Layer.unwrap(
  Effect.map(Config, ({ files: { retention }, sweepInterval, videos: options }) =>
    videoWork(sweepInterval).pipe(
      Layer.provideMerge(Videos.layerFrom({ ...options, retention })),
      Layer.provideMerge(VideoJobs.layer)
    )
  )
)

/** Webhooks have connections of their own: receivers that hang must not keep images of prompts from being fetched. */
const sender = Sender.layer.pipe(Layer.provide(ownFetch({ connections: WEBHOOK_CONNECTIONS })))

const webhooks = Webhooks.layer.pipe(
  Layer.provideMerge(Outbox.layer),
  Layer.provide(Secrets.layer),
  Layer.provideMerge(sender)
)

const deliveries = Layer.mergeAll(
  Layer.unwrap(Effect.map(Config, delivering)),
  budgetAlerts.pipe(Layer.provide(BudgetAlerts.layer))
)

const sweeping = Layer.unwrap(
  Effect.map(Config, ({ sweepInterval }) =>
    Layer.mergeAll(
      sweeps(sweepInterval),
      auditSweeps(sweepInterval),
      fileSweeps(sweepInterval, STRAYS_INTERVAL),
      topUpSweeps(sweepInterval)
    )
  )
)

/** A database that was a sandbox's serves real providers only when the operator has said what becomes of its money and keys. */
const notOfASandbox = Layer.effectDiscard(
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

const database = notOfASandbox.pipe(
  Layer.provideMerge(ledgerFunctions),
  Layer.provideMerge(migrations),
  Layer.provideMerge(sql),
  Layer.provideMerge(DataDirectory.layer),
  Layer.provide(Layer.effectDiscard(portsFree))
)

/** A port that was left to the system is known when the server listens. */
const addressed = Layer.effectDiscard(
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    if (NetAddress.isInetAddress(address)) (yield* PublicUrl).listening(address.port)
  })
)

const media = Media.layer.pipe(Layer.provideMerge(PublicUrl.layer))

const accounts = Layer.mergeAll(Accounts.layer, Keys.layer, Mutations.layer, OwnerSessions.layer, Projects.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Audit.layer, Budgets.layer))
)

/** How owners authenticate, and what their accounts received. */
const owners = Layer.mergeAll(SignIn.layer, Phones.layer, Transactions.layer).pipe(
  Layer.provideMerge(Codes.layer),
  Layer.provide(Layer.mergeAll(Mail.layer, PhoneVerification.layer)),
  Layer.provide(Secrets.layer)
)

const topUps = TopUps.layer.pipe(Layer.provide(Payments.layer))

const reasoningSeals = ReasoningSeals.layer.pipe(Layer.provide(Secrets.layer))

const serving = <E, R>(ledger: typeof Ledger.layer, first: Layer.Layer<never, E, R>) =>
  readiness.pipe(
    Layer.provideMerge(first),
    Layer.provideMerge(servable),
    Layer.provideMerge(addressed),
    // Side by side as well: a service that stops begins no step of a batch while requests have their time to finish.
    Layer.provideMerge(Layer.mergeAll(server, batchRuns)),
    Layer.provideMerge(mcp),
    Layer.provideMerge(Layer.mergeAll(CachedChat.layer, Batches.layer, ImageWork.layer, surfaces)),
    Layer.provideMerge(Layer.mergeAll(inference, videos)),
    Layer.provideMerge(Layer.mergeAll(PromptImages.layer, reasoningSeals)),
    Layer.provideMerge(pool),
    Layer.provideMerge(router),
    Layer.provideMerge(Layer.mergeAll(sweeping, rollingUp(ROLLUP_INTERVAL), deliveries)),
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
        Rollups.layer,
        Sessions.layer
      ).pipe(Layer.provide(ReadTurns.layer))
    ),
    Layer.provideMerge(topUps),
    Layer.provideMerge(catalogue),
    Layer.provideMerge(media),
    Layer.provideMerge(Layer.mergeAll(owners, webhooks)),
    Layer.provideMerge(Layer.mergeAll(LiveFigures.layer, outbound, publicFetch, limiter, cache, jobs)),
    Layer.provideMerge(Auth.layer),
    Layer.provideMerge(
      Layer.mergeAll(Customers.layer, Presets.layer).pipe(Layer.provideMerge(ledger), Layer.provideMerge(accounts))
    ),
    Layer.provideMerge(Layer.mergeAll(Ops.layer, Stopping.layer))
  )

/** The whole service on its database, with this ledger; the bench has one that keeps no books. */
export const layerWith = (ledger: typeof Ledger.layer) =>
  serving(ledger, Layer.empty).pipe(Layer.provideMerge(database))

/** The whole service on its database, ready once this is built on it as well. */
export const layerAfter = <E, R>(first: Layer.Layer<never, E, R>) =>
  serving(Ledger.layer, first).pipe(Layer.provideMerge(database))

/** The whole service on its database; needs only the settings. */
export const layer = layerWith(Ledger.layer)
