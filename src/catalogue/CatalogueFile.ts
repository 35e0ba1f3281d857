import { Effect, FileSystem, Option, Schema, SchemaIssue } from "effect"
import type { Host } from "../platform/config/ProvidersFile.ts"
import { StartError } from "../platform/config/Variables.ts"
import type { Changes } from "./Changes.ts"
import type { Entry } from "./Entry.ts"
import { units } from "./Listing.ts"
import { entries } from "./models.ts"
import { Moment, millisOf } from "./Moment.ts"
import { OverlayPrice } from "./Overlay.ts"

/** A source of changes that may change over time. */
export interface ChangesSource {
  /** Fails with a message that names the file, the entry and the field. */
  readonly load: Effect.Effect<Changes, StartError>
  /** Returns a different text when the file may have changed. */
  readonly version: Effect.Effect<string>
}

export interface CatalogueFileOptions {
  readonly path: string
  /** Further hosts, which offer the models that they map. */
  readonly hosts: ReadonlyArray<Host>
}

/** At 100 percent, a request would hold nothing and the operator would bear its cost. */
const Percent = Schema.Finite.check(
  Schema.makeFilter((percent) =>
    percent > 0 && percent < 100 && Math.abs(percent * 100 - Math.round(percent * 100)) < 1e-9
      ? true
      : "must be above 0 and below 100, with at most two decimals"
  )
)

const Day = Moment.check(Schema.isPattern(/^.{10}$/, { message: 'must be a day such as "2026-12-24"' }))

const Text = Schema.String.check(Schema.isPattern(/^.{1,200}$/s, { message: "must be 1 to 200 characters" }))

const File = Schema.Struct({
  prices: Schema.optionalKey(Schema.Array(OverlayPrice)),
  costs: Schema.optionalKey(Schema.Array(OverlayPrice)),
  statuses: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        model: Text,
        status: Schema.Literals(["preview", "ga", "deprecated", "retired"]),
        startsAt: Schema.optionalKey(Moment)
      })
    )
  ),
  promotions: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        model: Text,
        provider: Schema.optionalKey(Text),
        label: Text,
        discountPercent: Percent,
        startsAt: Moment,
        endsAt: Moment
      })
    )
  ),
  history: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        model: Text,
        event: Text,
        date: Day,
        provider: Schema.optionalKey(Text),
        detail: Schema.optionalKey(Text)
      })
    )
  )
})

const priceFields = [...new Set(OverlayPrice.members.flatMap(({ fields }) => Object.keys(fields)))]

/** The fields of an entry of each list. */
const lists = {
  prices: priceFields,
  costs: priceFields,
  statuses: Object.keys(File.fields.statuses.schema.value.fields),
  promotions: Object.keys(File.fields.promotions.schema.value.fields),
  history: Object.keys(File.fields.history.schema.value.fields)
}

const decode = Schema.decodeUnknownEffect(File, { onExcessProperty: "error" })

/** The decoder's message for an unknown field. */
const UNKNOWN_FIELD = "Expected no excess property"

/** Returns what the name of a field at this place may be. */
const allowedAt = (place: ReadonlyArray<PropertyKey>): string | undefined => {
  const list = lists[String(place[0]) as keyof typeof lists]
  const names = place.length === 1 ? Object.keys(lists) : place.length === 3 ? list : undefined
  return names === undefined ? undefined : `must be one of ${names.join(", ")}`
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Reads the operator's changes to the catalogue from a file, which the operator may edit while the service runs. */
export const catalogueFile = (
  options: CatalogueFileOptions
): Effect.Effect<ChangesSource, never, FileSystem.FileSystem> =>
  Effect.map(FileSystem.FileSystem, (files) => ({
    load: load(files, options),
    version: files.stat(options.path).pipe(
      Effect.map(({ ino, mtime, size }) =>
        [Option.getOrElse(ino, () => 0n), Option.getOrUndefined(mtime)?.getTime(), size].join()
      ),
      Effect.catch(() => Effect.succeed("absent"))
    )
  }))

const load = (
  files: FileSystem.FileSystem,
  { hosts, path }: CatalogueFileOptions
): Effect.Effect<Changes, StartError> =>
  Effect.gen(function* () {
    const refuse = (detail: string) => new StartError({ message: `CATALOGUE_FILE ${path}: ${detail}` })
    const text = yield* files
      .readFileString(path)
      .pipe(
        Effect.mapError((error) =>
          error.reason._tag === "NotFound"
            ? new StartError({ message: `\`CATALOGUE_FILE\` must name a file. There is no file ${path}.` })
            : refuse(`cannot be read (${error.reason._tag})`)
        )
      )
    const json = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: () => refuse("is not valid JSON")
    })
    const {
      costs = [],
      history = [],
      prices = [],
      promotions = [],
      statuses = []
    } = yield* decode(json).pipe(
      Effect.mapError(({ issue }) => {
        const [first] = format(issue).issues
        const place = (first?.path ?? []).map((part) => (typeof part === "object" ? part.key : part))
        const why = first?.message === UNKNOWN_FIELD ? allowedAt(place) : first?.message
        return refuse(`${describe(json, place)}: ${why ?? "is not allowed"}`)
      })
    )
    const changes = { costs, history, prices, promotions, statuses }
    const problem = problemOf(changes, hosts)
    return problem === undefined ? changes : yield* refuse(problem)
  })

