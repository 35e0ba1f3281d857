/** One turn at a video job: what is next is done, and what came of it written down. */
import { Effect, Random, Result, type Semaphore } from "effect"
import type { Attempt } from "../domain/Plan.ts"
import type { UnitPrice } from "../domain/Pricing.ts"
import {
  MOST_SUBMISSIONS,
  transition,
  type VideoEvent,
  type VideoStanding,
  type VideoStep,
  type VideoWish,
  waitMs
} from "../domain/Video.ts"
import type { VideoRow } from "../jobs/VideoJobsSql.ts"
import type { Unavailable } from "../platform/Sql.ts"
import type { PoolError } from "../providers/PoolError.ts"
import type { ProviderFault } from "../providers/Provider.ts"
import type { ProviderPool, Served, WorkAttempt } from "../providers/ProviderPool.ts"
import type { FilmState, FilmTicket, MediaBytes } from "../providers/Work.ts"
import { endVideo, type VideoBooks } from "./VideoEnd.ts"
import type { MediaRefusal, VideoMedia } from "./VideoMedia.ts"
import { type FilmPlan, type KeptVideoPlan, restorePlan } from "./VideoPlan.ts"

export interface VideoDesk extends VideoBooks {
  readonly pool: Pick<ProviderPool["Service"], "ask">
  readonly mediaOf: (wish: VideoWish) => Effect.Effect<VideoMedia, MediaRefusal>
  /** Taken while a job's pictures and clips are in memory. */
  readonly heavy: Semaphore.Semaphore
  /** Jobs that one provider may have at a time, from all nodes. */
  readonly perProvider: number
}

/** What a turn came to. */
export interface Turned {
  /** The job after it; undefined where its turn had gone to another one meanwhile, whose word it is then. */
  readonly row: VideoRow | undefined
  readonly event: VideoEvent
  readonly step: VideoStep
  /** When the next one is due, in milliseconds. */
  readonly waitMs: number
}

/** What providers are given to answer in, in milliseconds: to take a job, to say how far it is, to hand a clip over. */
const CLOCKS = { film: 60_000, state: 15_000, clip: 120_000 } as const

/** How long all pictures and clips of a job may take together. */
const MEDIA_MS = 30_000

/** How long a turn is kept: longer than all that is done in it without keeping it anew. Who dies in it lets the job wait so long. */
export const TURN_MS = {
  film: MEDIA_MS + CLOCKS.film + 30_000,
  state: CLOCKS.state + 15_000,
  clip: CLOCKS.clip + 60_000
} as const

/** Attempts to hand a job in that its receipt lists. */
const MOST_ATTEMPTS = 16

/** The caller is answered already, so that nothing of it is to be kept waiting for. */
const within = (plan: FilmPlan, totalMs: number, candidates: FilmPlan["candidates"] = plan.candidates): FilmPlan => ({
  ...plan,
  candidates,
  policy: { ...plan.policy, timeouts: { totalMs } }
})

const standingOf = ({ faults, polls, progress, state, submissions }: VideoRow): VideoStanding => ({
  state,
  progress,
  submissions,
  polls,
  faults
})

type Change = Partial<Pick<VideoRow, "provider" | "ticket" | "attempts">>

interface At {
  readonly plan: FilmPlan
  readonly row: VideoRow
}

const outrun = (event: VideoEvent): Turned => ({ row: undefined, event, step: { _tag: "Nothing" }, waitMs: 0 })

/** Writes down what came of a turn, with all that is due: whole, or not at all where the turn is another's by now. */
const apply = (
  desk: VideoDesk,
  { plan, row }: At,
  event: VideoEvent,
  change: Change = {},
  fileId?: string
): Effect.Effect<Turned, Unavailable> =>
  Effect.gen(function* () {
    const step = transition(standingOf(row), event)
    if (step._tag === "Nothing") return yield* Effect.as(desk.jobs.drop(row), outrun(event))
    if (step._tag === "Ends") {
      const ended = yield* endVideo(desk, { plan, row: { ...row, ...change } }, step, fileId).pipe(
        Effect.catchTag("GivenBack", () => Effect.succeed("given back" as const))
      )
      if (ended === "given back") return yield* apply(desk, { plan, row }, { _tag: "DeadlinePassed" }, change)
      return ended === undefined ? outrun(event) : { row: ended, event, step, waitMs: 0 }
    }
    const wait = waitMs(step, yield* Random.next)
    const { _tag, ...standing } = step
    const { attempts, provider, ticket } = { ...row, ...change }
    const going = { ...standing, provider, ticket, attempts: attempts.slice(-MOST_ATTEMPTS), waitMs: wait }
    const gone = yield* desk.jobs.goOn(row, going)
    return gone === undefined ? outrun(event) : { row: gone, event, step, waitMs: wait }
  }).pipe(Effect.uninterruptible)

