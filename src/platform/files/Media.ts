import { Clock, Context, Duration, Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { Config } from "../config/Config.ts"
import { DataDirectory } from "../database/DataDirectory.ts"
import { type ByteRange, type FileBody, type FileStore, MAX_FILE_BYTES } from "./FileStore.ts"
import { isFileId, newFileId, timeOfFileId } from "../Ids.ts"
import { localFiles } from "./LocalFiles.ts"
import {
  fileById,
  type FileOrder,
  type FilePurpose,
  type FileQuota,
  type FileRow,
  filesOf,
  forgetFiles,
  hideFile,
  hideRemovable,
  hideUnstored,
  insertFile,
  insertFileWithin,
  showFile,
  unknownFiles
} from "./MediaSql.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { PublicUrl } from "../outbound/PublicUrl.ts"
import { s3Files } from "./S3Files.ts"
import { readPage } from "../database/Page.ts"
import { storeErrors, Unavailable } from "../database/Sql.ts"

/** The record of a stored file, without its bytes. */
export interface StoredFile {
  /** `file_` and 44 hexadecimal characters, of which 128 bits are random. Later files have greater ids. */
  readonly id: string
  readonly accountId: string
  readonly purpose: FilePurpose
  readonly bytes: number
  readonly contentType: string
  readonly name: string | undefined
  readonly createdAt: Date
  readonly expiresAt: Date | undefined
}

/** A file to store. */
export interface NewFile {
  /** At most 256 MiB. */
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly accountId: string
  readonly purpose: FilePurpose
  /** The file name that the owner chose. */
  readonly name?: string | undefined
  /** Absent: the file never expires, except images and videos, which expire after FILE_RETENTION. */
  readonly expiresAt?: Date | undefined
}

/** The database or the file store is unavailable; a retry may succeed later. */
export type MediaError = Unavailable

/**
 * Files that clients download or upload: images, videos, and inputs and outputs of batches. Their bytes are in the data directory, or
 * in a bucket of an S3-compatible store. A file that has expired or was removed is gone for every reader from that moment on.
 */
export class Media extends Context.Service<
  Media,
  {
    /** Stores bytes under a new, unguessable id. Returns when they are durable. */
    readonly store: (file: NewFile) => Effect.Effect<StoredFile, MediaError>
    /** Stores a file like `store`. Returns undefined when the account would exceed the quota for files of this purpose. */
    readonly storeWithin: (file: NewFile, quota: FileQuota) => Effect.Effect<StoredFile | undefined, MediaError>
    /** A file with its bytes, regardless of its owner; undefined when it does not exist. */
    readonly read: (
      id: string
    ) => Effect.Effect<{ readonly file: StoredFile; readonly bytes: Uint8Array } | undefined, MediaError>
    /** The record of a file, regardless of its owner; undefined when it does not exist. */
    readonly look: (id: string) => Effect.Effect<StoredFile | undefined, MediaError>
    /** Streams the bytes of a file as the reader takes them: the given range, or all. Undefined when the bytes are gone. */
    readonly open: (file: StoredFile, range?: ByteRange) => Effect.Effect<FileBody | undefined, MediaError, Scope.Scope>
    /** Undefined when the file does not exist or belongs to another account. */
    readonly find: (accountId: string, id: string) => Effect.Effect<StoredFile | undefined, MediaError>
    /** Removes a file. Returns false when it does not exist or belongs to another account. */
    readonly remove: (accountId: string, id: string) => Effect.Effect<boolean, MediaError>
    /** One page of files after the cursor, newest first by default, and the cursor of the next page. */
    readonly list: (
      accountId: string,
      page: {
        /** Absent: files of all purposes. */
        readonly purposes?: ReadonlyArray<FilePurpose> | undefined
        readonly limit: number
        readonly cursor?: string | undefined
        readonly order?: FileOrder | undefined
      }
    ) => Effect.Effect<{ readonly files: ReadonlyArray<StoredFile>; readonly next: string | null }, MediaError>
    /** The public URL of a file. Any client that has it may read an image or a video there. */
    readonly urlOf: (id: string) => string
    /**
     * Removes files that have expired, and files that a dead process stored or removed only in part. Returns how many it removed, at
     * most 100. Any number of nodes may run it at once.
     */
    readonly sweep: Effect.Effect<number, MediaError>
    /**
     * Removes bytes that have no row, which a restored database backup leaves behind, once they are older than the retention. Returns
     * how many it removed.
     */
    readonly sweepStrays: Effect.Effect<number, MediaError>
  }
>()("tollgate/platform/Media") {
  static readonly layer = Layer.effect(
    Media,
    Effect.gen(function* () {
      const { files } = yield* Config
      const sql = yield* SqlClient.SqlClient
      const publicUrl = yield* PublicUrl
      const outbound = yield* Outbound
      const directory = join((yield* DataDirectory).path, "files")
      const store = files.s3 === undefined ? yield* localFiles(directory) : s3Files(files.s3, outbound)
      const served = files.s3 === undefined ? store : s3Files(files.s3, Context.get(yield* serving, Outbound))
      const deps: Deps = { sql, store, retentionMs: Duration.toMillis(files.retention) }
      const look = (id: string) =>
        isFileId(id) ? storeErrors(Effect.map(fileById(sql, id), (row) => row && fileOf(row))) : Effect.undefined
      return Media.of({
        store: (file) => storeErrors(keep(deps, file)),
        storeWithin: (file, quota) => storeErrors(keepWithin(deps, file, quota)),
        read: (id) => Effect.flatMap(look(id), (file) => (file === undefined ? Effect.undefined : whole(deps, file))),
        look,
        open: (file, range = { start: 0, end: file.bytes }) => served.open(file.id, range),
        find: (accountId, id) => Effect.map(look(id), (file) => (file?.accountId === accountId ? file : undefined)),
        remove: (accountId, id) => (isFileId(id) ? remove(deps, accountId, id) : Effect.succeed(false)),
        list: (accountId, { cursor = null, limit, order = "desc", purposes = null }) =>
          storeErrors(
            Effect.map(
              readPage({ purposes, cursor, order, limit }, (page) => filesOf(sql, accountId, page)),
              ({ next, rows }) => ({ files: rows.map(fileOf), next })
            )
          ),
        urlOf: (id) => `${publicUrl.base()}${FILES_PATH}/${id}`,
        sweep: Effect.flatMap(storeErrors(hideRemovable(sql, AT_ONCE)), (ids) =>
          Effect.as(drop(deps, ids), ids.length)
        ),
        sweepStrays: sweepStrays(deps)
      })
    })
  )
}

/**
 * A separate connection pool for readers, which keep a connection for as long as they take. However many and slow they are, uploads and
 * internal reads keep their own connections.
 */
const serving = Layer.build(Outbound.layerWith({ connectionsPerOrigin: 256, keepAliveMs: 30_000 }))

/** The path under which the public URL serves files. */
export const FILES_PATH = "/files"

/** Few enough that an interrupted sweep has little to repeat. */
const AT_ONCE = 100

/** Bytes younger than this may have a row that is not visible yet, whatever the retention. */
const MIN_STRAY_AGE_MS = 86_400_000

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly store: FileStore
  readonly retentionMs: number
}

