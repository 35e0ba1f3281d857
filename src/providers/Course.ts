import type { Clock } from "effect"
import { imagesIn } from "../domain/Conversation.ts"
import type { Candidate, Plan } from "../domain/Plan.ts"
import { promptBoundAt } from "../domain/Tokens.ts"
import type { Metrics } from "../platform/Metrics.ts"
import type { Trace } from "../platform/Tracing.ts"
import { AttemptRecord } from "./AttemptRecord.ts"
import type { Breaker } from "./Breaker.ts"
import type { AttemptContext, AttemptSample } from "./FirstContent.ts"
import { type Host, weigh } from "./Hosts.ts"
import {
  type FailedAttempt,
  pauseOf,
  PoolError,
  reasonOf,
  attemptsOf,
  isAnsweredEmpty,
  isAnsweredOff,
  restingReason
} from "./PoolError.ts"
import type { ChatCall, Clocks, ProviderFault } from "./Provider.ts"
import { enforcedSchema } from "./Structured.ts"

/** A chat call that may be tried at several providers. */
export interface PoolCall extends Omit<
  ChatCall,
  "candidate" | "caching" | "maxOutputTokens" | "clocks" | "traceHeaders"
> {
  readonly plan: Plan
  /** The trace its attempts belong to, where there is one. */
  readonly trace?: Trace | undefined
  /** The output cap at a candidate, within what is held. */
  readonly maxOutputTokens: (candidate: Candidate) => number
  /**
   * Told at the start of every attempt whom it goes to, so that whoever hangs up knows whether to drain; while two run beside each
   * other, hanging up stops the bill only where it does so at both.
   */
  readonly onAttempt?: (info: { readonly provider: string; readonly stopsBillingOnAbort: boolean }) => void
}

/** What all requests share. */
export interface Courses {
  readonly hosts: ReadonlyMap<string, Host>
  readonly metrics: Metrics
  /** The longest clocks; a plan's policy can shorten them. */
  readonly clocks: Clocks
  readonly observe: (sample: AttemptSample) => void
  readonly traceTo: ReadonlySet<string> | undefined
}

/** A candidate whose turn it is. Without a breaker it is not judged. */
export interface Turn {
  readonly candidate: Candidate
  readonly host: Host
  readonly breaker: Breaker | undefined
  readonly permit: number
}

/** Two turns at once. */
export interface Pair {
  readonly first: Turn
  readonly hedge: Turn
}

/** Calls to hosts that have failed this request already, beside the one at once where no connection could be made. */
const MOST_RETRIES = 2
/** Who waits longer than this is better told when to come back. */
const MOST_WAIT_MS = 5_000
/** Backoff is a random part of this, doubled with each retry. */
const BACKOFF_MS = 200

/** A clock that never goes back, in milliseconds: a corrected wall clock must not keep a breaker open. */
const millisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/**
 * The way of one request through its candidates: who is next, who was passed over, what is worth another try, and when to stop.
 * It decides and keeps account; it calls nobody.
 */
export class Course {
  readonly call: PoolCall
  /** Whom to ask now; undefined while something is to be waited for, and at the end. */
  upcoming: Turn | undefined
  /** How long to wait before `wake`; undefined at the end, when nobody served. */
  waitMs: number | undefined
  readonly #shared: Courses
  readonly #stream: boolean
  readonly #clock: Clock.Clock
  /** A number from 0 to 1. */
  readonly #chance: () => number
  readonly #clocks: Clocks
  readonly #deadline: number
  readonly #queue: Array<Candidate>
  readonly #passedOver: Array<Turn & { readonly breaker: Breaker }> = []
  readonly #failures: Array<FailedAttempt> = []
  /** Attempts that have ended without serving, as the receipt lists them. */
  readonly #before: Array<{ readonly provider: string; readonly model: string }> = []
  /** Made when first needed, which is seldom. */
  #worthMore: Map<Candidate, Turn> | undefined
  #toRetry: Turn | undefined
  #begun = 0
  #retries = 0
  #askedAgain = false

