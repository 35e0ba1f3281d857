import { Clock, Context, Duration, Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { Config } from "./Config.ts"
import { DataDirectory } from "./DataDirectory.ts"
import { type ByteRange, type FileBody, type FileStore, MAX_FILE_BYTES } from "./FileStore.ts"
import { isFileId, newFileId, timeOfFileId } from "./Ids.ts"
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
import { Outbound } from "./Outbound.ts"
import { PublicUrl } from "./PublicUrl.ts"
import { s3Files } from "./S3Files.ts"
import { storeErrors, Unavailable } from "./Sql.ts"

/** A file that is kept, without its bytes. */
export interface StoredFile {
  /** `file_` and 44 hexadecimal characters, 128 bits of which are random. Later files have greater ids. */
  readonly id: string
  readonly accountId: string
  readonly purpose: FilePurpose
  readonly bytes: number
  readonly contentType: string
  readonly name: string | undefined
  readonly createdAt: Date
  readonly expiresAt: Date | undefined
}

/** A file to be kept. */
export interface NewFile {
  /** At most 256 MiB. */
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly accountId: string
  readonly purpose: FilePurpose
  /** What its owner calls it. */
  readonly name?: string | undefined
  /** Absent: never, but for pictures and clips, which are kept for FILE_RETENTION. */
  readonly expiresAt?: Date | undefined
}

/** The database or the place of the bytes is away; the same may succeed later. */
export type MediaError = Unavailable

/**
 * Files that callers get or gave: pictures, clips, inputs and outputs of batches. Their bytes lie in the data directory, or in a
 * bucket of an S3-compatible store. A file that expired, or was removed, is there for nobody from that moment on.
 */
export class Media extends Context.Service<
  Media,
  {
    /** Keeps bytes under a new id that cannot be guessed; durable when it answers. */
    readonly store: (file: NewFile) => Effect.Effect<StoredFile, MediaError>
    /** Keeps a file as `store` does, unless its account would then have more of its purpose than the quota; undefined then. */
    readonly storeWithin: (file: NewFile, quota: FileQuota) => Effect.Effect<StoredFile | undefined, MediaError>
    /** All of a file, whosever it is; undefined when there is none. */
    readonly read: (
      id: string
    ) => Effect.Effect<{ readonly file: StoredFile; readonly bytes: Uint8Array } | undefined, MediaError>
    /** What is known of a file, whosever it is; undefined when there is none. */
    readonly look: (id: string) => Effect.Effect<StoredFile | undefined, MediaError>
    /** Bytes of a file as they are taken, all of them where no range is given; undefined when its bytes are gone. */
    readonly open: (file: StoredFile, range?: ByteRange) => Effect.Effect<FileBody | undefined, MediaError, Scope.Scope>
    /** Undefined when there is none, or it is another account's. */
    readonly find: (accountId: string, id: string) => Effect.Effect<StoredFile | undefined, MediaError>
    /** Removes a file; false when there is none, or it is another account's. */
    readonly remove: (accountId: string, id: string) => Effect.Effect<boolean, MediaError>
    /** Newest first unless told, from behind the cursor, and the cursor of the next page. */
    readonly list: (
      accountId: string,
      page: {
        /** Those of all purposes where it is absent. */
        readonly purposes?: ReadonlyArray<FilePurpose> | undefined
        readonly limit: number
        readonly cursor?: string | undefined
        readonly order?: FileOrder | undefined
      }
    ) => Effect.Effect<{ readonly files: ReadonlyArray<StoredFile>; readonly next: string | null }, MediaError>
    /** The public address of a file: anybody who has it may read a picture or a clip there. */
    readonly urlOf: (id: string) => string
    /**
     * Removes files that have expired, or that were only half stored or half removed when a process died; answers how many it did,
     * at most a hundred. Any number of nodes may be at it.
     */
    readonly sweep: Effect.Effect<number, MediaError>
    /**
     * Removes bytes that no row knows, as a database set back to an earlier state leaves them, once they are older than pictures
     * and clips become; answers how many.
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
      const desk: Desk = { sql, store, retentionMs: Duration.toMillis(files.retention) }
      const look = (id: string) =>
        isFileId(id) ? storeErrors(Effect.map(fileById(sql, id), (row) => row && fileOf(row))) : Effect.undefined
      return Media.of({
        store: (file) => storeErrors(keep(desk, file)),
        storeWithin: (file, quota) => storeErrors(keepWithin(desk, file, quota)),
        read: (id) => Effect.flatMap(look(id), (file) => (file === undefined ? Effect.undefined : whole(desk, file))),
        look,
        open: (file, range = { start: 0, end: file.bytes }) => served.open(file.id, range),
        find: (accountId, id) => Effect.map(look(id), (file) => (file?.accountId === accountId ? file : undefined)),
        remove: (accountId, id) => (isFileId(id) ? remove(desk, accountId, id) : Effect.succeed(false)),
        list: (accountId, { cursor = null, limit, order = "desc", purposes = null }) =>
          storeErrors(
            Effect.map(filesOf(sql, accountId, { purposes, cursor, order, limit: limit + 1 }), (found) => {
              const rows = found.slice(0, limit)
              return { files: rows.map(fileOf), next: found.length > limit ? (rows.at(-1)?.id ?? null) : null }
            })
          ),
        urlOf: (id) => `${publicUrl.base()}${FILES_PATH}/${id}`,
        sweep: Effect.flatMap(storeErrors(hideRemovable(sql, AT_ONCE)), (ids) =>
          Effect.as(drop(desk, ids), ids.length)
        ),
        sweepStrays: sweepStrays(desk)
      })
    })
  )
}

/**
 * Connections to the bucket for readers, who keep theirs for as long as they take: however many there are, and however slow, what is
 * stored and what the service itself reads has others.
 */
const serving = Layer.build(Outbound.layerWith({ connectionsPerOrigin: 256, keepAliveMs: 30_000 }))

/** Below which path of the public address files are. */
export const FILES_PATH = "/files"

/** Few enough that a sweep that is cut off has little to do again. */
const AT_ONCE = 100

/** Bytes younger than this may have a row that is not seen yet, whatever the retention. */
const LEAST_STRAY_AGE_MS = 86_400_000

interface Desk {
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

/** What can stand in a header; a type that nobody would understand is none. */
const contentTypeOf = (said: string): string =>
  /^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/.test(said) ? said : "application/octet-stream"

/** The row of a file that is to be kept. */
const rowOf = ({ retentionMs }: Desk, file: NewFile): Effect.Effect<Omit<FileRow, "created_at">> =>
  Effect.gen(function* () {
    const { accountId, bytes, name = null, purpose } = file
    if (bytes.length > MAX_FILE_BYTES) return yield* Effect.die(new Error(`a file of ${bytes.length} bytes`))
    const kept = purpose === "image" || purpose === "video" ? retentionMs : undefined
    const now = yield* Clock.currentTimeMillis
    return {
      id: newFileId(),
      account_id: accountId,
      purpose,
      content_type: contentTypeOf(file.contentType),
      name,
      bytes: BigInt(bytes.length),
      expires_at: file.expiresAt ?? (kept === undefined ? null : new Date(now + kept))
    }
  })

/** Puts the bytes of a file whose row is there, and shows it. */
const put = ({ sql, store }: Desk, { content_type, id }: Pick<FileRow, "content_type" | "id">, bytes: Uint8Array) =>
  Effect.gen(function* () {
    // Callers try again and again while the store is away; what that leaves takes no room.
    yield* Effect.onError(store.put(id, bytes, content_type), () => Effect.ignore(hideUnstored(sql, id)))
    const row = yield* showFile(sql, id)
    if (row !== undefined) return fileOf(row)
    yield* store.remove(id)
    return yield* new Unavailable({ store: "file store", cause: "a file took so long to store that it was given up" })
  })

const keep = (desk: Desk, file: NewFile) =>
  Effect.gen(function* () {
    const row = yield* rowOf(desk, file)
    yield* insertFile(desk.sql, row)
    return yield* put(desk, row, file.bytes)
  })

const keepWithin = (desk: Desk, file: NewFile, quota: FileQuota) =>
  Effect.gen(function* () {
    const row = yield* rowOf(desk, file)
    return (yield* insertFileWithin(desk.sql, row, quota)) ? yield* put(desk, row, file.bytes) : undefined
  })

const whole = ({ store }: Desk, file: StoredFile) =>
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

/** The bytes of hidden files, then the rows of those whose bytes are gone. One that cannot be removed keeps none of the others. */
const drop = ({ sql, store }: Desk, ids: ReadonlyArray<string>): Effect.Effect<void, MediaError> =>
  Effect.gen(function* () {
    const [gone, kept] = yield* Effect.partition(ids, (id) => Effect.as(store.remove(id), id), { concurrency: 4 })
    yield* storeErrors(forgetFiles(sql, gone))
    if (kept[0] !== undefined) return yield* kept[0]
  })

const remove = (desk: Desk, accountId: string, id: string) =>
  Effect.gen(function* () {
    if (!(yield* storeErrors(hideFile(desk.sql, accountId, id)))) return false
    // It is gone for all who read; what cannot be done about its bytes now, a sweep does.
    yield* Effect.catchTag(drop(desk, [id]), "Unavailable", (error) =>
      Effect.logWarning(`a removed file's bytes are left to the sweep: ${error.message}`)
    )
    return true
  })

const sweepStrays = ({ retentionMs, sql, store }: Desk) =>
  Effect.gen(function* () {
    const youngest = (yield* Clock.currentTimeMillis) - Math.max(retentionMs, LEAST_STRAY_AGE_MS)
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