const fileOf = (row: FileRow): StoredFile => ({
  id: row.id,
  accountId: row.account_id,
  purpose: row.purpose,
  bytes: Number(row.bytes),
  contentType: row.content_type,
  name: row.name ?? undefined,
  createdAt: row.created_at,
  expiresAt: row.expires_at ?? undefined
})

/** The content type for the header. An invalid type becomes the generic one. */
const contentTypeOf = (declared: string): string =>
  /^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/.test(declared) ? declared : "application/octet-stream"

/** The row of a new file. */
const rowOf = ({ retentionMs }: Deps, file: NewFile): Effect.Effect<Omit<FileRow, "created_at">> =>
  Effect.gen(function* () {
    const { accountId, bytes, name = null, purpose } = file
    if (bytes.length > MAX_FILE_BYTES) return yield* Effect.die(new Error(`a file of ${bytes.length} bytes`))
    const lifeMs = purpose === "image" || purpose === "video" ? retentionMs : undefined
    const now = yield* Clock.currentTimeMillis
    return {
      id: newFileId(),
      account_id: accountId,
      purpose,
      content_type: contentTypeOf(file.contentType),
      name,
      bytes: BigInt(bytes.length),
      expires_at: file.expiresAt ?? (lifeMs === undefined ? null : new Date(now + lifeMs))
    }
  })

