/** Ends a video job: writes its state, money, receipt and event in one transaction. */
import { Data, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Reason } from "../domain/Failure.ts"
import { usdFromNano } from "../domain/Money.ts"
import { type Attempt, summaryOf } from "../domain/Plan.ts"
import { providerCost } from "../domain/Pricing.ts"
import { NOT_CHARGED, type VideoError, type VideoStep, type VideoOptions } from "../domain/Video.ts"
import type { VideoJobs } from "./VideoJobs.ts"
import type { VideoRow } from "./VideoJobsSql.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import type { Media } from "../platform/files/Media.ts"
import type { Metrics } from "../platform/telemetry/Metrics.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { operationNames } from "../providers/pool/AttemptRecord.ts"
import type { Webhooks } from "../webhooks/Webhooks.ts"
import { attemptCostsOf, attemptMsOf, type JobFacts, keepClosed, ratesOf } from "../inference/Receipt.ts"
import { clipCost, usedAt, type VideoPlan } from "./VideoPlan.ts"

/** The services that an end writes to. */
export interface VideoBooks {
  readonly sql: SqlClient.SqlClient
  readonly jobs: VideoJobs["Service"]
  readonly ledger: Ledger["Service"]
  readonly webhooks: Webhooks["Service"]
  readonly media: Media["Service"]
  readonly metrics: Metrics
}

type EndStep = Extract<VideoStep, { readonly _tag: "Ends" }> & {
  /** Whether the provider bills a job that failed. */
  readonly billed: boolean
}

/** Everything was refunded before, because the charge was not concluded in time. Nothing is left that pays for a video. */
export class AlreadyRefunded extends Data.TaggedError("AlreadyRefunded") {}

const reasonOf = ({ code, message }: VideoError): Reason => {
  switch (code) {
    case "generation_failed":
      // The receipt states that itself.
      return { _tag: "GenerationFailed", detail: message.replace(`. ${NOT_CHARGED}`, "") }
    case "validation_error":
      return { _tag: "ValidationError", problems: [{ field: "body", message }] }
    case "upstream_timeout":
      return { _tag: "UpstreamTimeout", clock: "deadline" }
  }
}

const servingCandidate = (plan: VideoPlan, { provider }: Pick<VideoRow, "provider">) =>
  plan.candidates.find(({ offer }) => offer.provider === provider)

/** The cost of a job with this end: the price of the provider that served, never more than the charge. */
export const costOf = (plan: VideoPlan, row: VideoRow, { refund }: Pick<EndStep, "refund">): bigint => {
  if (refund === "whole") return 0n
  const price = servingCandidate(plan, row)?.price
  if (price === undefined) return row.charged
  const cost = clipCost(price, row.parameters.duration)
  return cost < row.charged ? cost : row.charged
}

/** The attempts of a job. One that failed although its provider made the video costs as much as the whole video. */
const attemptsOf = ({ attempts }: VideoRow, whole: bigint | undefined): ReadonlyArray<Attempt> => {
  const made = attempts as ReadonlyArray<Attempt>
  if (whole === undefined || whole === 0n) return made
  const cost = { nano: Number(whole), basis: "estimated" } as const
  return made.map((attempt) => (attempt.outcome === "served" ? { ...attempt, cost } : attempt))
}

const jobFactsOf = (plan: VideoPlan, row: VideoRow, { billed, error, state }: EndStep): JobFacts => {
  const [first] = plan.candidates
  const candidate = servingCandidate(plan, row)
  const { unit } = (candidate ?? first).price
  const units = state === "failed" ? 0 : usedAt(unit, row.parameters.duration).units
  const now = Date.now()
  const totalMs = now - row.created_at.getTime()
  const whole = providerCost(candidate?.offer.cost, usedAt(unit, row.parameters.duration))
  const own = state === "failed" ? undefined : whole
  const attempts = attemptsOf(row, state === "failed" && billed ? whole : undefined)
  return {
    usage: { units, unit },
    basis: state === "failed" ? "none" : "counted",
    routing: summaryOf({
      policy: plan.policy,
      requestedModels: plan.requestedModels,
      resolvedModel: row.model,
      provider: row.provider,
      attempts
    }),
    // Jobs that an earlier version submitted have no times.
    ...(attempts.some(({ startedAt }) => startedAt === undefined)
      ? {}
      : { attemptMs: attemptMsOf(attempts, 0, totalMs) }),
    ...(candidate === undefined || candidate === first ? {} : { rates: ratesOf(candidate) }),
    ...(own === undefined ? {} : { providerCost: Number(own) }),
    attemptCosts: attemptCostsOf(attempts),
    simulated: candidate?.offer.simulated,
    finishReason: null,
    error: error === undefined ? null : reasonOf(error),
    totalMs,
    endedAtMs: now
  }
}

