import { Context, Duration, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Auth } from "../auth/Auth.ts"
import { type Failure, failure, type Reason, storeFailure } from "../domain/Failure.ts"
import { isSimulated } from "../domain/Plan.ts"
import { optionProblems, type VideoOptions, type Video } from "../domain/Video.ts"
import { type Outcome, Jobs } from "../jobs/Jobs.ts"
import { VideoJobs } from "./VideoJobs.ts"
import type { VideoPage, VideoRow } from "./VideoJobsSql.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { makeAccountSlots } from "../platform/AccountSlots.ts"
import { newResourceId } from "../platform/Ids.ts"
import { Media } from "../platform/files/Media.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import { PublicFetch } from "../platform/outbound/PublicFetch.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { ProviderPool } from "../providers/pool/ProviderPool.ts"
import { Router } from "../router/Router.ts"
import { ProviderSpend } from "../usage/ProviderSpend.ts"
import { Requests } from "../usage/Requests.ts"
import { Webhooks } from "../webhooks/Webhooks.ts"
import { balanceWarning } from "../domain/Balance.ts"
import { withinCost, type PricedWork } from "../domain/Estimate.ts"
import { withCurrentPrices } from "../inference/Holding.ts"
import { admit, type AdmissionOptions } from "../inference/Admission.ts"
import { noteReplay } from "../inference/Replay.ts"
import type { PaidRequest } from "../inference/Request.ts"
import { makeVideoMedia } from "./VideoMedia.ts"
import { chargeOf, clipCost, type VideoPlan, videoPlanOf, keepPlan } from "./VideoPlan.ts"
import { LEASE_MS, runStep, type StepResult, type VideoDeps } from "./VideoSteps.ts"

/** A decoded request for a video. */
export interface VideoRequest extends PaidRequest {
  readonly prompt: string
  readonly options: VideoOptions
}

export interface Submission {
  readonly video: Video
  readonly balanceWarning: string | undefined
  /** Whether an earlier request under the same idempotency key created it. */
  readonly replayed: boolean
}

export interface VideosOptions {
  /** A job that is not finished this long after its submission fails. */
  readonly deadline: Duration.Duration
  /** The maximum number of jobs that all nodes together run at one provider. */
  readonly perProvider: number
  /** The minimum time for which a job is kept after its end. */
  readonly retention: Duration.Duration
}

/** The maximum number of unfinished jobs per account: with two new ones a minute, this allows each the longest possible duration. */
export const MAX_UNFINISHED = 50

/** The wait suggested to an account at that limit. */
const UNFINISHED_RETRY_SECONDS = 30

/** A job outlives its idempotency key, which lasts a day. */
const MIN_RETENTION = Duration.hours(25)

/** A charge lasts this much longer than its job may take, so that the job ends first. */
const CHARGE_BEYOND_DEADLINE = "15 minutes"

/** The shortest interval between progress checks that a client's requests cause, in milliseconds. */
const MIN_BETWEEN_CHECKS_MS = 2_000

/** A job that has been due for this long without a worker has lost its queue entry. */
const UNATTENDED_MS = 60_000

/** How long to wait before the next try when another worker has the lease on a job. */
const BUSY_PAUSE = "5 seconds"

/** Slots for submitting jobs. Together with the downloads they leave half of the workers for progress checks. */
const SUBMIT_SLOTS = { slots: 8, perAccount: 4 }

/** Slots for jobs with media in memory, at most 200 MiB each. */
const MEDIA_SLOTS = { slots: 4, perAccount: 2 }

/** Slots for videos in memory, at most 128 MiB each. */
const DOWNLOAD_SLOTS = { slots: 4, perAccount: 2 }

const viewOf = (row: VideoRow, urlOf: (id: string) => string): Video => ({
  ...row.parameters,
  id: row.id,
  requestId: row.request_id,
  model: row.model,
  state: row.state,
  prompt: row.prompt,
  progress: row.progress,
  createdAt: row.created_at,
  completedAt: row.completed_at ?? undefined,
  url: row.file_id === null ? undefined : urlOf(row.file_id),
  error: row.error_code === null ? undefined : { code: row.error_code, message: row.error_message ?? "" },
  cost: row.cost ?? row.charged,
  refunded: row.refunded,
  provider: row.provider ?? undefined
})

/** For the caller, every reason why no provider can make it means that the video is unavailable. */
const unavailable = ({ reason }: Failure): Failure | undefined =>
  reason._tag === "NoProviderAvailable" ? failure({ _tag: "VideoUnavailable", detail: reason.detail }) : undefined

const notFound = (id: string): Failure => failure({ _tag: "NotFound", what: "video", id })

const isResourceId = (id: string): boolean => /^[0-9a-f]{24}$/.test(id)

