/** Serves images and videos to any client that has their URL. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import { failure, storeFailure } from "../../domain/Failure.ts"
import { Config } from "../../platform/config/Config.ts"
import type { ByteRange, FileBody } from "../../platform/files/FileStore.ts"
import { Media, type StoredFile } from "../../platform/files/Media.ts"
import { subjectOf } from "../../ratelimit/Limits.ts"
import { RateLimiter } from "../../ratelimit/RateLimiter.ts"
import { makeRefuse } from "../edge/Edge.ts"
import { FILE_ROUTE } from "../edge/KnownPaths.ts"
import { Exchange } from "../edge/Exchange.ts"
import { endSlow, type Pace } from "../edge/StalledClients.ts"

/** A file never changes, and its id is never reused. */
const tagOf = ({ id }: StoredFile): string => `"${id}"`

/** Whether a list of entity tags, strong or weak, contains this one. */
const names = (list: string | undefined, tag: string): boolean =>
  list !== undefined && list.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === tag)

/**
 * The range that a `Range` header asks for (RFC 9110, section 14). `all`: no range, or a form that may be ignored, such as several
 * ranges. `none`: the file has no such bytes.
 */
export const rangeOf = (header: string | undefined, size: number): ByteRange | "all" | "none" => {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? "") ?? []
  if (from === undefined || to === undefined || (from === "" && to === "")) return "all"
  if (from === "") {
    const length = Math.min(Number(to), size)
    return length === 0 ? "none" : { start: size - length, end: size }
  }
  const [start, last] = [Number(from), to === "" ? size - 1 : Number(to)]
  if (to !== "" && last < start) return "all"
  return start >= size ? "none" : { start, end: Math.min(last + 1, size) }
}

const extensions: Readonly<Record<string, string>> = {
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/webp": ".webp",
  "image/gif": ".gif",
  "image/svg+xml": ".svg",
  "video/mp4": ".mp4",
  "video/webm": ".webm"
}

/** Browsers show the file in place. If it is saved, it gets the name that its owner chose, in both spellings of RFC 6266. */
export const dispositionOf = ({
  contentType,
  id,
  name = `${id}${extensions[contentType] ?? ""}`
}: StoredFile): string => {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_")
  const extended = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`
  )
  return `inline; filename="${plain}"${plain === name ? "" : `; filename*=UTF-8''${extended}`}`
}

/** Headers that keep a foreign file from being treated as a page of this service, or from running scripts. */
const guard = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox",
  "cross-origin-resource-policy": "cross-origin"
}

/** A client that has cached a file never needs to revalidate it. */
const cacheOf = (file: StoredFile) => ({
  etag: tagOf(file),
  "cache-control": "public, max-age=31536000, immutable"
})

/** A file as a stream: reading waits until the client has taken what was read before. */
export const streamOf = (body: FileBody) =>
  Stream.unfold(undefined, () => Effect.map(body, (bytes) => (bytes === undefined ? undefined : [bytes, undefined])))

/** Less than a phone with a weak signal achieves. Every reader may occupy a connection to the bucket. */
export const PACE: Pace = { bytesPerSecond: 16 * 1024, graceMs: 60_000, checkMs: 5_000 }

/** Ends the connection of a client that takes the current response more slowly than this. */
const paced = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  endSlow(NodeHttpServerRequest.toServerResponse(request) as ServerResponse, PACE)
)

/** Counts a request against its client's address. Fails when it exceeds the limit. */
const makeCount = Effect.gen(function* () {
  const { rateLimitScale } = yield* Config
  const limiter = yield* RateLimiter
  return (exchange: Exchange) =>
    Effect.flatMap(
      limiter.consume("files", subjectOf("files", undefined, exchange.address()), rateLimitScale),
      (verdict) => {
        exchange.verdict = verdict
        if (verdict.admitted) return Effect.void
        const { limit, retryAfterSeconds = verdict.resetSeconds } = verdict
        return Effect.fail(failure({ _tag: "RateLimitExceeded", limit, retryAfterSeconds }))
      }
    )
})

const serve = Effect.gen(function* () {
  const media = yield* Media
  const refuse = yield* makeRefuse
  const count = yield* makeCount

  const body = Effect.fnUntraced(function* (file: StoredFile, range: ByteRange, status: number) {
    const headers = {
      ...guard,
      ...cacheOf(file),
      "accept-ranges": "bytes",
      "content-disposition": dispositionOf(file),
      ...(status === 206 ? { "content-range": `bytes ${range.start}-${range.end - 1}/${file.bytes}` } : {})
    }
    const opened = yield* Effect.mapError(media.open(file, range), storeFailure)
    if (opened === undefined) return undefined
    const about = { status, headers, contentType: file.contentType, contentLength: range.end - range.start }
    return HttpServerResponse.stream(streamOf(opened), about)
  })

  const answer = Effect.fnUntraced(function* (file: StoredFile) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers, method } = request
    yield* paced
    const whole = { start: 0, end: file.bytes }
    if (names(headers["if-none-match"], tagOf(file))) {
      return HttpServerResponse.empty({ status: 304, headers: { ...guard, ...cacheOf(file) } })
    }
    // A range applies only to GET, and only if the client's first part is from the same file.
    const begun = headers["if-range"]
    const range =
      method === "GET" && (begun === undefined || begun === tagOf(file)) ? rangeOf(headers["range"], file.bytes) : "all"
    if (range === "all") return yield* body(file, whole, 200)
    if (range !== "none") return yield* body(file, range, 206)
    return HttpServerResponse.empty({
      status: 416,
      headers: { ...guard, "accept-ranges": "bytes", "content-range": `bytes */${file.bytes}` }
    })
  })

  return Effect.gen(function* () {
    const { id = "" } = yield* HttpRouter.params
    const exchange = yield* Exchange
    yield* count(exchange)
    const file = yield* Effect.mapError(media.look(id), storeFailure)
    const shown = file?.purpose === "image" || file?.purpose === "video"
    const answered = shown ? yield* answer(file) : undefined
    return answered ?? (yield* refuse(exchange, failure({ _tag: "NotFound", what: "file", id })))
  })
})

/** `GET` and `HEAD` of images and videos. Other stored files are only for their owner, through another path. */
export const layer = HttpRouter.use((router) =>
  Effect.flatMap(serve, (handler) => router.add("GET", FILE_ROUTE, handler))
)
