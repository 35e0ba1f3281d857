/** Decides how a video job goes from one state to the next, and what happens with the transition. */
import type { FieldProblem } from "./Failure.ts"
import type { Capability, Model, VideoFacts } from "./Model.ts"
import type { Nano } from "./Money.ts"

export type VideoState = "queued" | "processing" | "completed" | "failed"

/** Why a job failed: an error code, and a sentence for the caller. */
export interface VideoError {
  readonly code: "generation_failed" | "validation_error" | "upstream_timeout"
  readonly message: string
}

/** The facts that decide the next state. */
export interface RecordedVideo {
  readonly state: VideoState
  /** In whole percent, as far as the provider reports it. */
  readonly progress: number
  /** The number of submissions with an unknown outcome, including one that is running. */
  readonly submissions: number
  /** How often the job had to wait, or its progress was checked, in this state. */
  readonly polls: number
  /** The number of failed steps in a row. */
  readonly faults: number
  /** How often the provider did not know the job, since it last knew it. */
  readonly lost: number
}

export type VideoEvent =
  /** The providers have no capacity for another job. */
  | { readonly _tag: "Full" }
  /** A provider has accepted the job. */
  | { readonly _tag: "Submitted" }
  /** No provider has accepted the job; another try may succeed soon. */
  | { readonly _tag: "NotTaken" }
  /** An image or a clip could not be downloaded; another try may succeed. `message` says which one, and why. */
  | { readonly _tag: "NotFetched"; readonly message: string }
  /** A provider may have accepted the job: its answer was lost, or the process that submitted it has died. */
  | { readonly _tag: "Unclear" }
  /** The provider or the gateway has refused the request itself. */
  | { readonly _tag: "Refused"; readonly message: string }
  /** The provider works on the job. */
  | { readonly _tag: "Progressed"; readonly progress: number | undefined }
  /** The provider did not answer the progress check. */
  | { readonly _tag: "NotAsked" }
  /** The clip is finished, but could not be downloaded. */
  | { readonly _tag: "NotRead" }
  /** The clip is finished, and is still to be downloaded. */
  | { readonly _tag: "Ready" }
  /** The clip is stored. */
  | { readonly _tag: "Made" }
  /** The provider could not make the clip, or has `made` an empty one. */
  | { readonly _tag: "Broke"; readonly made?: true }
  /** The provider does not know the job. */
  | { readonly _tag: "Lost" }
  | { readonly _tag: "DeadlinePassed" }

/** The type of the webhook event at the end of a job. */
export type VideoEventType = "video.completed" | "video.failed"

/** The consequences of an event, which all belong to one transaction. */
export type VideoStep =
  /** The job continues. */
  | (RecordedVideo & { readonly _tag: "Goes"; readonly state: "queued" | "processing" })
  /** The job ends. The charge beyond the price of the serving provider is refunded, or all of it when no provider served. */
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
 * The most submissions of a job with an unknown outcome. More than one, because the customer has paid for a clip and a process may die
 * at any time. Few, because a provider may have accepted each of them, at the operator's cost.
 */
export const MAX_SUBMISSIONS = 3

/** After this many failed tries in a row, over about three minutes, a job fails and is refunded. A customer should not wait longer. */
export const MAX_REFUSED_ROUNDS = 8

/** The most tries to download an image or a clip. A slow or unreachable host keeps other jobs waiting. */
export const MAX_FETCHES = 2

/**
 * After this many answers in a row that the provider does not know the job, the job is lost. One such answer proves nothing, because a
 * provider may not know a new job everywhere at once. They are counted apart from other faults, because one such answer after an outage
 * means no more than one at any other time.
 */
export const MAX_LOST = 3

const nothing: VideoStep = { _tag: "Nothing" }

const goes = (
  recorded: RecordedVideo,
  state: "queued" | "processing",
  change: Partial<Omit<RecordedVideo, "state">> = {}
): VideoStep => {
  const { faults, lost, polls, progress, submissions } = recorded
  return { _tag: "Goes", progress, submissions, polls, faults, lost, ...change, state }
}

const fails = ({ progress }: RecordedVideo, code: VideoError["code"], message: string): VideoStep => ({
  _tag: "Ends",
  state: "failed",
  progress,
  refund: "whole",
  tells: "video.failed",
  error: { code, message }
})

/** The end of every failure message that does not quote a refusal. */
export const NOT_CHARGED = "You were not charged."

/** Progress never decreases, and only a completed job has 100. */
const further = (known: number, reported: number | undefined): number =>
  reported === undefined || Number.isNaN(reported)
    ? known
    : Math.max(known, Math.min(99, Math.max(0, Math.floor(reported))))

