/** Reads and changes routing options for forms and tables. */
import type { RoutingPolicy } from "../../client/Contract.ts"

/** The strategies by which the gateway chooses among the allowed providers. */
export const strategies = ["balanced", "cost", "latency", "quality"] as const

/** The data policies, the least strict first. They limit the providers that may serve a request. */
export const dataPolicies = [
  { value: "default", name: "Any provider" },
  { value: "no_training", name: "No training on data" },
  { value: "zero_retention", name: "Zero retention" }
] as const

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0)

/** Applies changes to a record and removes fields without a value. */
export const changed = <A extends object>(record: A, change: object): A =>
  Object.fromEntries(Object.entries({ ...record, ...change }).filter(([, value]) => !isEmpty(value))) as A

/** The policy for the API; null without any option. */
export const policyOf = (policy: RoutingPolicy): RoutingPolicy | null => (isEmpty(policy) ? null : policy)

const listed = (names: ReadonlyArray<string>): string => names.join(", ")

/** A policy in a few words, for a table; undefined without any option. */
export const policyWords = (policy: RoutingPolicy | null): string | undefined => {
  if (policy === null) return undefined
  const { allow_fallbacks: fallbacks, data_policy: data, max_price: price, providers, strategy, timeouts } = policy
  const words = [
    ...(strategy === undefined ? [] : [strategy]),
    ...(providers?.only === undefined ? [] : [`only ${listed(providers.only)}`]),
    ...(providers?.order === undefined ? [] : [`first ${listed(providers.order)}`]),
    ...(providers?.ignore === undefined ? [] : [`never ${listed(providers.ignore)}`]),
    ...(data === undefined ? [] : [data.replaceAll("_", " ")]),
    ...(fallbacks === false ? ["no fallbacks"] : []),
    ...(price === undefined ? [] : ["price limit"]),
    ...(timeouts === undefined ? [] : ["time limit"])
  ]
  return words.length === 0 ? undefined : words.join(" · ")
}
