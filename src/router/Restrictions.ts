/** The exclusions of a client's routing policy, and the explanation when no provider is left. */
import { type Failure, failure } from "../domain/Failure.ts"
import type { RoutingPolicy } from "../domain/Plan.ts"
import type { PreparedCandidate } from "./MeasuredCandidates.ts"

/**
 * The properties that restrictions examine. A price per unit has no token rates; it has a request price only when it is per
 * request.
 */
export interface Restrictable extends Pick<PreparedCandidate, "provider" | "perRequestUsd" | "parameters"> {
  readonly rates: ReadonlyArray<PreparedCandidate["rates"][number]>
  /** Set when the price is per image. */
  readonly perImageUsd?: number | undefined
}

/** A rule of the policy and the providers that it excludes. */
export interface Restriction {
  /** The field of `routing` that asks for it. */
  readonly name: string
  readonly excludes: (measured: Restrictable) => boolean
}

/** The parts of a request that its restrictions depend on. */
interface RestrictedRequest {
  readonly policy: RoutingPolicy
  readonly parameters: ReadonlyArray<string>
  readonly promptBound: number
}

/** Provider names match the catalogue's names without regard to case. */
export const lowerCased = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.length === 0 ? names : names.map((name) => name.toLowerCase())

const PER_MILLION = 1_000_000

const picoOf = (usd: number): number => Math.round(usd * 1e12)

/** A price counts at every tier that the prompt may reach. Apart from rounding, a provider exactly at the limit passes. */
const tooDear = ({ policy: { maxPrice }, promptBound }: RestrictedRequest): Restriction["excludes"] | undefined => {
  const { completion, image, prompt, request } = maxPrice
  if ([completion, image, prompt, request].every((limit) => limit === undefined)) return undefined
  // A product of binary fractions can slightly exceed the price it stands for. Whole numbers cannot.
  const over = (usd: number, limit: number | undefined, units: number) =>
    limit !== undefined && picoOf(usd) * units > picoOf(limit)
  return ({ perImageUsd = 0, perRequestUsd, rates }) =>
    over(perRequestUsd, request, 1) ||
    over(perImageUsd, image, 1) ||
    rates.some(
      ({ abovePromptTokens, input, output }, index) =>
        (index === 0 || promptBound > abovePromptTokens) &&
        (over(input, prompt, PER_MILLION) || over(output, completion, PER_MILLION))
    )
}

const ONLY = "providers.only"

/** Returns the restrictions of a request that can exclude a provider. */
export const restrictionsOf = (request: RestrictedRequest): ReadonlyArray<Restriction> => {
  const { parameters, policy } = request
  const found: Array<Restriction> = []
  if (policy.only !== undefined) {
    const only = new Set(lowerCased(policy.only))
    found.push({ name: ONLY, excludes: ({ provider }) => !only.has(provider.id) })
  }
  if (policy.ignore.length > 0) {
    const ignore = new Set(lowerCased(policy.ignore))
    found.push({ name: "providers.ignore", excludes: ({ provider }) => ignore.has(provider.id) })
  }
  if (policy.dataPolicy !== "default") {
    const strict = policy.dataPolicy === "zero_retention"
    found.push({
      name: "data_policy",
      excludes: ({ provider }) => provider.trainsOnData || (strict && !provider.zeroRetention)
    })
  }
  if (policy.requireParameters && parameters.length > 0) {
    found.push({
      name: "require_parameters",
      excludes: (measured) => parameters.some((name) => !measured.parameters.has(name))
    })
  }
  const dear = tooDear(request)
  if (dear !== undefined) found.push({ name: "max_price", excludes: dear })
  return found
}

const listed = (items: ReadonlyArray<string>): string =>
  items.length < 2 ? items.join() : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`

/**
 * Returns the error message when the restrictions exclude every provider in `able`. It says how many providers each restriction
 * excludes, and which restriction the client could drop on its own to have some left.
 */
export const explain = (able: ReadonlyArray<Restrictable>, restrictions: ReadonlyArray<Restriction>): string => {
  const counts = restrictions
    .map(({ excludes, name }) => ({ name, out: able.filter(excludes).length }))
    .filter(({ out }) => out > 0)
  const enough = restrictions
    .map(({ name }) => ({
      name,
      left: able.filter((one) => !restrictions.some((other) => other.name !== name && other.excludes(one))).length
    }))
    .filter(({ left }) => left > 0)
  const candidates = able.length === 1 ? "1 candidate" : `${able.length} candidates`
  const out = listed(counts.map(({ name, out }) => `${name} excludes ${out}`))
  const sentence = `No provider meets the routing restrictions of this request: of ${candidates}, ${out}`
  if (counts.length < 2 || enough.length === 0) return sentence
  return `${sentence}; ${listed(enough.map(({ left, name }) => `without ${name} ${left} would be left`))}`
}

/**
 * Returns the failure when the restrictions exclude every provider in `able`. It names the field `only` when that one excludes them all,
 * and lists the names in it that no provider has.
 */
export const noneLeft = (
  able: ReadonlyArray<Restrictable>,
  restrictions: ReadonlyArray<Restriction>,
  { only = [], onlyField }: Pick<RoutingPolicy, "only" | "onlyField">,
  isProvider: (id: string) => boolean
): Failure => {
  const unknown = only.filter((name) => !isProvider(name.toLowerCase()))
  const onlyRule = restrictions.find(({ name }) => name === ONLY)
  const excludesAll = onlyRule !== undefined && able.every(onlyRule.excludes)
  return failure({
    _tag: "NoProviderAvailable",
    detail: explain(able, restrictions),
    ...(excludesAll && onlyField !== undefined ? { param: onlyField } : {}),
    ...(unknown.length === 0 ? {} : { unknownProviders: [...new Set(unknown)] })
  })
}