const ask = <A>(
  { pool }: VideoDesk,
  { row }: At,
  plan: FilmPlan,
  attempt: WorkAttempt<A>
): Effect.Effect<Served<A, UnitPrice>, PoolError> =>
  pool.ask(
    { requestId: row.request_id, plan, operation: "videos", steering: row.steering ?? undefined },
    attempt
  ) as Effect.Effect<Served<A, UnitPrice>, PoolError>

/** What a host answers that takes nothing at present; any other fault of its own may come after it has taken what it was given. */
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
  if (reason._tag === "ProviderRefused") {
    return { _tag: "Refused", message: `${reason.provider} refused this video: ${reason.detail}` }
  }
  return { _tag: isUnclear(error) ? "Unclear" : "NotTaken" }
}

const numbered = (attempts: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  (attempts as ReadonlyArray<Attempt>).map((attempt, index) => ({ ...attempt, index }))

/** Hands the job to whom `plan` names. What came of it is written down whether or not this turn is interrupted after it. */
const submit = (desk: VideoDesk, at: At, plan: FilmPlan): Effect.Effect<Turned, Unavailable> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { row } = at
      const { prompt, parameters } = row
      const fetched = Effect.timeoutOrElse(desk.mediaOf(parameters), {
        duration: MEDIA_MS,
        orElse: () => Effect.fail<MediaRefusal>({ _tag: "NotTaken" })
      })
      const media = yield* Effect.result(restore(fetched))
      if (Result.isFailure(media)) return yield* apply(desk, at, media.failure)
      const { aspectRatio, audio, duration } = parameters
      const work = { prompt, duration, aspectRatio, audio, seed: undefined, ...media.success }
      const asked = ask<FilmTicket>(desk, at, plan, (provider, call) => provider.film?.(call, work))
      const taken = yield* Effect.result(restore(asked))
      if (Result.isFailure(taken)) {
        const attempts = numbered([...row.attempts, ...taken.failure.attempts])
        return yield* apply(desk, at, eventOfFailure(taken.failure), { attempts })
      }
      const { attempts, candidate, output } = taken.success
      return yield* apply(
        desk,
        at,
        { _tag: "Submitted" },
        {
          provider: candidate.offer.provider,
          ticket: output.ticket,
          attempts: numbered([...row.attempts, ...attempts])
        }
      )
    })
  )

/** The plan from the first candidate on whose provider has room, which is noted to be asked. */
const admitted = (desk: VideoDesk, { plan, row }: At) =>
  Effect.gen(function* () {
    for (const [index, candidate] of plan.candidates.entries()) {
      const noted = yield* desk.jobs.submitting(row, candidate.offer.provider, desk.perProvider)
      if (noted === "outrun") return noted
      if (noted === "noted") return within(plan, CLOCKS.film, [candidate, ...plan.candidates.slice(index + 1)])
    }
    return "full" as const
  })

/**
 * A job that waits is handed in. That it will be is written down first. Where that is all that is known, since the process ended or the
 * answer was lost, it is handed in again, some few times: its customer has paid for a clip, and what a provider may make in vain
 * is the house's loss.
 */
