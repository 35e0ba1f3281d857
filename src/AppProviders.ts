/** Joins the catalogue and the provider pool: providers with a key, hosts of `PROVIDERS_FILE`, and the simulated providers of a sandbox. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Duration, Effect, Layer } from "effect"
import { Catalogue } from "./catalogue/Catalogue.ts"
import { catalogueFile } from "./catalogue/CatalogueFile.ts"
import { LiveFigures } from "./catalogue/LiveFigures.ts"
import { modelIds } from "./catalogue/models.ts"
import { listedProviders } from "./catalogue/Providers.ts"
import { Config } from "./platform/config/Config.ts"
import { type Host, loadProvidersFile } from "./platform/config/ProvidersFile.ts"
import { StartError } from "./platform/config/Variables.ts"
import { PublicFetch, type PublicFetchOptions } from "./platform/outbound/PublicFetch.ts"
import { makeAnthropic } from "./providers/anthropic/Anthropic.ts"
import { makeFal } from "./providers/fal/Fal.ts"
import { makeGemini } from "./providers/gemini/Gemini.ts"
import { makeOpenAi, optionsOfHost } from "./providers/openai/OpenAi.ts"
import { ProviderPool } from "./providers/pool/ProviderPool.ts"
import type { Provider } from "./providers/Provider.ts"
import { makeSandbox } from "./providers/sandbox/Sandbox.ts"
import { makeTavily } from "./providers/tavily/Tavily.ts"
import { makeVoyage } from "./providers/voyage/Voyage.ts"
import { makeXai } from "./providers/xai/Xai.ts"

/** The base URL of each provider with an adapter, unless a setting replaces it. */
const addresses = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com",
  voyage: "https://api.voyageai.com/v1",
  tavily: "https://api.tavily.com",
  fal: "https://fal.run",
  xai: "https://api.x.ai/v1"
} as const

/** Creates a separate connection pool with these options, which no other layer shares. */
export const ownFetch = (options: Pick<PublicFetchOptions, "connections" | "waits">) =>
  Layer.fresh(Layer.unwrap(Effect.map(Config, ({ outbound }) => PublicFetch.layerFrom({ ...outbound, ...options }))))

/** Returns the base URL without a slash at its end, because adapters append their paths. */
const addressOf = (url: URL): string => url.href.replace(/\/+$/, "")

/** The maximum number of provider files that a node downloads at once. Further downloads wait, because each file has been paid for. */
const FILE_CONNECTIONS = 128

/** The providers with an adapter. Each has a setting for its key. */
const ADAPTED = ["openai", "anthropic", "gemini", "voyage", "tavily", "fal", "xai"] as const

export const hosts = Effect.gen(function* () {
  const { providers } = yield* Config
  if (providers.file === undefined) return []
  return yield* loadProvidersFile({
    path: providers.file,
    models: modelIds,
    reserved: new Set(ADAPTED),
    keyFrom: providers.keyFrom
  })
}).pipe(Effect.provide(NodeServices.layer))

/** The providers with an adapter and a key, and their base URLs. */
export const keyedProviders = Effect.map(Config, ({ providers }) =>
  ADAPTED.flatMap((id) => {
    const { apiKey, baseUrl } = providers[id]
    return apiKey === undefined
      ? []
      : [{ id, apiKey, baseUrl: baseUrl === undefined ? addresses[id] : addressOf(baseUrl) }]
  })
)

export const catalogue = Layer.unwrap(
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
      // Google does not document that a disconnect stops the billing.
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

/** Returns the server of a provider, for the attributes of its spans. */
const serverOf = (url: string): NonNullable<Provider["server"]> => {
  const { hostname, port, protocol } = new URL(url)
  return { address: hostname, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) }
}

/** The providers that receive trace contexts. An unknown id fails the start, because it would have no effect. */
const traceTo = (ids: ReadonlySet<string>) =>
  Effect.gen(function* () {
    const { contextTo } = (yield* Config).telemetry
    const unknown = contextTo.find((id) => !ids.has(id))
    if (unknown === undefined) return new Set(contextTo)
    return yield* new StartError({ message: `TRACE_CONTEXT_PROVIDERS must name known providers; got ${unknown}` })
  })

export const pool = Layer.unwrap(
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
