/** Decodes the routing options of a request, in our own format or in OpenRouter's, into one policy. */
import { Result, Schema } from "effect"
import type { Principal } from "../../schemas/Access.ts"
import { PriceLimit, ProviderNames, RoutingPolicy as WirePolicy } from "../../schemas/Routing.ts"
import { type Failure } from "../domain/Failure.ts"
import { type DataPolicy, defaultPolicy, type RoutingPolicy, stricter } from "../domain/Plan.ts"
import { decoder, objectOf, within } from "./Decode.ts"

/** The members of a type without undefined. */
type WithoutUndefined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> }

const defined = <T extends object>(value: T): WithoutUndefined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as WithoutUndefined<T>

const decodeStrict = decoder(WirePolicy, { strict: true, whole: "" })

const ofRouting = (wire: WirePolicy, base: RoutingPolicy): RoutingPolicy => ({
  strategy: wire.strategy ?? base.strategy,
  only: wire.providers?.only ?? base.only,
  order: wire.providers?.order ?? base.order,
  ignore: wire.providers?.ignore ?? base.ignore,
  allowFallbacks: wire.allow_fallbacks ?? base.allowFallbacks,
  dataPolicy: stricter(base.dataFloor ?? "default", wire.data_policy ?? base.dataPolicy),
  ...(base.dataFloor === undefined ? {} : { dataFloor: base.dataFloor }),
  ...(base.terms === undefined ? {} : { terms: base.terms }),
  caching: wire.caching ?? base.caching,
  requireParameters: wire.require_parameters ?? base.requireParameters,
  maxPrice: {
    ...base.maxPrice,
    ...defined({
      prompt: wire.max_price?.prompt,
      completion: wire.max_price?.completion,
      request: wire.max_price?.request,
      image: wire.max_price?.image
    })
  },
  timeouts: {
    ...base.timeouts,
    ...defined({
      connectMs: wire.timeouts?.connect_ms,
      firstTokenMs: wire.timeouts?.first_token_ms,
      totalMs: wire.timeouts?.total_ms
    })
  },
  source: "request"
})

/** OpenRouter accepts prices as numbers and as strings. */
const AliasPriceLimit = Schema.Union([
  PriceLimit,
  Schema.String.check(
    Schema.isPattern(/^(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?$/i, { message: "must be a number of at least 0" })
  )
])

const priceOf = (limit: number | string | undefined): number | undefined =>
  limit === undefined ? undefined : Number(limit)

/** OpenRouter's `provider` object, as far as this service supports it. */
export const ProviderAlias = Schema.Struct({
  only: Schema.optionalKey(Schema.NullOr(ProviderNames)),
  order: Schema.optionalKey(Schema.NullOr(ProviderNames)),
  ignore: Schema.optionalKey(Schema.NullOr(ProviderNames)),
  allow_fallbacks: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  require_parameters: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  data_collection: Schema.optionalKey(Schema.NullOr(Schema.Literals(["allow", "deny"]))),
  zdr: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  sort: Schema.optionalKey(Schema.NullOr(Schema.Literals(["price", "latency", "throughput", "exacto"]))),
  max_price: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        prompt: Schema.optionalKey(AliasPriceLimit),
        completion: Schema.optionalKey(AliasPriceLimit),
        request: Schema.optionalKey(AliasPriceLimit)
      })
    )
  )
})

const decodeAlias = decoder(ProviderAlias, { strict: false, whole: "" })

const strategies = { price: "cost", latency: "latency", throughput: "latency", exacto: "quality" } as const

/** Providers with a different name at OpenRouter. All other names are used unchanged. */
const openRouterNames: ReadonlyMap<string, string> = new Map([
  ["amazon-bedrock", "bedrock"],
  ["google-ai-studio", "gemini"],
  ["google-vertex", "vertex"],
  ["moonshotai", "moonshot"],
  ["z-ai", "zai"]
])

const namesOf = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.map((name) => openRouterNames.get(name.toLowerCase()) ?? name)

