import { Clock, Context, Data, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type PresetConfig, PresetSlug } from "../../schemas/management/Presets.ts"
import { type Actor, Audit } from "../account/Audit.ts"
import { lockAccount } from "../account/KeysSql.ts"
import { type Failure, failure, storeFailure } from "../domain/Failure.ts"
import { newResourceId } from "../platform/Ids.ts"
import { type Page, pageBy, readPage } from "../platform/database/Page.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { configJson, decodeChange, decodeNew } from "./PresetInput.ts"
import {
  type ActivePresetRow,
  countPresets,
  deletePreset,
  hasVersion,
  insertPreset,
  insertVersion,
  lockPreset,
  newestVersion,
  presetBySlug,
  type PresetRow,
  presetsOf,
  updatePreset,
  type VersionRow,
  versionsOf
} from "./PresetsSql.ts"
import { PresetCache } from "./PresetCache.ts"

/** The maximum number of presets of an account. */
export const MAX_PRESETS_PER_ACCOUNT = 100
/** The maximum number of versions of a preset. */
export const MAX_VERSIONS_PER_PRESET = 1_000

/** The account already has a preset with this slug. */
export class SlugTaken extends Data.TaggedError("SlugTaken")<{ readonly slug: string }> {}

/** The maximum number of presets in the account, or of versions in the preset, is reached. */
export class PresetLimitReached extends Data.TaggedError("PresetLimitReached")<{
  readonly of: "presets" | "versions"
  readonly limit: number
}> {}

/** A preset as a request uses it. The request keeps this version, even if the preset changes. */
export interface ResolvedPreset {
  readonly slug: string
  readonly version: number
  readonly config: PresetConfig
}

/** A preset, its account, and the actor that changes it. */
interface PresetAction {
  readonly accountId: string
  readonly slug: string
  readonly actor: Actor
}

/**
 * Named configurations for chat requests. A preset has versions, which never change, and one active version. An account has at most
 * 100 presets, a preset at most 1,000 versions, and a configuration at most 65,536 bytes of JSON.
 */
export class Presets extends Context.Service<
  Presets,
  {
    /** Creates a preset with its first version. Fails with `ValidationError`, which names the invalid fields of `preset`. */
    readonly create: (input: {
      readonly accountId: string
      readonly preset: unknown
      readonly actor: Actor
    }) => Effect.Effect<ActivePresetRow, Failure | SlugTaken | PresetLimitReached | Unavailable>
    /**
     * Changes the fields in `change`. A configuration that differs from the active one becomes the next version and the active one.
     * Fails with `ValidationError` or `NotFound`.
     */
    readonly update: (
      input: PresetAction & { readonly change: unknown }
    ) => Effect.Effect<ActivePresetRow, Failure | PresetLimitReached | Unavailable>
    /** Makes an existing version the active one. Fails with `NotFound`. */
    readonly activate: (
      input: PresetAction & { readonly version: number }
    ) => Effect.Effect<ActivePresetRow, Failure | Unavailable>
    /** Removes a preset with all its versions and frees its slug. Returns false when there is none. */
    readonly remove: (input: PresetAction) => Effect.Effect<boolean, Unavailable>
    /** Returns undefined when there is no such preset or it belongs to another account. */
    readonly get: (accountId: string, slug: string) => Effect.Effect<ActivePresetRow | undefined, Unavailable>
    /** Returns presets, newest first, that come after the cursor, and the cursor of the next page. */
    readonly list: (
      accountId: string,
      page: { readonly limit: number; readonly cursor: string | undefined }
    ) => Effect.Effect<Page<PresetRow>, Unavailable>
    /** Returns versions, newest first, below `before`, and the `before` of the next page. An unknown preset has none. */
    readonly versions: (
      accountId: string,
      slug: string,
      page: { readonly limit: number; readonly before: number | undefined }
    ) => Effect.Effect<{ readonly rows: ReadonlyArray<VersionRow>; readonly next: number | null }, Unavailable>
    /**
     * Returns the active version for a request. A change made on another node may take five seconds to appear; a change made here
     * appears at once. Fails with `NotFound`, and with `StoreUnavailable` when the preset is neither readable nor cached.
     */
    readonly resolve: (accountId: string, slug: string) => Effect.Effect<ResolvedPreset, Failure>
    /** Clears a cached preset. Code that changes a preset within its own transaction calls this after the commit. */
    readonly forget: (accountId: string, slug: string) => Effect.Effect<void>
  }