/** The request without its media URLs, which are no longer needed once the job has ended. */
const withoutMedia = (options: VideoOptions): VideoOptions => ({
  ...options,
  imageUrl: undefined,
  referenceImages: [],
  referenceVideo: undefined
})

/** The data of the event of an ended job. It does not contain the prompt. */
const dataOf = (row: VideoRow, urlOf: (id: string) => string): object => ({
  id: row.id,
  object: "video",
  status: row.state,
  model: row.model,
  cost_usd: usdFromNano(row.cost ?? 0n),
  request_id: row.request_id,
  ...(row.file_id === null ? {} : { video_url: urlOf(row.file_id) }),
  ...(row.state === "completed"
    ? {}
    : {
        error: { code: row.error_code, message: row.error_message },
        refunded: row.refunded,
        refund_usd: usdFromNano(row.charged)
      })
})

/**
 * Ends a job and returns its new state. Returns undefined, and changes nothing, when another worker has the lease by now or the job
 * has already ended. Fails with `AlreadyRefunded`, and changes nothing, when a completed job would not be paid for.
 */
export const endVideo = (
  { jobs, ledger, media, metrics, sql, webhooks }: VideoBooks,
  { plan, row }: { readonly plan: VideoPlan; readonly row: VideoRow },
  step: EndStep,
  fileId: string | undefined
): Effect.Effect<VideoRow | undefined, AlreadyRefunded | Unavailable> => {
  const { error, progress, state } = step
  const cost = costOf(plan, row, step)
  const closed = jobFactsOf(plan, row, step)
  const ending = Effect.gen(function* () {
    const ended = yield* jobs.end(row, {
      state,
      progress,
      cost,
      refunded: step.refund === "whole",
      file_id: fileId ?? null,
      error_code: error?.code ?? null,
      error_message: error?.message ?? null,
      parameters: withoutMedia(row.parameters)
    })
    if (ended === undefined) return undefined
    const concluded = yield* ledger.conclude(sql, {
      requestId: row.request_id,
      accountId: row.account_id,
      refund: row.charged - cost,
      status: state === "completed" ? "succeeded" : "failed",
      // A repeat is answered with the job, however it ended.
      keepClaim: true,
      resolvedModel: row.provider === null ? null : row.model,
      provider: row.provider,
      closed: keepClosed(closed, undefined),
      answer: null
    })
    if (concluded === "Gone" && state === "completed") return yield* new AlreadyRefunded()
    yield* webhooks.publish({
      id: `evt_${row.id}`,
      accountId: row.account_id,
      type: step.tells,
      data: dataOf(ended, media.urlOf),
      createdAt: ended.completed_at ?? new Date()
    })
    return ended
  })
  return Effect.tap(storeErrors(sql.withTransaction(ending)), (ended) =>
    Effect.sync(() => {
      if (ended === undefined) return
      metrics.request({
        operation: operationNames.videos,
        provider: ended.provider ?? undefined,
        model: ended.model,
        errorType: closed.error?._tag,
        totalMs: closed.totalMs,
        firstTokenMs: null,
        tokens: undefined,
        settled: cost,
        absorbed: 0n,
        providerCost: closed.providerCost === undefined ? undefined : BigInt(closed.providerCost),
        attemptCosts: closed.attemptCosts
      })
    })
  )
}