const member = (value: unknown, key: PropertyKey | undefined): unknown =>
  typeof value === "object" && value !== null && key !== undefined
    ? Object.entries(value).find(([name]) => name === String(key))?.[1]
    : undefined

/** Describes the place of a problem for a person: the list, the entry by number and model, and the field. */
const describe = (json: unknown, [list, index, ...field]: ReadonlyArray<PropertyKey>): string => {
  if (list === undefined) return "the whole"
  if (index === undefined) return `field ${String(list)}`
  const model = member(member(member(json, list), index), "model")
  return placeOf(
    String(list),
    Number(index),
    typeof model === "string" ? model : undefined,
    field.map(String).join(".")
  )
}

const placeOf = (list: string, index: number, model: string | undefined, field: string): string =>
  [`${list}, entry ${index + 1}${model === undefined ? "" : ` (${model})`}`, field === "" ? "" : `field ${field}`]
    .filter((part) => part !== "")
    .join(", ")

/** A problem with one entry: its field and the reason. */
type Problem = readonly [field: string, why: string] | undefined

const problemOf = (changes: Changes, hosts: ReadonlyArray<Host>): string | undefined => {
  const offers = new Map(entries.map((entry) => [entry.id, { entry, providers: providersOf(entry, hosts) }]))
  const sold = ({ model, provider }: { readonly model: string; readonly provider?: string }): Problem => {
    const found = offers.get(model)
    if (found === undefined) return ["model", "must name a model of the catalogue"]
    if (found.providers.size === 0) return ["model", "has no price of its own"]
    return provider === undefined || found.providers.has(provider)
      ? undefined
      : ["provider", "does not offer the model"]
  }
  const known = ({ model }: { readonly model: string }): Problem =>
    offers.has(model) ? undefined : ["model", "must name a model of the catalogue"]
  const first = <A extends { readonly model: string }>(
    list: string,
    all: ReadonlyArray<A>,
    check: (one: A) => Problem
  ) => {
    for (const [index, one] of all.entries()) {
      const problem = check(one)
      if (problem !== undefined) return `${placeOf(list, index, one.model, problem[0])}: ${problem[1]}`
    }
    return undefined
  }
  const [onePrice, oneCost, oneStatus] = [unique(), unique(), unique()]
  const priced = (once: ReturnType<typeof unique>) => (one: OverlayPrice) =>
    sold(one) ?? unitProblem(one, offers.get(one.model)?.entry) ?? once(one.model, one.provider, one.startsAt)
  return (
    first("prices", changes.prices, priced(onePrice)) ??
    first("costs", changes.costs, priced(oneCost)) ??
    first("statuses", changes.statuses, (one) => known(one) ?? oneStatus(one.model, one.startsAt)) ??
    first("promotions", changes.promotions, (one) => sold(one) ?? periodProblem(one)) ??
    first("history", changes.history, (one) => known(one))
  )
}

const providersOf = ({ id, listings }: Entry, hosts: ReadonlyArray<Host>): ReadonlySet<string> =>
  new Set([
    ...listings.map((listing) => listing.provider),
    ...hosts.filter((host) => host.models.has(id)).map((host) => host.id)
  ])

const unitProblem = (price: OverlayPrice, entry: Entry | undefined): Problem => {
  if (entry === undefined) return undefined
  if (price.unit !== units[entry.modality]) return ["unit", `must be ${units[entry.modality]} for this model`]
  return price.unit === "token" && entry.modality === "text" && price.outputUsdPerMillion === undefined
    ? ["outputUsdPerMillion", "is missing"]
    : undefined
}

const periodProblem = ({ endsAt, startsAt }: { readonly startsAt: string; readonly endsAt: string }): Problem =>
  millisOf(startsAt) < millisOf(endsAt) ? undefined : ["endsAt", "must be after startsAt"]

/** Finds entries that repeat an earlier one, because it would be unclear which of the two applies. */
const unique = () => {
  const seen = new Set<string>()
  return (...parts: ReadonlyArray<string | undefined>): Problem => {
    const startsAt = parts.at(-1)
    const key = JSON.stringify([...parts.slice(0, -1), startsAt === undefined ? null : millisOf(startsAt)])
    if (seen.has(key)) return ["startsAt", "must differ from that of an earlier entry"]
    seen.add(key)
    return undefined
  }
}