>()("tollgate/presets/Presets") {
  static readonly layer = Layer.effect(
    Presets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const remembered = new PresetCache<ResolvedPreset>()
      const deps: Deps = { sql, audit: yield* Audit, remembered }

      return Presets.of({
        create: (input) => storeErrors(create(deps, input)),
        update: (input) => storeErrors(update(deps, input)),
        activate: (input) => storeErrors(activate(deps, input)),
        remove: (input) => storeErrors(remove(deps, input)),
        get: (accountId, slug) => storeErrors(presetBySlug(sql, accountId, slug)),
        list: (accountId, { cursor, limit }) =>
          storeErrors(readPage({ limit, cursor: cursor ?? null }, (page) => presetsOf(sql, accountId, page))),
        versions: (accountId, slug, { before, limit }) =>
          storeErrors(
            Effect.map(versionsOf(sql, accountId, slug, { limit: limit + 1, before: before ?? null }), (found) =>
              pageBy(found, limit, ({ version }) => version)
            )
          ),
        resolve: (accountId, slug) => resolvePreset(sql, remembered, accountId, slug),
        forget: (accountId, slug) => Effect.sync(() => remembered.forget(keyOf(accountId, slug)))
      })
    })
  )
}

const keyOf = (accountId: string, slug: string): string => `${accountId} ${slug}`

const notFound = (slug: string): Failure => failure({ _tag: "NotFound", what: "preset", id: slug })

const isSlug = Schema.is(PresetSlug)

const resolvePreset = (
  sql: SqlClient.SqlClient,
  remembered: PresetCache<ResolvedPreset>,
  accountId: string,
  slug: string
): Effect.Effect<ResolvedPreset, Failure> =>
  Effect.suspend(() => {
    // A name without the form of a slug cannot exist, and PostgreSQL might not accept it as text.
    if (!isSlug(slug)) return Effect.fail(notFound(slug))
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const key = keyOf(accountId, slug)
      const known = remembered.get(key, now)
      if (known !== undefined) return Effect.succeed(known)
      const changes = remembered.changes
      return presetBySlug(sql, accountId, slug).pipe(
        storeErrors,
        Effect.mapError(storeFailure),
        Effect.flatMap((row) => {
          if (row === undefined) return Effect.fail(notFound(slug))
          const resolved = { slug, version: row.active_version, config: row.config }
          remembered.keep(key, resolved, Buffer.byteLength(JSON.stringify(row.config), "utf8"), changes, now)
          return Effect.succeed(resolved)
        })
      )
    })
  })

/** The dependencies of a change. */
interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly remembered: PresetCache<ResolvedPreset>
}

type Input<Change extends "create" | "update" | "activate" | "remove"> = Parameters<Presets["Service"][Change]>[0]

const append = ({ audit }: Deps, { accountId, actor, slug }: PresetAction, type: string, changes: object) =>
  audit.append({ accountId, type: `preset.${type}`, actor, resource: { type: "preset", id: slug }, changes })

/** Runs a change and its audit entry in one transaction, and clears the cached preset afterwards. */
const transaction =
  ({ remembered, sql }: Deps, { accountId, slug }: PresetAction) =>
  <A, E>(work: Effect.Effect<A, E>) =>
    // It also clears the cache when the response to a commit was lost.
    Effect.ensuring(
      sql.withTransaction(work),
      Effect.sync(() => remembered.forget(keyOf(accountId, slug)))
    )