const statusCheckFailed: Reason = { _tag: "StatusCheckFailed" }

interface SubmitDeps extends VideoDeps {
  readonly auth: Auth["Service"]
  readonly queue: Jobs["Service"]
  readonly requests: Requests["Service"]
  readonly router: Router["Service"]
  readonly refuses: PublicFetch["Service"]["refuses"]
  /** The bounds on what providers cost. */
  readonly spend: Pick<ProviderSpend["Service"], "isStopped"> | undefined
  readonly options: VideosOptions
}

/** The errors of URLs that are invalid by their text alone. */
const addressProblems = (options: VideoOptions, refuses: SubmitDeps["refuses"]) =>
  [
    { field: "image_url", url: options.imageUrl },
    ...options.referenceImages.map((url, index) => ({ field: `reference_images[${index}]`, url })),
    { field: "reference_video", url: options.referenceVideo }
  ].flatMap(({ field, url }) => {
    const message = url === undefined ? undefined : refuses(url)
    return message === undefined ? [] : [{ field, message }]
  })

const storesNone = failure({
  _tag: "UnsupportedParameter",
  param: "data_policy",
  detail: "Videos and their prompts are stored, which zero_retention forbids"
})

/** The plan of a video, or the error of the request. */
const plan = (
  { refuses, router, spend }: SubmitDeps,
  request: Pick<VideoRequest, "maxCost" | "model" | "policy" | "options">
): Result.Result<VideoPlan, Failure> =>
  Result.gen(function* () {
    const { model, policy, options } = request
    if (policy.dataPolicy === "zero_retention") return yield* Result.fail(storesNone)
    const planned = yield* Result.mapError(
      router.planWork({ models: [model], modality: "video", policy }),
      (error) => unavailable(error) ?? error
    )
    const [problem, ...problems] = [
      ...optionProblems(options, planned.candidates[0].model),
      ...addressProblems(options, refuses)
    ]
    if (problem !== undefined) {
      return yield* Result.fail(failure({ _tag: "ValidationError", problems: [problem, ...problems] }))
    }
    const able = videoPlanOf(planned, options, (provider) => spend?.isStopped(provider) === true)
    if (able !== undefined) {
      return yield* withinCost(able, request.maxCost, ({ price }) => clipCost(price, options.duration))
    }
    const detail = `No provider can currently make such a video with ${model}`
    return yield* Result.fail(failure({ _tag: "VideoUnavailable", detail }))
  })

const tooMany = (limit: number): Failure =>
  failure({
    _tag: "RateLimitExceeded",
    limit,
    retryAfterSeconds: UNFINISHED_RETRY_SECONDS,
    detail: `This account has ${limit} unfinished videos, the maximum`
  })

/** The job that was created under the idempotency key of a request; undefined when the key was freed meanwhile. */
const videoOfClaim = (deps: SubmitDeps, request: VideoRequest, claimedBy: string) =>
  Effect.gen(function* () {
    const { jobs, media, requests } = deps
    const row = yield* Effect.mapError(requests.claimOf(claimedBy), storeFailure)
    if (row === undefined || row.claim === null) return undefined
    if (row.fingerprint !== request.claim?.fingerprint) return yield* failure({ _tag: "IdempotencyKeyReused" })
    const job = yield* Effect.mapError(jobs.ofRequest(claimedBy), storeFailure)
    yield* noteReplay(requests, request, claimedBy)
    if (job === undefined) return yield* failure({ _tag: "IdempotencyResultUnavailable", requestId: claimedBy })
    return viewOf(job, media.urlOf)
  })

const submissionOf = ({ ledger }: SubmitDeps, { principal }: VideoRequest, video: Video, replayed: boolean) =>
  Effect.map(
    Effect.orElseSucceed(ledger.balance(principal.accountId), () => undefined),
    (balance): Submission => ({
      video,
      balanceWarning: balance === undefined ? undefined : balanceWarning(balance.posted),
      replayed
    })
  )

/** Answers a request that cannot be planned with the job that it created before, if there is one. */
const replayEarlier = (deps: SubmitDeps, request: VideoRequest, failed: Failure): Effect.Effect<Submission, Failure> =>
  Effect.gen(function* () {
    const { auth, requests } = deps
    const { claim, principal } = request
    if (claim === undefined) return yield* failed
    const claimedBy = yield* Effect.mapError(requests.claimedBy(principal.accountId, claim.claim), storeFailure)
    if (claimedBy === undefined) return yield* failed
    yield* auth.confirm(principal.keyId)
    const video = yield* videoOfClaim(deps, request, claimedBy)
    return video === undefined ? yield* failed : yield* submissionOf(deps, request, video, true)
  })

