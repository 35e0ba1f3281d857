import { Clock, Context, Effect, Layer } from "effect"
import { StartError } from "../platform/Config.ts"
import type { Host } from "../platform/ProvidersFile.ts"
import { modelIds } from "./models.ts"
import { bundledOverlay, type OverlayPrice } from "./Overlay.ts"
import { listedProviders } from "./Providers.ts"
import { type Snapshot, snapshotAt } from "./Snapshot.ts"

export interface CatalogueOptions {
  /** Whether providers without a key are doubled. */
  readonly sandbox: boolean
  /** Ids of the providers whose key is set. */
  readonly keyed: ReadonlySet<string>
  /** Further OpenAI-compatible hosts, as `ProvidersFile` read them. */
  readonly hosts: ReadonlyArray<Host>
  /** In place of the overlay file that comes with the service. */
  readonly overlay?: ReadonlyArray<OverlayPrice>
}

/**
 * What can be served, by whom, for how much. The members of `Snapshot` answer for this moment; code that looks more than once
 * and needs its answers to agree takes `current()` and asks that. Published prices change on dates and at hours that are
 * known beforehand, and the catalogue with them.
 */
export class Catalogue extends Context.Service<
  Catalogue,
  Snapshot & {
    readonly current: () => Snapshot
  }
>()("tollgate/catalogue/Catalogue") {
  /** Fails when the overlay names what is not listed, or names it twice. */
  static readonly layerFrom = (options: CatalogueOptions) =>
    Layer.effect(
      Catalogue,
      Effect.gen(function* () {
        const clock = yield* Clock.Clock
        const overlay = yield* checkOverlay(options.overlay ?? (yield* readOverlay))
        const build = () => snapshotAt({ ...options, overlay }, clock.currentTimeMillisUnsafe())
        let dated = build()
        const current = () => {
          if (clock.currentTimeMillisUnsafe() >= dated.until) dated = build()
          return dated.snapshot
        }
        return Catalogue.of({
          current,
          get all() {
            return current().all
          },
          get providers() {
            return current().providers
          },
          find: (id) => current().find(id),
          provider: (id) => current().provider(id),
          isServable: (model) => current().isServable(model),
          preferredOffer: (model) => current().preferredOffer(model),
          isOverlay: (model, offer) => current().isOverlay(model, offer)
        })
      })
    )
}

const readOverlay = Effect.mapError(
  bundledOverlay,
  (error) => new StartError({ message: `overlay.json of the catalogue: ${error.message}` })
)

const checkOverlay = (overlay: ReadonlyArray<OverlayPrice>): Effect.Effect<ReadonlyArray<OverlayPrice>, StartError> => {
  const providers = new Set(listedProviders.map((provider) => provider.id))
  const seen = new Set<string>()
  for (const { model, provider } of overlay) {
    const entry = `${model} at ${provider}`
    const wrong = !modelIds.has(model)
      ? "no such model"
      : !providers.has(provider)
        ? "no such provider"
        : seen.has(entry)
          ? "listed twice"
          : undefined
    if (wrong !== undefined) return new StartError({ message: `catalogue overlay, ${entry}: ${wrong}` })
    seen.add(entry)
  }
  return Effect.succeed(overlay)
}
