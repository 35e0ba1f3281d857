/** Downloads the videos and images that a provider has put at a URL. */
import { Effect, Schedule } from "effect"
import {
  isTransientStatus,
  PublicFetch,
  type PublicFetchError,
  type PublicFetchReason
} from "../../platform/outbound/PublicFetch.ts"
import { imageTypeOf } from "../../domain/ImageType.ts"
import type { MediaBytes } from "../../domain/Work.ts"
import { MAX_IMAGE_BYTES } from "./ImageParts.ts"
import type { HttpWork } from "./HttpWork.ts"
import type { Provider } from "../Provider.ts"
import type { ProviderFault } from "../ProviderError.ts"

/** The kind of file to read. */
interface FileKind {
  readonly name: string
  readonly accept: string
  readonly maxBytes: number
  readonly typeOf: (bytes: Uint8Array) => string | undefined
}

/** The type of a video by its first bytes; undefined for a file that browsers do not play. */
const videoTypeOf = (bytes: Uint8Array): string | undefined => {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1")
  if (head.startsWith("ftyp", 4)) return head.startsWith("qt  ", 8) ? "video/quicktime" : "video/mp4"
  return head.startsWith("\x1a\x45\xdf\xa3") ? "video/webm" : undefined
}

/** Fifteen seconds of 4K video take a third of this. */
const clip: FileKind = { name: "video", accept: "video/*", maxBytes: 128 * 1024 * 1024, typeOf: videoTypeOf }

const image: FileKind = { name: "image", accept: "image/*", maxBytes: MAX_IMAGE_BYTES, typeOf: imageTypeOf }

/** Three attempts in all: making a file costs much more than reading it. */
const retries = Schedule.exponential("200 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 2 }))

const mayPass = ({ reason }: PublicFetchError): boolean =>
  reason._tag === "Unreachable" ||
  reason._tag === "Busy" ||
  (reason._tag === "Status" && isTransientStatus(reason.status))

const detailOf = (reason: PublicFetchReason): string => {
  switch (reason._tag) {
    case "Forbidden":
      return `the URL of a file ${reason.why}`
    case "Unreachable":
      return `the file cannot be reached: ${reason.detail}`
    case "TimedOut":
      return "the file did not arrive in time"
    case "TooLarge":
      return `a file longer than ${reason.limitBytes} bytes`
    case "Status":
      return `the file's server answered with status ${reason.status}`
    case "Busy":
      return "too many files are being read"
  }
}

/** A file that cannot be read was made all the same. Whatever the reason, the call that made it must not be repeated. */
const faultOf = (reason: PublicFetchReason): ProviderFault => {
  const lost = { _tag: "Lost", detail: detailOf(reason) } as const
  return reason._tag === "Busy" ? { ...lost, ours: true } : lost
}

/**
 * Reads files from a public URL within the call's time limit. The URL comes from the provider, so it is trusted no more than a
 * caller's.
 */
const makeHttpFile = (
  { error }: Pick<HttpWork, "error">,
  { accept, maxBytes, name, typeOf }: FileKind
): Effect.Effect<NonNullable<Provider["videoClip"]>, never, PublicFetch> =>
  Effect.map(
    PublicFetch,
    ({ fetch }) =>
      ({ clocks }, url) =>
        Effect.suspend(() => {
          const until = performance.now() + clocks.totalMs
          const headers = { accept, "user-agent": "tollgate" }
          const once = Effect.suspend(() => {
            const totalMs = Math.max(1, until - performance.now())
            return fetch({ method: "GET", url, headers, totalMs, maxBytes })
          })
          return Effect.mapError(Effect.retry(once, { schedule: retries, while: mayPass }), ({ reason }) =>
            error(faultOf(reason))
          )
        }).pipe(
          Effect.flatMap(({ body }) => {
            const contentType = typeOf(body)
            return contentType === undefined
              ? Effect.fail(error({ _tag: "Lost", detail: `the file is not a valid ${name}` }))
              : Effect.succeed({ bytes: body, contentType })
          })
        )
  )

/** Reads videos. */
export const makeHttpClip = (work: Pick<HttpWork, "error">) => makeHttpFile(work, clip)

/** Reads images. */
export const makeHttpImage = (work: Pick<HttpWork, "error">) => makeHttpFile(work, image)

/** A file in a data URL (RFC 2397). */
export const dataUrlOf = ({ bytes, contentType }: MediaBytes): string =>
  `data:${contentType};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")}`
