import { Clock, Effect, Result } from "effect"
import { createHash } from "node:crypto"
import { type Provider, ProviderError, type ProviderFault } from "../Provider.ts"
import type { FilmState, FilmWork, MediaBytes, WorkCall } from "../Work.ts"
import { pngsOf } from "./Draw.ts"
import { type FilmFault, type FilmJob, jobOf, progressAt, type Scene, ticketOf } from "./FilmTicket.ts"
import { clipInThread } from "./FilmThread.ts"
import { pixelsOf } from "./Pixels.ts"
import { faultAtOnce, noSteering, parseSteering, type Steering, steeringOf } from "./Steering.ts"

/** The duration of a normal and of a slow video job, in milliseconds. */
const USUAL_MS = 400
const SLOW_MS = 5_000

/** A URL without a server, which only the double itself uses. */
const PLACE = "https://sandbox.invalid/clips/"

/** More characters than fit into a picture. */
const MAX_PROMPT_CHARS = 1_000

/** The size of the picture kept in a ticket. */
const THUMBNAIL = { width: 96, height: 90 }

/** The largest source picture, in pixels: decoded, it takes four bytes a pixel. */
const MAX_PIXELS = 32 * 1_048_576

const LATER: ReadonlyArray<string> = ["stall", "break", "malformed", "empty"] satisfies ReadonlyArray<FilmFault>

const isLater = (fault: string | undefined): fault is FilmFault => fault !== undefined && LATER.includes(fault)

/**
 * The double's videos: clips that show the prompt, the model, the seed and the first source picture, with a tone if sound is requested.
 * `latency_ms` is the duration of an accepted job. The faults `error` and `rate_limit` replace the answer to the submission. An
 * accepted video stays halfway for good (`stall`), fails at its end (`break`), results in an empty file (`empty`), or has a progress
 * that is not a number (`malformed`).
 */
export const makeFilm = (id: string): Pick<Required<Provider>, "film" | "filmState" | "filmClip"> => {
  const fail = (fault: ProviderFault) => Effect.fail(new ProviderError({ provider: id, fault }))
  const steered = ({ steering }: WorkCall): Effect.Effect<Steering, ProviderError> => {
    const read = steering === undefined ? Result.succeed(noSteering) : parseSteering(steering)
    return Result.isFailure(read)
      ? fail({ _tag: "Refused", status: 400, detail: read.failure[0].message })
      : Effect.succeed(steeringOf(id, read.success))
  }
  const atOnce = (steering: Steering) => (isLater(steering.fault) ? undefined : faultAtOnce(steering))
  const unknown = fail({ _tag: "Refused", status: 404, detail: "the sandbox has no such video" })
  return {
    film: Effect.fnUntraced(function* (call, work) {
      const steering = yield* steered(call)
      const fault = atOnce(steering)
      if (fault !== undefined) return yield* fail(fault)
      const takenAt = yield* Clock.currentTimeMillis
      return { ticket: ticketOf(takenOf(call, work, steering, takenAt, yield* thumbnailOf(work))) }
    }),
    filmState: Effect.fnUntraced(function* (call, ticket) {
      const fault = atOnce(yield* steered(call))
      if (fault !== undefined) return yield* fail(fault)
      const job = jobOf(ticket)
      if (job === undefined) return yield* unknown
      if (job.fault === "malformed")
        return yield* fail({ _tag: "Malformed", detail: "a simulated answer that is not JSON" })
      return stateOf(job, ticket, yield* Clock.currentTimeMillis)
    }),
    filmClip: (_, url) => {
      const job = url.startsWith(PLACE) ? jobOf(url.slice(PLACE.length)) : undefined
      if (job === undefined) return unknown
      return clipInThread(job.scene).pipe(
        Effect.catch(({ detail }) => fail({ _tag: "Lost", ours: true, detail: `it could not be drawn: ${detail}` })),
        Effect.map((bytes) => ({ bytes, contentType: "video/mp4" }))
      )
    }
  }
}

const stateOf = (job: FilmJob, ticket: string, now: number): FilmState => {
  const progress = progressAt(job, now)
  if (progress._tag !== "Ended") return progress
  if (job.fault === "break") return { _tag: "Failed", detail: "a simulated failure of the generation", refused: false }
  const nothing: MediaBytes = { bytes: new Uint8Array(), contentType: "video/mp4" }
  return { _tag: "Completed", clip: job.fault === "empty" ? nothing : { url: `${PLACE}${ticket}` } }
}

const takenOf = (
  call: WorkCall,
  work: FilmWork,
  { fault, latencyMs }: Steering,
  takenAt: number,
  picture: string | undefined
): FilmJob => ({
  takenAt,
  ms: latencyMs ?? (fault === "slow" ? SLOW_MS : USUAL_MS),
  fault: isLater(fault) ? fault : undefined,
  scene: sceneOf(call, work, picture)
})

const sceneOf = ({ candidate: { model } }: WorkCall, work: FilmWork, picture: string | undefined): Scene => {
  const {
    aspectRatio,
    audio,
    duration,
    prompt,
    referenceImages,
    referenceVideo,
    seed = seedOf(model.id, prompt)
  } = work
  const notes = [
    model.id,
    `seed ${seed}`,
    `${duration} s`,
    ...(referenceImages.length > 0 ? [`${referenceImages.length} reference images`] : []),
    ...(referenceVideo === undefined ? [] : ["a reference video"])
  ]
  return {
    ...(aspectRatio === "16:9" ? { width: 640, height: 360 } : { width: 360, height: 640 }),
    seconds: duration,
    lines: [notes.join(" · "), Array.from(prompt).slice(0, MAX_PROMPT_CHARS).join("")],
    seed: seed >>> 0,
    audio,
    picture
  }
}

/** A 32-bit number that is the same for the same request. */
const seedOf = (model: string, prompt: string): number =>
  createHash("sha256").update(`${model}\0${prompt}`).digest().readUInt32BE(0)

/** A small version of the first source picture. One that cannot be opened is not shown. */
const thumbnailOf = ({ image, referenceImages }: FilmWork): Effect.Effect<string | undefined> => {
  const picture = (image ?? referenceImages[0])?.bytes
  if (picture === undefined || (pixelsOf(picture) ?? Infinity) > MAX_PIXELS) return Effect.undefined
  const drawing = { ...THUMBNAIL, lines: [], seed: 0, picture, transparent: true }
  return pngsOf([drawing]).pipe(
    Effect.map(([png]) => (png === undefined ? undefined : Buffer.from(png).toString("base64"))),
    Effect.orElseSucceed(() => undefined)
  )
}
