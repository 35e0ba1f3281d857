/**
 * The file of a backup: gzip of JSON lines. The first line is the header. A part follows for each table and each file: a line with its
 * name, its rows or pieces as JSON strings, and a line with their number and digest. The last line is the manifest, so a file that was
 * cut off is recognized.
 */
import { Data, Effect } from "effect"
import { createHash, type Hash } from "node:crypto"
import { once } from "node:events"
import { createReadStream, createWriteStream } from "node:fs"
import { open, rename, rm } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { StringDecoder } from "node:string_decoder"
import { createGunzip, createGzip } from "node:zlib"

const FORMAT = "tollgate-backup"
const FORMAT_VERSION = 1

/** The header of a backup. */
export interface BackupHeader {
  readonly format: typeof FORMAT
  readonly format_version: typeof FORMAT_VERSION
  /** The version of tollgate that wrote it. */
  readonly version: string
  readonly created_at: string
  readonly migrations: ReadonlyArray<{ readonly id: number; readonly name: string }>
}

/** A table or a file in a backup. `count` is its number of rows, or of pieces of a file. */
export interface BackupPart {
  readonly kind: "table" | "file"
  readonly name: string
  readonly count: number
  /** SHA-256 of the rows or pieces, each followed by a line feed. */
  readonly sha256: string
}

/** The manifest of a backup. A sequence's value is text, because JSON has no 64-bit integers. */
export interface BackupManifest {
  readonly parts: ReadonlyArray<BackupPart>
  readonly sequences: ReadonlyArray<{ readonly name: string; readonly value: string | null }>
}

export const headerOf = (facts: Omit<BackupHeader, "format" | "format_version">): BackupHeader => ({
  format: FORMAT,
  format_version: FORMAT_VERSION,
  ...facts
})

/** The file cannot be written or read, or is not a complete backup. */
export class BackupFileError extends Data.TaggedError("BackupFileError")<{ readonly message: string }> {}

const alreadyExists = (path: string) =>
  new BackupFileError({ message: `The file ${path} already exists; \`backup\` never overwrites a file.` })

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error))

const attempt = <A>(what: string, body: () => Promise<A>): Effect.Effect<A, BackupFileError> =>
  Effect.tryPromise({
    try: body,
    catch: (error) =>
      error instanceof BackupFileError ? error : new BackupFileError({ message: `${what}: ${describe(error)}` })
  })

/** Writes the lines of a backup. */
export interface BackupWriter {
  /** Starts a table or a file. */
  readonly begin: (kind: BackupPart["kind"], name: string) => Effect.Effect<void, BackupFileError>
  readonly add: (texts: ReadonlyArray<string>) => Effect.Effect<void, BackupFileError>
  readonly end: Effect.Effect<BackupPart, BackupFileError>
  /** Writes the manifest and gives the file its name. The bytes are durable then. */
  readonly finish: (sequences: BackupManifest["sequences"]) => Effect.Effect<BackupManifest, BackupFileError>
}

const note = (hash: Hash, text: string) => hash.update(text).update("\n")

/**
 * Opens a new file that only its owner can read. It gets its name when it is complete; until then, and after a failure, that name does
 * not exist. Fails when it exists already.
 */
export const writeBackup = (path: string, header: BackupHeader) =>
  Effect.gen(function* () {
    const partial = `${path}.part`
    const cannot = `The file ${path} cannot be written`
    yield* attempt(cannot, async () => {
      const handle = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") throw alreadyExists(path)
        throw error
      })
      await handle.close()
      await rm(path)
    })
    const gzip = createGzip()
    const piped = pipeline(gzip, createWriteStream(partial, { flags: "w", mode: 0o600, flush: true }))
    let failed: unknown
    piped.catch((error: unknown) => {
      failed = error
    })
    yield* Effect.addFinalizer(() =>
      Effect.promise(async () => {
        gzip.destroy()
        await piped.catch(() => {})
        await rm(partial, { force: true })
      })
    )
    const line = async (value: unknown) => {
      if (failed !== undefined) throw failed
      if (!gzip.write(`${JSON.stringify(value)}\n`)) await Promise.race([once(gzip, "drain"), piped])
    }
    const parts: Array<BackupPart> = []
    let current:
      | { readonly kind: BackupPart["kind"]; readonly name: string; count: number; readonly hash: Hash }
      | undefined
    yield* attempt(cannot, () => line(header))
    return {
      begin: (kind, name) =>
        attempt(cannot, () => {
          current = { kind, name, count: 0, hash: createHash("sha256") }
          return line({ begin: kind, name })
        }),
      add: (texts) =>
        attempt(cannot, async () => {
          if (current === undefined) throw new Error("no part was started")
          for (const text of texts) {
            note(current.hash, text)
            current.count += 1
            await line(text)
          }
        }),
      end: attempt(cannot, async () => {
        if (current === undefined) throw new Error("no part was started")
        const { count, hash, kind, name } = current
        const part: BackupPart = { kind, name, count, sha256: hash.digest("hex") }
        parts.push(part)
        await line({ end: part })
        return part
      }),
      finish: (sequences) =>
        attempt(cannot, async () => {
          const manifest: BackupManifest = { parts, sequences }
          await line({ manifest })
          gzip.end()
          await piped
          await rename(partial, path)
          return manifest
        })
    } satisfies BackupWriter
  })

