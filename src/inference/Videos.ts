import { Context, Duration, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Auth } from "../auth/Auth.ts"
import { type Failure, failure, type Reason } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import { isSimulated } from "../domain/Plan.ts"
import { beyond, type VideoError, type VideoState, type VideoWish } from "../domain/Video.ts"
import { type Outcome, Jobs } from "../jobs/Jobs.ts"
import { VideoJobs } from "../jobs/VideoJobs.ts"
import type { VideoRow } from "../jobs/VideoJobsSql.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { newResourceId } from "../platform/Ids.ts"
import { Media } from "../platform/Media.ts"
import { Metrics } from "../platform/Metrics.ts"
import { PublicFetch } from "../platform/PublicFetch.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { ProviderPool } from "../providers/ProviderPool.ts"
import { Router } from "../router/Router.ts"
import { Requests } from "../usage/Requests.ts"
import { Webhooks } from "../webhooks/Webhooks.ts"
import { balanceWarning } from "./Answer.ts"
import { storeUnavailable } from "./Holding.ts"
import { admit, type MeteredOptions } from "./Metered.ts"
import { noteReplay } from "./Replay.ts"
import type { PaidRequest } from "./Request.ts"
import { makeVideoMedia } from "./VideoMedia.ts"
import { chargeOf, type FilmPlan, filmPlanOf, keepPlan } from "./VideoPlan.ts"
import { makeVideoSlots } from "./VideoSlots.ts"
import { carryTurn, TURN_MS, type Turned, type VideoDesk } from "./VideoTurn.ts"
import type { PreparedWork } from "./Work.ts"

/** A request for a video, decoded. */
export interface VideoRequest extends PaidRequest {
  readonly prompt: string
  readonly wish: VideoWish
}

/** A video job as it stands. */
export interface Video extends VideoWish {
  readonly id: string
  readonly requestId: string
  readonly model: string
  readonly state: VideoState
  readonly prompt: string
  /** Whole percent. */
  readonly progress: number
  readonly createdAt: Date
  readonly completedAt: Date | undefined
  /** Where its clip is, once it is completed. */
  readonly url: string | undefined
  readonly error: VideoError | undefined
  /** What it cost so far: what was charged, less what was given back. */
  readonly cost: Nano
  /** All was given back. */
  readonly refunded: boolean
  readonly provider: string | undefined
}

export interface Submitted {
  readonly video: Video
  readonly balanceWarning: string | undefined
  /** Whether an earlier request under the same idempotency key has submitted it. */
  readonly replayed: boolean
}

export interface VideosOptions {
  /** What is not made so long after it was submitted has failed. */
  readonly deadline: Duration.Duration
  /** Jobs that one provider may have at a time, from all nodes. */
  readonly perProvider: number
  /** How long a job is known after its end, at the least. */
  readonly retention: Duration.Duration
}

/** Jobs of an account that go on at a time: at two new ones a minute, those of all that may take as long as it may. */
export const MOST_UNFINISHED = 50

/** What an account with as many is told to wait. */
const UNFINISHED_RETRY_SECONDS = 30

/** No job is forgotten before its idempotency key is, which stands for a day. */
const LEAST_RETENTION = Duration.hours(25)

/** A charge stands for so much longer than its job may take, so that it is the job that ends and not the charge. */
const CHARGE_BEYOND_DEADLINE = "15 minutes"

/** How often a provider is asked after a job because its caller wants to know. */
const LEAST_BETWEEN_CHECKS_MS = 2_000

/** Due for so long without anybody at it, a job is taken to have lost its place in the queue. */
const STANDING_MS = 60_000

/** Who finds another one at a job comes back after this. */
const BUSY_PAUSE = "5 seconds"

/** Jobs that are handed in at a time. With the clips that are read they leave half of the workers to ask after the others. */
const HANDING = { places: 8, perAccount: 4 }

/** Jobs whose pictures and clips are in memory at a time: 200 MiB each at the most. */
const FETCHING = { places: 4, perAccount: 2 }

/** Clips that are in memory at a time: 128 MiB each at the most. */
const READING = { places: 4, perAccount: 2 }

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

