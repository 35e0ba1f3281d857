/** Serves files to browsers: compressed, revalidated by their ETag, and with strict security headers. */
import { Duration, Effect, Exit } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { brotliCompress, constants, gzip } from "node:zlib"
import type { Failure } from "../../domain/Failure.ts"

/** A file to serve. */
export interface Asset {
  readonly contentType: string
  /** Its `Content-Security-Policy`. */
  readonly policy: string
  /** Its `Cache-Control`. The default is `no-cache`: browsers keep a copy and ask whether it is current. */
  readonly cacheControl?: string
  /** Request headers besides `Accept-Encoding` that decide about the response. */
  readonly vary?: string
  /** Creates the file at its first request. */
  readonly make: Effect.Effect<Uint8Array, Failure>
}

/** For files with a hash of their content in their name: a year, which is the longest that caches honour. */
export const IMMUTABLE = "public, max-age=31536000, immutable"

/** Quality 9 of 11 takes a tenth of the time of 11, and its result is about 5 % larger. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

type Coding = "br" | "gzip"

const compress: Readonly<Record<Coding, (bytes: Uint8Array) => Effect.Effect<Uint8Array>>> = {
  br: (bytes) =>
    Effect.callback((resume) =>
      brotliCompress(bytes, BROTLI, (error, zipped) => resume(Effect.succeed(error === null ? zipped : bytes)))
    ),
  gzip: (bytes) =>
    Effect.callback((resume) => gzip(bytes, (error, zipped) => resume(Effect.succeed(error === null ? zipped : bytes))))
}

/** Fonts and pictures are compressed already. */
const isCompressible = (contentType: string): boolean =>
  /^(text\/|application\/(json|manifest\+json|wasm)\b|image\/svg)/.test(contentType)

/** Whether an `Accept-Encoding` header accepts a coding (RFC 9110, 12.5.3). */
const accepts = (header: string, coding: Coding): boolean =>
  header.split(",").some((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase())
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })

/** Whether an `If-None-Match` header names a tag. The comparison is weak (RFC 9110, 13.1.2). */
const matches = (header: string, tag: string): boolean =>
  header.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === tag)

/** Caches a success permanently. After a failure, the next request tries again. */
const cached = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<Effect.Effect<A, E>> =>
  Effect.cachedWithTTL(work, (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero))

/** One representation of a file. */
interface Form {
  readonly bytes: Uint8Array
  readonly coding: Coding | undefined
  readonly tag: string
}

const formsOf = Effect.fnUntraced(function* ({ contentType, make }: Asset) {
  const bytes = yield* make
  const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 22)
  const plain: Form = { bytes, coding: undefined, tag: `"${digest}"` }
  const compressed = (coding: Coding): Effect.Effect<Effect.Effect<Form>> =>
    cached(
      Effect.map(compress[coding](bytes), (zipped) =>
        zipped.length < bytes.length ? { bytes: zipped, coding, tag: `"${digest}-${coding}"` } : plain
      )
    )
  const [br, zipped] = [yield* compressed("br"), yield* compressed("gzip")]
  return (accepted: string): Effect.Effect<Form> => {
    if (!isCompressible(contentType)) return Effect.succeed(plain)
    if (accepts(accepted, "br")) return br
    return accepts(accepted, "gzip") ? zipped : Effect.succeed(plain)
  }
})

/** Serves an asset for GET and HEAD. It is created once and cached, and compressed if the client accepts that. */
export const serveAsset = (asset: Asset) =>
  Effect.map(cached(formsOf(asset)), (forms) =>
    Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const { bytes, coding, tag } = yield* (yield* forms)(headers["accept-encoding"] ?? "")
      const about = {
        etag: tag,
        "cache-control": asset.cacheControl ?? "no-cache",
        "content-security-policy": asset.policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        vary: asset.vary === undefined ? "accept-encoding" : `accept-encoding, ${asset.vary}`
      }
      if (matches(headers["if-none-match"] ?? "", tag)) return HttpServerResponse.empty({ status: 304, headers: about })
      return HttpServerResponse.uint8Array(bytes, {
        contentType: asset.contentType,
        headers: coding === undefined ? about : { ...about, "content-encoding": coding }
      })
    })
  )
