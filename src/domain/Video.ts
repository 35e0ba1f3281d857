/** How a video job goes from one state to the next, and what is due when it does. */
import type { FieldProblem } from "./Failure.ts"
import type { Capability, Model, VideoFacts } from "./Model.ts"
import type { Nano } from "./Money.ts"

export type VideoState = "queued" | "processing" | "completed" | "failed"

/** Why a job failed: a code of the table of failures, and a sentence for its caller. */
export interface VideoError {
  readonly code: "generation_failed" | "validation_error" | "upstream_timeout"
  readonly message: string
}

/** What the next state depends on. */
export interface VideoStanding {
  readonly state: VideoState
  /** Whole percent, 0 to 100, as far as a provider says. */
  readonly progress: number
  /** How many submissions have an unknown outcome, the one under way included. */
  readonly submissions: number
  /** How often it had to wait, or was asked after, in this state. */
  readonly polls: number
  /** Steps in a row that went wrong. */
  readonly faults: number
  /** How often its provider said that it knows nothing of it, since it last knew it. */
  readonly lost: number
}

export type VideoEvent =
  /** As many as may be are at its provider, or are being handed in. */
  | { readonly _tag: "Full" }
  /** A provider has taken it. */
  | { readonly _tag: "Submitted" }
  /** No provider has accepted it yet; another try may succeed soon. */
  | { readonly _tag: "NotTaken" }
  /** What its caller named could not be fetched, which may be otherwise soon. `message` says what, and why. */
  | { readonly _tag: "NotFetched"; readonly message: string }
  /** A provider may have accepted it: the answer was lost, or the process that asked has died. */
  | { readonly _tag: "Unclear" }
  /** The request itself was judged wrong. */
  | { readonly _tag: "Refused"; readonly message: string }
  /** The provider is at it. */
  | { readonly _tag: "Progressed"; readonly progress: number | undefined }
  /** The provider could not be asked. */
  | { readonly _tag: "NotAsked" }
  /** The clip is made, and could not be read. */
  | { readonly _tag: "NotRead" }
  /** The clip is made, and waits to be read. */
  | { readonly _tag: "Ready" }
  /** The clip is kept. */
  | { readonly _tag: "Made" }
  /** The provider has given it up, or has `made` an empty clip. */
  | { readonly _tag: "Broke"; readonly made?: true }
  /** The provider says that it knows nothing of it. */
  | { readonly _tag: "Lost" }
  | { readonly _tag: "DeadlinePassed" }

/** What the end of a job is told by. */
export type VideoEventType = "video.completed" | "video.failed"

/** What follows of an event, all of it in one transaction. */
export type VideoStep =
  /** It goes on. */
  | (VideoStanding & { readonly _tag: "Goes"; readonly state: "queued" | "processing" })
  /** It has ended. The charge beyond the serving provider's price is refunded, and all of it when no provider served. */
  | {
      readonly _tag: "Ends"
      readonly state: "completed" | "failed"
      readonly progress: number
      readonly refund: "difference" | "whole"
      readonly tells: VideoEventType
      readonly error: VideoError | undefined
    }
  /** The event means nothing in this state. */
  | { readonly _tag: "Nothing" }

/**
 * Submissions of a job with an unknown outcome. More than one, because the customer has paid for a clip and a process may die at any
 * time; few, because a provider may have accepted each of them, at the house's cost.
 */
export const MOST_SUBMISSIONS = 3

/** Refusals in a row before a job fails and is refunded, over about three minutes: a customer should not wait longer in vain. */
export const MOST_REFUSED_ROUNDS = 8

/** Tries to fetch an image or a clip. A slow or unreachable host keeps other jobs waiting. */
export const MOST_FETCHES = 2

/**
 * Times that a provider knows nothing of a job, and never knew it in between: what it has just taken may not be known everywhere at
 * once. They are counted by themselves, for one such answer after an outage says no more than one at any other time.
 */
export const MOST_LOST = 3

const nothing: VideoStep = { _tag: "Nothing" }

const goes = (
  standing: VideoStanding,
  state: "queued" | "processing",
  change: Partial<Omit<VideoStanding, "state">> = {}
): VideoStep => {
  const { faults, lost, polls, progress, submissions } = standing
  return { _tag: "Goes", progress, submissions, polls, faults, lost, ...change, state }
}

const fails = ({ progress }: VideoStanding, code: VideoError["code"], message: string): VideoStep => ({
  _tag: "Ends",
  state: "failed",
  progress,
  refund: "whole",
  tells: "video.failed",
  error: { code, message }
})

/** How every failure ends that is not told in the words of a refusal. */
export const NOT_CHARGED = "You were not charged."

/** Progress never goes back, and 100 is what is completed. */
const further = (known: number, told: number | undefined): number =>
  told === undefined || Number.isNaN(told) ? known : Math.max(known, Math.min(99, Math.max(0, Math.floor(told))))