/** OpenRouter's options can only tighten a policy, as they do there: `allow` and `zdr: false` have no effect. */
const tightened = (policy: DataPolicy, { data_collection, zdr }: typeof ProviderAlias.Type): DataPolicy => {
  if (zdr === true) return "zero_retention"
  return data_collection === "deny" ? stricter(policy, "no_training") : policy
}

const ofAlias = (wire: typeof ProviderAlias.Type, base: RoutingPolicy): RoutingPolicy => ({
  ...base,
  strategy: wire.sort == null ? base.strategy : strategies[wire.sort],
  only: wire.only == null ? base.only : namesOf(wire.only),
  order: wire.order == null ? base.order : namesOf(wire.order),
  ignore: wire.ignore == null ? base.ignore : namesOf(wire.ignore),
  allowFallbacks: wire.allow_fallbacks ?? base.allowFallbacks,
  dataPolicy: tightened(base.dataPolicy, wire),
  requireParameters: wire.require_parameters ?? base.requireParameters,
  maxPrice: {
    ...base.maxPrice,
    ...defined({
      prompt: priceOf(wire.max_price?.prompt),
      completion: priceOf(wire.max_price?.completion),
      request: priceOf(wire.max_price?.request)
    })
  },
  source: "request"
})

/** The policy of a request without routing options: that of its key, which includes its project's, or the default. */
export const basePolicy = ({ routing, terms }: Pick<Principal, "routing" | "terms">): RoutingPolicy => {
  const own: RoutingPolicy = terms === undefined ? defaultPolicy : { ...defaultPolicy, terms }
  if (routing === undefined) return own
  const dataFloor = routing.data_policy ?? "default"
  return { ...ofRouting(routing, own), dataFloor, source: "project" }
}

/**
 * The policy of a request. `routing` overrides the alias `provider`, and absent options come from `base`, the policy of the preset or
 * key. `provider` can only tighten a data policy. Loosening one requires `routing.data_policy`, which cannot loosen the key's own.
 */
export const decodePolicy = (
  body: Readonly<Record<string, unknown>>,
  base: RoutingPolicy = defaultPolicy
): Result.Result<RoutingPolicy, Failure> => {
  const { provider, routing } = body
  if (provider == null && routing == null) return Result.succeed(base)
  return Result.gen(function* () {
    const alias = provider == null ? undefined : yield* within("provider", decodeAlias(provider))
    const wire = routing == null ? undefined : yield* within("routing", decodeStrict(routing))
    if (wire === undefined) {
      if (alias === undefined) return base
      return { ...ofAlias(alias, base), ...(alias.only == null ? {} : { onlyField: "provider.only" }) }
    }
    const onlyField = wire.providers?.only === undefined ? {} : { onlyField: "routing.providers.only" }
    const own = { ...ofRouting(wire, base), ...onlyField }
    return alias === undefined ? own : { ...own, dataPolicy: tightened(own.dataPolicy, alias) }
  })
}

const aliasMembers = new Set(Object.keys(ProviderAlias.fields))
const aliasDataMembers = new Set(["data_collection", "zdr"])

const present = (member: string, value: unknown): ReadonlyArray<string> =>
  Object.entries(objectOf(value) ?? {}).flatMap(([name, one]) => (one == null ? [] : [`${member}.${name}`]))

/** Fields of `routing` and `provider` without effect on a chat. */
export const ignoredRouting = (body: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  if (body["routing"] == null && body["provider"] == null) return []
  const effective = body["routing"] == null ? aliasMembers : aliasDataMembers
  const ofProvider = present("provider", body["provider"])
  const image = (member: string) =>
    objectOf(objectOf(body[member])?.["max_price"])?.["image"] == null ? [] : [`${member}.max_price.image`]
  return [
    ...image("routing"),
    ...ofProvider.filter((path) => !effective.has(path.slice("provider.".length))),
    ...(effective.has("max_price") ? image("provider") : [])
  ]
}
