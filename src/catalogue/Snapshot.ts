/** The catalogue at one moment: a value that a pure function makes from the lists, the settings and the time. */
import type { Capability, Model, ModelStatus, Offer, ProviderInfo } from "../domain/Model.ts"
import { discounted, type Price, type TokenPrice } from "../domain/Pricing.ts"
import type { Host } from "../platform/config/ProvidersFile.ts"
import { aliasesOf } from "./Aliases.ts"
import {
  type Changes,
  changesUntil,
  costsAt,
  type Event,
  eventsOf,
  pair,
  pricesAt,
  type PromotionChange,
  promotionOf,
  promotionsAt,
  statusesAt
} from "./Changes.ts"
import type { Entry, Listing } from "./Entry.ts"
import { entries } from "./models.ts"
import { dayOf } from "../domain/Day.ts"
import type { OverlayPrice } from "./Overlay.ts"
import { type ListedProvider, listedProviders } from "./Providers.ts"
import { publishedChanges, publishedPrice } from "./PublishedPrices.ts"
import { type Serving, servingOf } from "./Serving.ts"

/** A provider with its current serving mode. */
export interface CatalogueProvider extends ProviderInfo {
  readonly serving: Serving
}

/** An immutable catalogue. Every lookup takes constant time. */
export interface Snapshot {
  readonly all: ReadonlyArray<Model>
  /** By its id, or by another of its names. */
  readonly find: (id: string) => Model | undefined
  readonly providers: ReadonlyArray<CatalogueProvider>
  readonly provider: (id: string) => CatalogueProvider | undefined
  /**
   * Reports whether the gateway can serve the model: it is not retired, and an available provider offers it at a price. A virtual
   * model needs a servable model of its modality.
   */
  readonly isServable: (model: Model) => boolean
  /** The first callable offer, otherwise the first with a price. */
  readonly preferredOffer: (model: Model) => Offer | undefined
  /** Whether the offer's price comes from the overlay file or from a substitute, as at a custom host. */
  readonly isOverlay: (model: Model, offer: Offer) => boolean
  /** Whether the operator set the model's status. */
  readonly hasOwnStatus: (model: Model) => boolean
  /** The model's events up to the moment of the snapshot, oldest first. */
  readonly historyOf: (model: Model) => ReadonlyArray<Event>
}

export interface SnapshotOptions {
  /** Whether the sandbox simulates providers without a key. */
  readonly sandbox: boolean
  /** The IDs of the providers with a key. */
  readonly keyed: ReadonlySet<string>
  /**
   * Further hosts. A model costs there what its first priced offer costs, unless the price list knows the host's ID. A host with
   * the ID of a listed provider replaces that provider.
   */
  readonly hosts: ReadonlyArray<Host>
  readonly overlay: ReadonlyArray<OverlayPrice>
  /** The operator's changes, which take precedence over all others. */
  readonly changes: Changes
}

/** A snapshot and the time until which it is valid, in Unix milliseconds. */
export interface ValidSnapshot {
  readonly snapshot: Snapshot
  readonly until: number
}

/** The decisions that do not depend on a model. */
interface Terms {
  readonly hosts: ReadonlyArray<Host>
  readonly overlay: ReadonlyMap<string, Price>
  /** The stated costs of offers. Other offers of listed providers cost what those publish. */
  readonly costs: ReadonlyMap<string, Price>
  readonly statuses: ReadonlyMap<string, ModelStatus>
  readonly promotions: ReadonlyArray<PromotionChange>
  /** The IDs of the simulated providers. */
  readonly doubled: ReadonlySet<string>
  readonly now: number
}

/** Returns the catalogue at `now`, in Unix milliseconds. */
export const snapshotAt = (options: SnapshotOptions, now: number): ValidSnapshot => {
  const { changes, hosts, overlay } = options
  const providers = providersOf(options)
  const statuses = statusesAt(changes, now)
  const promotions = promotionsAt(changes, now)
  const doubled = new Set([...providers.values()].flatMap(({ id, serving }) => (serving === "double" ? [id] : [])))
  const stated = { overlay: pricesAt(overlay, changes, now), costs: costsAt(overlay, changes, now) }
  const terms = { hosts, ...stated, statuses, promotions, doubled, now }
  const priced = entries.map((entry) => price(entry, terms))
  const overlaid = new Set(
    priced.flatMap(({ model, offers }) =>
      offers.filter((one) => one.overlay).map((one) => pair(model.id, one.offer.provider))
    )
  )
  const all = priced.map((one) => one.model)
  const histories = new Map(entries.map((entry) => [entry.id, historyOf(entry, changes, now)]))
  return {
    snapshot: {
      ...assemble(all, providers),
      isOverlay: (model, offer) => overlaid.has(pair(model.id, offer.provider)),
      hasOwnStatus: (model) => statuses.has(model.id),
      historyOf: (model) => histories.get(model.id) ?? []
    },
    until: Math.min(changesUntil(overlay, changes, now), ...priced.map((one) => one.until))
  }
}