/** Returns the lines of a file. Only a line feed ends a line, because JSON contains other line separators as they are. */
async function* linesOf(path: string): AsyncGenerator<unknown> {
  const source = createReadStream(path)
  const gunzip = createGunzip()
  source.on("error", (error) => gunzip.destroy(error))
  const decoder = new StringDecoder("utf8")
  let rest = ""
  for await (const chunk of source.pipe(gunzip)) {
    const lines = (rest + decoder.write(chunk as Buffer)).split("\n")
    rest = lines.pop() ?? ""
    for (const text of lines) yield JSON.parse(text) as unknown
  }
  if (rest !== "") throw new Error("it ends within a line")
}

/** Receives the parts of a backup in order. */
export interface BackupReader {
  readonly begin?: (kind: BackupPart["kind"], name: string) => Promise<void>
  readonly add?: (text: string) => Promise<void>
  readonly end?: (part: BackupPart) => Promise<void>
}

const isHeader = (value: unknown): value is BackupHeader =>
  typeof value === "object" && value !== null && "format" in value && value.format === FORMAT

interface Marker {
  readonly begin?: BackupPart["kind"]
  readonly name?: string
  readonly end?: BackupPart
  readonly manifest?: BackupManifest
}

const sameParts = (one: ReadonlyArray<BackupPart>, other: ReadonlyArray<BackupPart>) =>
  JSON.stringify(one) === JSON.stringify(other)

const isOtherFile = ({ code }: NodeJS.ErrnoException) =>
  code === undefined || code === "EISDIR" || (code.startsWith("Z_") && code !== "Z_BUF_ERROR")

/** Returns what an operator must know of a file whose header cannot be read. */
const headerProblem = (path: string, error: unknown): unknown => {
  const found = error as NodeJS.ErrnoException
  if (found.code === "ENOENT") return new BackupFileError({ message: `There is no file ${path}.` })
  return isOtherFile(found) ? new BackupFileError({ message: `${path} is not a backup of tollgate.` }) : error
}

const firstLineOf = async (path: string, lines: AsyncGenerator<unknown>): Promise<BackupHeader> => {
  try {
    const { value } = await lines.next()
    if (!isHeader(value)) throw new Error("it does not start as one")
    return value
  } catch (error) {
    throw headerProblem(path, error)
  }
}

const readAll = async (path: string, reader: BackupReader) => {
  const lines = linesOf(path)
  const header = await firstLineOf(path, lines)
  if (header.format_version !== FORMAT_VERSION) throw new Error(`its format version is ${header.format_version}`)
  let manifest: BackupManifest | undefined
  let current:
    | { readonly kind: BackupPart["kind"]; readonly name: string; count: number; readonly hash: Hash }
    | undefined
  const found: Array<BackupPart> = []
  for await (const value of lines) {
    if (typeof value === "string") {
      if (current === undefined) throw new Error("a row belongs to no table")
      note(current.hash, value)
      current.count += 1
      await reader.add?.(value)
    } else {
      const { begin, end, manifest: last, name = "" } = value as Marker
      if (begin !== undefined) {
        current = { kind: begin, name, count: 0, hash: createHash("sha256") }
        await reader.begin?.(begin, name)
      } else if (end !== undefined && current !== undefined) {
        const part: BackupPart = {
          kind: current.kind,
          name: current.name,
          count: current.count,
          sha256: current.hash.digest("hex")
        }
        if (!sameParts([part], [end])) throw new Error(`the ${part.kind} ${part.name} does not match its checksum`)
        found.push(part)
        current = undefined
        await reader.end?.(part)
      } else if (last !== undefined) manifest = last
    }
  }
  if (manifest === undefined) throw new Error("its end is missing")
  if (!sameParts(found, manifest.parts)) throw new Error("its manifest lists other parts")
  return { header, manifest }
}

/** Reads a whole backup and proves its checksums. `reader` receives each part before the part is proved. */
export const readBackup = (path: string, reader: BackupReader = {}) =>
  attempt(`The file ${path} is not a complete backup`, () => readAll(path, reader))
