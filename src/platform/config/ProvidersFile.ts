import { Effect, FileSystem, type Redacted, Schema, SchemaIssue } from "effect"
import { readFileSync } from "node:fs"
import { HOST_KINDS, type HostKind, HostQuirks, kindOfAddress } from "./HostQuirks.ts"
import { BASE, parseBase, StartError } from "./Variables.ts"

/** An OpenAI-compatible host that the operator added. */
export interface Host {
  readonly id: string
  readonly name: string
  readonly baseUrl: URL
  readonly apiKey: Redacted.Redacted | undefined
  /** Whether the host can be called: it needs no key, or its key is set. */
  readonly keyed: boolean
  readonly trainsOnData: boolean
  readonly zeroRetention: boolean
  /** The host's model ids by catalogue id. */
  readonly models: ReadonlyMap<string, string>
  /** How the host's chat API differs from OpenAI's. Absent: it does not. */
  readonly wire?: HostWire
}

/** How a host's chat API differs from OpenAI's. */
export interface HostWire {
  /** The kind of the host, if it is known. */
  readonly kind: HostKind | undefined
  /** The host's own differences, which override those of its kind. */
  readonly quirks: HostQuirks
  /** The differences of single models by catalogue id, which override the host's. */
  readonly modelQuirks: ReadonlyMap<string, HostQuirks>
}

export interface ProvidersFileOptions {
  readonly path: string
  /** The catalogue's ids. The file may map no others. */
  readonly models: ReadonlySet<string>
  /** Provider ids that the file must not use, because the gateway has an adapter of its own for them. */
  readonly reserved: ReadonlySet<string>
  /** Reads the environment variable that holds a host's key. */
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
  /** The display name. Absent: the id. */
  name: Schema.optionalKey(Schema.NonEmptyString),
  /** The URL in front of `/chat/completions`. */
  base_url: BaseUrl,
  /** The kind of the host. Absent: the domain in `base_url` identifies a known host. */
  kind: Schema.optionalKey(
    Schema.Literals(HOST_KINDS).annotate({ message: `must be one of ${HOST_KINDS.join(", ")}` })
  ),
  /** How the host differs from its kind, or from OpenAI when it has no kind. */
  quirks: Schema.optionalKey(HostQuirks),
  /** The name of the environment variable with the key. Absent: the host needs no key. */
  api_key_env: Schema.optionalKey(Schema.NonEmptyString),
  /** A host that does not say is assumed to train on data, so that its silence cannot break a data policy. */
  trains_on_data: Schema.optionalKey(Schema.Boolean),
  zero_retention: Schema.optionalKey(Schema.Boolean),
  /** The host's model ids by catalogue id. */
  models: Schema.Record(Schema.String, EntryModel)
})
type Entry = typeof Entry.Type

const decode = Schema.decodeUnknownEffect(Schema.Array(Entry), { onExcessProperty: "error" })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

const Keyed = Schema.Struct({ api_key_env: Schema.NonEmptyString })

/**
 * The environment variables that the hosts of a file name for their keys. An invalid file may have none; its error is reported when the
 * hosts are loaded, which ends the start.
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

/** Loads the hosts of the file. Fails with a message that names the file, the entry and the field. */
export const loadProvidersFile = (
  options: ProvidersFileOptions
): Effect.Effect<ReadonlyArray<Host>, StartError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const refuse = (detail: string) => new StartError({ message: `PROVIDERS_FILE ${options.path}: ${detail}` })
    const files = yield* FileSystem.FileSystem
    const text = yield* files
      .readFileString(options.path)
      .pipe(
        Effect.mapError((error) =>
          error.reason._tag === "NotFound"
            ? new StartError({ message: `\`PROVIDERS_FILE\` must name a file. There is no file ${options.path}.` })
            : refuse(`cannot be read (${error.reason._tag})`)
        )
      )
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

/** Describes the place of a problem to the operator: the entry by number and id, then the field. */
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
    if (reserved.has(id)) return `${place}, field id: has its own environment variables and cannot be defined here`
    if (seen.has(id)) return `${place}, field id: is used twice`
    seen.add(id)
    const unknown = Object.keys(mapped).find((model) => !models.has(model))
    if (unknown !== undefined) return `${place}, field models: "${unknown}" is not a model of the catalogue`
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
