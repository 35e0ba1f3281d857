/** Stores files in a bucket of an S3-compatible store, one object each, under `files/`. */
import { AwsV4Signer } from "aws4fetch"
import { Data, Effect, Redacted, Schedule } from "effect"
import { subtle } from "node:crypto"
import type { S3Settings } from "../config/Config.ts"
import type { ByteRange, FileBody, FileStore } from "./FileStore.ts"
import { isFileId } from "../Ids.ts"
import type { Outbound } from "../outbound/Outbound.ts"
import {
  headerOf,
  type OutboundError,
  type OutboundRequest,
  type OutboundResponse,
  readUpTo
} from "../outbound/OutboundCall.ts"
import { Unavailable } from "../database/Sql.ts"

const PREFIX = "files/"

/** The limit for one attempt. A large video needs its time on a slow line. */
const CLOCKS = { connectMs: 5_000, totalMs: 300_000 } as const

/** The limits for a download that follows the pace of its reader, which may be slow. */
const READ_CLOCKS = { connectMs: 5_000, firstMs: 30_000, idleMs: 30_000 } as const

/** A page has 1,000 keys of about 400 bytes each. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024

/** Enough of an error body to contain its code. */
const MAX_ERROR_BYTES = 16 * 1024

/** Three attempts in all. A longer failure is an outage, and the caller is waiting. */
const retries = Schedule.exponential("100 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 2 }))

/** A response that does not contain the requested data, with its status and the store's error code. */
class Refused extends Data.TaggedError("Refused")<{ readonly status: number; readonly code: string }> {
  override get message() {
    return `the bucket answered ${this.status} ${this.code}`.trim()
  }
}

const refused = (status: number, body: Uint8Array): Refused =>
  new Refused({ status, code: /<Code>([A-Za-z0-9._-]{1,64})<\/Code>/.exec(Buffer.from(body).toString())?.[1] ?? "" })

type Problem = Refused | OutboundError

const isPassing = (problem: Problem): boolean =>
  problem._tag === "OutboundError"
    ? problem.reason._tag !== "TooLarge"
    : problem.status >= 500 || problem.status === 429 || problem.code === "RequestTimeout"

/** A missing bucket is a wrong setting, not a missing file. */
const isMissing = (problem: Problem): boolean =>
  problem._tag === "Refused" && problem.status === 404 && problem.code !== "NoSuchBucket"

/** The message contains neither the key nor the id, because an id is enough to read a file. */
const unavailable = (problem: Problem): Unavailable => new Unavailable({ store: "file store", cause: problem.message })

const EMPTY = new Uint8Array()

interface Ask {
  readonly method: "GET" | "PUT" | "DELETE"
  /** The path after the bucket, starting with a slash. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** Signs requests with AWS Signature Version 4, the body included. */
const signing = (settings: S3Settings) => {
  const { accessKeyId, bucket, endpoint, pathStyle, region } = settings
  const secretAccessKey = Redacted.value(settings.secretAccessKey)
  const base = pathStyle ? `${endpoint.origin}/${bucket}` : `${endpoint.protocol}//${bucket}.${endpoint.host}`
  // Signing keys per day, derived from the secret key.
  const cache = new Map<string, ArrayBuffer>()
  return ({ body = EMPTY, headers = {}, method, path }: Ask) =>
    Effect.promise(async (): Promise<Omit<OutboundRequest, "clocks">> => {
      const hash = Buffer.from(await subtle.digest("SHA-256", body as Uint8Array<ArrayBuffer>)).toString("hex")
      const signer = new AwsV4Signer({
        method,
        url: base + path,
        service: "s3",
        region,
        accessKeyId,
        secretAccessKey,
        cache,
        headers: { ...headers, "x-amz-content-sha256": hash }
      })
      const signed = await signer.sign()
      return {
        method,
        origin: signed.url.origin,
        path: signed.url.pathname + signed.url.search,
        headers: Object.fromEntries(signed.headers),
        body: method === "PUT" ? body : undefined
      }
    })
}

/** Whether a success response contains exactly the requested bytes. */
const isWhole = ({ headers, status }: Pick<OutboundResponse, "headers" | "status">, range: ByteRange, part: boolean) =>
  headerOf(headers, "content-length") === String(range.end - range.start) &&
  (!part || (status === 206 && headerOf(headers, "content-range")?.startsWith(`bytes ${range.start}-`) === true))

/** The files of this bucket. Any number of nodes may share it. */
export const s3Files = (settings: S3Settings, outbound: Outbound["Service"]): FileStore => {
  const sign = signing(settings)

  const send = (ask: Ask): Effect.Effect<OutboundResponse, Problem> =>
    Effect.suspend(() => sign(ask)).pipe(
      Effect.flatMap((request) => outbound.send({ ...request, clocks: CLOCKS, maxBodyBytes: MAX_ANSWER_BYTES })),
      Effect.flatMap((answer) =>
        answer.status >= 200 && answer.status < 300
          ? Effect.succeed(answer)
          : Effect.fail(refused(answer.status, answer.body))
      ),
      Effect.retry({ schedule: retries, while: isPassing })
    )

  const open = (id: string, range: ByteRange) =>
    Effect.gen(function* () {
      // An empty file has no last byte to name in a range.
      const part = range.end > range.start
      const headers = part ? { range: `bytes=${range.start}-${range.end - 1}` } : {}
      const request = yield* sign({ method: "GET", path: pathOf(id), headers })
      const stream = yield* outbound.open({ ...request, clocks: READ_CLOCKS })
      stream.started()
      if (stream.status < 200 || stream.status > 299) {
        return yield* refused(stream.status, yield* readUpTo(stream, MAX_ERROR_BYTES))
      }
      if (!isWhole(stream, range, part)) return yield* new Refused({ status: stream.status, code: "with other bytes" })
      return Effect.mapError(stream.read, unavailable) satisfies FileBody
    }).pipe(
      Effect.retry({ schedule: retries, while: isPassing }),
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
