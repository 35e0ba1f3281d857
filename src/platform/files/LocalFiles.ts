/** Stores files in a directory of this machine, one file each, named by their ids. */
import { Effect } from "effect"
import { constants } from "node:fs"
import { type FileHandle, mkdir, open, opendir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { ByteRange, FileBody, FileStore } from "./FileStore.ts"
import { isFileId } from "../Ids.ts"
import { Unavailable } from "../database/Sql.ts"
import { StartError } from "../config/Variables.ts"

/** Bytes per read: a video takes few reads, and a slow reader keeps little in memory. */
const CHUNK_BYTES = 256 * 1024

/** The maximum number of ids per page. Each page reads all names of the directory, because they come in no order. */
const PAGE = 10_000

/** Names read at a time. After each of them, other work gets a turn of the event loop. */
const NAMES = 256

/** The suffix of a file that is being written. The file gets its final name when it is complete. */
const PART = ".part"

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

/** Error messages contain no paths, because an id is enough to read a file. */
const attempt = <A>(what: string, body: () => Promise<A>): Effect.Effect<A, Unavailable> =>
  Effect.tryPromise({
    try: body,
    catch: (error) => new Unavailable({ store: "file store", cause: `${what}: ${codeOf(error) ?? "failed"}` })
  })

/** A directory entry is durable only after the directory itself is synced. */
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

/** Undefined when the file does not exist. Symbolic links are not followed, because they could lead anywhere. */
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
        // A file shorter than its record must fail; otherwise a client would take it for complete.
        return bytesRead === 0
          ? Effect.fail(new Unavailable({ store: "file store", cause: "read: a file is shorter than its record says" }))
          : Effect.succeed(buffer.subarray(0, bytesRead))
      }
    )
  })
}

const firstPage = (ids: ReadonlyArray<string>): Array<string> => [...new Set(ids)].toSorted().slice(0, PAGE)

/** The first ids after this one, of complete files and of leftover parts. Holds at most two pages in memory. */
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
 * The files of this directory, which is created if missing. Several nodes may share it on a shared file system. Fails when it cannot be
 * created.
 */
export const localFiles = (directory: string): Effect.Effect<FileStore, StartError> => {
  const pathOf = (id: string) => {
    // Every id was created by the service or looked up before. This check protects against a mistake elsewhere.
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
    catch: (error) =>
      new StartError({
        message: `DATA_DIR must be writable: ${directory} cannot be created (${codeOf(error) ?? "failed"})`
      })
  }).pipe(Effect.as(store))
}