/** The facts that are unknown when a video is charged. */
const unmade = { provider: undefined, tokens: undefined } as const

/** Charges for a video, writes its job and queues it: all of it, or nothing. */
const sell = (deps: SubmitDeps, request: VideoRequest, planned: VideoPlan) => {
  const { auth, jobs, ledger, metrics, options, queue, sql } = deps
  const charged = chargeOf(planned, request.options.duration)
  const within: Ledger["Service"] = { ...ledger, commit: (operation) => storeErrors(ledger.within(sql, operation)) }
  const chargeTtlMs = Duration.toMillis(
    Duration.sum(options.deadline, Duration.fromInputUnsafe(CHARGE_BEYOND_DEADLINE))
  )
  const metered: AdmissionOptions = {
    ledger: within,
    auth,
    metrics,
    holdTtlMs: chargeTtlMs,
    chargeTtlMs
  }
  const sold = Effect.gen(function* () {
    const paid = { ...request, charge: true as const }
    const admitted = yield* admit(metered, paid, planned, { atLeast: charged, upTo: charged })
    if ("claimedBy" in admitted || "_tag" in admitted) return admitted
    metrics.ledger.closed()
    const most = admitted.request.principal.mostVideos ?? MAX_UNFINISHED
    if ((yield* jobs.unfinished(request.principal.accountId)) >= most) return yield* tooMany(most)
    const id = newResourceId()
    const { keyId, accountId } = request.principal
    const job = yield* jobs.insert({
      id,
      accountId,
      keyId,
      charged,
      requestId: request.requestId,
      model: planned.candidates[0].model.id,
      prompt: request.prompt,
      parameters: request.options,
      plan: keepPlan(planned),
      steering: request.steering ?? null,
      deadlineMs: Duration.toMillis(options.deadline)
    })
    yield* queue.enqueue("videos", id)
    return { job }
  })
  const noted = Effect.tap(storeErrors(sql.withTransaction(sold)), (result) => {
    if ("job" in result) request.watch?.settled({ ...unmade, model: planned.candidates[0].model.id, cost: charged })
    return Effect.void
  })
  return Effect.uninterruptible(Effect.catchTag(noted, "Unavailable", (error) => Effect.fail(storeFailure(error))))
}

const submit = (deps: SubmitDeps, request: VideoRequest): Effect.Effect<Submission, Failure> =>
  Effect.gen(function* () {
    const planned = plan(deps, request)
    if (Result.isFailure(planned)) return yield* replayEarlier(deps, request, planned.failure)
    const sold = yield* sell(deps, request, planned.success)
    if ("_tag" in sold) return yield* submit(deps, withCurrentPrices(request, sold.principal))
    if ("job" in sold) return yield* submissionOf(deps, request, viewOf(sold.job, deps.media.urlOf), false)
    const video = yield* videoOfClaim(deps, request, sold.claimedBy)
    return video === undefined ? yield* submit(deps, request) : yield* submissionOf(deps, request, video, true)
  })

const status = (deps: SubmitDeps, accountId: string, id: string): Effect.Effect<Video, Failure> =>
  Effect.gen(function* () {
    const { jobs, media, queue } = deps
    const row = isResourceId(id) ? yield* jobs.find(id) : undefined
    if (row === undefined || row.account_id !== accountId) return yield* notFound(id)
    if (row.completed_at !== null || (row.state === "queued" && !row.overdue)) return viewOf(row, media.urlOf)
    const taken = yield* jobs.take(id, { forMs: LEASE_MS.state, idleMs: MIN_BETWEEN_CHECKS_MS })
    if (taken === undefined) return viewOf((yield* jobs.find(id)) ?? row, media.urlOf)
    const result = yield* runStep(deps, taken, false)
    if (result.event._tag === "Ready") yield* storeErrors(queue.enqueue("videos", id))
    if (result.event._tag === "NotAsked" && result.row !== undefined) return yield* failure(statusCheckFailed)
    return viewOf(result.row ?? (yield* jobs.find(id)) ?? row, media.urlOf)
  }).pipe(Effect.catchTag("Unavailable", (error) => Effect.fail(storeFailure(error))))

const list = ({ jobs, media }: SubmitDeps, accountId: string, page: VideoPage) =>
  Effect.mapBoth(jobs.list(accountId, { ...page, limit: page.limit + 1 }), {
    onFailure: storeFailure,
    onSuccess: (rows) => ({
      videos: rows.slice(0, page.limit).map((row) => viewOf(row, media.urlOf)),
      more: rows.length > page.limit
    })
  })

const outcomeOf = ({ row, step, waitMs }: StepResult): Outcome => {
  if (step._tag === "Ends") return "done"
  return { again: row === undefined ? BUSY_PAUSE : Duration.millis(waitMs) }
}