const read = ({ sql }: Deps, { accountId, slug }: PresetAction) =>
  Effect.flatMap(presetBySlug(sql, accountId, slug), (row): Effect.Effect<ActivePresetRow, Failure> =>
    row === undefined ? Effect.fail(notFound(slug)) : Effect.succeed(row)
  )

const lockAndRead = (deps: Deps, action: PresetAction) =>
  Effect.andThen(lockPreset(deps.sql, action.accountId, action.slug), read(deps, action))

const create = (deps: Deps, { accountId, actor, preset }: Input<"create">) =>
  Effect.gen(function* () {
    const { sql } = deps
    const { config, description = null, name, slug } = yield* Effect.fromResult(decodeNew(preset))
    const action = { accountId, slug, actor }
    return yield* Effect.gen(function* () {
      yield* lockAccount(sql, accountId)
      if ((yield* countPresets(sql, accountId)) >= MAX_PRESETS_PER_ACCOUNT) {
        return yield* new PresetLimitReached({ of: "presets", limit: MAX_PRESETS_PER_ACCOUNT })
      }
      const id = newResourceId()
      yield* insertPreset(sql, { id, accountId, slug, name, description })
      yield* insertVersion(sql, id, 1, configJson(config))
      yield* append(deps, action, "created", { slug, name, version: 1 })
      return yield* read(deps, action)
    }).pipe(
      transaction(deps, action),
      Effect.catchIf(
        (error) => error._tag === "SqlError" && error.reason._tag === "UniqueViolation",
        () => Effect.fail(new SlugTaken({ slug }))
      )
    )
  })

const addVersion = ({ sql }: Deps, presetId: string, config: string) =>
  Effect.gen(function* () {
    const version = (yield* newestVersion(sql, presetId)) + 1
    if (version > MAX_VERSIONS_PER_PRESET) {
      return yield* new PresetLimitReached({ of: "versions", limit: MAX_VERSIONS_PER_PRESET })
    }
    yield* insertVersion(sql, presetId, version, config)
    return version
  })

const update = (deps: Deps, input: Input<"update">) =>
  Effect.gen(function* () {
    const change = yield* Effect.fromResult(decodeChange(input.change))
    return yield* Effect.gen(function* () {
      const row = yield* lockAndRead(deps, input)
      const { description = row.description, name = row.name } = change
      const config = change.config === undefined ? undefined : configJson(change.config)
      const same = config === undefined || config === JSON.stringify(row.config)
      const version = same ? row.active_version : yield* addVersion(deps, row.id, config)
      const changes = {
        ...(name === row.name ? {} : { name: { from: row.name, to: name } }),
        ...(description === row.description ? {} : { description: { from: row.description, to: description } }),
        ...(same ? {} : { version: { from: row.active_version, to: version } })
      }
      if (Object.keys(changes).length === 0) return row
      yield* updatePreset(deps.sql, { id: row.id, name, description, active_version: version })
      yield* append(deps, input, "updated", changes)
      return yield* read(deps, input)
    }).pipe(transaction(deps, input))
  })

const activate = (deps: Deps, input: Input<"activate">) =>
  Effect.gen(function* () {
    const row = yield* lockAndRead(deps, input)
    const { version } = input
    if (version === row.active_version) return row
    const there = Number.isInteger(version) && version <= MAX_VERSIONS_PER_PRESET
    if (!there || !(yield* hasVersion(deps.sql, row.id, version))) {
      return yield* failure({ _tag: "NotFound", what: "version of the preset", id: String(version) })
    }
    yield* updatePreset(deps.sql, { ...row, active_version: version })
    yield* append(deps, input, "activated", { version: { from: row.active_version, to: version } })
    return yield* read(deps, input)
  }).pipe(transaction(deps, input))

const remove = (deps: Deps, input: Input<"remove">) =>
  Effect.gen(function* () {
    const id = yield* deletePreset(deps.sql, input.accountId, input.slug)
    if (id === undefined) return false
    yield* append(deps, input, "removed", { id })
    return true
  }).pipe(transaction(deps, input))
