/** The receipts of a day as objects of a bucket: parts of JSON Lines, and a manifest that is written last. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { closeSync, openSync, readSync } from "node:fs"
import type { S3Settings } from "../platform/config/Config.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { isDenied, isMissing, type Problem, makeSender, makeSigner, unavailable } from "../platform/files/S3Bucket.ts"
import type { Outbound } from "../platform/outbound/Outbound.ts"
import { CommandRefused } from "./Output.ts"
import type { Manifest } from "./ReceiptsFile.ts"

/** The largest part, which is held in memory while it is sent. No receipt is as long. */
const PART_BYTES = 16 * 1024 * 1024

const LINE_BREAK = 10

/** A bucket of the settings' store, and what the names of its objects begin with. */
export interface BucketTarget {
  readonly bucket: string
  readonly prefix: string
}

/** Whether the text is a URL of any kind, not the path of a directory. */
export const isUrl = (text: string): boolean => /^(?:s3:|[a-z][a-z0-9+.-]*:\/\/)/i.test(text)

/** Reads `s3://bucket` or `s3://bucket/prefix`. Undefined for every other text. */
export const targetOf = (text: string): BucketTarget | undefined => {
  const [, bucket, path = ""] =
    /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/.exec(text) ?? []
  if (bucket === undefined) return undefined
  const prefix = path === "" || path.endsWith("/") ? path : `${path}/`
  // A URL resolves `..`, so such a prefix would lead out of the bucket.
  const isPlain = prefix
    .split("/")
    .slice(0, -1)
    .every((name) => name !== "" && name !== "." && name !== "..")
  return isPlain ? { bucket, prefix } : undefined
}

/** An object with some of the lines, in order. */
export interface ExportedPart {
  readonly key: string
  readonly bytes: number
  readonly sha256: string
}

/** The manifest in a bucket. Its size and digest are of all parts together. */
export interface BucketManifest extends Omit<Manifest, "file"> {
  readonly parts: ReadonlyArray<ExportedPart>
}

/** Reads the whole lines from a position of a file, a part of them. */
const readPart = (file: number, from: number, partBytes: number): Buffer => {
  const bytes = Buffer.alloc(partBytes)
  const read = readSync(file, bytes, 0, bytes.length, from)
  return bytes.subarray(0, bytes.subarray(0, read).lastIndexOf(LINE_BREAK) + 1)
}

const sha256 = (body: Uint8Array): string => createHash("sha256").update(body).digest("hex")

/** Reads a manifest. Undefined when the text is none. */
const manifestIn = (body: Uint8Array): BucketManifest | undefined => {
  try {
    const read = JSON.parse(Buffer.from(body).toString()) as BucketManifest
    const isWhole =
      [read.day, read.sha256, read.exported_at].every((one) => typeof one === "string") &&
      [read.settled_nano_usd, read.refunded_nano_usd, read.cost_nano_usd].every((one) => /^-?\d+$/.test(one)) &&
      [read.receipts, read.bytes].every(Number.isSafeInteger) &&
      read.parts.every((part) => typeof part.key === "string" && Number.isSafeInteger(part.bytes))
    return isWhole ? read : undefined
  } catch {
    return undefined
  }
}

/** A wrong bucket or key is a mistake of the operator, not an outage. */
const problemOf = (bucket: string) => (problem: Problem | CommandRefused) => {
  if (problem instanceof CommandRefused) return problem
  return isDenied(problem)
    ? new CommandRefused({
        message: `\`--to\` must name a bucket that S3_ACCESS_KEY_ID may read and write; for ${bucket} ${problem.message}`
      })
    : unavailable(problem)
}

/** The objects of a day. */
export const receiptsBucket = (
  settings: S3Settings,
  { bucket, prefix }: BucketTarget,
  day: string,
  outbound: Outbound["Service"],
  partBytes = PART_BYTES
) => {
  const send = makeSender(makeSigner({ ...settings, bucket }), outbound)
  const manifestKey = `${prefix}receipts-${day}.manifest.json`
  const put = (key: string, body: Uint8Array, type: string) =>
    send({ method: "PUT", path: `/${key}`, headers: { "content-type": type }, body })
  /** Returns an object. Undefined when it is missing or longer than a part. */
  const got = (key: string) =>
    send({ method: "GET", path: `/${key}`, maxBodyBytes: PART_BYTES }).pipe(
      Effect.map(({ body }): Uint8Array | undefined => body),
      Effect.catchIf(
        (problem) => isMissing(problem) || (problem._tag === "OutboundError" && problem.reason._tag === "TooLarge"),
        () => Effect.undefined
      )
    )
  /** The digest in the name lets a later run know a part that an earlier one has sent. */
  const sent = Effect.fnUntraced(function* (body: Buffer, number: number) {
    const digest = sha256(body)
    const name = `${String(number).padStart(4, "0")}-${digest.slice(0, 16)}`
    const part: ExportedPart = { key: `${prefix}receipts-${day}.${name}.jsonl`, bytes: body.length, sha256: digest }
    const there = yield* got(part.key)
    if (there === undefined || !body.equals(there)) yield* put(part.key, body, "application/jsonl")
    return part
  })
  return {
    manifestKey,
    /** Returns the manifest of an export that is finished; "changed" when it or one of its parts is missing or differs. */
    finished: Effect.gen(function* () {
      const body = yield* got(manifestKey)
      if (body === undefined) return undefined
      const manifest = manifestIn(body)
      if (manifest === undefined || manifest.day !== day) return "changed" as const
      const whole = createHash("sha256")
      for (const { key, ...part } of manifest.parts) {
        const there = yield* got(key)
        if (there === undefined || there.length !== part.bytes || sha256(there) !== part.sha256)
          return "changed" as const
        whole.update(there)
      }
      return whole.digest("hex") === manifest.sha256 ? manifest : ("changed" as const)
    }).pipe(Effect.mapError(problemOf(bucket))),
    /** Sends the parts of a file that are not there yet, then the manifest. */
    upload: (
      path: string,
      facts: Omit<Manifest, "file">
    ): Effect.Effect<BucketManifest, Unavailable | CommandRefused> =>
      Effect.acquireUseRelease(
        Effect.sync(() => openSync(path, "r")),
        (file) =>
          Effect.gen(function* () {
            const parts: Array<ExportedPart> = []
            const whole = createHash("sha256")
            for (let from = 0; from < facts.bytes;) {
              const body = readPart(file, from, partBytes)
              if (body.length === 0) break
              parts.push(yield* sent(body, parts.length + 1))
              whole.update(body)
              from += body.length
            }
            if (whole.digest("hex") !== facts.sha256)
              return yield* new CommandRefused({ message: `${path} changed during the export. Run it again` })
            const manifest: BucketManifest = { ...facts, parts }
            const text = `${JSON.stringify(manifest, undefined, 2)}\n`
            yield* put(manifestKey, Buffer.from(text), "application/json")
            return manifest
          }),
        (file) => Effect.sync(() => closeSync(file))
      ).pipe(Effect.mapError(problemOf(bucket)))
  }
}
