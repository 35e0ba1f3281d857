import { Schema, Struct } from "effect"
import { integer, textOf } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"
import { ChatCompletionRequest } from "../inference/ChatCompletions.ts"
import { Limit } from "../Page.ts"

/** The name of a preset in paths and, after an `@`, in `model`: 1 to 63 lowercase letters, digits and dashes. */
export const PresetSlug = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9-]{0,62}$/, {
    message: "must be 1 to 63 lowercase letters, digits and dashes, not starting with a dash"
  })
).annotate({ identifier: "PresetSlug" })

/** The maximum output tokens of a request with a preset, and of a preset. */
const PRESET_MAX_TOKENS = 131_072

const maxTokens = Schema.optionalKey(Schema.NullOr(integer(1, PRESET_MAX_TOKENS)))

/** The limit on output tokens under both of its names. */
export const presetMaxTokens = {
  /** The maximum number of output tokens, at most 131,072. */
  max_tokens: maxTokens,
  /** OpenAI's newer name of `max_tokens`, which it overrides. At most 131,072. */
  max_completion_tokens: maxTokens
}

const MAX_CHAIN = 15

/** It chooses among all models, so no model can come before or after it. */
const AUTO = "svc/auto"

const chainProblem = ({ model, models }: { readonly model?: unknown; readonly models?: unknown }) => {
  if (model == null && models == null)
    return { path: ["model"], issue: "is required, unless the configuration has `models`" }
  const named = typeof model === "string" ? model.split(",").map((id) => id.trim()) : []
  const listed = Array.isArray(models) ? models.map(String) : []
  const chain = [...named, ...new Set(listed.filter((id) => !named.includes(id)))]
  const proper = chain.every((id) => id !== "" && !id.startsWith("@")) && new Set(named).size === named.length
  if (proper && chain.length <= (chain.includes(AUTO) ? 1 : MAX_CHAIN)) return undefined
  const issue = `must contain 1 to ${MAX_CHAIN} different models, or ${AUTO} alone, and no preset`
  return { path: [named.length > 0 ? "model" : "models"], issue }
}

/**
 * The part of a chat request that a preset supplies: its models, parameters, routing, and instructions before the caller's messages.
 * The messages, the end user and the format of the stream belong to the request. Unknown fields are rejected.
 */
export const PresetConfig = Schema.Struct({
  ...Struct.omit(ChatCompletionRequest.fields, [
    "messages",
    "stream",
    "stream_options",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "metadata",
    "session_id"
  ]),
  ...presetMaxTokens,
  /** A system message before all others, 1 to 32,768 characters. */
  instructions: Schema.optionalKey(Schema.NullOr(textOf(1, 32_768)))
})
  .check(Schema.makeFilter(chainProblem))
  .annotate({ identifier: "PresetConfig" })
export type PresetConfig = typeof PresetConfig.Type

/** A name of 1 to 128 characters. */
const name = textOf(1, 128)
/** A text of 1 to 1,024 characters for people. */
const description = Schema.NullOr(textOf(1, 1_024))

/** A preset to create. */
export const NewPreset = Schema.Struct({
  slug: PresetSlug,
  name,
  description: Schema.optionalKey(description),
  config: PresetConfig
}).annotate({ identifier: "NewPreset" })
export type NewPreset = typeof NewPreset.Type

/** The changes to a preset, at least one. A new `config` becomes the next version, which is then active. */
export const PresetChange = Schema.Struct({
  name: Schema.optionalKey(name),
  description: Schema.optionalKey(description),
  config: Schema.optionalKey(PresetConfig)
})
  .check(Schema.isMinProperties(1, { message: "must contain at least one field" }))
  .annotate({ identifier: "PresetChange" })
export type PresetChange = typeof PresetChange.Type

const preset = {
  id: ResourceId,
  object: Schema.Literal("preset"),
  slug: PresetSlug,
  /** The name for people. */
  name: Schema.String,
  /** A text for people; null without one. */
  description: Schema.NullOr(Schema.String),
  /** The version that requests use. */
  active_version: Schema.Int,
  /** Unix seconds. */
  created_at: Schema.Int,
  /** When the preset last changed, in Unix seconds. */
  updated_at: Schema.Int
}

/** A preset, without the configuration of its active version. */
export const PresetSummary = Schema.Struct(preset).annotate({ identifier: "PresetSummary" })
export type PresetSummary = typeof PresetSummary.Type

/** A preset with the configuration of its active version. */
export const Preset = Schema.Struct({ ...preset, config: PresetConfig }).annotate({ identifier: "Preset" })
export type Preset = typeof Preset.Type

/** One preset. */
export const PresetResult = Schema.Struct({ data: Preset }).annotate({ identifier: "PresetResult" })

/** One page of presets, newest first. `next_cursor` is null on the last page. */
export const PresetList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(PresetSummary),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "PresetList" })

/** One version of a preset, which never changes. */
export const PresetVersion = Schema.Struct({
  object: Schema.Literal("preset.version"),
  /** The number of the version, from 1. */
  version: Schema.Int,
  config: PresetConfig,
  /** Unix seconds. */
  created_at: Schema.Int
}).annotate({ identifier: "PresetVersion" })
export type PresetVersion = typeof PresetVersion.Type

/** One page of versions, newest first. `next_cursor` is null on the last page. */
export const PresetVersionList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(PresetVersion),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "PresetVersionList" })

/** The number of a version. A preset can have at most 1,000. */
export const PresetVersionNumber = integer(1, 1_000)

/** The page of a list of versions. */
export const PresetVersionPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(PresetVersionNumber)
}

/** The confirmation that a preset was deleted. */
export const PresetDeleted = Schema.Struct({
  data: Schema.Struct({ slug: PresetSlug, object: Schema.Literal("preset"), deleted: Schema.Literal(true) })
}).annotate({ identifier: "PresetDeleted" })
