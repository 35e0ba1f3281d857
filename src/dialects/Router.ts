/** Decodes a request's options for `svc/auto`, in our own format or in OpenRouter's. */
import { Result, Schema } from "effect"
import { RouterOptions } from "../../schemas/Routing.ts"
import type { Failure } from "../domain/Failure.ts"
import { AUTO_MODEL, type AutoOptions, defaultAutoOptions } from "../domain/Auto.ts"
import { AUTO_ROUTER } from "./chat/Foreign.ts"
import { decoder, objectOf, within } from "./Decode.ts"

type Body = Readonly<Record<string, unknown>>

const { allowed_models, cost_tier, excluded_models, pin_model } = RouterOptions.fields

const decodeStrict = decoder(RouterOptions, { strict: true, whole: "" })

/** OpenRouter's plugin has additional fields, and its nulls count as absent. */
const PluginAlias = Schema.Struct({
  enabled: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  allowed_models: Schema.optionalKey(Schema.NullOr(allowed_models.schema)),
  excluded_models: Schema.optionalKey(Schema.NullOr(excluded_models.schema)),
  cost_tier: Schema.optionalKey(Schema.NullOr(cost_tier.schema)),
  pin_model: Schema.optionalKey(Schema.NullOr(pin_model.schema))
})

const decodeAlias = decoder(PluginAlias, { strict: false, whole: "" })

const optionsOf = (wire: typeof PluginAlias.Type): AutoOptions => ({
  allowedModels: wire.allowed_models ?? undefined,
  excludedModels: wire.excluded_models ?? [],
  costTier: wire.cost_tier ?? undefined,
  pinModel: wire.pin_model ?? false
})

const pluginOf = (body: Body): { readonly at: string; readonly value: unknown } | undefined => {
  const plugins = body["plugins"]
  if (!Array.isArray(plugins)) return undefined
  const index = plugins.findIndex((plugin) => objectOf(plugin)?.["id"] === AUTO_ROUTER)
  return index === -1 ? undefined : { at: `plugins[${index}]`, value: plugins[index] }
}

/** Whether a request itself sets options for `svc/auto`, even empty ones. */
export const saysAuto = (body: Body): boolean => body["router"] != null || pluginOf(body) !== undefined

/** The options of a request. `router` overrides the plugin; without either, the default applies. */
export const decodeAuto = (body: Body): Result.Result<AutoOptions, Failure> => {
  if (body["router"] != null) return within("router", Result.map(decodeStrict(body["router"]), optionsOf))
  const plugin = pluginOf(body)
  if (plugin === undefined) return Result.succeed(defaultAutoOptions)
  return within(
    plugin.at,
    Result.map(decodeAlias(plugin.value), (wire) => (wire.enabled === false ? defaultAutoOptions : optionsOf(wire)))
  )
}

/** Whether a request may go to `svc/auto`. A preset's fields have already been applied. */
const mayBeAuto = ({ model, models }: Body): boolean => model === AUTO_MODEL || (model == null && isAutoAlone(models))

const isAutoAlone = (models: unknown): boolean => models == null || (Array.isArray(models) && models[0] === AUTO_MODEL)

const member = (value: unknown, name: string): unknown => objectOf(value)?.[name]

/** Fields that only requests to `svc/auto` use, for other requests. */
export const ignoredAuto = (body: Body): ReadonlyArray<string> => {
  const auto = mayBeAuto(body)
  const pins = member(body["router"] ?? pluginOf(body)?.value, "pin_model") === true
  const ignored: Array<string> = []
  if (body["router"] != null && !auto) ignored.push("router")
  if (pluginOf(body) !== undefined && (!auto || body["router"] != null)) ignored.push("plugins")
  if (pins && auto && body["session_id"] == null) {
    ignored.push(body["router"] == null ? "plugins.pin_model" : "router.pin_model")
  }
  if (body["session_id"] != null && !(auto && pins)) ignored.push("session_id")
  return ignored
}