const listedById: ReadonlyMap<string, ListedProvider> = new Map(listedProviders.map((one) => [one.id, one]))

const providersOf = ({ hosts, keyed, sandbox }: SnapshotOptions): ReadonlyMap<string, CatalogueProvider> => {
  const found = new Map<string, CatalogueProvider>()
  for (const { id, name, trainsOnData, zeroRetention } of listedProviders) {
    const serving = servingOf({ keyed: keyed.has(id), sandbox })
    found.set(id, { id, name, trainsOnData, zeroRetention, serving })
  }
  for (const { id, name, trainsOnData, zeroRetention, keyed } of hosts) {
    found.set(id, { id, name, trainsOnData, zeroRetention, serving: servingOf({ keyed, sandbox }) })
  }
  return found
}

interface PricedOffer {
  readonly offer: Offer
  readonly overlay: boolean
  readonly until: number
}

const price = (
  entry: Entry,
  terms: Terms
): { readonly model: Model; readonly offers: ReadonlyArray<PricedOffer>; readonly until: number } => {
  const own = new Map(entry.listings.map((listing) => [listing.provider, offerOf(entry, listing, terms)]))
  const fallback = [...own.values()].find(({ offer }) => offer.price !== undefined)?.offer.price
  for (const host of terms.hosts) {
    const upstreamId = host.models.get(entry.id)
    if (upstreamId === undefined) continue
    const known = own.get(host.id)
    const { contextWindow, maxOutputTokens } = known?.offer ?? entry
    const overlaid = terms.overlay.get(pair(entry.id, host.id))
    const price = overlaid ?? known?.offer.price ?? fallback
    const cost = terms.costs.get(pair(entry.id, host.id)) ?? known?.offer.cost
    own.set(host.id, {
      offer: {
        provider: host.id,
        upstreamId,
        price,
        contextWindow,
        maxOutputTokens,
        unsupported: [],
        ...(cost === undefined ? {} : { cost })
      },
      overlay: known === undefined || known.overlay,
      until: known?.until ?? Number.POSITIVE_INFINITY
    })
  }
  const offers = [...own.values()]
  const listed = modelOf(entry, terms.statuses.get(entry.id) ?? entry.status, offers)
  const model = { ...listed, offers: listed.offers.map((offer) => atPresent(entry.id, offer, terms)) }
  return { model, offers, until: Math.min(...offers.map((one) => one.until)) }
}

/** Returns the offer with promotions applied to its price, marked if its provider is simulated. */
const atPresent = (model: string, offer: Offer, { doubled, promotions }: Terms): Offer => {
  const offered = withPromotion(model, offer, promotions)
  return doubled.has(offer.provider) ? { ...offered, simulated: true } : offered
}

const withPromotion = (model: string, offer: Offer, promotions: ReadonlyArray<PromotionChange>): Offer => {
  const { price } = offer
  const now = promotionOf(promotions, model, offer.provider)
  if (price === undefined || now === undefined) return offer
  return { ...offer, price: discounted(price, now.discountPercent), promotion: { now, listPrice: price } }
}

const takesTokens = ({ modality }: Entry): boolean =>
  modality === "text" || modality === "embedding" || modality === "rerank"

const offerOf = (entry: Entry, listing: Listing, { costs, now, overlay }: Terms): PricedOffer => {
  const overlaid = overlay.get(pair(entry.id, listing.provider))
  const list = listedById.get(listing.provider)?.pricedAs
  const published =
    list !== undefined && takesTokens(entry)
      ? publishedPrice(list, listing.upstreamId, now, entry.modality === "text")
      : undefined
  const cost = costs.get(pair(entry.id, listing.provider)) ?? published?.price
  const contextWindow =
    listing.contextWindow ?? Math.min(entry.contextWindow, published?.contextWindow ?? entry.contextWindow)
  return {
    offer: {
      provider: listing.provider,
      upstreamId: listing.upstreamId,
      price: overlaid ?? published?.price,
      ...(cost === undefined ? {} : { cost }),
      contextWindow,
      maxOutputTokens: Math.min(listing.maxOutputTokens ?? entry.maxOutputTokens, contextWindow),
      ...(listing.maxPixels === undefined ? {} : { maxPixels: listing.maxPixels }),
      unsupported: listing.unsupported ?? []
    },
    overlay: overlaid !== undefined,
    until: published?.until ?? Number.POSITIVE_INFINITY
  }
}

