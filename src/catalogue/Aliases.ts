/** Alternative names of models: with a date, `-latest`, a vendor prefix, dots instead of dashes in a version, or a context size. */
import type { Model } from "../domain/Model.ts"
import { listedProviders } from "./Providers.ts"
import { listedName } from "./PublishedPrices.ts"

/** Vendors under the names that other services put before a model's name. */
const PREFIXES: Readonly<Record<string, string>> = {
  gemini: "google",
  vertex: "google",
  "x-ai": "xai",
  mistralai: "mistral",
  meta: "meta-llama",
  "deepseek-ai": "deepseek",
  moonshot: "moonshotai",
  zai: "z-ai"
}

/** The most names in the cache, because clients may send any name. */
const REMEMBERED_MAX = 1_000
const NAME_MAX = 160

const pricedAs: ReadonlyMap<string, string> = new Map(
  listedProviders.flatMap(({ id, pricedAs: list }) => (list === undefined ? [] : [[id, list] as const]))
)

/** Treats `claude-sonnet-4.6` and `claude-sonnet-4-6` as the same name. */
const dashed = (name: string): string => name.toLowerCase().replaceAll(/(?<=\d)\.(?=\d)/g, "-")

/** The entries by names that belong to only one of them. */
const byName = (pairs: Iterable<readonly [string, Model]>): ReadonlyMap<string, Model> => {
  const found = new Map<string, Model | undefined>()
  for (const [name, model] of pairs) {
    const other = found.get(name)
    found.set(name, found.has(name) && other !== model ? undefined : model)
  }
  return new Map([...found].flatMap(([name, model]) => (model === undefined ? [] : [[name, model] as const])))
}

/** Returns the name without a date or `-latest`. */
const undated = (name: string): string =>
  name.replace(/[-@](latest|\d{4}-\d{2}-\d{2}|20\d{6}|(0[1-9]|1[0-2])[0-3]\d)(-v\d+(:\d+)?)?$/, "")

/**
 * Reports whether the first of the model's price lists that knows the name means this model. Some models have versions with
 * separate prices.
 */
const isPricedAlike = (name: string, { offers }: Model): boolean => {
  for (const { provider, upstreamId } of offers) {
    const list = pricedAs.get(provider)
    const listed = list === undefined ? undefined : listedName(list, name)
    if (list !== undefined && listed !== undefined) return listed === listedName(list, upstreamId)
  }
  return true
}

/** Finds a model by an alternative name. The same name always gives the same result. */
export const aliasesOf = (all: ReadonlyArray<Model>): ((name: string) => Model | undefined) => {
  const ids = byName(all.map((model) => [dashed(model.id), model]))
  const upstream = byName(
    all.flatMap((model) => model.offers.map(({ upstreamId }) => [dashed(upstreamId), model] as const))
  )
  const remembered = new Map<string, Model | undefined>()

  const unprefixed = (name: string): Model | undefined => {
    const exact = ids.get(dashed(name)) ?? upstream.get(dashed(name))
    if (exact !== undefined) return exact
    const plain = undated(name)
    const model = plain === name ? undefined : (ids.get(dashed(plain)) ?? upstream.get(dashed(plain)))
    return model !== undefined && isPricedAlike(name, model) ? model : undefined
  }

  const resolve = (asked: string): Model | undefined => {
    const name = asked
      .trim()
      .toLowerCase()
      .replace(/\[\d+[km]\]$/, "")
    const whole = unprefixed(name)
    const slash = name.indexOf("/")
    if (whole !== undefined || slash === -1) return whole
    const prefix = name.slice(0, slash)
    const model = unprefixed(name.slice(slash + 1))
    return model?.vendor === (PREFIXES[prefix] ?? prefix) ? model : undefined
  }

  return (name) => {
    if (name.length > NAME_MAX) return undefined
    if (remembered.has(name)) return remembered.get(name)
    const model = resolve(name)
    if (remembered.size < REMEMBERED_MAX) remembered.set(name, model)
    return model
  }
}
