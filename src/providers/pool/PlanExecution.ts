import type { Clock } from "effect"
import type { Attempt, Candidate } from "../../domain/Plan.ts"
import type { Price } from "../../domain/Pricing.ts"
import { millisOf } from "../../platform/Monotonic.ts"
import { type Host, withPolicyTimeouts, failureWeightOf } from "../Hosts.ts"
import type { ProviderFault } from "../ProviderError.ts"
import type { WorkCall } from "../Provider.ts"
import type { Clocks, AnswerClock, AnswerKind } from "./AnswerClock.ts"
import { AttemptLog } from "./AttemptLog.ts"
import { AttemptRecord } from "./AttemptRecord.ts"
import type { Breaker } from "./Breaker.ts"
import type { CallKind, AnyPoolCall } from "./CallKind.ts"
import type { AttemptContext } from "./FirstContent.ts"
import {
  type FailedAttempt,
  pauseOf,
  providerAndModelOf,
  PoolError,
  reasonOf,
  isAnsweredEmpty,
  isResultLost,
  isSchemaViolation,
  uncalledReason
} from "./PoolError.ts"
import type { AdmittedCandidate, HedgedPair, PoolState } from "./PoolState.ts"

/**
 * The maximum number of calls to hosts that have already failed this request, not counting the immediate retry after a failed
 * connection.
 */
const MAX_RETRIES = 2
/** Beyond this wait it is better to tell the client when to come back. */
const MAX_WAIT_MS = 5_000
/** The backoff is a random part of this, doubled with each retry. */
const BACKOFF_MS = 200

/**
 * The execution of one request's plan. It decides which candidate is next, which to skip, which is worth a retry, and when to stop. It
 * only decides and keeps records; it makes no calls.
 */
export class PlanExecution<P extends Price, Q extends AnyPoolCall<P>, C extends WorkCall> {
  readonly call: Q
  readonly kind: CallKind<P, Q, C>
  /** The next candidate to call. Undefined while a wait is due, and at the end. */
  upcoming: AdmittedCandidate<P> | undefined
  /** How long to wait before `wake`. Undefined at the end, when no provider served the request. */
  waitMs: number | undefined
  readonly #shared: PoolState
  readonly #clock: Clock.Clock
  /** A random number from 0 to 1. */
  readonly #chance: () => number
  readonly #clocks: Clocks
  readonly #deadline: number
  readonly #queue: Array<Candidate<P>>
  readonly #passedOver: Array<AdmittedCandidate<P> & { readonly breaker: Breaker }> = []
  readonly #failures: Array<FailedAttempt> = []
  readonly #log: AttemptLog<P>
  /** Created when first needed, which is rare. */
  #retryable: Map<Candidate<P>, AdmittedCandidate<P>> | undefined
  #toRetry: AdmittedCandidate<P> | undefined
  #begun = 0
  #retries = 0
  #retriedConnection = false
  /** Whether a candidate was left out because its provider has reached its bound on cost for today. */
  #spent = false

  constructor(shared: PoolState, call: Q, kind: CallKind<P, Q, C>, clock: Clock.Clock, chance: () => number) {
    const { plan } = call
    this.#shared = shared
    this.call = call
    this.#log = new AttemptLog(call.estimateUse)
    this.kind = kind
    this.#clock = clock
    this.#chance = chance
    this.#clocks = withPolicyTimeouts(shared.clocks, plan.policy.timeouts)
    const now = millisOf(clock)
    this.#deadline = now + this.#clocks.totalMs
    this.#queue = plan.policy.allowFallbacks ? [...plan.candidates] : [plan.candidates[0]]
    this.upcoming = this.#nextInPlan(now) ?? this.#lastResort(now)
  }

