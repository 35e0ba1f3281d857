import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import type { Host } from "../platform/config/ProvidersFile.ts"
import { StartError } from "../platform/config/Variables.ts"
import type { ChangesSource } from "./CatalogueFile.ts"
import { type Changes, noChanges } from "./Changes.ts"
import { modelIds } from "./models.ts"
import { bundledOverlay, type OverlayPrice } from "./Overlay.ts"
import { listedProviders } from "./Providers.ts"
import { type Snapshot, snapshotAt } from "./Snapshot.ts"

export interface CatalogueOptions {
  /** Whether the sandbox simulates providers without a key. */
  readonly sandbox: boolean
  /** The IDs of the providers with a key. */
  readonly keyed: ReadonlySet<string>
  /** Further OpenAI-compatible hosts from `ProvidersFile`. */
  readonly hosts: ReadonlyArray<Host>
  /** Replaces the overlay file that comes with the service. */
  readonly overlay?: ReadonlyArray<OverlayPrice>
  /** The operator's changes. The catalogue reads them again when they change. */
  readonly changes?: ChangesSource
}

/** How soon an edit of the operator's file takes effect. Each check costs one system call. */
const RELOAD_INTERVAL = Duration.seconds(5)

/**
 * The models that the gateway can serve, with their providers and prices. The members of `Snapshot` describe this moment. Code that
 * needs several consistent lookups takes `current()` and queries that. Published prices change on known dates and at known hours,
 * and the catalogue changes with them; so do the operator's promotions.
 */
export class Catalogue extends Context.Service<
  Catalogue,
  Snapshot & {
    readonly current: () => Snapshot
  }
>()("tollgate/catalogue/Catalogue") {
  /**
   * Fails when the overlay names an unlisted model or provider, or names an offer twice, and when the operator's changes are
   * unreadable.
   */
  static readonly layerFrom = (options: CatalogueOptions) =>
    Layer.effect(
      Catalogue,
      Effect.gen(function* () {
        const clock = yield* Clock.Clock
        const overlay = yield* checkOverlay(options.overlay ?? (yield* readOverlay))
        const source = options.changes
        // The version is read before the contents, so that a write between the two is noticed next time.
        const version = source === undefined ? "" : yield* source.version
        let changes = source === undefined ? noChanges : yield* source.load
        const build = () => snapshotAt({ ...options, overlay, changes }, clock.currentTimeMillisUnsafe())
        let dated = build()
        const replace = (read: Changes) => {
          changes = read
          dated = build()
        }
        if (source !== undefined) yield* Effect.forkScoped(follow(source, version, replace))
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
          isOverlay: (model, offer) => current().isOverlay(model, offer),
          hasOwnStatus: (model) => current().hasOwnStatus(model),
          historyOf: (model) => current().historyOf(model)
        })
      })
    )
}

/**
 * Follows the changes after `version`, forever. It logs an unreadable file and keeps the current changes, because a mistake by the
 * operator must neither stop the service nor end a promotion.
 */
const follow = (source: ChangesSource, version: string, replace: (changes: Changes) => void) => {
  let seen = version
  const look = Effect.gen(function* () {
    const found = yield* source.version
    if (found === seen) return
    seen = found
    replace(yield* source.load)
    yield* Effect.logInfo("read the changed CATALOGUE_FILE")
  })
  return look.pipe(
    // Caught inside the loop, because one bad file must not end the reading.
    Effect.catchCause((cause) =>
      Effect.logWarning("the gateway cannot read the changed CATALOGUE_FILE and keeps the current catalogue", cause)
    ),
    Effect.repeat(Schedule.spaced(RELOAD_INTERVAL))
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