/** Stores the bytes of a file with an existing row, and makes the file visible. */
const put = ({ sql, store }: Deps, { content_type, id }: Pick<FileRow, "content_type" | "id">, bytes: Uint8Array) =>
  Effect.gen(function* () {
    // Clients retry while the store is down, so a failed attempt must not take up quota.
    yield* Effect.onError(store.put(id, bytes, content_type), () => Effect.ignore(hideUnstored(sql, id)))
    const row = yield* showFile(sql, id)
    if (row !== undefined) return fileOf(row)
    yield* store.remove(id)
    return yield* new Unavailable({ store: "file store", cause: "storing a file took too long" })
  })

const keep = (deps: Deps, file: NewFile) =>
  Effect.gen(function* () {
    const row = yield* rowOf(deps, file)
    yield* insertFile(deps.sql, row)
    return yield* put(deps, row, file.bytes)
  })

const keepWithin = (deps: Deps, file: NewFile, quota: FileQuota) =>
  Effect.gen(function* () {
    const row = yield* rowOf(deps, file)
    return (yield* insertFileWithin(deps.sql, row, quota)) ? yield* put(deps, row, file.bytes) : undefined
  })

const whole = ({ store }: Deps, file: StoredFile) =>
  Effect.scoped(
    Effect.gen(function* () {
      const body = yield* store.open(file.id, { start: 0, end: file.bytes })
      if (body === undefined) return undefined
      const bytes = Buffer.allocUnsafeSlow(file.bytes)
      let length = 0
      for (let chunk = yield* body; chunk !== undefined; chunk = yield* body) {
        bytes.set(chunk, length)
        length += chunk.length
      }
      return { file, bytes: new Uint8Array(bytes.buffer, 0, length) }
    })
  )

/** Removes the bytes of hidden files, then the rows without bytes. One failure does not stop the other removals. */
const drop = ({ sql, store }: Deps, ids: ReadonlyArray<string>): Effect.Effect<void, MediaError> =>
  Effect.gen(function* () {
    const [removed, errors] = yield* Effect.partition(ids, (id) => Effect.as(store.remove(id), id), { concurrency: 4 })
    yield* storeErrors(forgetFiles(sql, removed))
    if (errors[0] !== undefined) return yield* errors[0]
  })

const remove = (deps: Deps, accountId: string, id: string) =>
  Effect.gen(function* () {
    if (!(yield* storeErrors(hideFile(deps.sql, accountId, id)))) return false
    // The file is gone for every reader. If its bytes cannot be removed now, a sweep removes them later.
    yield* Effect.catchTag(drop(deps, [id]), "Unavailable", (error) =>
      Effect.logWarning(`could not delete the bytes of a removed file; the sweep retries: ${error.message}`)
    )
    return true
  })

const sweepStrays = ({ retentionMs, sql, store }: Deps) =>
  Effect.gen(function* () {
    const youngest = (yield* Clock.currentTimeMillis) - Math.max(retentionMs, MIN_STRAY_AGE_MS)
    let [after, removed] = ["", 0]
    while (true) {
      const ids = (yield* store.idsAfter(after)).filter((id) => timeOfFileId(id) < youngest)
      const last = ids.at(-1)
      if (last === undefined) return removed
      after = last
      const strays = yield* storeErrors(unknownFiles(sql, ids))
      yield* Effect.forEach(strays, (id) => store.remove(id), { concurrency: 4, discard: true })
      removed += strays.length
    }
  })
