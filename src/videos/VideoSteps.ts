/** Performs the next step of a video job and stores its result. */
import { Effect, Random, Result } from "effect"
import { isRefusal } from "../domain/Failure.ts"
import type { Attempt } from "../domain/Plan.ts"
import type { Model } from "../domain/Model.ts"
import type { UnitPrice } from "../domain/Pricing.ts"
import {
  MAX_SUBMISSIONS,
  transition,
  type VideoEvent,
  type RecordedVideo,
  type VideoStep,
  type VideoOptions,
  waitMs
} from "../domain/Video.ts"
import type { VideoRow } from "./VideoJobsSql.ts"
import type { AccountSlots } from "../platform/AccountSlots.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { type FailedAttempt, PoolError, reasonOf } from "../providers/pool/PoolError.ts"
import type { ProviderFault } from "../providers/ProviderError.ts"
import type { WorkPoolCall } from "../providers/pool/CallKind.ts"
import type { ProviderPool, ServedAnswer, WorkAttempt } from "../providers/pool/ProviderPool.ts"
import type { VideoJobState, VideoTicket, MediaBytes } from "../domain/Work.ts"
import { spanMs } from "../inference/Receipt.ts"
import { endVideo, type VideoBooks } from "./VideoEnd.ts"
import type { MediaRefusal, VideoMedia } from "./VideoMedia.ts"
import { type VideoPlan, type StoredVideoPlan, restorePlan, usedAt } from "./VideoPlan.ts"

export interface VideoDeps extends VideoBooks {
  readonly pool: Pick<ProviderPool["Service"], "ask">
  readonly mediaOf: (options: VideoOptions, model: Model) => Effect.Effect<VideoMedia, MediaRefusal>
  /** Slots for jobs that this node is submitting, so that work on submitted jobs never waits for them. */
  readonly submitSlots: AccountSlots
  /** Slots for those of them with media that are being downloaded and held in memory. */
  readonly mediaSlots: AccountSlots
  /** Slots for videos that are being downloaded and held in memory. */
  readonly downloadSlots: AccountSlots
  /** The maximum number of jobs that all nodes together run at one provider. */
  readonly perProvider: number
}

/** The result of a step. */
export interface StepResult {
  /** The job after the step; undefined when another worker has the lease by now, which then decides. */
  readonly row: VideoRow | undefined
  readonly event: VideoEvent
  readonly step: VideoStep
  /** How long until the next step is due, in milliseconds. */
  readonly waitMs: number
}

/** Time limits of the provider calls, in milliseconds: to submit a job, to read its progress, to download a video. */
const CLOCKS = { submit: 60_000, state: 15_000, clip: 120_000 } as const

/** The time limit for all media of a job together, in milliseconds. */
const MEDIA_MS = 30_000

/**
 * How long a lease lasts, in milliseconds: longer than anything that a step does without renewing it. If a worker dies in a step, the
 * job waits for this long.
 */
export const LEASE_MS = {
  submit: MEDIA_MS + CLOCKS.submit + 30_000,
  state: CLOCKS.state + 15_000,
  clip: CLOCKS.clip + 60_000
} as const

/** The maximum number of submission attempts that the receipt lists. */
const MAX_ATTEMPTS = 16

/** The caller has already been answered, so the limits need not consider a waiting client. */
const within = (
  plan: VideoPlan,
  totalMs: number,
  candidates: VideoPlan["candidates"] = plan.candidates
): VideoPlan => ({
  ...plan,
  candidates,
  policy: { ...plan.policy, timeouts: { totalMs } }
})

const recordedOf = ({ faults, lost, polls, progress, state, submissions }: VideoRow): RecordedVideo => ({
  state,
  progress,
  submissions,
  polls,
  faults,
  lost
})

type Change = Partial<Pick<VideoRow, "provider" | "ticket" | "attempts">>

/** A job whose lease this worker has, and its plan. */
interface LeasedJob {
  readonly plan: VideoPlan
  readonly row: VideoRow
}

const leaseLost = (event: VideoEvent): StepResult => ({ row: undefined, event, step: { _tag: "Nothing" }, waitMs: 0 })

/**
 * Whether the provider bills a job that fails: it had accepted the job and has not said that it could not or would not make the video.
 */
const isBilled = ({ ticket }: VideoRow, event: VideoEvent): boolean =>
  ticket !== null &&
  (event._tag === "DeadlinePassed" || event._tag === "Lost" || (event._tag === "Broke" && event.made === true))

