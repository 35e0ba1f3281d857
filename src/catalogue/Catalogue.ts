import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import type { Host } from "../platform/ProvidersFile.ts"
import { StartError } from "../platform/Variables.ts"
import type { ChangesSource } from "./CatalogueFile.ts"
import { type Changes, noChanges } from "./Changes.ts"
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
  /** The operator's changes, which are read again whenever they are others. */
  readonly changes?: ChangesSource
}

/** How soon an edit of the operator's file is seen; looking costs one system call. */
const RELOAD_INTERVAL = Duration.seconds(5)

/**
 * What can be served, by whom, for how much. The members of `Snapshot` answer for this moment; code that looks more than once
 * and needs its answers to agree takes `current()` and asks that. Published prices change on dates and at hours that are
 * known beforehand, and the catalogue with them; so do the operator's promotions.
 */
export class Catalogue extends Context.Service<
  Catalogue,
  Snapshot & {
    readonly current: () => Snapshot
  }
>()("tollgate/catalogue/Catalogue") {
  /** Fails when the overlay names what is not listed, or names it twice, and when the operator's changes cannot be read. */
  static readonly layerFrom = (options: CatalogueOptions) =>
    Layer.effect(
      Catalogue,
      Effect.gen(function* () {
        const clock = yield* Clock.Clock
        const overlay = yield* checkOverlay(options.overlay ?? (yield* readOverlay))
        const source = options.changes
        // The version before what it is of, so that a write between the two is seen the next time.
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
 * Reads the changes that come after `version`, for ever. What cannot be read is told in the log, and changes nothing: a slip
 * of the operator's must neither stop the service nor end a promotion.
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
    // Inside the repeat: one bad file must not be the last one read.
    Effect.catchCause((cause) => Effect.logWarning("the catalogue stays as it was", cause)),
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
