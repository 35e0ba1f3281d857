/** Files in a directory of this machine, one each, under their ids. */
import { Effect } from "effect"
import { constants } from "node:fs"
import { type FileHandle, mkdir, open, opendir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { ByteRange, FileBody, FileStore } from "./FileStore.ts"
import { isFileId } from "./Ids.ts"
import { Unavailable } from "./Sql.ts"
import { StartError } from "./Variables.ts"

/** What is read at once: few turns for a clip, and little held for a slow reader. */
const CHUNK_BYTES = 256 * 1024

/** The most ids that are told at once: each time all names are read, which come in no order. */
const PAGE = 10_000

/** Names read at a time, after each of which others have their turn. */
const NAMES = 256

/** A file being written; it gets its name when it is whole. */
const PART = ".part"

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

/** Paths stay out of what is said: an id is all it takes to read a file. */
const attempt = <A>(what: string, body: () => Promise<A>): Effect.Effect<A, Unavailable> =>
  Effect.tryPromise({
    try: body,
    catch: (error) => new Unavailable({ store: "file store", cause: `${what}: ${codeOf(error) ?? "failed"}` })
  })

/** What a directory says of its entries is durable when it is synced itself. */
const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const write = async (path: string, bytes: Uint8Array): Promise<void> => {
  const part = path + PART
  const handle = await open(part, "wx", 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(part, path)
  await syncDirectory(dirname(path))
}

/** Undefined when there is none. A link is not followed: it could lead anywhere. */
const openFile = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
}

const bodyOf = (handle: FileHandle, { end, start }: ByteRange): FileBody => {
  let at = start
  return Effect.suspend(() => {
    if (at >= end) return Effect.undefined
    const length = Math.min(CHUNK_BYTES, end - at)
    return Effect.flatMap(
      attempt("read", () => handle.read(Buffer.allocUnsafe(length), 0, length, at)),
      ({ buffer, bytesRead }) => {
        at += bytesRead
        // Less than was stored would look whole to whoever reads it.
        return bytesRead === 0
          ? Effect.fail(new Unavailable({ store: "file store", cause: "read: a file is shorter than it was" }))
          : Effect.succeed(buffer.subarray(0, bytesRead))
      }
    )
  })
}

const firstPage = (ids: ReadonlyArray<string>): Array<string> => [...new Set(ids)].toSorted().slice(0, PAGE)

/** The first ids after this one, of files that are whole or were left as a part. No more than two pages are held at a time. */
const idsAfter = async (directory: string, after: string): Promise<ReadonlyArray<string>> => {
  let found: Array<string> = []
  let last: string | undefined
  for await (const { name } of await opendir(directory, { bufferSize: NAMES })) {
    const id = name.endsWith(PART) ? name.slice(0, -PART.length) : name
    if (!isFileId(id) || id <= after || (last !== undefined && id >= last)) continue
    found.push(id)
    if (found.length < 2 * PAGE) continue
    found = firstPage(found)
    last = found[PAGE - 1]
  }
  return firstPage(found)
}

/**
 * The files of this directory, which is made where it is missing. Several nodes may share it where they share a file system. Fails
 * when it cannot be made.
 */
export const localFiles = (directory: string): Effect.Effect<FileStore, StartError> => {
  const pathOf = (id: string) => {
    // Every id was made here or looked up before; this is what no mistake elsewhere can get past.
    if (!isFileId(id)) throw new Error("not the id of a file")
    return join(directory, id)
  }
  const store: FileStore = {
    put: (id, bytes) => attempt("write", () => write(pathOf(id), bytes)),
    open: (id, range) =>
      Effect.map(
        Effect.acquireRelease(
          attempt("open", () => openFile(pathOf(id))),
          (handle) => Effect.promise(async () => handle?.close())
        ),
        (handle) => (handle === undefined ? undefined : bodyOf(handle, range))
      ),
    remove: (id) =>
      attempt("remove", async () => {
        await rm(pathOf(id) + PART, { force: true })
        await rm(pathOf(id), { force: true })
      }),
    idsAfter: (id) => attempt("list", () => idsAfter(directory, id))
  }
  return Effect.tryPromise({
    try: () => mkdir(directory, { recursive: true, mode: 0o700 }),
    catch: (error) => new StartError({ message: `${directory} cannot be made: ${codeOf(error) ?? "failed"}` })
  }).pipe(Effect.as(store))
}
