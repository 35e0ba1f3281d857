/** Stores files in a bucket of an S3-compatible store, one object each, under `files/`. */
import { Effect } from "effect"
import type { S3Settings } from "../config/Config.ts"
import type { ByteRange, FileBody, FileStore } from "./FileStore.ts"
import { isFileId } from "../Ids.ts"
import type { Outbound } from "../outbound/Outbound.ts"
import { headerOf, type OutboundResponse, readUpTo } from "../outbound/OutboundCall.ts"
import {
  isMissing,
  isTransientProblem,
  BucketRefusal,
  bucketRefusalOf,
  retries,
  makeSender,
  makeSigner,
  unavailable
} from "./S3Bucket.ts"

const PREFIX = "files/"

/** The limits for a download that follows the pace of its reader, which may be slow. */
const READ_CLOCKS = { connectMs: 5_000, firstMs: 30_000, idleMs: 30_000 } as const

/** Enough of an error body to contain its code. */
const MAX_ERROR_BYTES = 16 * 1024

/** Whether a success response contains exactly the requested bytes. */
const isWhole = ({ headers, status }: Pick<OutboundResponse, "headers" | "status">, range: ByteRange, part: boolean) =>
  headerOf(headers, "content-length") === String(range.end - range.start) &&
  (!part || (status === 206 && headerOf(headers, "content-range")?.startsWith(`bytes ${range.start}-`) === true))

/** The files of this bucket. Any number of nodes may share it. */
export const s3Files = (settings: S3Settings, outbound: Outbound["Service"]): FileStore => {
  const sign = makeSigner(settings)

  const send = makeSender(sign, outbound)

  const open = (id: string, range: ByteRange) =>
    Effect.gen(function* () {
      // An empty file has no last byte to name in a range.
      const part = range.end > range.start
      const headers = part ? { range: `bytes=${range.start}-${range.end - 1}` } : {}
      const request = yield* sign({ method: "GET", path: pathOf(id), headers })
      const stream = yield* outbound.open({ ...request, clocks: READ_CLOCKS })
      stream.started()
      if (stream.status < 200 || stream.status > 299) {
        return yield* bucketRefusalOf(stream.status, yield* readUpTo(stream, MAX_ERROR_BYTES))
      }
      if (!isWhole(stream, range, part))
        return yield* new BucketRefusal({ status: stream.status, code: "with other bytes" })
      return Effect.mapError(stream.read, unavailable) satisfies FileBody
    }).pipe(
      Effect.retry({ schedule: retries, while: isTransientProblem }),
      Effect.catchIf(isMissing, () => Effect.undefined),
      Effect.mapError(unavailable)
    )

  return {
    put: (id, bytes, contentType) =>
      send({ method: "PUT", path: pathOf(id), headers: { "content-type": contentType }, body: bytes }).pipe(
        Effect.mapError(unavailable),
        Effect.asVoid
      ),
    open,
    remove: (id) =>
      send({ method: "DELETE", path: pathOf(id) }).pipe(
        Effect.catchIf(isMissing, () => Effect.void),
        Effect.mapError(unavailable),
        Effect.asVoid
      ),
    idsAfter: (id) =>
      send({ method: "GET", path: `/?${listing(id)}` }).pipe(
        Effect.mapError(unavailable),
        Effect.map(({ body }) =>
          [
            ...Buffer.from(body)
              .toString()
              .matchAll(/<Key>([^<]*)<\/Key>/g)
          ]
            .map(([, key = ""]) => key.slice(PREFIX.length))
            .filter(isFileId)
        )
      )
  }
}

const pathOf = (id: string): string => {
  // Every id was created by the service or looked up before. This check protects against a mistake elsewhere.
  if (!isFileId(id)) throw new Error("not the id of a file")
  return `/${PREFIX}${id}`
}

/** Keys are listed in byte order, which for ids is the order of time. */
const listing = (after: string): string =>
  new URLSearchParams({
    "list-type": "2",
    prefix: `${PREFIX}file_`,
    "start-after": PREFIX + after
  }).toString()