/** Stores the result of a step with all consequences: everything, or nothing when another worker has the lease by now. */
const apply = (
  deps: VideoDeps,
  { plan, row }: LeasedJob,
  event: VideoEvent,
  change: Change = {},
  fileId?: string
): Effect.Effect<StepResult, Unavailable> =>
  Effect.gen(function* () {
    const step = transition(recordedOf(row), event)
    if (step._tag === "Nothing") return yield* Effect.as(deps.jobs.release(row), leaseLost(event))
    if (step._tag === "Ends") {
      const ending = { ...step, billed: isBilled(row, event) }
      const ended = yield* endVideo(deps, { plan, row: { ...row, ...change } }, ending, fileId).pipe(
        Effect.catchTag("AlreadyRefunded", () => Effect.succeed("given back" as const))
      )
      if (ended === "given back") return yield* apply(deps, { plan, row }, deadlinePassed, change)
      return ended === undefined ? leaseLost(event) : { row: ended, event, step, waitMs: 0 }
    }
    const wait = waitMs(step, yield* Random.next)
    const { _tag, ...recorded } = step
    const { attempts, provider, ticket } = { ...row, ...change }
    const progress = { ...recorded, provider, ticket, attempts: attempts.slice(-MAX_ATTEMPTS), waitMs: wait }
    const updated = yield* deps.jobs.saveProgress(row, progress)
    return updated === undefined ? leaseLost(event) : { row: updated, event, step, waitMs: wait }
  }).pipe(Effect.uninterruptible)

const ask = <A>(
  { pool }: VideoDeps,
  { row }: LeasedJob,
  plan: VideoPlan,
  attempt: WorkAttempt<A>,
  more: Pick<WorkPoolCall, "estimateUse"> = {}
): Effect.Effect<ServedAnswer<A, UnitPrice>, PoolError> =>
  pool.ask(
    { requestId: row.request_id, plan, operation: "videos", steering: row.steering ?? undefined, ...more },
    attempt
  ) as Effect.Effect<ServedAnswer<A, UnitPrice>, PoolError>

/** Statuses of a host that is currently accepting nothing. After any other fault, the host may have accepted the job. */
const TAKES_NOTHING: ReadonlySet<number> = new Set([503, 529])

const mayHaveTaken = (fault: ProviderFault | undefined): boolean => {
  switch (fault?._tag) {
    case "Broken":
    case "Lost":
    case "Malformed":
      return true
    case "TimedOut":
      return fault.clock !== "connect"
    case "ServerError":
      return !TAKES_NOTHING.has(fault.status)
    default:
      return false
  }
}

const isUnclear = ({ failures }: PoolError): boolean => failures.some(({ fault }) => mayHaveTaken(fault))

const eventOfFailure = (error: PoolError): VideoEvent => {
  const { reason } = error
  if (isRefusal(reason)) {
    return { _tag: "Refused", message: `${reason.provider} refused this video: ${reason.detail}` }
  }
  return { _tag: isUnclear(error) ? "Unclear" : "NotTaken" }
}

/** In the order in which they were made: every attempt before the last one was failed over. */
const inOrder = (attempts: ReadonlyArray<Attempt>): ReadonlyArray<Attempt> =>
  attempts.map((attempt, index) => (index < attempts.length - 1 ? { ...attempt, outcome: "failed_over" } : attempt))

/** Adds the attempts of earlier rounds. Their times count from the job's creation, because other processes continue it. */
const withEarlier = (row: VideoRow, made: ReadonlyArray<Attempt>): ReadonlyArray<unknown> => {
  const arrivedAt = performance.now() - (Date.now() - row.created_at.getTime())
  const timed = inOrder(made).map(({ endedAt, startedAt, ...attempt }) => ({
    ...attempt,
    startedAt: spanMs(Math.max(0, startedAt - arrivedAt)),
    ...(endedAt === undefined ? {} : { endedAt: spanMs(Math.max(0, endedAt - arrivedAt)) })
  }))
  return [...(row.attempts as ReadonlyArray<Attempt>), ...timed].map((attempt, index) => ({ ...attempt, index }))
}

const full: VideoEvent = { _tag: "Full" }

type VideoCandidates = VideoPlan["candidates"]

/** The provider to which the job is being submitted, with the recorded row, and the candidates after it. */
interface Placement {
  readonly candidate: VideoCandidates[0]
  readonly others: ReadonlyArray<VideoCandidates[0]>
}