  /**
   * When a second attempt may start beside the next one. The delay was measured for the plan's first candidate only. For streams it
   * concerns the first token, which nothing waits for when the whole answer has to be checked.
   */
  get hedgeAfterMs(): number | undefined {
    const { candidates, hedgeAfterMs } = this.call.plan
    if (hedgeAfterMs !== undefined && this.kind.stream && this.#isEnforced(candidates[0])) return undefined
    return this.upcoming?.candidate === candidates[0] && this.#begun === 0 && this.#queue.length > 0
      ? hedgeAfterMs
      : undefined
  }

  /** Starts an attempt. `beside` is the one that is already running. */
  begin(admitted: AdmittedCandidate<P>, beside?: AdmittedCandidate<P>): AttemptContext<C> {
    const context = this.prepare(admitted)
    this.begun(admitted, context, beside)
    return context
  }

  /** Prepares an attempt without starting it. */
  prepare(admitted: AdmittedCandidate<P>): AttemptContext<C> {
    const { breaker, candidate, host, permit } = admitted
    const { call, kind } = this
    const { metrics, observe, traceTo } = this.#shared
    const { provider } = host
    const index = this.#begun
    const totalMs = index === 0 ? this.#clocks.totalMs : Math.max(1, this.#deadline - millisOf(this.#clock))
    const times = this.#answerKind(candidate)
    const answer = times && this.#answerClock(times)
    const clocks = index === 0 ? this.#clocks : { ...this.#clocks, totalMs }
    const isShorter = answer !== undefined && answer.ms < totalMs
    const attemptCall = kind.callTo(candidate, call, isShorter ? { ...clocks, answer } : clocks)
    const startedAt = millisOf(this.#clock)
    const operation = kind.operationOf(call)
    const facts = { metrics, trace: call.trace, provider, operation, call: attemptCall, index, stream: kind.stream }
    const record = new AttemptRecord(facts)
    const traceHeaders = traceTo?.has(provider.id) === true ? record.traceHeaders : undefined
    return {
      provider,
      call: traceHeaders === undefined ? attemptCall : { ...attemptCall, traceHeaders },
      observe,
      record,
      blames: (fault) => failureWeightOf(fault, attemptCall.clocks, this.#shared.clocks) !== undefined,
      ended: (fault) => {
        if (fault === undefined && times !== undefined) {
          this.#shared.times.answered(times, millisOf(this.#clock) - startedAt, this.#clock)
        }
        if (breaker === undefined) return
        if (fault === undefined) breaker.succeeded(permit, millisOf(this.#clock))
        else this.#blame(admitted, attemptCall.clocks, fault)
      }
    }
  }

  #answerKind(candidate: Candidate<P>): AnswerKind | undefined {
    const kind = this.kind.answerOf(candidate, this.call)
    return kind && { ...kind, ...providerAndModelOf(candidate) }
  }

  /** The caller's own limit or, while another candidate is left, one derived from the usual duration of such answers. */
  #answerClock(kind: AnswerKind): AnswerClock | undefined {
    if (this.call.plan.policy.timeouts.firstTokenMs !== undefined) {
      return this.kind.folds ? undefined : { ms: this.#clocks.firstTokenMs, clock: "first_token", known: true }
    }
    return this.#queue.length === 0 ? undefined : this.#shared.times.clockOf(kind, this.#clock)
  }

  /** Records that the prepared attempt has started. */
  begun(
    admitted: AdmittedCandidate<P>,
    { record }: Pick<AttemptContext<C>, "record">,
    beside?: AdmittedCandidate<P>
  ): void {
    const { candidate, host } = admitted
    const { provider } = host
    const stops = provider.stopsBillingOnAbort && beside?.host.provider.stopsBillingOnAbort !== false
    this.#begun += 1
    this.#log.begun(admitted, record)
    if (this.#retryable?.has(candidate) === true) this.#shared.metrics.provider.retried(provider.id)
    else if (beside === undefined) host.budget.requested()
    this.call.onAttempt?.({ provider: provider.id, stopsBillingOnAbort: stops, beginsAlone: beside === undefined })
  }

  /** Drops the prepared attempt, because this provider does not do such work. */
  unable(admitted: AdmittedCandidate<P>): void {
    this.abandoned(admitted)
    const now = millisOf(this.#clock)
    this.upcoming = this.#nextInPlan(now) ?? this.#lastResort(now)
    this.waitMs = this.upcoming === undefined ? this.#planRetry(now) : undefined
  }

  /** Records the first content. */
  answered({ breaker, permit }: AdmittedCandidate<P>): void {
    breaker?.answered(permit, millisOf(this.#clock))
  }

  /** Records an abandoned attempt: the client disconnected, or another attempt was faster. */
  abandoned(admitted: AdmittedCandidate<P>): void {
    admitted.breaker?.abandoned(admitted.permit)
    if (this.#log.isRunning(admitted)) this.#log.end(admitted, "abandoned")
  }

  /** Records the attempt that served, and the ones before it. */
  served(admitted: AdmittedCandidate<P>) {
    const { candidate, host } = admitted
    const { stopsBillingOnAbort } = host.provider
    return { candidate, attempts: this.#log.served(admitted), firstTokenMs: undefined, stopsBillingOnAbort }
  }

  /** Records an attempt without content while no other is running, and decides what comes next. */
  failed(admitted: AdmittedCandidate<P>, { call, record }: AttemptContext<C>, fault: ProviderFault | undefined): void {
    this.#note(admitted, fault)
    const now = millisOf(this.#clock)
    const isOver = isAnsweredEmpty(this.#failures) || this.#failures.some(({ fault }) => isResultLost(fault))
    const goesOn = now < this.#deadline && !isOver
    this.upcoming = goesOn ? this.#nextInPlan(now) : undefined
    const isGone = fault?._tag === "Unreachable" && !this.#isLeftOut(admitted.candidate)
    if (goesOn && this.upcoming === undefined && isGone && !this.#retriedConnection) {
      // A dead keep-alive connection looks like a failed connection, so the breaker counts only the outcome of the retry.
      this.#retriedConnection = true
      this.upcoming = admitted
    } else this.#blame(admitted, call.clocks, fault)
    if (goesOn) this.upcoming ??= this.#lastResort(now)
    this.waitMs = goesOn && this.upcoming === undefined ? this.#planRetry(now) : undefined
    record.failed(fault, this.upcoming === undefined && this.waitMs === undefined ? "failed" : "failed_over")
  }

  /** Records an attempt without content while the other one is running or has served. */
  pairedAttemptFailed(
    { first, hedge }: HedgedPair<P>,
    admitted: AdmittedCandidate<P>,
    { call, record }: AttemptContext<C>,
    fault: ProviderFault | undefined
  ): void {
    this.#note(admitted, fault)
    this.#blame(admitted, call.clocks, fault)
    record.failed(fault, "failed_over")
    this.#hedged(hedge, admitted === hedge ? "lost" : "won", admitted === hedge ? first : hedge)
  }

  /** Called after the wait. Another request may have used the host meanwhile; then the execution waits for it again. */
  wake(): void {
    const admitted = this.#toRetry
    const now = millisOf(this.#clock)
    const permit = admitted?.breaker?.admitEarly(now)
    this.upcoming = admitted === undefined || permit === undefined ? undefined : { ...admitted, permit }
    this.waitMs = this.upcoming === undefined ? this.#planRetry(now) : undefined
  }

  /** A candidate to start beside an attempt that has no content yet: one that is healthy and has retry budget. */
  hedge(): AdmittedCandidate<P> | undefined {
    const now = millisOf(this.#clock)
    for (const [at, candidate] of this.#queue.entries()) {
      const host = this.#hostOf(candidate)
      const breaker = this.#breakerOf(host, candidate)
      if (host === undefined || (breaker !== undefined && breaker.state !== "closed")) continue
      if (!this.#affords(candidate)) continue
      if (!host.budget.take(now)) return undefined
      this.#queue.splice(at, 1)
      return { candidate, host, breaker, permit: breaker?.admit(now) ?? 0 }
    }
    return undefined
  }

  /**
   * Records that one of two parallel attempts was faster. If the first attempt is the slower one, the live figures count it with the
   * time it had; otherwise they would forget how slow it can be. That time is a lower bound for the first token of a stream, or for a
   * complete answer. The duration of the whole stream is unknown.
   */
  hedgeDecided({ first, hedge }: HedgedPair<P>, winner: AdmittedCandidate<P>, elapsedMs: number | undefined): void {
    const loser = winner === first ? hedge : first
    const place = this.#log.end(loser, "abandoned")
    this.#hedged(hedge, winner === hedge ? "won" : "lost", winner)
    if (loser === hedge || elapsedMs === undefined) return
    const [firstTokenMs, durationMs] = this.kind.stream ? [elapsedMs, undefined] : [undefined, elapsedMs]
    this.#shared.observe({ ...place, ok: true, durationMs, firstTokenMs })
  }

  /** All attempts that have ended, when no provider served the request. */
  get attempts(): ReadonlyArray<Attempt> {
    return this.#log.ended
  }

  /** The error when no provider served the request. */
  get error(): PoolError {
    const failures = this.#failures
    const waits = this.#passedOver.map(({ breaker }) => breaker.availableAt() - millisOf(this.#clock))
    const reason = failures.length > 0 ? reasonOf(failures) : uncalledReason(waits, this.#spent)
    return new PoolError({ reason, attempts: this.attempts, failures })
  }

  /** Records that one of the two attempts continues alone. */
  #hedged(hedge: AdmittedCandidate<P>, outcome: "won" | "lost", alone: AdmittedCandidate<P>): void {
    this.#shared.metrics.provider.hedged(hedge.host.provider.id, outcome)
    const { id, stopsBillingOnAbort } = alone.host.provider
    this.call.onAttempt?.({ provider: id, stopsBillingOnAbort, beginsAlone: false })
  }

  /** A request that was planned for a double may be paid with simulated money, so it must never reach a real host. */
  #hostOf({ offer }: Candidate<P>): Host | undefined {
    const host = this.#shared.hosts.get(offer.provider)
    return offer.simulated === true && host?.provider.steerable !== true ? undefined : host
  }

  #breakerOf(host: Host | undefined, { model }: Candidate<P>): Breaker | undefined {
    // A fault that a sandbox client asked a double for says nothing about the provider's health.
    const steered = this.call.steering !== undefined && host?.provider.steerable === true
    return steered ? undefined : host?.breakerOf(model.id)
  }

  #isEnforced(candidate: Candidate<P>): boolean {
    return this.kind.isEnforced(candidate, this.call)
  }

  #affords(candidate: Candidate<P>): boolean {
    const affordable = this.call.affords?.(candidate) ?? true
    if (!affordable) this.#spent = true
    return affordable
  }

  #nextInPlan(now: number): AdmittedCandidate<P> | undefined {
    for (let candidate = this.#queue.shift(); candidate !== undefined; candidate = this.#queue.shift()) {
      const host = this.#hostOf(candidate)
      if (host === undefined) {
        this.#log.uncalled(candidate)
        const fault = { _tag: "Unreachable", detail: "no such provider" } as const
        this.#failures.push({ ...providerAndModelOf(candidate), fault })
        continue
      }
      const breaker = this.#breakerOf(host, candidate)
      if (!this.#affords(candidate)) continue
      if (breaker === undefined) return { candidate, host, breaker, permit: 0 }
      const permit = breaker.admit(now)
      if (permit !== undefined) return { candidate, host, breaker, permit }
      this.#passedOver.push({ candidate, host, breaker, permit: 0 })
      this.#shared.metrics.provider.passedOver(host.provider.id)
      this.call.trace?.span?.set({ "svc.passed_over": this.#passedOver.map((one) => one.host.provider.id) })
    }
    return undefined
  }

  /** Only skipped candidates are left. One of them may be probed before its time. */
  #lastResort(now: number): AdmittedCandidate<P> | undefined {
    for (const [at, admitted] of this.#passedOver.entries()) {
      const permit = admitted.breaker.admitEarly(now)
      if (permit === undefined) continue
      this.#passedOver.splice(at, 1)
      return { ...admitted, permit }
    }
    return undefined
  }

  #note(admitted: AdmittedCandidate<P>, fault: ProviderFault | undefined): void {
    this.#failures.push({ ...this.#log.end(admitted, fault ?? "empty"), fault })
    if (isSchemaViolation(fault)) this.#dropEnforcedCandidates()
    const isTransient = fault?._tag === "Unreachable" || pauseOf(fault) !== undefined
    if (admitted.breaker !== undefined && isTransient && !this.#isLeftOut(admitted.candidate)) {
      this.#retryable ??= new Map()
      this.#retryable.set(admitted.candidate, admitted)
    } else this.#retryable?.delete(admitted.candidate)
  }

  /**
   * After an answer that violated its schema, from any candidate, the execution skips candidates with answers that would have to be
   * checked.
   */
  #isLeftOut(candidate: Candidate<P>): boolean {
    return this.#failures.some(({ fault }) => isSchemaViolation(fault)) && this.#isEnforced(candidate)
  }

  /** From here on, the execution uses only candidates that guarantee the schema themselves. */
  #dropEnforcedCandidates(): void {
    const native = this.#queue.filter((candidate) => !this.#isEnforced(candidate))
    this.#queue.splice(0, Infinity, ...native)
    const remaining = this.#passedOver.filter(({ candidate }) => !this.#isEnforced(candidate))
    this.#passedOver.splice(0, Infinity, ...remaining)
    for (const candidate of this.#retryable?.keys() ?? []) {
      if (this.#isEnforced(candidate)) this.#retryable?.delete(candidate)
    }
  }

  #blame(
    { breaker, candidate, permit }: AdmittedCandidate<P>,
    attemptClocks: Clocks,
    fault: ProviderFault | undefined
  ): void {
    if (fault?._tag === "TimedOut" && fault.clock === "answer" && attemptClocks.answer !== undefined) {
      const kind = this.#answerKind(candidate)
      if (kind !== undefined) this.#shared.times.timedOut(kind, attemptClocks.answer.ms, this.#clock)
    }
    if (breaker === undefined) return
    const how = failureWeightOf(fault, attemptClocks, this.#shared.clocks)
    if (how === undefined) breaker.abandoned(permit)
    else breaker.failed(permit, millisOf(this.#clock), this.#chance(), how)
  }

  /** Picks the host that can be retried soonest and returns the delay in milliseconds; undefined when no retry is worthwhile. */
  #planRetry(now: number): number | undefined {
    if (this.#retries >= MAX_RETRIES) return undefined
    const backoff = this.#chance() * BACKOFF_MS * 2 ** this.#retries
    let soonest: AdmittedCandidate<P> | undefined
    let wait = Math.min(MAX_WAIT_MS, this.#deadline - now)
    for (const admitted of this.#retryable?.values() ?? []) {
      const inMs = Math.max(0, (admitted.breaker?.availableAt() ?? 0) - now) + backoff
      if (inMs >= wait) continue
      wait = inMs
      soonest = admitted
    }
    if (soonest === undefined || !soonest.host.budget.take(now)) return undefined
    this.#retries += 1
    this.#toRetry = soonest
    return wait
  }
}