const fromQueued = (standing: VideoStanding, event: VideoEvent): VideoStep => {
  const { faults, polls, submissions } = standing
  const notTaken = () => fails(standing, "generation_failed", `No provider could take this video. ${NOT_CHARGED}`)
  switch (event._tag) {
    case "Full":
      // Earlier failures still count. Otherwise a job that waits in between would try for ever.
      return goes(standing, "queued", { polls: polls + 1 })
    case "Submitted":
      return goes(standing, "processing", { polls: 0, faults: 0, lost: 0 })
    case "NotTaken":
      return faults + 1 >= MOST_REFUSED_ROUNDS
        ? notTaken()
        : goes(standing, "queued", { submissions: Math.max(0, submissions - 1), faults: faults + 1 })
    case "NotFetched":
      return faults + 1 >= MOST_FETCHES
        ? fails(standing, "validation_error", `${event.message.replace(/\.$/, "")}. ${NOT_CHARGED}`)
        : goes(standing, "queued", { faults: faults + 1 })
    case "Unclear":
      return submissions >= MOST_SUBMISSIONS ? notTaken() : goes(standing, "queued", { faults: faults + 1 })
    default:
      return nothing
  }
}

const fromProcessing = (standing: VideoStanding, event: VideoEvent): VideoStep => {
  const { faults, lost, polls, progress } = standing
  switch (event._tag) {
    case "Progressed":
      return goes(standing, "processing", {
        progress: further(progress, event.progress),
        polls: polls + 1,
        faults: 0,
        lost: 0
      })
    case "NotAsked":
      return goes(standing, "processing", { faults: faults + 1 })
    case "NotRead":
      return goes(standing, "processing", { faults: faults + 1, lost: 0 })
    case "Ready":
      return goes(standing, "processing", { faults: 0, lost: 0 })
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
      return fails(standing, "generation_failed", `The provider could not make this video. ${NOT_CHARGED}`)
    case "Lost":
      return lost + 1 < MOST_LOST
        ? goes(standing, "processing", { faults: faults + 1, lost: lost + 1 })
        : fails(standing, "generation_failed", `The provider has lost this video. ${NOT_CHARGED}`)
    default:
      return nothing
  }
}

/** The next state of a job and what is due with it. Ended jobs stay as they are, whatever happens. */
export const transition = (standing: VideoStanding, event: VideoEvent): VideoStep => {
  const { state } = standing
  if (state === "completed" || state === "failed") return nothing
  if (event._tag === "DeadlinePassed") {
    return fails(standing, "upstream_timeout", `This video was not made in time. ${NOT_CHARGED}`)
  }
  if (event._tag === "Refused") return fails(standing, "validation_error", event.message)
  return state === "queued" ? fromQueued(standing, event) : fromProcessing(standing, event)
}

const POLL_FIRST_MS = 1_000
const POLL_MOST_MS = 15_000
const FAULT_FIRST_MS = 2_000
const FAULT_MOST_MS = 60_000

/** Between half of it and all of it, so that jobs of one moment do not stay together. */
const jittered = (ms: number, chance: number): number => Math.round(ms * (0.5 + chance / 2))

/**
 * How long a job waits for its next step, in milliseconds. The wait grows with the number of polls, because a provider that has worked
 * for minutes will work for some seconds more, and with the number of failed steps. `chance` is a number from 0 to 1.
 */
export const waitMs = ({ faults, polls }: Pick<VideoStanding, "polls" | "faults">, chance: number): number =>
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

/** The provider must support all of this. */
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
  referenceVideo: false,
  imageWithReferences: true
}

/** What of a wish the model cannot do, member by member. */
export const beyond = (wish: VideoWish, { capabilities, id, video = anyFacts }: Model): ReadonlyArray<FieldProblem> => {
  const problems: Array<FieldProblem> = []
  const can = (capability: Capability) => capabilities.includes(capability)
  const wrong = (field: string, message: string) => problems.push({ field, message })
  if (!video.durations.includes(wish.duration)) {
    wrong("duration", `must be one of ${video.durations.join(", ")} for ${id}; got ${wish.duration}`)
  }
  if (!video.aspectRatios.includes(wish.aspectRatio)) {
    wrong("aspect_ratio", `must be ${video.aspectRatios.join(" or ")} for ${id}; got ${wish.aspectRatio}`)
  }
  if (wish.imageUrl !== undefined && !can("image_to_video"))
    wrong("image_url", `must be absent, because ${id} does not begin with an image`)
  if (wish.audio && !can("audio_generation"))
    wrong("generate_audio", `must be false, because ${id} makes videos without sound`)
  const references = can("reference_media") ? video.referenceImages : 0
  if (wish.referenceImages.length > references) {
    const count = wish.referenceImages.length
    wrong("reference_images", `must contain at most ${references} items for ${id}; got ${count}`)
  }
  if (wish.referenceVideo !== undefined && !(can("reference_media") && video.referenceVideo)) {
    wrong("reference_video", `must be absent, because ${id} accepts no reference video`)
  }
  const refers = wish.referenceImages.length > 0 || wish.referenceVideo !== undefined
  if (wish.imageUrl !== undefined && refers && !video.imageWithReferences) {
    wrong("image_url", `must be absent beside references, because ${id} accepts one of the two`)
  }
  return problems
}

/** The current state of a video job. */
export interface Video extends VideoWish {
  readonly id: string
  readonly requestId: string
  readonly model: string
  readonly state: VideoState
  readonly prompt: string
  /** A whole percentage. */
  readonly progress: number
  readonly createdAt: Date
  readonly completedAt: Date | undefined
  /** The URL of the video, once it is completed. */
  readonly url: string | undefined
  readonly error: VideoError | undefined
  /** The cost so far: the charge less the refund. */
  readonly cost: Nano
  /** Whether everything was refunded. */
  readonly refunded: boolean
  readonly provider: string | undefined
}
