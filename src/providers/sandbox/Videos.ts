import { Clock, Effect } from "effect"
import { createHash } from "node:crypto"
import type { Provider, WorkCall } from "../Provider.ts"
import { ProviderError, type ProviderFault } from "../ProviderError.ts"
import type { VideoJobState, VideoWork, MediaBytes } from "../../domain/Work.ts"
import { faultAtOnce, malformedFault, type Steering, steeringOf } from "./Steering.ts"
import { drawFiles } from "./DrawingThread.ts"
import { videoRefusalOf } from "./Refusals.ts"
import { jobOf, progressAt, type ClipContent, ticketOf, type VideoFault, type VideoJob } from "./VideoTicket.ts"

/** The duration of a normal and of a slow video job, in milliseconds. */
const USUAL_JOB_MS = 400
const SLOW_JOB_MS = 5_000

/** A URL without a server, which only the double itself uses. */
const PLACE = "https://sandbox.invalid/clips/"

/** More characters than fit into a picture. */
const MAX_PROMPT_CHARS = 1_000

const LATER: ReadonlyArray<string> = ["stall", "break", "malformed", "empty"] satisfies ReadonlyArray<VideoFault>

const isLater = (fault: string | undefined): fault is VideoFault => fault !== undefined && LATER.includes(fault)

/**
 * The double's videos: silent clips of the requested length that show the prompt, the model, the seed and the number of sources.
 * `latency_ms` is the duration of an accepted job. The faults `error` and `rate_limit` replace the answer to the submission. An
 * accepted video stays halfway for good (`stall`), fails at its end (`break`), results in an empty file (`empty`), or has a progress
 * that is not a number (`malformed`).
 */
export const makeVideos = (id: string): Pick<Required<Provider>, "makeVideo" | "videoState" | "videoClip"> => {
  const fail = (fault: ProviderFault) => Effect.fail(new ProviderError({ provider: id, fault }))
  const atOnce = (steering: Steering) => (isLater(steering.fault) ? undefined : faultAtOnce(steering))
  const unknown = fail({ _tag: "Refused", status: 404, detail: "the sandbox has no such video" })
  return {
    makeVideo: Effect.fnUntraced(function* (call, work) {
      const steering = yield* steeringOf(id, call.steering)
      const fault = atOnce(steering)
      if (fault !== undefined) return yield* fail(fault)
      const refusal = videoRefusalOf(id, call, work)
      if (refusal !== undefined) return yield* fail(refusal)
      const takenAt = yield* Clock.currentTimeMillis
      return { ticket: ticketOf(takenOf(call, work, steering, takenAt)) }
    }),
    videoState: Effect.fnUntraced(function* (call, ticket) {
      const fault = atOnce(yield* steeringOf(id, call.steering))
      if (fault !== undefined) return yield* fail(fault)
      const job = jobOf(ticket)
      if (job === undefined) return yield* unknown
      if (job.fault === "malformed") return yield* fail(malformedFault)
      return stateOf(job, ticket, yield* Clock.currentTimeMillis)
    }),
    videoClip: (_, url) => {
      const job = url.startsWith(PLACE) ? jobOf(url.slice(PLACE.length)) : undefined
      if (job === undefined) return unknown
      return drawFiles({ scene: job.scene }).pipe(
        Effect.catch(({ detail }) => fail({ _tag: "Lost", ours: true, detail: `it could not be drawn: ${detail}` })),
        Effect.map(([bytes = new Uint8Array()]) => ({ bytes, contentType: "video/mp4" }))
      )
    }
  }
}

const stateOf = (job: VideoJob, ticket: string, now: number): VideoJobState => {
  const progress = progressAt(job, now)
  if (progress._tag !== "Ended") return progress
  if (job.fault === "break") return { _tag: "Failed", detail: "a simulated failure of the generation", refused: false }
  const nothing: MediaBytes = { bytes: new Uint8Array(), contentType: "video/mp4" }
  return { _tag: "Completed", clip: job.fault === "empty" ? nothing : { url: `${PLACE}${ticket}` } }
}

const takenOf = (call: WorkCall, work: VideoWork, { fault, latencyMs }: Steering, takenAt: number): VideoJob => ({
  takenAt,
  ms: latencyMs ?? (fault === "slow" ? SLOW_JOB_MS : USUAL_JOB_MS),
  fault: isLater(fault) ? fault : undefined,
  scene: sceneOf(call, work)
})

const sceneOf = ({ candidate: { model } }: WorkCall, work: VideoWork): ClipContent => {
  const {
    aspectRatio,
    duration,
    image,
    prompt,
    referenceImages,
    referenceVideo,
    seed = seedOf(model.id, prompt)
  } = work
  const notes = [
    model.id,
    `seed ${seed}`,
    `${duration} s`,
    ...(image === undefined ? [] : ["a source image"]),
    ...(referenceImages.length > 0 ? [`${referenceImages.length} reference images`] : []),
    ...(referenceVideo === undefined ? [] : ["a reference video"])
  ]
  return {
    ...(aspectRatio === "16:9" ? { width: 640, height: 360 } : { width: 360, height: 640 }),
    seconds: duration,
    lines: [notes.join(" · "), Array.from(prompt).slice(0, MAX_PROMPT_CHARS).join("")],
    seed: seed >>> 0
  }
}

/** A 32-bit number that is the same for the same request. */
const seedOf = (model: string, prompt: string): number =>
  createHash("sha256").update(`${model}\0${prompt}`).digest().readUInt32BE(0)