/** However it comes that nobody can make it, a video is what is not to be had. */
const unavailable = ({ reason }: Failure): Failure | undefined =>
  reason._tag === "NoProviderAvailable" ? failure({ _tag: "VideoUnavailable", detail: reason.detail }) : undefined

const notFound = (id: string): Failure => failure({ _tag: "NotFound", what: "video", id })

const isResourceId = (id: string): boolean => /^[0-9a-f]{24}$/.test(id)

const statusCheckFailed: Reason = { _tag: "StatusCheckFailed" }

interface Front extends VideoDesk {
  readonly auth: Auth["Service"]
  readonly queue: Jobs["Service"]
  readonly requests: Requests["Service"]
  readonly router: Router["Service"]
  readonly refuses: PublicFetch["Service"]["refuses"]
  readonly options: VideosOptions
}

/** Addresses that cannot be right, as far as they say by themselves. */
const addressProblems = (wish: VideoWish, refuses: Front["refuses"]) =>
  [
    { field: "image_url", url: wish.imageUrl },
    ...wish.referenceImages.map((url, index) => ({ field: `reference_images.${index}`, url })),
    { field: "reference_video", url: wish.referenceVideo }
  ].flatMap(({ field, url }) => {
    const message = url === undefined ? undefined : refuses(url)
    return message === undefined ? [] : [{ field, message }]
  })

const storesNone = failure({
  _tag: "UnsupportedParameter",
  param: "data_policy",
  detail: "Videos and their prompts are stored, and nothing may be under zero_retention"
})

/** Who could make it, or what is wrong with the request. */
const plan = (
  { refuses, router }: Front,
  request: Pick<VideoRequest, "model" | "policy" | "wish">
): Result.Result<FilmPlan, Failure> =>
  Result.gen(function* () {
    const { model, policy, wish } = request
    if (policy.dataPolicy === "zero_retention") return yield* Result.fail(storesNone)
    const planned = yield* Result.mapError(
      router.planWork({ models: [model], modality: "video", policy }),
      (error) => unavailable(error) ?? error
    )
    const [problem, ...problems] = [...beyond(wish, planned.candidates[0].model), ...addressProblems(wish, refuses)]
    if (problem !== undefined) {
      return yield* Result.fail(failure({ _tag: "ValidationError", problems: [problem, ...problems] }))
    }
    const able = filmPlanOf(planned, wish)
    if (able !== undefined) return able
    const detail = `No provider makes such a video with ${model} at present`
    return yield* Result.fail(failure({ _tag: "VideoUnavailable", detail }))
  })

const tooMany = failure({
  _tag: "RateLimitExceeded",
  limit: MOST_UNFINISHED,
  retryAfterSeconds: UNFINISHED_RETRY_SECONDS,
  detail: `${MOST_UNFINISHED} videos of this account are being made, which is as many as may be`
})

/** The job that stands under the idempotency key of a request; undefined where it was given back meanwhile. */
const standing = (front: Front, request: VideoRequest, claimedBy: string) =>
  Effect.gen(function* () {
    const { jobs, media, requests } = front
    const row = yield* Effect.mapError(requests.claimOf(claimedBy), storeUnavailable)
    if (row === undefined || row.claim === null) return undefined
    if (row.fingerprint !== request.claim?.fingerprint) return yield* failure({ _tag: "IdempotencyKeyReused" })
    const job = yield* Effect.mapError(jobs.ofRequest(claimedBy), storeUnavailable)
    yield* noteReplay(requests, request, claimedBy)
    if (job === undefined) return yield* failure({ _tag: "IdempotencyResultUnavailable", requestId: claimedBy })
    return viewOf(job, media.urlOf)
  })

const answered = ({ ledger }: Front, { principal }: VideoRequest, video: Video, replayed: boolean) =>
  Effect.map(
    Effect.orElseSucceed(ledger.balance(principal.accountId), () => undefined),
    (balance): Submitted => ({
      video,
      balanceWarning: balance === undefined ? undefined : balanceWarning(balance.posted),
      replayed
    })
  )

