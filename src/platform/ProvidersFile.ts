import { Effect, FileSystem, type Redacted, Schema, SchemaIssue } from "effect"
import { readFileSync } from "node:fs"
import { HOST_KINDS, type HostKind, HostQuirks, kindOfAddress } from "./HostQuirks.ts"
import { BASE, parseBase, StartError } from "./Variables.ts"

/** An OpenAI-compatible host added by the operator. */
export interface Host {
  readonly id: string
  readonly name: string
  readonly baseUrl: URL
  readonly apiKey: Redacted.Redacted | undefined
  /** Whether the host can be called: it needs no key, or its key is set. */
  readonly keyed: boolean
  readonly trainsOnData: boolean
  readonly zeroRetention: boolean
  /** Upstream ids by catalogue id. */
  readonly models: ReadonlyMap<string, string>
  /** How the host's chat differs from OpenAI's; absent, it does not. */
  readonly wire?: HostWire
}

/** How a host's chat differs from OpenAI's. */
export interface HostWire {
  /** What the host is, where that is known. */
  readonly kind: HostKind | undefined
  /** The host's own differences, above those of its kind. */
  readonly quirks: HostQuirks
  /** The differences of single models by catalogue id, above the host's. */
  readonly modelQuirks: ReadonlyMap<string, HostQuirks>
}

export interface ProvidersFileOptions {
  readonly path: string
  /** The catalogue's ids; no other may be mapped. */
  readonly models: ReadonlySet<string>
  /** Ids that the file may not take, because an adapter of its own speaks for them. */
  readonly reserved: ReadonlySet<string>
  /** Reads the variable that holds a host's key. */
  readonly keyFrom: (variable: string) => Effect.Effect<Redacted.Redacted | undefined, StartError>
}

const BaseUrl = Schema.String.check(
  Schema.makeFilter((text) => (parseBase(text) === undefined ? `must be ${BASE}` : true))
)

/** A model's id at the host, alone or with the model's differences. */
const EntryModel = Schema.Union([
  Schema.NonEmptyString,
  Schema.Struct({ id: Schema.NonEmptyString, quirks: Schema.optionalKey(HostQuirks) })
])

const Entry = Schema.Struct({
  id: Schema.String.check(
    Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,127}$/, {
      message: "must be 1 to 128 lowercase letters, digits, dots, dashes or underscores"
    })
  ),
  /** Shown to people; the id where absent. */
  name: Schema.optionalKey(Schema.NonEmptyString),
  /** Everything before `/chat/completions`. */
  base_url: BaseUrl,
  /** What the host is. Absent, the name in `base_url` tells where it is a known one. */
  kind: Schema.optionalKey(
    Schema.Literals(HOST_KINDS).annotate({ message: `must be one of ${HOST_KINDS.join(", ")}` })
  ),
  /** How the host differs from its kind, or from OpenAI where it has none. */
  quirks: Schema.optionalKey(HostQuirks),
  /** Name of the variable with the key; a host without needs none. */
  api_key_env: Schema.optionalKey(Schema.NonEmptyString),
  /** A host that does not say is taken to train on data, so that no data policy is broken by silence. */
  trains_on_data: Schema.optionalKey(Schema.Boolean),
  zero_retention: Schema.optionalKey(Schema.Boolean),
  /** Upstream ids by catalogue id. */
  models: Schema.Record(Schema.String, EntryModel)
})
type Entry = typeof Entry.Type

const decode = Schema.decodeUnknownEffect(Schema.Array(Entry), { onExcessProperty: "error" })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

const Keyed = Schema.Struct({ api_key_env: Schema.NonEmptyString })

/**
 * The variables that the hosts of a file name as the places of their keys. Of a file that is wrong there may be none: what is wrong
 * with it is told when the hosts are loaded, and ends the start.
 */
export const keyVariables = (path: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.sync(() => {
    try {
      const entries: unknown = JSON.parse(readFileSync(path, "utf8"))
      return Array.isArray(entries) ? entries.filter(Schema.is(Keyed)).map((entry) => entry.api_key_env) : []
    } catch {
      return []
    }
  })

/** The hosts of the file. Fails with a message that names the file, the entry and the field. */
export const loadProvidersFile = (
  options: ProvidersFileOptions
): Effect.Effect<ReadonlyArray<Host>, StartError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const refuse = (detail: string) => new StartError({ message: `PROVIDERS_FILE ${options.path}: ${detail}` })
    const files = yield* FileSystem.FileSystem
    const text = yield* files
      .readFileString(options.path)
      .pipe(Effect.mapError((error) => refuse(`cannot be read (${error.reason._tag})`)))
    const json = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: () => refuse("is not valid JSON")
    })
    const entries = yield* decode(json).pipe(
      Effect.mapError(({ issue }) => {
        const [first] = format(issue).issues
        const path = (first?.path ?? []).map((part) => (typeof part === "object" ? part.key : part))
        return refuse(`${describe(json, path)}: ${first?.message ?? "is not allowed"}`)
      })
    )
    const problem = problemOf(entries, options)
    if (problem !== undefined) return yield* refuse(problem)
    return yield* Effect.forEach(entries, (entry) => toHost(entry, options))
  })

/** The place of a problem for a person: the entry by number and id, then the field. */
const describe = (json: unknown, path: ReadonlyArray<PropertyKey>): string => {
  const [index, ...field] = path
  if (index === undefined) return "the whole"
  const entry: unknown = Array.isArray(json) ? json[Number(index)] : undefined
  const id = typeof entry === "object" && entry !== null && "id" in entry ? ` (${String(entry.id)})` : ""
  return `entry ${Number(index) + 1}${id}${field.length === 0 ? "" : `, field ${field.map(String).join(".")}`}`
}

const problemOf = (entries: ReadonlyArray<Entry>, { models, reserved }: ProvidersFileOptions): string | undefined => {
  const seen = new Set<string>()
  for (const [index, { id, models: mapped }] of entries.entries()) {
    const place = `entry ${index + 1} (${id})`
    if (reserved.has(id)) return `${place}, field id: has settings of its own and cannot be defined here`
    if (seen.has(id)) return `${place}, field id: is used twice`
    seen.add(id)
    const unknown = Object.keys(mapped).find((model) => !models.has(model))
    if (unknown !== undefined) return `${place}, field models: "${unknown}" is no model of the catalogue`
  }
  return undefined
}

const toHost = Effect.fnUntraced(function* (entry: Entry, { keyFrom }: ProvidersFileOptions) {
  const apiKey = entry.api_key_env === undefined ? undefined : yield* keyFrom(entry.api_key_env)
  const baseUrl = new URL(entry.base_url)
  const models = Object.entries(entry.models).map(
    ([model, said]) => [model, typeof said === "string" ? { id: said, quirks: undefined } : said] as const
  )
  const host: Host = {
    id: entry.id,
    name: entry.name ?? entry.id,
    baseUrl,
    apiKey,
    keyed: entry.api_key_env === undefined || apiKey !== undefined,
    trainsOnData: entry.trains_on_data ?? true,
    zeroRetention: entry.zero_retention ?? false,
    models: new Map(models.map(([model, { id }]) => [model, id])),
    wire: {
      kind: entry.kind ?? kindOfAddress(baseUrl),
      quirks: entry.quirks ?? {},
      modelQuirks: new Map(models.flatMap(([model, { quirks }]) => (quirks === undefined ? [] : [[model, quirks]])))
    }
  }
  return host
})
