/** The routing wishes of a request, in our own words or in OpenRouter's, as one policy. */
import { Result, Schema } from "effect"
import { RoutingPolicy as WirePolicy } from "../../schemas/Routing.ts"
import { type Failure } from "../domain/Failure.ts"
import { defaultPolicy, type RoutingPolicy } from "../domain/Plan.ts"
import { decoder, within } from "./Decode.ts"

/** The members of a type that have a value, without those that are undefined. */
type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> }

const defined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<T>

const decodeStrict = decoder(WirePolicy, { strict: true, whole: "" })

const ofRouting = (wire: WirePolicy): RoutingPolicy => ({
  strategy: wire.strategy ?? defaultPolicy.strategy,
  only: wire.providers?.only,
  order: wire.providers?.order ?? [],
  ignore: wire.providers?.ignore ?? [],
  allowFallbacks: wire.allow_fallbacks ?? true,
  dataPolicy: wire.data_policy ?? "default",
  caching: wire.caching,
  requireParameters: wire.require_parameters ?? false,
  maxPrice: defined({
    prompt: wire.max_price?.prompt,
    completion: wire.max_price?.completion,
    request: wire.max_price?.request
  }),
  timeouts: defined({
    connectMs: wire.timeouts?.connect_ms,
    firstTokenMs: wire.timeouts?.first_token_ms,
    totalMs: wire.timeouts?.total_ms
  }),
  source: "request"
})

const Names = Schema.Array(Schema.String)
const PriceLimit = Schema.Union([Schema.Finite, Schema.FiniteFromString])

/** OpenRouter's `provider` object, as far as this service can follow it. */
const ProviderAlias = Schema.Struct({
  only: Schema.optionalKey(Schema.NullOr(Names)),
  order: Schema.optionalKey(Schema.NullOr(Names)),
  ignore: Schema.optionalKey(Schema.NullOr(Names)),
  allow_fallbacks: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  require_parameters: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  data_collection: Schema.optionalKey(Schema.NullOr(Schema.Literals(["allow", "deny"]))),
  zdr: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  sort: Schema.optionalKey(Schema.NullOr(Schema.Literals(["price", "latency", "throughput", "exacto"]))),
  max_price: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        prompt: Schema.optionalKey(PriceLimit),
        completion: Schema.optionalKey(PriceLimit),
        request: Schema.optionalKey(PriceLimit)
      })
    )
  )
})

const decodeAlias = decoder(ProviderAlias, { strict: false, whole: "" })

const strategies = { price: "cost", latency: "latency", throughput: "latency", exacto: "quality" } as const

const ofAlias = (wire: typeof ProviderAlias.Type): RoutingPolicy => ({
  ...defaultPolicy,
  strategy: wire.sort == null ? defaultPolicy.strategy : strategies[wire.sort],
  only: wire.only ?? undefined,
  order: wire.order ?? [],
  ignore: wire.ignore ?? [],
  allowFallbacks: wire.allow_fallbacks ?? true,
  dataPolicy: wire.zdr === true ? "zero_retention" : wire.data_collection === "deny" ? "no_training" : "default",
  requireParameters: wire.require_parameters ?? false,
  maxPrice: wire.max_price ?? {},
  source: "request"
})

/** The policy of a request; `routing` goes before the alias `provider`, and without either the default holds. */
export const decodePolicy = (body: Readonly<Record<string, unknown>>): Result.Result<RoutingPolicy, Failure> => {
  if (body["routing"] != null) return within("routing", Result.map(decodeStrict(body["routing"]), ofRouting))
  if (body["provider"] != null) return within("provider", Result.map(decodeAlias(body["provider"]), ofAlias))
  return Result.succeed(defaultPolicy)
}
