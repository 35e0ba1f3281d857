/** Signed requests to a bucket of an S3-compatible store. */
import { AwsV4Signer } from "aws4fetch"
import { Data, Effect, Redacted, Schedule } from "effect"
import { subtle } from "node:crypto"
import type { S3Settings } from "../config/Config.ts"
import { Unavailable } from "../database/Sql.ts"
import type { Outbound } from "../outbound/Outbound.ts"
import type { OutboundError, OutboundRequest, OutboundResponse } from "../outbound/OutboundCall.ts"

/** The limit for one attempt. A large video needs its time on a slow line. */
const CLOCKS = { connectMs: 5_000, totalMs: 300_000 } as const

/** A page has 1,000 keys of about 400 bytes each. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024

/** Three attempts in all. A longer failure is an outage, and the caller is waiting. */
export const retries = Schedule.exponential("100 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 2 }))

/** A response that does not contain the requested data, with its status and the store's error code. */
export class BucketRefusal extends Data.TaggedError("BucketRefusal")<{
  readonly status: number
  readonly code: string
}> {
  override get message() {
    return `the bucket answered ${this.status} ${this.code}`.trim()
  }
}

/** Returns the refusal that a response of the store states. */
export const bucketRefusalOf = (status: number, body: Uint8Array): BucketRefusal =>
  new BucketRefusal({
    status,
    code: /<Code>([A-Za-z0-9._-]{1,64})<\/Code>/.exec(Buffer.from(body).toString())?.[1] ?? ""
  })

/** Why a request to a bucket failed. */
export type Problem = BucketRefusal | OutboundError

/** Whether a retry may succeed. */
export const isTransientProblem = (problem: Problem): boolean =>
  problem._tag === "OutboundError"
    ? problem.reason._tag !== "TooLarge"
    : problem.status >= 500 || problem.status === 429 || problem.code === "RequestTimeout"

/** A missing bucket is a wrong setting, not a missing file. */
export const isMissing = (problem: Problem): boolean =>
  problem._tag === "BucketRefusal" && problem.status === 404 && problem.code !== "NoSuchBucket"

/** Whether the bucket does not exist or the key may not use it. */
export const isDenied = (problem: Problem): boolean =>
  problem._tag === "BucketRefusal" && (problem.status === 403 || problem.code === "NoSuchBucket")

/** The message contains neither the key nor the id, because an id is enough to read a file. */
export const unavailable = (problem: Problem): Unavailable =>
  new Unavailable({ store: "file store", cause: problem.message })

const EMPTY = new Uint8Array()

/** A request to a bucket. */
export interface BucketRequest {
  readonly method: "GET" | "PUT" | "DELETE"
  /** The path after the bucket, starting with a slash. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** The longest body of the response, in bytes; 2 MiB when absent. */
  readonly maxBodyBytes?: number
}

/** Signs requests with AWS Signature Version 4, the body included. */
export const makeSigner = (settings: S3Settings) => {
  const { accessKeyId, bucket, endpoint, pathStyle, region } = settings
  const secretAccessKey = Redacted.value(settings.secretAccessKey)
  const base = pathStyle ? `${endpoint.origin}/${bucket}` : `${endpoint.protocol}//${bucket}.${endpoint.host}`
  // Signing keys per day, derived from the secret key.
  const cache = new Map<string, ArrayBuffer>()
  return ({ body = EMPTY, headers = {}, method, path }: BucketRequest) =>
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

/** Sends a request, signed by `makeSigner`, and again where a failure may pass. It fails unless the store agrees. */
export const makeSender =
  (sign: ReturnType<typeof makeSigner>, outbound: Outbound["Service"]) =>
  (ask: BucketRequest): Effect.Effect<OutboundResponse, Problem> =>
    Effect.suspend(() => sign(ask)).pipe(
      Effect.flatMap((request) =>
        outbound.send({ ...request, clocks: CLOCKS, maxBodyBytes: ask.maxBodyBytes ?? MAX_ANSWER_BYTES })
      ),
      Effect.flatMap((answer) =>
        answer.status >= 200 && answer.status < 300
          ? Effect.succeed(answer)
          : Effect.fail(bucketRefusalOf(answer.status, answer.body))
      ),
      Effect.retry({ schedule: retries, while: isTransientProblem })
    )
