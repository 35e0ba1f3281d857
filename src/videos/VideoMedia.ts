/** Downloads the images and clips that a video is to be made from, so that no provider downloads on behalf of a caller. */
import { Effect, Result } from "effect"
import { gifProblem, imageTypeOf, takesGifSource } from "../domain/ImageType.ts"
import type { Model } from "../domain/Model.ts"
import type { VideoEvent, VideoOptions } from "../domain/Video.ts"
import { isTransientStatus, type PublicFetch, type PublicFetchError } from "../platform/outbound/PublicFetch.ts"
import type { VideoWork, MediaBytes } from "../domain/Work.ts"

const MIB = 1_048_576

export interface VideoMediaLimits {
  /** The largest image, in bytes. */
  readonly imageBytes: number
  /** The largest clip, in bytes. */
  readonly videoBytes: number
  /** The time limit for each download, in milliseconds. */
  readonly totalMs: number
}

/** At most 200 MiB in all, which only few jobs hold at a time. */
const videoMediaLimits: VideoMediaLimits = { imageBytes: 20 * MIB, videoBytes: 100 * MIB, totalMs: 20_000 }

/** The media for a provider, besides the prompt. */
export type VideoMedia = Pick<VideoWork, "image" | "referenceImages" | "referenceVideo">

/** The event of a job with media that cannot be downloaded. */
export type MediaRefusal = Extract<VideoEvent, { readonly _tag: "Refused" | "NotFetched" | "Full" }>

type Kind = "image" | "video"

/** The type of a clip by its first bytes: the ISO base media format (MP4 and MOV) or Matroska (WebM). */
const videoTypeOf = (bytes: Uint8Array): string | undefined => {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1")
  if (head.startsWith("\x1a\x45\xdf\xa3")) return "video/webm"
  if (!head.startsWith("ftyp", 4)) return undefined
  return head.startsWith("qt  ", 8) ? "video/quicktime" : "video/mp4"
}

const types = {
  image: { of: imageTypeOf, named: "a PNG, JPEG, GIF or WebP image" },
  video: { of: videoTypeOf, named: "an MP4, MOV or WebM video" }
} as const

const mediaRefusal = (field: string, message: string): MediaRefusal => ({
  _tag: "Refused",
  message: `${field} ${message}`
})

const notFetched = (field: string, why: string): MediaRefusal => ({
  _tag: "NotFetched",
  message: `${field} could not be fetched: ${why}`
})

const refusalOf = ({ reason }: PublicFetchError, field: string): MediaRefusal => {
  switch (reason._tag) {
    case "TooLarge":
      return mediaRefusal(field, `must have at most ${reason.limitBytes} bytes`)
    case "Status":
      return isTransientStatus(reason.status)
        ? notFetched(field, `its host answered with status ${reason.status}`)
        : mediaRefusal(field, `could not be fetched: its host answered with status ${reason.status}`)
    // The message does not reveal where a name leads.
    case "Forbidden":
      return mediaRefusal(field, "could not be fetched: no public host could be reached there")
    case "Unreachable":
      return notFetched(field, "its host could not be reached")
    case "TimedOut":
      return notFetched(field, "its host took too long")
    case "Busy":
      return { _tag: "Full" }
  }
}

/** Creates the function that downloads all media of a request, one after the other. */
export const makeVideoMedia = (
  fetch: PublicFetch["Service"]["fetch"],
  { imageBytes, totalMs, videoBytes }: VideoMediaLimits = videoMediaLimits
) => {
  const one = (model: Model, field: string, url: string, kind: Kind): Effect.Effect<MediaBytes, MediaRefusal> => {
    const headers = { accept: `${kind}/*`, "user-agent": "tollgate" }
    const maxBytes = kind === "image" ? imageBytes : videoBytes
    return Effect.flatMap(
      Effect.mapError(fetch({ method: "GET", url, headers, totalMs, maxBytes }), (error) => refusalOf(error, field)),
      ({ body }) => {
        const contentType = types[kind].of(body)
        if (contentType === "image/gif" && !takesGifSource(model))
          return Effect.fail(mediaRefusal(field, gifProblem(model.id)))
        return Effect.fromResult(
          contentType === undefined
            ? Result.fail(mediaRefusal(field, `must be ${types[kind].named}`))
            : Result.succeed({ bytes: body, contentType })
        )
      }
    )
  }
  return (options: VideoOptions, model: Model): Effect.Effect<VideoMedia, MediaRefusal> =>
    Effect.gen(function* () {
      const optional = (field: string, url: string | undefined, kind: Kind) =>
        url === undefined ? Effect.undefined : one(model, field, url, kind)
      const image = yield* optional("image_url", options.imageUrl, "image")
      const referenceImages = yield* Effect.forEach(options.referenceImages, (url, index) =>
        one(model, `reference_images[${index}]`, url, "image")
      )
      const referenceVideo = yield* optional("reference_video", options.referenceVideo, "video")
      return { image, referenceImages, referenceVideo }
    })
}