const handIn = (desk: VideoDesk, at: At): Effect.Effect<Turned, Unavailable> => {
  const { imageUrl, referenceImages, referenceVideo } = at.row.parameters
  const light = imageUrl === undefined && referenceImages.length === 0 && referenceVideo === undefined
  const handing = Effect.gen(function* () {
    if (at.row.submissions >= MOST_SUBMISSIONS) return yield* apply(desk, at, { _tag: "Unclear" })
    if (!light && !(yield* desk.jobs.renew(at.row, TURN_MS.film))) return outrun({ _tag: "Full" })
    const plan = yield* admitted(desk, at)
    if (plan === "outrun") return outrun({ _tag: "Full" })
    if (plan === "full") return yield* apply(desk, at, { _tag: "Full" })
    return yield* submit(desk, { ...at, row: { ...at.row, submissions: at.row.submissions + 1 } }, plan)
  })
  return light ? handing : desk.heavy.withPermit(handing)
}

/** Keeps a clip, and ends the job with it. A clip that no job has is dropped again; one that is empty is none. */
const keepClip = (desk: VideoDesk, at: At, { bytes, contentType }: MediaBytes): Effect.Effect<Turned, Unavailable> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      if (bytes.length === 0) return yield* apply(desk, at, { _tag: "Broke" })
      const { account_id: accountId } = at.row
      const stored = yield* desk.media.store({ bytes, contentType, accountId, purpose: "video" })
      const turned = yield* apply(desk, at, { _tag: "Made" }, {}, stored.id)
      if (turned.row?.file_id !== stored.id) yield* Effect.ignore(desk.media.remove(accountId, stored.id))
      return turned
    })
  )

const notAsked: VideoEvent = { _tag: "NotAsked" }

const read = (desk: VideoDesk, at: At, plan: FilmPlan, clip: { readonly url: string } | MediaBytes) =>
  Effect.gen(function* () {
    if (!(yield* desk.jobs.renew(at.row, TURN_MS.clip))) return outrun(notAsked)
    if ("bytes" in clip) return yield* keepClip(desk, at, clip)
    const reading = ask<MediaBytes>(desk, at, within(plan, CLOCKS.clip), (provider, call) =>
      provider.filmClip?.(call, clip.url)
    )
    const found = yield* Effect.result(reading)
    return yield* Result.isFailure(found) ? apply(desk, at, notAsked) : keepClip(desk, at, found.success.output)
  })

const eventOfState = (state: Exclude<FilmState, { readonly _tag: "Completed" }>): VideoEvent => {
  switch (state._tag) {
    case "Queued":
      return { _tag: "Progressed", progress: undefined }
    case "Processing":
      return { _tag: "Progressed", progress: state.progress }
    case "Failed":
      return state.refused ? { _tag: "Refused", message: "The provider refused to make this video" } : { _tag: "Broke" }
  }
}

/** A job that a provider has is asked after; what it has made is fetched and kept. */
const lookAfter = (desk: VideoDesk, at: At): Effect.Effect<Turned, Unavailable> =>
  Effect.gen(function* () {
    const { provider, ticket } = at.row
    const candidate = at.plan.candidates.find(({ offer }) => offer.provider === provider)
    if (candidate === undefined || ticket === null) return yield* apply(desk, at, { _tag: "Lost" })
    const plan = within(at.plan, CLOCKS.state, [candidate])
    const asked = ask<FilmState>(desk, at, plan, (one, call) => one.filmState?.(call, ticket))
    const told = yield* Effect.result(asked)
    if (Result.isFailure(told)) {
      return yield* apply(desk, at, told.failure.reason._tag === "ProviderRefused" ? { _tag: "Lost" } : notAsked)
    }
    const state = told.success.output
    if (state._tag === "Completed") return yield* read(desk, at, plan, state.clip)
    if (state._tag === "Failed") yield* Effect.logInfo(`video ${at.row.id} failed at ${provider}: ${state.detail}`)
    return yield* apply(desk, at, eventOfState(state))
  })

/** Does what is next of a job whose turn was taken. Where that cannot be, or is interrupted, the turn is given back. */
export const carryTurn = (desk: VideoDesk, row: VideoRow): Effect.Effect<Turned, Unavailable> =>
  Effect.suspend(() => {
    const at = { plan: restorePlan(row.plan as KeptVideoPlan), row }
    if (row.overdue) return apply(desk, at, { _tag: "DeadlinePassed" })
    return row.state === "queued" ? handIn(desk, at) : lookAfter(desk, at)
  }).pipe(Effect.onError(() => Effect.ignore(desk.jobs.drop(row))))
