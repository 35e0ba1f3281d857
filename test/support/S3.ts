/**
 * A fake of S3 on loopback that accepts only requests with a correct signature. It derives the signatures from the specification of
 * Signature Version 4.
 */
import { Effect } from "effect"
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { upstream } from "../providers/upstream.ts"

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex")

const hmac = (key: string | Uint8Array, data: string): Buffer => createHmac("sha256", key).update(data).digest()

/** Every byte but letters, digits, `-`, `.`, `_` and `~` as its hexadecimal escape. */
const escaped = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => {
      const letter = String.fromCharCode(byte)
      return /[A-Za-z0-9._~-]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
    })
    .join("")

/** The parts of a request that its signature covers. */
interface Signable {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly signedHeaders: ReadonlyArray<string>
  readonly payloadHash: string
  readonly region: string
  readonly secret: string
}

/** The signature of a request to S3 by Signature Version 4, as hexadecimal. */
export const signatureOf = (request: Signable): string => {
  const [path = "", query = ""] = request.target.split("?", 2)
  const pairs = query === "" ? [] : query.split("&").map((pair) => pair.split("=", 2))
  const canonicalQuery = pairs
    .map(([name = "", value = ""]) => [escaped(decodeURIComponent(name)), escaped(decodeURIComponent(value))] as const)
    .toSorted(([a, x], [b, y]) => Buffer.compare(Buffer.from(`${a}=${x}`), Buffer.from(`${b}=${y}`)))
    .map((pair) => pair.join("="))
    .join("&")
  const signed = request.signedHeaders.toSorted()
  const canonical = [
    request.method,
    path
      .split("/")
      .map((part) => escaped(decodeURIComponent(part)))
      .join("/"),
    canonicalQuery,
    ...signed.map((name) => `${name}:${(request.headers[name] ?? "").trim().replaceAll(/ +/g, " ")}`),
    "",
    signed.join(";"),
    request.payloadHash
  ].join("\n")
  const time = request.headers["x-amz-date"] ?? ""
  const day = time.slice(0, 8)
  const scope = `${day}/${request.region}/s3/aws4_request`
  const toSign = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")
  const key = ["s3", "aws4_request"].reduce(hmac, hmac(hmac(`AWS4${request.secret}`, day), request.region))
  return hmac(key, toSign).toString("hex")
}

/** A bucket and the credentials for it. */
export interface Bucket {
  readonly name: string
  readonly region: string
  readonly accessKeyId: string
  readonly secret: string
}

/** The bucket of the tests. */
export const bucket: Bucket = {
  name: "media-test",
  region: "eu-central-1",
  accessKeyId: "AKIDTEST",
  secret: "a/secret+of=the-tests"
}

/** S3's code for the fault of a request; undefined for a correct signature. */
const refusal = (request: IncomingMessage, body: Uint8Array, { accessKeyId, region, secret }: Bucket) => {
  const { authorization = "" } = request.headers
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/
  const [, id, day, where, names = "", signature = ""] = form.exec(authorization) ?? []
  if (id === undefined) return "AccessDenied"
  if (id !== accessKeyId) return "InvalidAccessKeyId"
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const payloadHash = headers["x-amz-content-sha256"] ?? ""
  const signedHeaders = names.split(";")
  const needed = Object.keys(headers).filter((name) => name === "host" || name.startsWith("x-amz-"))
  if (where !== region || !needed.every((name) => signedHeaders.includes(name))) return "AuthorizationHeaderMalformed"
  if (headers["x-amz-date"]?.slice(0, 8) !== day) return "AccessDenied"
  if (payloadHash !== sha256(body)) return "XAmzContentSHA256Mismatch"
  const { method = "", url: target = "" } = request
  const right = signatureOf({ method, target, headers, signedHeaders, payloadHash, region, secret })
  return timingSafeEqual(Buffer.from(right), Buffer.from(signature)) ? undefined : "SignatureDoesNotMatch"
}

interface Kept {
  readonly bytes: Uint8Array
  readonly contentType: string
}