const historyOf = (entry: Entry, changes: Changes, now: number): ReadonlyArray<Event> => {
  const since = Date.parse(`${entry.released}T00:00:00Z`)
  const published = entry.listings.flatMap(({ provider, upstreamId }) => {
    const list = listedById.get(provider)?.pricedAs
    if (list === undefined || !takesTokens(entry)) return []
    return publishedChanges(list, upstreamId, { now, since }, entry.modality === "text").map(({ at, price }) => ({
      event: "price_changed",
      date: dayOf(at),
      provider,
      price
    }))
  })
  const later = [...published, ...eventsOf(changes, entry.id, now)]
  return [
    { event: "released", date: entry.released },
    ...later.toSorted((a, b) => (a.date < b.date ? -1 : Number(a.date > b.date)))
  ]
}

const modelOf = (entry: Entry, status: ModelStatus, offers: ReadonlyArray<PricedOffer>): Model => {
  const caching = entry.modality === "text" && offers.some(({ offer }) => cheapensCached(offer.price))
  return {
    id: entry.id,
    name: entry.name,
    vendor: entry.vendor,
    brand: entry.brand,
    description: entry.description,
    modality: entry.modality,
    status,
    created: Date.parse(`${entry.released}T00:00:00Z`) / 1_000,
    capabilities: caching ? [...entry.capabilities, "prompt_caching"] : entry.capabilities,
    contextWindow: entry.contextWindow,
    maxOutputTokens: entry.maxOutputTokens,
    tokensPerImage: entry.tokensPerImage,
    hiddenReasoning: entry.hiddenReasoning,
    video: entry.video,
    virtual: entry.virtual,
    supportedParameters: entry.supportedParameters,
    pricingNote: [entry.pricingNote, noteOf(offers.find(({ offer }) => offer.price !== undefined)?.offer.price)]
      .filter((note) => note !== "")
      .join(" "),
    offers: offers.map(({ offer }) => (caching ? withoutCaching(offer) : offer))
  }
}

const cheapensCached = (price: Price | undefined): boolean =>
  price?.unit === "token" && price.tiers[0].rates.cached < price.tiers[0].rates.input

const withoutCaching = (offer: Offer): Offer => {
  const missing: ReadonlyArray<Capability> = cheapensCached(offer.price) ? [] : ["prompt_caching"]
  return { ...offer, unsupported: [...offer.unsupported, ...missing] }
}

const noteOf = (price: Price | undefined): string => {
  if (price === undefined) return ""
  if (price.unit !== "token") return `Charged per ${price.unit}.`
  return ["Charged per token.", tierNote(price), price.perRequest > 0n ? "Every request also has a fixed price." : ""]
    .filter((note) => note !== "")
    .join(" ")
}

const tierNote = ({ tiers }: TokenPrice): string =>
  tiers
    .slice(1)
    .map(
      ({ abovePromptTokens }) =>
        `A prompt of more than ${abovePromptTokens.toLocaleString("en-US")} tokens puts the whole request at a higher rate.`
    )
    .join(" ")

const assemble = (
  all: ReadonlyArray<Model>,
  providers: ReadonlyMap<string, CatalogueProvider>
): Omit<Snapshot, "isOverlay" | "hasOwnStatus" | "historyOf"> => {
  const byId = new Map(all.map((model) => [model.id, model]))
  const alias = aliasesOf(all)
  const callable = (offer: Offer) =>
    offer.price !== undefined && (providers.get(offer.provider)?.serving ?? "none") !== "none"
  const offered = all.filter((model) => model.status !== "retired")
  const servable = new Set(offered.filter((model) => model.offers.some(callable)).map((model) => model.id))
  // A virtual model is servable as soon as one model of its modality is.
  const modalities = new Set(offered.filter((model) => servable.has(model.id)).map((model) => model.modality))
  for (const model of offered) if (model.virtual && modalities.has(model.modality)) servable.add(model.id)
  return {
    all,
    find: (id) => byId.get(id) ?? alias(id),
    providers: [...providers.values()],
    provider: (id) => providers.get(id),
    isServable: (model) => servable.has(model.id),
    preferredOffer: (model) => model.offers.find(callable) ?? model.offers.find((offer) => offer.price !== undefined)
  }
}
