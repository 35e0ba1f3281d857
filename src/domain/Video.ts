/** How a video job goes from one state to the next, and what is due when it does. */
import type { FieldProblem } from "./Failure.ts"
import type { Capability, Model, VideoFacts } from "./Model.ts"

export type VideoState = "queued" | "processing" | "completed" | "failed"

/** Why a job failed: a code of the table of failures, and a sentence for its caller. */
export interface VideoError {
  readonly code: "generation_failed" | "validation_error" | "upstream_timeout"
  readonly message: string
}

/** What the next state depends on. */
export interface VideoStanding {
  readonly state: VideoState
  /** How often it has been handed in, the time under way among them. */
  readonly submissions: number
  /** Whole percent, 0 to 100, as far as a provider says. */
  readonly progress: number
}

export type VideoEvent =
  /** A provider has taken it. */
  | { readonly _tag: "Submitted" }
  /** It could not be handed in, or nobody knows whether it was. The same may go well another time. */
  | { readonly _tag: "NotTaken" }
  /** The request itself was judged wrong. */
  | { readonly _tag: "Refused"; readonly message: string }
  /** The provider is at it. */
  | { readonly _tag: "Progressed"; readonly progress: number | undefined }
  /** The provider could not be asked, or its clip not be read or kept. */
  | { readonly _tag: "NotAsked" }
  /** The clip is kept. */
  | { readonly _tag: "Made" }
  /** The provider has given it up. */
  | { readonly _tag: "Broke" }
  /** The provider knows nothing of it any more. */
  | { readonly _tag: "Lost" }
  | { readonly _tag: "DeadlinePassed" }

/** What a state's end is told by; each happens once. */
export type VideoEventType = "video.completed" | "video.failed"

/** What a step does, in one transaction with the new state. */
export type VideoStep =
  /** It goes on. `faulty` steps have the next one wait for longer each time. */
  | {
      readonly _tag: "Goes"
      readonly state: "queued" | "processing"
      readonly progress: number
      readonly faulty: boolean
    }
  /** It has ended: what was charged beyond the price of who served is given back, all of it where nobody did. */
  | {
      readonly _tag: "Ends"
      readonly state: "completed" | "failed"
      readonly progress: number
      readonly refund: "difference" | "whole"
      readonly tells: VideoEventType
      readonly error: VideoError | undefined
    }
  /** The event means nothing in this state: nothing happens. */
  | { readonly _tag: "Nothing" }

/**
 * Times a job is handed in. More than one, because a customer who has paid wants a clip and a process may end at any time; few,
 * because each of those whose fate nobody knows may be one that a provider has taken and the house pays for.
 */
export const MOST_SUBMISSIONS = 3

const nothing: VideoStep = { _tag: "Nothing" }

const fails = (progress: number, code: VideoError["code"], message: string): VideoStep => ({
  _tag: "Ends",
  state: "failed",
  progress,
  refund: "whole",
  tells: "video.failed",
  error: { code, message }
})

/** Progress never goes back, and 100 is what is completed. */
const further = (known: number, told: number | undefined): number =>
  told === undefined || Number.isNaN(told) ? known : Math.max(known, Math.min(99, Math.max(0, Math.floor(told))))

const fromQueued = ({ progress, submissions }: VideoStanding, event: VideoEvent): VideoStep => {
  switch (event._tag) {
    case "Submitted":
      return { _tag: "Goes", state: "processing", progress, faulty: false }
    case "NotTaken":
      return submissions < MOST_SUBMISSIONS
        ? { _tag: "Goes", state: "queued", progress, faulty: true }
        : fails(progress, "generation_failed", "No provider could take this video. You were not charged")
    default:
      return nothing
  }
}

const fromProcessing = ({ progress }: VideoStanding, event: VideoEvent): VideoStep => {
  switch (event._tag) {
    case "Progressed":
      return { _tag: "Goes", state: "processing", progress: further(progress, event.progress), faulty: false }
    case "NotAsked":
      return { _tag: "Goes", state: "processing", progress, faulty: true }
    case "Made":
      return {
        _tag: "Ends",
        state: "completed",
        progress: 100,
        refund: "difference",
        tells: "video.completed",
        error: undefined
      }
    case "Broke":
      return fails(progress, "generation_failed", "The provider could not make this video. You were not charged")
    case "Lost":
      return fails(progress, "generation_failed", "The provider has lost this video. You were not charged")
    default:
      return nothing
  }
}