const fromQueued = (recorded: RecordedVideo, event: VideoEvent): VideoStep => {
  const { faults, polls, submissions } = recorded
  const notTaken = () => fails(recorded, "generation_failed", `No provider accepted this video. ${NOT_CHARGED}`)
  switch (event._tag) {
    case "Full":
      // Earlier failures still count. Otherwise a job that waits in between would try for ever.
      return goes(recorded, "queued", { polls: polls + 1 })
    case "Submitted":
      return goes(recorded, "processing", { polls: 0, faults: 0, lost: 0 })
    case "NotTaken":
      return faults + 1 >= MAX_REFUSED_ROUNDS
        ? notTaken()
        : goes(recorded, "queued", { submissions: Math.max(0, submissions - 1), faults: faults + 1 })
    case "NotFetched":
      return faults + 1 >= MAX_FETCHES
        ? fails(recorded, "validation_error", `${event.message.replace(/\.$/, "")}. ${NOT_CHARGED}`)
        : goes(recorded, "queued", { faults: faults + 1 })
    case "Unclear":
      return submissions >= MAX_SUBMISSIONS ? notTaken() : goes(recorded, "queued", { faults: faults + 1 })
    default:
      return nothing
  }
}

const fromProcessing = (recorded: RecordedVideo, event: VideoEvent): VideoStep => {
  const { faults, lost, polls, progress } = recorded
  switch (event._tag) {
    case "Progressed":
      return goes(recorded, "processing", {
        progress: further(progress, event.progress),
        polls: polls + 1,
        faults: 0,
        lost: 0
      })
    case "NotAsked":
      return goes(recorded, "processing", { faults: faults + 1 })
    case "NotRead":
      return goes(recorded, "processing", { faults: faults + 1, lost: 0 })
    case "Ready":
      return goes(recorded, "processing", { faults: 0, lost: 0 })
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
      return fails(recorded, "generation_failed", `The provider failed to create this video. ${NOT_CHARGED}`)
    case "Lost":
      return lost + 1 < MAX_LOST
        ? goes(recorded, "processing", { faults: faults + 1, lost: lost + 1 })
        : fails(recorded, "generation_failed", `The provider no longer knows this video. ${NOT_CHARGED}`)
    default:
      return nothing
  }
}

/** Returns the next state of a job and its consequences. Nothing changes a job that has ended. */
export const transition = (recorded: RecordedVideo, event: VideoEvent): VideoStep => {
  const { state } = recorded
  if (state === "completed" || state === "failed") return nothing
  if (event._tag === "DeadlinePassed") {
    return fails(recorded, "upstream_timeout", `This video was not ready before its deadline. ${NOT_CHARGED}`)
  }
  if (event._tag === "Refused") return fails(recorded, "validation_error", event.message)
  return state === "queued" ? fromQueued(recorded, event) : fromProcessing(recorded, event)
}

const POLL_FIRST_MS = 1_000
const POLL_MOST_MS = 15_000
const FAULT_FIRST_MS = 2_000
const FAULT_MOST_MS = 60_000

/** Returns a random part of a wait, from half of it to all of it, so that jobs of the same moment spread out. */
const jittered = (ms: number, chance: number): number => Math.round(ms * (0.5 + chance / 2))

/**
 * How long a job waits for its next step, in milliseconds. The wait grows with the number of polls, because a provider that has worked
 * for minutes will work for some seconds more, and with the number of failed steps. `chance` is a number from 0 to 1.
 */
export const waitMs = ({ faults, polls }: Pick<RecordedVideo, "polls" | "faults">, chance: number): number =>
  faults > 0
    ? jittered(Math.min(FAULT_MOST_MS, FAULT_FIRST_MS * 2 ** Math.min(faults - 1, 16)), chance)
    : jittered(Math.min(POLL_MOST_MS, POLL_FIRST_MS * 1.25 ** Math.min(polls, 64)), chance)

/** The options of a video besides its prompt. */
export interface VideoOptions {
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
}: VideoOptions): ReadonlyArray<Capability> => [
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

/** Returns the options that the model cannot do, field by field. */
export const optionProblems = (
  options: VideoOptions,
  { capabilities, id, video = anyFacts }: Model
): ReadonlyArray<FieldProblem> => {
  const problems: Array<FieldProblem> = []
  const can = (capability: Capability) => capabilities.includes(capability)
  const wrong = (field: string, message: string) => problems.push({ field, message })
  if (!video.durations.includes(options.duration)) {
    wrong("duration", `must be one of ${video.durations.join(", ")} for ${id}; got ${options.duration}`)
  }
  if (!video.aspectRatios.includes(options.aspectRatio)) {
    wrong("aspect_ratio", `must be ${video.aspectRatios.join(" or ")} for ${id}; got ${options.aspectRatio}`)
  }
  if (options.imageUrl !== undefined && !can("image_to_video"))
    wrong("image_url", `must be absent, because ${id} does not begin with an image`)
  if (options.audio && !can("audio_generation"))
    wrong("generate_audio", `must be false, because ${id} makes videos without sound`)
  const references = can("reference_media") ? video.referenceImages : 0
  if (options.referenceImages.length > references) {
    const count = options.referenceImages.length
    wrong("reference_images", `must contain at most ${references} items for ${id}; got ${count}`)
  }
  if (options.referenceVideo !== undefined && !(can("reference_media") && video.referenceVideo)) {
    wrong("reference_video", `must be absent, because ${id} accepts no reference video`)
  }
  const refers = options.referenceImages.length > 0 || options.referenceVideo !== undefined
  if (options.imageUrl !== undefined && refers && !video.imageWithReferences) {
    wrong("image_url", `must be absent beside references, because ${id} accepts one of the two`)
  }
  return problems
}

/** The current state of a video job. */
export interface Video extends VideoOptions {
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