const step = (deps: SubmitDeps, id: string): Effect.Effect<Outcome, Unavailable> =>
  Effect.gen(function* () {
    const { jobs } = deps
    const taken = yield* jobs.take(id, { forMs: LEASE_MS.submit, idleMs: 0 })
    if (taken !== undefined) return outcomeOf(yield* runStep(deps, taken, true))
    const row = yield* jobs.find(id)
    return row === undefined || row.completed_at !== null ? "done" : { again: BUSY_PAUSE }
  })

const sweep = (deps: SubmitDeps): Effect.Effect<number, Unavailable> =>
  Effect.gen(function* () {
    const found = yield* deps.jobs.unattended(UNATTENDED_MS)
    yield* Effect.forEach(
      found,
      (id) =>
        storeErrors(deps.queue.enqueue("videos", id)).pipe(
          // Inside the loop, so that one broken job does not stop the sweep of the others.
          Effect.catchCause((cause) =>
            Effect.logWarning(`video ${id} could not be checked; the next sweep retries it`, cause)
          )
        ),
      { discard: true }
    )
    yield* deps.jobs.forget(Duration.toMillis(Duration.max(deps.options.retention, MIN_RETENTION)))
    return found.length
  })

/**
 * Videos. The transaction that creates a job also charges for it. The job then goes from step to step in the background. Each step
 * takes a lease on its row, so processes may die between any two steps and others continue. A job ends once, in the transaction that makes
 * the refund, completes the receipt and writes the event.
 */
export class Videos extends Context.Service<
  Videos,
  {
    /**
     * Creates and charges for a video. Fails with `RateLimitExceeded` when the account has fifty unfinished ones. A repeat under the
     * same idempotency key returns the same job in its current state.
     */
    readonly submit: (request: VideoRequest) => Effect.Effect<Submission, Failure>
    /** The plan and the charge with which such a video is created. Fails when the request would be rejected before its charge. */
    readonly prepare: (job: Pick<VideoRequest, "model" | "policy" | "options">) => Result.Result<PricedWork, Failure>
    /**
     * A job of the account. Checks its progress at the provider, unless that was done within the last two seconds. Workers download a
     * finished video; until then its job is still processing. Fails with `NotFound`, or with `StatusCheckFailed` when the provider
     * could not be reached.
     */
    readonly status: (accountId: string, id: string) => Effect.Effect<Video, Failure>
    /** One page of the account's jobs as they were last recorded, and whether more follow. */
    readonly list: (
      accountId: string,
      page: VideoPage
    ) => Effect.Effect<{ readonly videos: ReadonlyArray<Video>; readonly more: boolean }, Failure>
    /** Performs the next step of a job, and returns when the one after it is due. */
    readonly step: (id: string) => Effect.Effect<Outcome, Unavailable>
    /**
     * Queues again the jobs that are due without a worker, at most a hundred, and returns how many. Deletes jobs that ended long ago.
     */
    readonly sweep: Effect.Effect<number, Unavailable>
  }
>()("tollgate/videos/Videos") {
  static readonly layerFrom = (options: VideosOptions) =>
    Layer.effect(
      Videos,
      Effect.gen(function* () {
        const { fetch, refuses } = yield* PublicFetch
        const deps: SubmitDeps = {
          sql: yield* SqlClient.SqlClient,
          jobs: yield* VideoJobs,
          ledger: yield* Ledger,
          webhooks: yield* Webhooks,
          media: yield* Media,
          metrics: yield* Metrics,
          pool: yield* ProviderPool,
          mediaOf: makeVideoMedia(fetch),
          submitSlots: makeAccountSlots(SUBMIT_SLOTS),
          mediaSlots: makeAccountSlots(MEDIA_SLOTS),
          downloadSlots: makeAccountSlots(DOWNLOAD_SLOTS),
          perProvider: options.perProvider,
          auth: yield* Auth,
          queue: yield* Jobs,
          requests: yield* Requests,
          router: yield* Router,
          refuses,
          spend: Option.getOrUndefined(yield* Effect.serviceOption(ProviderSpend)),
          options
        }
        return Videos.of({
          submit: (request) => submit(deps, request),
          prepare: (request) =>
            Result.map(plan(deps, request), (planned) => {
              const charge = chargeOf(planned, request.options.duration)
              return { plan: planned, estimate: { atLeast: charge, upTo: charge, simulated: isSimulated(planned) } }
            }),
          status: (accountId, id) => status(deps, accountId, id),
          list: (accountId, page) => list(deps, accountId, page),
          step: (id) => step(deps, id),
          sweep: sweep(deps)
        })
      })
    )
}
