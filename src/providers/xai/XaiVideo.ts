import { Effect } from "effect"
import { type OutboundResponse, targetOf } from "../../platform/outbound/OutboundCall.ts"
import type { PublicFetch } from "../../platform/outbound/PublicFetch.ts"
import { dataUrlOf, makeHttpClip } from "../wire/HttpClip.ts"
import type { HttpWork } from "../wire/HttpWork.ts"
import { objectOf, parseJson, textIn } from "../wire/Json.ts"
import type { Provider } from "../Provider.ts"
import type { ProviderError, ProviderFault } from "../ProviderError.ts"
import type { VideoJobState, VideoWork } from "../../domain/Work.ts"

const MAX_ANSWER_BYTES = 256 * 1024

/** Videos by xAI. A ticket is the id of its request. <https://docs.x.ai/developers/model-capabilities/video/generation> */
export const makeXaiVideo = (
  work: HttpWork,
  baseUrl: string
): Effect.Effect<Pick<Required<Provider>, "makeVideo" | "videoState" | "videoClip">, never, PublicFetch> => {
  const target = targetOf(`${baseUrl}/videos/generations`)
  const options = { accept: "application/json", maxBodyBytes: MAX_ANSWER_BYTES }
  return Effect.map(makeHttpClip(work), (videoClip) => ({
    makeVideo: (call, video) => {
      const refusal = refusalOf(video)
      if (refusal !== undefined) return Effect.fail(work.error(refusal))
      const body = JSON.stringify(encodeVideo(call.candidate.offer.upstreamId, video))
      return Effect.flatMap(work.post(call, { ...options, target, body, makes: true }), (answer) => {
        const ticket = textIn(objectOf(parseJson(answer)) ?? {}, "request_id")
        return ticket === undefined || !/^[A-Za-z0-9._-]{1,128}$/.test(ticket)
          ? malformed(work, "an answer without a request_id")
          : Effect.succeed({ ticket })
      })
    },
    videoState: (call, ticket) =>
      Effect.flatMap(work.get(call, { ...options, target: targetOf(`${baseUrl}/videos/${ticket}`) }), (answer) =>
        stateOf(work, answer)
      ),
    videoClip
  }))
}

/** Returns why xAI cannot make a video; undefined when it can. Its sandbox double uses the same check. */
export const refusalOf = ({ referenceVideo }: Pick<VideoWork, "referenceVideo">): ProviderFault | undefined =>
  referenceVideo === undefined
    ? undefined
    : { _tag: "Refused", status: 400, detail: "it takes no reference video", param: "reference_video" }

/** Requests 720p, to which the catalogue's price applies. Videos always have sound, and there is no seed. */
const encodeVideo = (model: string, { aspectRatio, duration, image, prompt, referenceImages }: VideoWork) => ({
  model,
  prompt,
  duration,
  aspect_ratio: aspectRatio,
  resolution: "720p",
  ...(image === undefined ? {} : { image: { url: dataUrlOf(image) } }),
  ...(referenceImages.length === 0
    ? {}
    : { reference_images: referenceImages.map((reference) => ({ url: dataUrlOf(reference) })) })
})

const malformed = (work: HttpWork, detail: string) => Effect.fail(work.error({ _tag: "Malformed", detail }))

const failed = (detail: string, refused: boolean): VideoJobState => ({ _tag: "Failed", detail, refused })

/** A failed job has a success status as well. But moderation can appear as an error response to the progress request. */
const stateOf = (work: HttpWork, answer: OutboundResponse): Effect.Effect<VideoJobState, ProviderError> => {
  const object = objectOf(parseJson(answer.body))
  if (answer.status === 400 || answer.status === 422) {
    const detail = textIn(object ?? {}, "error")
    if (detail !== undefined && /moderation|content polic/i.test(detail)) return Effect.succeed(failed(detail, true))
  }
  return Effect.flatMap(work.accepted(answer), () => {
    const video = objectOf(object?.["video"])
    const status = object && textIn(object, "status")
    const url = video && textIn(video, "url")
    if (status === "done" || (status === undefined && url !== undefined))
      return Effect.succeed(completedState(video, url))
    if (status === "pending") return Effect.succeed({ _tag: "Processing", progress: progressOf(object?.["progress"]) })
    if (status === "expired") return Effect.succeed(failed("it expired", false))
    if (status === "failed") {
      const error = objectOf(object?.["error"]) ?? {}
      const code = textIn(error, "code") ?? "unknown"
      return Effect.succeed(failed(`${code}: ${textIn(error, "message") ?? "no message"}`, CALLERS.has(code)))
    }
    return malformed(work, "an answer with an unknown status")
  })
}

/** Failure codes of requests that the caller must change. */
const CALLERS: ReadonlySet<string> = new Set(["invalid_argument", "permission_denied", "failed_precondition"])

const completedState = (video: ReturnType<typeof objectOf>, url: string | undefined): VideoJobState => {
  if (video?.["respect_moderation"] === false) return failed("it does not respect moderation", true)
  return url === undefined ? failed("the result has no video", false) : { _tag: "Completed", clip: { url } }
}

const progressOf = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= 100 ? Math.floor(value) : undefined