/** The first candidate at a provider with capacity. Its submission is recorded. */
const admitCandidate = (deps: VideoDeps, { row }: LeasedJob, candidates: ReadonlyArray<VideoCandidates[0]>) =>
  Effect.gen(function* () {
    const limits = { limit: deps.perProvider, perAccount: Math.ceil(deps.perProvider / 2) }
    for (const [index, candidate] of candidates.entries()) {
      const noted = yield* deps.jobs.submitting(row, candidate.offer.provider, limits, LEASE_MS.submit)
      if (noted === "lease_lost") return noted
      if (noted === "noted") return { candidate, others: candidates.slice(index + 1) } satisfies Placement
    }
    return "full" as const
  })

/**
 * Submits the job to one provider with capacity after the other, until one accepts it. The result is stored even if this step is
 * interrupted after it.
 */
const submit = (
  deps: VideoDeps,
  at: LeasedJob,
  to: Placement,
  media: VideoMedia
): Effect.Effect<StepResult, Unavailable> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { plan, row } = at
      const noted = { plan, row: { ...row, submissions: row.submissions + 1 } }
      const { aspectRatio, audio, duration } = row.parameters
      const work = { prompt: row.prompt, duration, aspectRatio, audio, seed: undefined, ...media }
      const made: Array<Attempt> = []
      const failures: Array<FailedAttempt> = []
      for (let next: Placement | "full" | "lease_lost" = to; ;) {
        const { candidate, others }: Placement = next
        const submission = ask<VideoTicket>(
          deps,
          at,
          within(plan, CLOCKS.submit, [candidate]),
          (provider, call) => provider.makeVideo?.(call, work),
          { estimateUse: () => usedAt(candidate.price.unit, duration) }
        )
        const taken = yield* Effect.result(restore(submission))
        if (Result.isSuccess(taken)) {
          const { attempts, output } = taken.success
          const change = {
            provider: candidate.offer.provider,
            ticket: output.ticket,
            attempts: withEarlier(row, [...made, ...attempts])
          }
          return yield* apply(deps, noted, { _tag: "Submitted" }, change)
        }
        made.push(...taken.failure.attempts)
        failures.push(...taken.failure.failures)
        next = yield* admitCandidate(deps, at, others)
        if (next === "lease_lost") return leaseLost(full)
        if (next !== "full") continue
        const reason = failures.length === 0 ? taken.failure.reason : reasonOf(failures)
        const event = eventOfFailure(new PoolError({ reason, attempts: made, failures }))
        return yield* apply(deps, noted, event, { attempts: withEarlier(row, made) })
      }
    })
  )

const NO_MEDIA: VideoMedia = { image: undefined, referenceImages: [], referenceVideo: undefined }

const tooSlow: MediaRefusal = {
  _tag: "NotFetched",
  message: `Its images and videos could not be fetched within ${MEDIA_MS / 1_000} seconds`
}

/**
 * Submits a waiting job. The intention is recorded first. If only the intention is known, because the process ended or the response was
 * lost, the job is submitted again, up to a few times. The client has paid for a video, and the operator bears the cost of one that a
 * provider makes in vain.
 */
const handIn = (deps: VideoDeps, at: LeasedJob): Effect.Effect<StepResult, Unavailable> => {
  const { account_id: accountId, parameters, submissions } = at.row
  if (submissions >= MAX_SUBMISSIONS) return apply(deps, at, { _tag: "Unclear" })
  const { imageUrl, referenceImages, referenceVideo } = parameters
  const light = imageUrl === undefined && referenceImages.length === 0 && referenceVideo === undefined
  const fetched: Effect.Effect<VideoMedia, MediaRefusal> = light
    ? Effect.succeed(NO_MEDIA)
    : Effect.timeoutOrElse(deps.mediaOf(parameters, at.plan.candidates[0].model), {
        duration: MEDIA_MS,
        orElse: () => Effect.fail(tooSlow)
      })
  const waits = apply(deps, at, full)
  const admitAndSubmit = Effect.gen(function* () {
    const to = yield* admitCandidate(deps, at, at.plan.candidates)
    if (to === "lease_lost") return leaseLost(full)
    if (to === "full") return yield* waits
    const media = yield* Effect.result(fetched)
    if (Result.isSuccess(media)) return yield* submit(deps, at, to, media.success)
    return yield* apply(deps, at, media.failure)
  })
  return deps.submitSlots.within(
    accountId,
    light ? admitAndSubmit : deps.mediaSlots.within(accountId, admitAndSubmit, waits),
    waits
  )
}