  constructor(shared: Courses, call: PoolCall, stream: boolean, clock: Clock.Clock, chance: () => number) {
    const { plan } = call
    this.#shared = shared
    this.call = call
    this.#stream = stream
    this.#clock = clock
    this.#chance = chance
    this.#clocks = shorten(shared.clocks, plan.policy.timeouts)
    const now = millisOf(clock)
    this.#deadline = now + this.#clocks.totalMs
    this.#queue = plan.policy.allowFallbacks ? [...plan.candidates] : [plan.candidates[0]]
    this.upcoming = this.#nextInPlan(now) ?? this.#lastResort(now)
  }

  /**
   * When a second attempt may be started beside the one to be made now. What is slow was measured of the plan's first alone, and of
   * streams by their first token, for which nobody waits where all of the answer is to be checked.
   */
  get hedgeAfterMs(): number | undefined {
    const { candidates, hedgeAfterMs } = this.call.plan
    if (hedgeAfterMs !== undefined && this.#stream && this.#isEnforced(candidates[0])) return undefined
    return this.upcoming?.candidate === candidates[0] && this.#begun === 0 && this.#queue.length > 0
      ? hedgeAfterMs
      : undefined
  }

  /** Begins an attempt. `beside` is the one that runs already. */
  begin(turn: Turn, beside?: Turn): AttemptContext {
    const { breaker, candidate, host, permit } = turn
    const { call } = this
    const { metrics, observe, traceTo } = this.#shared
    const { provider } = host
    const stops = provider.stopsBillingOnAbort && beside?.host.provider.stopsBillingOnAbort !== false
    call.onAttempt?.({ provider: provider.id, stopsBillingOnAbort: stops })
    const retried = this.#worthMore?.has(candidate) === true
    if (retried) metrics.provider.retried(provider.id)
    else if (beside === undefined) host.budget.requested()
    const totalMs = this.#begun === 0 ? this.#clocks.totalMs : Math.max(1, this.#deadline - millisOf(this.#clock))
    const asked: ChatCall = {
      requestId: call.requestId,
      accountId: call.accountId,
      candidate,
      conversation: call.conversation,
      caching: call.plan.policy.caching,
      maxOutputTokens: call.maxOutputTokens(candidate),
      promptBound: boundAt(call, candidate),
      held: call.held,
      clocks: this.#begun === 0 ? this.#clocks : { ...this.#clocks, totalMs },
      steering: call.steering
    }
    const index = this.#begun++
    const record = new AttemptRecord({ metrics, trace: call.trace, provider, call: asked, index, stream: this.#stream })
    const traceHeaders = traceTo?.has(provider.id) === true ? record.traceHeaders : undefined
    return {
      provider,
      call: traceHeaders === undefined ? asked : { ...asked, traceHeaders },
      observe,
      record,
      blames: (fault) => weigh(fault, asked.clocks, this.#shared.clocks) !== undefined,
      ended: (fault) => {
        if (breaker === undefined) return
        if (fault === undefined) breaker.succeeded(permit, millisOf(this.#clock))
        else this.#blame(turn, asked.clocks, fault)
      }
    }
  }

  /** Content has come. */
  answered({ breaker, permit }: Turn): void {
    breaker?.answered(permit, millisOf(this.#clock))
  }

  /** The caller has gone, or another attempt was quicker. */
  left({ breaker, permit }: Turn): void {
    breaker?.left(permit)
  }

  /** Who served, after whom. */
  served({ candidate, host }: Turn) {
    const attempts = attemptsOf(this.#before, { ...placeOf(candidate), outcome: "served" })
    const { stopsBillingOnAbort } = host.provider
    return { candidate, attempts, firstTokenMs: undefined, stopsBillingOnAbort }
  }

  /** An attempt gave nothing, and nobody else is being asked: decides what comes next. */
  failed(turn: Turn, { call, record }: AttemptContext, fault: ProviderFault | undefined): void {
    this.#note(turn, fault)
    const now = millisOf(this.#clock)
    const goesOn = now < this.#deadline && !isAnsweredEmpty(this.#failures)
    this.upcoming = goesOn ? this.#nextInPlan(now) : undefined
    if (goesOn && this.upcoming === undefined && fault?._tag === "Unreachable" && !this.#askedAgain) {
      // A kept connection that has died looks like that. What comes of it is the breaker's to know, not this.
      this.#askedAgain = true
      this.upcoming = turn
    } else this.#blame(turn, call.clocks, fault)
    if (goesOn) this.upcoming ??= this.#lastResort(now)
    this.waitMs = goesOn && this.upcoming === undefined ? this.#planRetry(now) : undefined
    record.failed(fault, this.upcoming === undefined && this.waitMs === undefined ? "failed" : "failed_over")
  }

  /** An attempt gave nothing while the other runs on, or has served. */
  fellBehind(
    { first, hedge }: Pair,
    turn: Turn,
    { call, record }: AttemptContext,
    fault: ProviderFault | undefined
  ): void {
    this.#note(turn, fault)
    this.#blame(turn, call.clocks, fault)
    record.failed(fault, "failed_over")
    this.#hedged(hedge, turn === hedge ? "lost" : "won", turn === hedge ? first : hedge)
  }

  /** After the wait: the host may have been taken by another request meanwhile, which is then waited for again. */
  wake(): void {
    const turn = this.#toRetry
    const now = millisOf(this.#clock)
    const permit = turn?.breaker?.admitEarly(now)
    this.upcoming = turn === undefined || permit === undefined ? undefined : { ...turn, permit }
    this.waitMs = this.upcoming === undefined ? this.#planRetry(now) : undefined
  }

  /** A candidate to be started beside an attempt that has given nothing yet, where one is healthy and has the budget. */
  hedge(): Turn | undefined {
    const now = millisOf(this.#clock)
    for (const [at, candidate] of this.#queue.entries()) {
      const host = this.#shared.hosts.get(candidate.offer.provider)
      const breaker = this.#breakerOf(host, candidate)
      if (host === undefined || (breaker !== undefined && breaker.state !== "closed")) continue
      if (!host.budget.take(now)) return undefined
      this.#queue.splice(at, 1)
      return { candidate, host, breaker, permit: breaker?.admit(now) ?? 0 }
    }
    return undefined
  }

  /**
   * Of two attempts beside each other one was quicker. The first one, if it is the slower, counts in the live figures with the time
   * it had, or they would forget how slow it can be: the least that the first token of a stream took, or a whole answer. How long
   * the whole of a stream would have taken nobody knows.
   */
  outran({ first, hedge }: Pair, winner: Turn, elapsedMs: number | undefined): void {
    const loser = winner === first ? hedge : first
    const place = placeOf(loser.candidate)
    this.#before.push(place)
    this.#hedged(hedge, winner === hedge ? "won" : "lost", winner)
    if (loser === hedge || elapsedMs === undefined) return
    const [firstTokenMs, durationMs] = this.#stream ? [elapsedMs, undefined] : [undefined, elapsedMs]
    this.#shared.observe({ ...place, ok: true, durationMs, firstTokenMs })
  }

  /** Nobody served. */
  get error(): PoolError {
    const resting = this.#failures.length === 0
    const soonest = () => Math.min(...this.#passedOver.map(({ breaker }) => breaker.availableAt()))
    const reason = resting ? restingReason(soonest() - millisOf(this.#clock)) : reasonOf(this.#failures)
    return new PoolError({ reason, attempts: attemptsOf(this.#before), failures: this.#failures })
  }

  /** One of the two goes on alone. */
  #hedged(hedge: Turn, outcome: "won" | "lost", alone: Turn): void {
    this.#shared.metrics.provider.hedged(hedge.host.provider.id, outcome)
    const { provider } = alone.host
    this.call.onAttempt?.({ provider: provider.id, stopsBillingOnAbort: provider.stopsBillingOnAbort })
  }

  #breakerOf(host: Host | undefined, { model }: Candidate): Breaker | undefined {
    // What a caller of the sandbox has asked of a double says nothing of anybody's health.
    const steered = this.call.steering !== undefined && host?.provider.steerable === true
    return steered ? undefined : host?.breakerOf(model.id)
  }

  #isEnforced(candidate: Candidate): boolean {
    return enforcedSchema(this.call.conversation.format, candidate) !== undefined
  }

  #nextInPlan(now: number): Turn | undefined {
    for (let candidate = this.#queue.shift(); candidate !== undefined; candidate = this.#queue.shift()) {
      const host = this.#shared.hosts.get(candidate.offer.provider)
      if (host === undefined) {
        this.#before.push(placeOf(candidate))
        const fault = { _tag: "Unreachable", detail: "no such provider" } as const
        this.#failures.push({ ...placeOf(candidate), fault })
        continue
      }
      const breaker = this.#breakerOf(host, candidate)
      if (breaker === undefined) return { candidate, host, breaker, permit: 0 }
      const permit = breaker.admit(now)
      if (permit !== undefined) return { candidate, host, breaker, permit }
      this.#passedOver.push({ candidate, host, breaker, permit: 0 })
      this.#shared.metrics.provider.passedOver(host.provider.id)
      this.call.trace?.span?.set({ "svc.passed_over": this.#passedOver.map((one) => one.host.provider.id) })
    }
    return undefined
  }

  /** Nobody is left but those that were passed over: one of them may be probed before its time. */
  #lastResort(now: number): Turn | undefined {
    for (const [at, turn] of this.#passedOver.entries()) {
      const permit = turn.breaker.admitEarly(now)
      if (permit === undefined) continue
      this.#passedOver.splice(at, 1)
      return { ...turn, permit }
    }
    return undefined
  }

  #note(turn: Turn, fault: ProviderFault | undefined): void {
    const place = placeOf(turn.candidate)
    this.#before.push(place)
    this.#failures.push({ ...place, fault })
    if (isAnsweredOff(fault)) this.#leaveToNative()
    if (turn.breaker !== undefined && (fault?._tag === "Unreachable" || pauseOf(fault) !== undefined)) {
      this.#worthMore ??= new Map()
      this.#worthMore.set(turn.candidate, turn)
    } else this.#worthMore?.delete(turn.candidate)
  }

  /** From here on only those are asked that keep to the form by themselves. */
  #leaveToNative(): void {
    const native = this.#queue.filter((candidate) => !this.#isEnforced(candidate))
    this.#queue.splice(0, Infinity, ...native)
    const rested = this.#passedOver.filter(({ candidate }) => !this.#isEnforced(candidate))
    this.#passedOver.splice(0, Infinity, ...rested)
  }

  #blame({ breaker, permit }: Turn, given: Clocks, fault: ProviderFault | undefined): void {
    if (breaker === undefined) return
    const how = weigh(fault, given, this.#shared.clocks)
    if (how === undefined) breaker.left(permit)
    else breaker.failed(permit, millisOf(this.#clock), this.#chance(), how)
  }

  /** Picks the host that can be asked again soonest, and answers in how long; undefined when none is worth it. */
  #planRetry(now: number): number | undefined {
    if (this.#retries >= MOST_RETRIES) return undefined
    const backoff = this.#chance() * BACKOFF_MS * 2 ** this.#retries
    let soonest: Turn | undefined
    let wait = Math.min(MOST_WAIT_MS, this.#deadline - now)
    for (const turn of this.#worthMore?.values() ?? []) {
      const inMs = Math.max(0, (turn.breaker?.availableAt() ?? 0) - now) + backoff
      if (inMs >= wait) continue
      wait = inMs
      soonest = turn
    }
    if (soonest === undefined || !soonest.host.budget.take(now)) return undefined
    this.#retries += 1
    this.#toRetry = soonest
    return wait
  }
}

/** Counted only where it makes a difference. */
const boundAt = ({ conversation, promptBound }: PoolCall, { model }: Candidate): number =>
  model.tokensPerImage === undefined
    ? promptBound
    : promptBoundAt({ promptBound, images: imagesIn(conversation) }, model)

const placeOf = ({ model, offer }: Candidate) => ({ provider: offer.provider, model: model.id })

/** The caller's clocks, each of which can only shorten the service's. */
const shorten = (clocks: Clocks, timeouts: Plan["policy"]["timeouts"]): Clocks => ({
  connectMs: Math.min(clocks.connectMs, timeouts.connectMs ?? Infinity),
  firstTokenMs: Math.min(clocks.firstTokenMs, timeouts.firstTokenMs ?? Infinity),
  idleMs: clocks.idleMs,
  totalMs: Math.min(clocks.totalMs, timeouts.totalMs ?? Infinity)
})