/** A request that cannot be planned is answered with the job that it made before, if it did. */
const unplanned = (front: Front, request: VideoRequest, failed: Failure): Effect.Effect<Submitted, Failure> =>
  Effect.gen(function* () {
    const { auth, requests } = front
    const { claim, principal } = request
    if (claim === undefined) return yield* failed
    const claimedBy = yield* Effect.mapError(requests.claimedBy(principal.accountId, claim.claim), storeUnavailable)
    if (claimedBy === undefined) return yield* failed
    yield* auth.confirm(principal.keyId)
    const video = yield* standing(front, request, claimedBy)
    return video === undefined ? yield* failed : yield* answered(front, request, video, true)
  })

/** What is not known of a video when it is charged for. */
const unmade = { provider: undefined, tokens: undefined } as const

/** Charges for a video, writes its job and queues it: all of it, or nothing. */
const sell = (front: Front, request: VideoRequest, film: FilmPlan) => {
  const { auth, jobs, ledger, metrics, options, queue, sql } = front
  const charged = chargeOf(film, request.wish.duration)
  const within: Ledger["Service"] = { ...ledger, commit: (operation) => storeErrors(ledger.within(sql, operation)) }
  const chargeTtlMs = Duration.toMillis(
    Duration.sum(options.deadline, Duration.fromInputUnsafe(CHARGE_BEYOND_DEADLINE))
  )
  const metered: MeteredOptions = {
    ledger: within,
    auth,
    metrics,
    holdTtlMs: chargeTtlMs,
    chargeTtlMs
  }
  const sold = Effect.gen(function* () {
    const paid = { ...request, charge: true as const }
    const admitted = yield* admit(metered, paid, film, { atLeast: charged, upTo: charged })
    if ("claimedBy" in admitted) return admitted
    metrics.ledger.closed()
    if ((yield* jobs.unfinished(request.principal.accountId)) >= MOST_UNFINISHED) return yield* tooMany
    const id = newResourceId()
    const { keyId, accountId } = request.principal
    const job = yield* jobs.insert({
      ...{ id, accountId, keyId, charged },
      requestId: request.requestId,
      model: film.candidates[0].model.id,
      prompt: request.prompt,
      parameters: request.wish,
      plan: keepPlan(film),
      steering: request.steering ?? null,
      deadlineMs: Duration.toMillis(options.deadline)
    })
    yield* queue.enqueue("videos", id)
    return { job }
  })
  const noted = Effect.tap(storeErrors(sql.withTransaction(sold)), (result) => {
    if (!("claimedBy" in result))
      request.watch?.settled({ ...unmade, model: film.candidates[0].model.id, cost: charged })
    return Effect.void
  })
  return Effect.uninterruptible(Effect.catchTag(noted, "Unavailable", (error) => Effect.fail(storeUnavailable(error))))
}

const submit = (front: Front, request: VideoRequest): Effect.Effect<Submitted, Failure> =>
  Effect.gen(function* () {
    const planned = plan(front, request)
    if (Result.isFailure(planned)) return yield* unplanned(front, request, planned.failure)
    const sold = yield* sell(front, request, planned.success)
    if ("job" in sold) return yield* answered(front, request, viewOf(sold.job, front.media.urlOf), false)
    const video = yield* standing(front, request, sold.claimedBy)
    return video === undefined ? yield* submit(front, request) : yield* answered(front, request, video, true)
  })

const status = (front: Front, accountId: string, id: string): Effect.Effect<Video, Failure> =>
  Effect.gen(function* () {
    const { jobs, media, queue } = front
    const row = isResourceId(id) ? yield* jobs.find(id) : undefined
    if (row === undefined || row.account_id !== accountId) return yield* notFound(id)
    if (row.completed_at !== null || (row.state === "queued" && !row.overdue)) return viewOf(row, media.urlOf)
    const taken = yield* jobs.take(id, { forMs: TURN_MS.state, idleMs: LEAST_BETWEEN_CHECKS_MS })
    if (taken === undefined) return viewOf((yield* jobs.find(id)) ?? row, media.urlOf)
    const turned = yield* carryTurn(front, taken, false)
    if (turned.event._tag === "Ready") yield* storeErrors(queue.enqueue("videos", id))
    if (turned.event._tag === "NotAsked" && turned.row !== undefined) return yield* failure(statusCheckFailed)
    return viewOf(turned.row ?? (yield* jobs.find(id)) ?? row, media.urlOf)
  }).pipe(Effect.catchTag("Unavailable", (error) => Effect.fail(storeUnavailable(error))))