const say = (response: ServerResponse, status: number, code: string) => {
  response.writeHead(status, { "content-type": "application/xml" })
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`)
}

const give = (response: ServerResponse, { bytes, contentType }: Kept, range: string | undefined) => {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? []
  if (from === undefined) {
    response.writeHead(200, { "content-type": contentType, "content-length": bytes.length })
    return response.end(bytes)
  }
  const [start, end] = [Number(from), Math.min(Number(to) + 1, bytes.length)]
  if (start >= bytes.length) return say(response, 416, "InvalidRange")
  response.writeHead(206, {
    "content-type": contentType,
    "content-length": end - start,
    "content-range": `bytes ${start}-${end - 1}/${bytes.length}`
  })
  return response.end(bytes.subarray(start, end))
}

const list = (response: ServerResponse, objects: ReadonlyMap<string, Kept>, query: URLSearchParams) => {
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(query.get("prefix") ?? "") && key > (query.get("start-after") ?? ""))
    .toSorted()
    .slice(0, Number(query.get("max-keys") ?? 1_000))
  response.writeHead(200, { "content-type": "application/xml" })
  const entries = keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join("")
  response.end(`<?xml version="1.0"?><ListBucketResult><Name>b</Name>${entries}</ListBucketResult>`)
}

/**
 * What befalls a request: an error status, a dropped connection, no answer, or an answer that breaks off after half of the object. `pass`
 * leaves the request alone.
 */
export type Fault = number | "drop" | "hang" | "truncate" | "pass"

/** Starts a store with the bucket of the tests and others with these names. `faults` befall the next requests, one each. */
export const startS3With = Effect.fnUntraced(function* (others: ReadonlyArray<string>) {
  const objects = new Map<string, Kept>()
  const buckets = new Map([[bucket.name, objects], ...others.map((name) => [name, new Map<string, Kept>()] as const)])
  const seen: Array<string> = []
  const faults: Array<Fault> = []
  let answering = 0

  const carryOut = (request: IncomingMessage, response: ServerResponse, body: Uint8Array) => {
    const url = new URL(request.url ?? "/", "http://host")
    const virtual = [...buckets.keys()].find((name) => request.headers.host?.startsWith(`${name}.`))
    const path = decodeURIComponent(url.pathname)
    const name = virtual ?? path.split("/")[1] ?? ""
    const objects = buckets.get(name)
    if (objects === undefined) return say(response, 404, "NoSuchBucket")
    const key = path.slice(virtual === undefined ? name.length + 2 : 1)
    const kept = objects.get(key)
    if (request.method === "PUT") {
      objects.set(key, { bytes: body, contentType: request.headers["content-type"] ?? "" })
      return response.writeHead(200).end()
    }
    if (request.method === "DELETE") {
      objects.delete(key)
      return response.writeHead(204).end()
    }
    if (key === "" && url.searchParams.get("list-type") === "2") return list(response, objects, url.searchParams)
    return kept === undefined ? say(response, 404, "NoSuchKey") : give(response, kept, request.headers.range)
  }

  const { origin } = yield* upstream((request, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      answering += 1
      response.once("close", () => (answering -= 1))
      seen.push(`${request.method} ${request.headers.host?.split(":")[0]} ${request.url}`)
      const body = Buffer.concat(pieces)
      const fault = faults.shift()
      if (fault === "hang") return
      if (fault === "drop") return void request.socket.destroy()
      if (typeof fault === "number") return say(response, fault, fault === 503 ? "SlowDown" : "InternalError")
      const refused = refusal(request, body, bucket)
      if (refused !== undefined) return say(response, 403, refused)
      if (fault !== "truncate") return void carryOut(request, response, body)
      const { bytes } = objects.get(decodeURIComponent(request.url ?? "").slice(bucket.name.length + 2))!
      response.writeHead(206, {
        "content-length": bytes.length,
        "content-range": `bytes 0-${bytes.length - 1}/${bytes.length}`
      })
      response.write(bytes.subarray(0, bytes.length >> 1), () => request.socket.destroy())
    })
  })
  return {
    origin,
    objects,
    /** The objects of a bucket. */
    objectsOf: (name: string): Map<string, Kept> => buckets.get(name) ?? new Map(),
    seen,
    faults,
    /** The number of responses that have neither been sent in full nor broken off. */
    answering: () => answering
  }
})

/** Starts a store with the bucket of the tests alone. */
export const startS3 = startS3With([])