/** Stores a video, and ends the job with it. A stored video without a job is removed, and an empty file counts as a failure. */
const keepClip = (
  deps: VideoDeps,
  at: LeasedJob,
  { bytes, contentType }: MediaBytes
): Effect.Effect<StepResult, Unavailable> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      if (bytes.length === 0) return yield* apply(deps, at, { _tag: "Broke", made: true })
      const { account_id: accountId } = at.row
      const storing = deps.media.store({ bytes, contentType, accountId, purpose: "video" })
      // An unavailable store is retried until the deadline.
      const stored = yield* Effect.catchTag(storing, "Unavailable", (error) =>
        at.row.overdue ? Effect.undefined : Effect.fail(error)
      )
      if (stored === undefined) return yield* apply(deps, at, deadlinePassed)
      const result = yield* apply(deps, at, { _tag: "Made" }, {}, stored.id)
      if (result.row?.file_id !== stored.id) yield* Effect.ignore(deps.media.remove(accountId, stored.id))
      return result
    })
  )

const notAsked: VideoEvent = { _tag: "NotAsked" }
const notRead: VideoEvent = { _tag: "NotRead" }
const ready: VideoEvent = { _tag: "Ready" }
const deadlinePassed: VideoEvent = { _tag: "DeadlinePassed" }

/** After its deadline, a job's progress is checked for the last time. */
const unlessLate = ({ row }: LeasedJob, event: VideoEvent): VideoEvent => (row.overdue ? deadlinePassed : event)

const read = (deps: VideoDeps, at: LeasedJob, plan: VideoPlan, clip: { readonly url: string } | MediaBytes) => {
  const downloadAndKeep = Effect.gen(function* () {
    if (!(yield* deps.jobs.renew(at.row, LEASE_MS.clip))) return leaseLost(notRead)
    if ("bytes" in clip) return yield* keepClip(deps, at, clip)
    const download = ask<MediaBytes>(deps, at, within(plan, CLOCKS.clip), (provider, call) =>
      provider.videoClip?.(call, clip.url)
    )
    const found = yield* Effect.result(download)
    return yield* Result.isFailure(found)
      ? apply(deps, at, unlessLate(at, notRead))
      : keepClip(deps, at, found.success.output)
  })
  return deps.downloadSlots.within(at.row.account_id, downloadAndKeep, apply(deps, at, ready))
}

const eventOfState = (state: Exclude<VideoJobState, { readonly _tag: "Completed" }>): VideoEvent => {
  switch (state._tag) {
    case "Queued":
      return { _tag: "Progressed", progress: undefined }
    case "Processing":
      return { _tag: "Progressed", progress: state.progress }
    case "Failed":
      return state.refused
        ? { _tag: "Refused", message: "The provider refused to create this video" }
        : { _tag: "Broke" }
  }
}

/** Checks the progress of a submitted job. A finished video is downloaded and stored, unless that is left to another step. */
const lookAfter = (deps: VideoDeps, at: LeasedJob, reads: boolean): Effect.Effect<StepResult, Unavailable> =>
  Effect.gen(function* () {
    const { provider, ticket } = at.row
    const candidate = at.plan.candidates.find(({ offer }) => offer.provider === provider)
    if (candidate === undefined || ticket === null) return yield* apply(deps, at, { _tag: "Lost" })
    const plan = within(at.plan, CLOCKS.state, [candidate])
    const poll = ask<VideoJobState>(deps, at, plan, (one, call) => one.videoState?.(call, ticket))
    const polled = yield* Effect.result(poll)
    if (Result.isFailure(polled)) {
      const unknown = isRefusal(polled.failure.reason)
      return yield* apply(deps, at, unlessLate(at, unknown ? { _tag: "Lost" } : notAsked))
    }
    const state = polled.success.output
    if (state._tag === "Completed") return yield* reads ? read(deps, at, plan, state.clip) : apply(deps, at, ready)
    if (state._tag === "Failed") yield* Effect.logInfo(`video ${at.row.id} failed at ${provider}: ${state.detail}`)
    const event = eventOfState(state)
    return yield* apply(deps, at, event._tag === "Progressed" ? unlessLate(at, event) : event)
  })

/**
 * Performs the next step of a job that this worker has leased. `reads` tells whether this step downloads a finished video, which may
 * take minutes. A job past its deadline ends here, unless its provider has finished the video by now. If the step cannot be performed or
 * is interrupted, the lease is released.
 */
export const runStep = (deps: VideoDeps, row: VideoRow, reads: boolean): Effect.Effect<StepResult, Unavailable> =>
  Effect.suspend(() => {
    const at = { plan: restorePlan(row.plan as StoredVideoPlan), row }
    if (row.state === "processing") return lookAfter(deps, at, reads)
    return row.overdue ? apply(deps, at, deadlinePassed) : handIn(deps, at)
  }).pipe(Effect.onError(() => Effect.ignore(deps.jobs.release(row))))