const outcomeOf = ({ row, step, waitMs }: Turned): Outcome => {
  if (step._tag === "Ends") return "done"
  return { again: row === undefined ? BUSY_PAUSE : Duration.millis(waitMs) }
}

const step = (front: Front, id: string): Effect.Effect<Outcome, Unavailable> =>
  Effect.gen(function* () {
    const { jobs } = front
    const taken = yield* jobs.take(id, { forMs: TURN_MS.film, idleMs: 0 })
    if (taken !== undefined) return outcomeOf(yield* carryTurn(front, taken, true))
    const row = yield* jobs.find(id)
    return row === undefined || row.completed_at !== null ? "done" : { again: BUSY_PAUSE }
  })

const sweep = (front: Front): Effect.Effect<number, Unavailable> =>
  Effect.gen(function* () {
    const found = yield* front.jobs.standing(STANDING_MS)
    yield* Effect.forEach(
      found,
      (id) =>
        storeErrors(front.queue.enqueue("videos", id)).pipe(
          // Inside the loop: one bad job must not keep the others from their end.
          Effect.catchCause((cause) => Effect.logWarning(`video ${id} cannot be looked after at present`, cause))
        ),
      { discard: true }
    )
    yield* front.jobs.forget(Duration.toMillis(Duration.max(front.options.retention, LEAST_RETENTION)))
    return found.length
  })

/**
 * Videos: charged up front in the transaction that makes their job, which then goes from step to step in the background. Each step is
 * one turn at its row, so that processes may die between any two and others go on; a job ends once, in the transaction that
 * gives back what is to be given back, completes the receipt and tells of it.
 */
export class Videos extends Context.Service<
  Videos,
  {
    /** Sells a video; fails with `RateLimitExceeded` where fifty of the account are being made. A repeat under the same idempotency key is answered with the same job as it stands. */
    readonly submit: (request: VideoRequest) => Effect.Effect<Submitted, Failure>
    /** The same plan and charge that such a video is sold by; fails where it would be refused before its charge. */
    readonly prepare: (request: Pick<VideoRequest, "model" | "policy" | "wish">) => Result.Result<PreparedWork, Failure>
    /**
     * A job of the account, asked after at its provider unless that was done within two seconds. A clip that is made is left to the
     * workers, and its job processing until it is read. Fails with `NotFound`, or with
     * `StatusCheckFailed` where the provider could not be asked.
     */
    readonly status: (accountId: string, id: string) => Effect.Effect<Video, Failure>
    /** Does the next step of a job; answers when the one after it is due. */
    readonly step: (id: string) => Effect.Effect<Outcome, Unavailable>
    /** Queues those anew that are due and nobody is at, answers how many, at most a hundred, and forgets what ended long ago. */
    readonly sweep: Effect.Effect<number, Unavailable>
  }
>()("tollgate/inference/Videos") {
  static readonly layerFrom = (options: VideosOptions) =>
    Layer.effect(
      Videos,
      Effect.gen(function* () {
        const { fetch, refuses } = yield* PublicFetch
        const front: Front = {
          sql: yield* SqlClient.SqlClient,
          jobs: yield* VideoJobs,
          ledger: yield* Ledger,
          webhooks: yield* Webhooks,
          media: yield* Media,
          metrics: yield* Metrics,
          pool: yield* ProviderPool,
          mediaOf: makeVideoMedia(fetch),
          handing: makeVideoSlots(HANDING),
          fetching: makeVideoSlots(FETCHING),
          reading: makeVideoSlots(READING),
          perProvider: options.perProvider,
          auth: yield* Auth,
          queue: yield* Jobs,
          requests: yield* Requests,
          router: yield* Router,
          refuses,
          options
        }
        return Videos.of({
          submit: (request) => submit(front, request),
          prepare: (request) =>
            Result.map(plan(front, request), (film) => {
              const charge = chargeOf(film, request.wish.duration)
              return { plan: film, estimate: { atLeast: charge, upTo: charge, simulated: isSimulated(film) } }
            }),
          status: (accountId, id) => status(front, accountId, id),
          step: (id) => step(front, id),
          sweep: sweep(front)
        })
      })
    )
}