/** The next state of a job and what is due with it. Ended jobs stay as they are, whatever happens. */
export const transition = (standing: VideoStanding, event: VideoEvent): VideoStep => {
  const { progress, state } = standing
  if (state === "completed" || state === "failed") return nothing
  if (event._tag === "DeadlinePassed") {
    return fails(progress, "upstream_timeout", "This video was not made in time. You were not charged")
  }
  if (event._tag === "Refused") return fails(progress, "validation_error", event.message)
  return state === "queued" ? fromQueued(standing, event) : fromProcessing(standing, event)
}

const POLL_FIRST_MS = 1_000
const POLL_MOST_MS = 15_000
const FAULT_FIRST_MS = 2_000
const FAULT_MOST_MS = 60_000

/** Between half of it and all of it, so that jobs of one moment do not stay together. */
const jittered = (ms: number, chance: number): number => Math.round(ms * (0.5 + chance / 2))

/**
 * How long a job waits for its next step, in milliseconds: the longer the more often it was asked after, since who has been at it for
 * minutes will be so for some seconds more. `faults` are those in a row just now. `chance` is a number from 0 to 1.
 */
export const waitMs = (polls: number, faults: number, chance: number): number =>
  faults > 0
    ? jittered(Math.min(FAULT_MOST_MS, FAULT_FIRST_MS * 2 ** Math.min(faults - 1, 16)), chance)
    : jittered(Math.min(POLL_MOST_MS, POLL_FIRST_MS * 1.25 ** Math.min(polls, 64)), chance)

/** What a caller asks of a video, beside its prompt. */
export interface VideoWish {
  readonly duration: number
  readonly aspectRatio: VideoFacts["aspectRatios"][number]
  readonly imageUrl: string | undefined
  readonly referenceImages: ReadonlyArray<string>
  readonly referenceVideo: string | undefined
  readonly audio: boolean
}

/** Whoever makes it must be able to do so much. */
export const neededFor = ({
  audio,
  imageUrl,
  referenceImages,
  referenceVideo
}: VideoWish): ReadonlyArray<Capability> => [
  ...(imageUrl === undefined ? [] : ["image_to_video" as const]),
  ...(referenceImages.length === 0 && referenceVideo === undefined ? [] : ["reference_media" as const]),
  ...(audio ? ["audio_generation" as const] : [])
]

const anyFacts: VideoFacts = {
  durations: [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  aspectRatios: ["16:9", "9:16"],
  referenceImages: 0,
  referenceVideo: false
}

/** What of a wish the model cannot do, member by member. */
export const beyond = (wish: VideoWish, { capabilities, id, video = anyFacts }: Model): ReadonlyArray<FieldProblem> => {
  const problems: Array<FieldProblem> = []
  const can = (capability: Capability) => capabilities.includes(capability)
  const wrong = (field: string, message: string) => problems.push({ field, message })
  if (!video.durations.includes(wish.duration)) {
    wrong("duration", `${id} makes videos of ${video.durations.join(", ")} seconds`)
  }
  if (!video.aspectRatios.includes(wish.aspectRatio)) {
    wrong("aspect_ratio", `${id} makes videos of ${video.aspectRatios.join(" or ")}`)
  }
  if (wish.imageUrl !== undefined && !can("image_to_video")) wrong("image_url", `${id} does not begin with an image`)
  if (wish.audio && !can("audio_generation")) wrong("generate_audio", `${id} makes videos without sound`)
  const references = can("reference_media") ? video.referenceImages : 0
  if (wish.referenceImages.length > references) {
    const most = references === 0 ? "no reference images" : `at most ${references} reference images`
    wrong("reference_images", `${id} takes ${most}`)
  }
  if (wish.referenceVideo !== undefined && !(can("reference_media") && video.referenceVideo)) {
    wrong("reference_video", `${id} takes no reference video`)
  }
  return problems
}
