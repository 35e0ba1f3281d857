import { Effect, Result } from "effect"
import { Caller } from "../../../../schemas/Access.ts"
import type {
  Preset,
  PresetConfig,
  PresetResult,
  PresetSummary,
  PresetVersion
} from "../../../../schemas/management/Presets.ts"
import { DEFAULT_LIMIT } from "../../../../schemas/Page.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { Catalogue } from "../../../catalogue/Catalogue.ts"
import type { Snapshot } from "../../../catalogue/Snapshot.ts"
import { conflict, type Failure, failure, type Reason } from "../../../domain/Failure.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { decodeChange, decodeNew } from "../../../presets/PresetInput.ts"
import type { Unavailable } from "../../../platform/database/Sql.ts"
import { type PresetLimitReached, Presets, type SlugTaken } from "../../../presets/Presets.ts"
import type { ActivePresetRow, PresetRow, VersionRow } from "../../../presets/PresetsSql.ts"
import { parseChain } from "../../../domain/Chain.ts"
import { modelsOf } from "../../../router/Router.ts"
import { readJson } from "../../edge/Body.ts"
import { answer, type WriteCaller, asCaller, makeMutate, pageOf, withoutBody } from "./Answers.ts"
import { operations } from "../../edge/Operations.ts"

const summaryOf = (row: PresetRow): PresetSummary => ({
  id: row.id,
  object: "preset",
  slug: row.slug,
  name: row.name,
  description: row.description,
  active_version: row.active_version,
  created_at: secondsOf(row.created_at),
  updated_at: secondsOf(row.updated_at)
})

/** A preset as the API shows it. */
export const presetOf = (row: ActivePresetRow): Preset => ({ ...summaryOf(row), config: row.config })

const resultOf = (row: ActivePresetRow): typeof PresetResult.Type => ({ data: presetOf(row) })

/** A version as the API shows it. */
export const versionOf = (row: VersionRow): PresetVersion => ({
  object: "preset.version",
  version: row.version,
  config: row.config,
  created_at: secondsOf(row.created_at)
})

/** The errors for another preset or version. */
const inTheWay = {
  SlugTaken: ({ slug }: SlugTaken) => Effect.fail(conflict(`The account already has a preset with the slug ${slug}`)),
  PresetLimitReached: ({ limit, of }: PresetLimitReached) =>
    Effect.fail(
      conflict(
        of === "presets"
          ? `An account may have at most ${limit} presets`
          : `A preset may have at most ${limit} versions`
      )
    )
}

/** Rejects models for which requests to the preset would be rejected. */
const checkModels = (catalogue: Snapshot, config: PresetConfig | undefined): Result.Result<unknown, Failure> => {
  const [model, models] = [config?.model ?? undefined, config?.models ?? undefined]
  if (model === undefined && models === undefined) return Result.void
  const named = Result.flatMap(parseChain(model, models), (ids) => modelsOf(catalogue, ids))
  return Result.mapError(named, ({ reason }) =>
    "param" in reason || reason._tag === "UnknownModel" || reason._tag === "InvalidFallbackChain"
      ? failure({ ...reason, param: model === undefined ? "config.models" : "config.model" } as Reason)
      : failure(reason)
  )
}

/** Writes a configuration after checking that its models exist. A replay under an idempotency key comes before the check. */
const checked = (
  catalogue: Catalogue["Service"],
  config: PresetConfig | undefined,
  write: Effect.Effect<ActivePresetRow, Failure | SlugTaken | PresetLimitReached | Unavailable>
) =>
  Effect.suspend(() => Effect.fromResult(checkModels(catalogue.current(), config))).pipe(
    Effect.andThen(write),
    Effect.catchTags(inTheWay),
    Effect.map(resultOf)
  )

const notFound = (slug: string): Failure => failure({ _tag: "NotFound", what: "preset", id: slug })

/** `/management/presets` and everything under it. The audit log identifies a preset by its slug. */
export const managementPresetsHandlers = Effect.gen(function* () {
  const [catalogue, presets] = [yield* Catalogue, yield* Presets]
  const mutate = makeMutate(yield* Mutations)
  const find = (slug: string) =>
    Effect.gen(function* () {
      const row = yield* presets.get((yield* Caller).accountId, slug)
      return row ?? (yield* Effect.fail(notFound(slug)))
    })
  /** A change of this preset. Caches drop the preset when the change is committed. */
  const change = <A extends object>(
    write: Omit<Parameters<typeof mutate>[1], "resource" | "afterwards">,
    slug: string,
    work: Parameters<typeof mutate<A, Caller>>[2]
  ) =>
    Effect.flatMap(Caller, ({ accountId }) =>
      mutate(
        asCaller,
        { ...write, resource: { type: "preset", id: slug }, afterwards: presets.forget(accountId, slug) },
        work
      )
    )
  const actionOf = ({ accountId, actor }: WriteCaller, slug: string) => ({ accountId, actor, slug })
  return operations("managementPresets", {
    createPreset: ({ request }) =>
      Effect.gen(function* () {
        const body = yield* readJson(request)
        const { config, slug } = yield* Effect.fromResult(decodeNew(body))
        return yield* change({ request, body, type: "preset.created" }, slug, (caller) =>
          checked(catalogue, config, presets.create({ ...caller, preset: body }))
        )
      }),
    updatePreset: ({ params: { slug }, request }) =>
      Effect.gen(function* () {
        const body = yield* readJson(request)
        const { config } = yield* Effect.fromResult(decodeChange(body))
        return yield* change({ request, body, type: "preset.updated" }, slug, (caller) =>
          checked(catalogue, config, presets.update({ ...actionOf(caller, slug), change: body }))
        )
      }),
    listPresets: ({ query }) =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) => presets.list(accountId, pageOf(query))),
        ({ next, rows }) => ({ object: "list", data: rows.map(summaryOf), next_cursor: next })
      ),
    getPreset: ({ params: { slug } }) => answer(find(slug), resultOf),
    deletePreset: ({ params: { slug }, request }) =>
      withoutBody(
        request,
        change({ request, type: "preset.removed" }, slug, (caller) =>
          Effect.flatMap(presets.remove(actionOf(caller, slug)), (removed) =>
            removed ? Effect.succeed({ data: { slug, object: "preset", deleted: true } }) : Effect.fail(notFound(slug))
          )
        )
      ),
    listPresetVersions: ({ params: { slug }, query: { cursor, limit = DEFAULT_LIMIT } }) =>
      answer(
        Effect.andThen(
          find(slug),
          Effect.flatMap(Caller, ({ accountId }) => presets.versions(accountId, slug, { limit, before: cursor }))
        ),
        ({ next, rows }) => ({ object: "list", data: rows.map(versionOf), next_cursor: next })
      ),
    activatePresetVersion: ({ params: { slug, version }, request }) =>
      withoutBody(
        request,
        change({ request, type: "preset.activated" }, slug, (caller) =>
          Effect.map(presets.activate({ ...actionOf(caller, slug), version }), resultOf)
        )
      )
  })
})
