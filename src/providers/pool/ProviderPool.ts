import { Clock, Context, Effect, Exit, Fiber, Layer, Option, Random, type Redacted, Result, type Scope } from "effect"
import type { Output } from "../../domain/Output.ts"
import type { Attempt, Candidate } from "../../domain/Plan.ts"
import type { Price, TokenPrice } from "../../domain/Pricing.ts"
import { Metrics } from "../../platform/telemetry/Metrics.ts"
import { AnswerTimes, type Clocks } from "./AnswerClock.ts"
import {
  type CallKind,
  otherWork,
  streamedChat,
  wholeChat,
  type AnyPoolCall,
  type PoolCall,
  type WorkPoolCall
} from "./CallKind.ts"
import { PlanExecution } from "./PlanExecution.ts"
import type { AdmittedCandidate, PoolState } from "./PoolState.ts"
import {
  type AttemptContext,
  type AttemptSample,
  attemptWork,
  type RestOf,
  streamAttempt,
  type AttemptMethod,
  wholeAttempt
} from "./FirstContent.ts"
import { type Host, makeHosts } from "../Hosts.ts"
import { foldStreams } from "../wire/FoldedStream.ts"
import type { PoolError } from "./PoolError.ts"
import type { ChatCall, ChatSource, Provider, WorkCall } from "../Provider.ts"
import type { ProviderError } from "../ProviderError.ts"
import { exchange, Openings } from "./SharedBreakers.ts"
import { withContextEdits } from "../wire/ContextEdits.ts"
import { enforceFormat } from "../structured/Structured.ts"
import { makeCheck } from "../structured/StructuredCheck.ts"
import { StructuredMemory } from "../structured/StructuredMemory.ts"

/** The attempt that served, and the ones before it. `attempts` ends with the one that served. */
export interface ServedBy<P extends Price = TokenPrice> {
  readonly candidate: Candidate<P>
  readonly attempts: ReadonlyArray<Attempt>
  /** From the start of the attempt that served to its first content; streams only. */
  readonly firstTokenMs: number | undefined
  readonly stopsBillingOnAbort: boolean
}

export interface ServedAnswer<A, P extends Price = TokenPrice> extends ServedBy<P> {
  readonly output: A
}

/**
 * An open stream after its first content, so that no other provider will be tried. It ends with the scope in which it was
 * opened.
 */
export interface ServedStream extends ServedBy {
  readonly source: ChatSource
}

/** One attempt at a provider; undefined when the provider does not do such work. It is made at most once. */
export type WorkAttempt<A> = (provider: Provider, call: WorkCall) => Effect.Effect<A, ProviderError> | undefined

export interface ProviderPoolOptions {
  readonly providers: ReadonlyArray<Provider>
  /** The service's time limits. A plan's policy can only shorten them. The total limit covers all attempts of a request together. */
  readonly clocks: Clocks
  readonly observe: (sample: AttemptSample) => void
  /** Ids of the providers that receive the trace context of a call. Absent: none. */
  readonly traceTo?: ReadonlySet<string>
  /** The Redis server through which nodes share their breakers. Absent: each node has its own. */
  readonly redisUrl?: Redacted.Redacted | undefined
}

/**
 * Executes a plan. The pool tries the candidates in order, or only the first when fallbacks are not allowed, until one produces content:
 *
 * - An empty answer that its cap did not cut short is a failed attempt. So is an answer that violates the requested schema; after that,
 *   the pool uses only models that guarantee a schema themselves.
 * - Once a stream has produced content, the pool tries no other provider, whatever happens to the stream.
 * - The pool skips a candidate with an open breaker, which is not an attempt. When no other candidate is left, it probes that one once a
 *   second, unless the host has asked for a pause.
 * - The pool calls each candidate once. When no connection could be made, it calls the last one again at once, because a dead keep-alive
 *   connection looks like that. Beyond that, it retries only a host that was unreachable or has named a pause, after that pause and
 *   within the host's retry budget.
 * - With `hedgeAfterMs`, the pool calls the second candidate in parallel when the first has produced nothing in that time. The first one
 *   to produce content serves the request. The pool abandons the other, which appears among the attempts as failed over.
 *
 * `ask` carries out other work by the same rules, except that an attempt returns a complete answer and attempts never run in parallel.
 * `attempt` makes one attempt; it returns undefined for a provider that does not do such work, which the pool skips. After an answer with
 * a rest, the pool tries no other provider, whatever happens to the rest.
 */
export class ProviderPool extends Context.Service<
  ProviderPool,
  {
    readonly chat: (call: PoolCall) => Effect.Effect<ServedAnswer<Output>, PoolError>
    readonly chatStream: (call: PoolCall) => Effect.Effect<ServedStream, PoolError, Scope.Scope>
    readonly ask: <A>(
      call: WorkPoolCall,
      attempt: WorkAttempt<A>,
      restOf?: RestOf<A>
    ) => Effect.Effect<ServedAnswer<A, Price>, PoolError>
    readonly has: (provider: string) => boolean
  }
>()("tollgate/providers/ProviderPool") {
  static readonly layerFrom = (options: ProviderPoolOptions) =>
    Layer.effect(
      ProviderPool,
      Effect.gen(function* () {
        const { redisUrl } = options
        const metrics = yield* Metrics
        const check = yield* makeCheck
        const memory = new StructuredMemory()
        const providers = options.providers.map((provider) =>
          enforceFormat(withContextEdits(foldStreams(provider)), check, memory)
        )
        if (redisUrl === undefined) return make(options, metrics, makeHosts(providers, metrics))
        const openings = new Openings()
        const hosts = makeHosts(providers, metrics, openings.add)
        yield* exchange(redisUrl, hosts, openings)
        return make(options, metrics, hosts)
      })
    )
}

const make = (options: ProviderPoolOptions, metrics: Metrics, hosts: ReadonlyMap<string, Host>) => {
  const { clocks, observe, traceTo } = options
  const shared: PoolState = { hosts, metrics, clocks, observe, traceTo, times: new AnswerTimes() }
  return ProviderPool.of({
    has: (provider) => hosts.has(provider),
    chat: (call) => Effect.map(run(shared, call, wholeChat, askWhole), ({ by, answer }) => ({ ...by, output: answer })),
    chatStream: (call) =>
      Effect.map(run(shared, call, streamedChat, askStreamed), ({ by, answer }) => ({
        ...by,
        firstTokenMs: answer.firstTokenMs,
        source: answer.source
      })),
    ask: (call, attempt, restOf) =>
      Effect.map(run(shared, call, otherWork, askWork(attempt, restOf)), ({ by, answer }) => ({
        ...by,
        output: answer
      }))
  })
}

/** An attempt that ended without interruption. */
interface EndedAttempt<A, P extends Price = TokenPrice, C extends WorkCall = ChatCall> {
  readonly admitted: AdmittedCandidate<P>
  readonly context: AttemptContext<C>
  readonly result: Result.Result<A | undefined, ProviderError>
}

/** Calls the next candidate; undefined when its provider does not do such work. */
type CallCandidate<A, R, P extends Price, Q extends AnyPoolCall<P>, C extends WorkCall> = (
  execution: PlanExecution<P, Q, C>,
  admitted: AdmittedCandidate<P>
) => Effect.Effect<EndedAttempt<A, P, C>, never, R> | undefined

type ChatExecution = PlanExecution<TokenPrice, PoolCall, ChatCall>

const answerIn = <A>({ result }: Pick<EndedAttempt<A>, "result">): A | undefined =>
  result._tag === "Success" ? result.success : undefined

const faultOf = <A>({ result }: Pick<EndedAttempt<A>, "result">) =>
  result._tag === "Failure" ? result.failure.fault : undefined

const run = <A, R, P extends Price, Q extends AnyPoolCall<P>, C extends WorkCall>(
  shared: PoolState,
  call: Q,
  kind: CallKind<P, Q, C>,
  ask: CallCandidate<A, R, P, Q, C>
) =>
  Effect.withFiber((fiber) => {
    const random = fiber.getRef(Random.Random)
    const chance = () => random.nextDoubleUnsafe()
    const execution = new PlanExecution(shared, call, kind, fiber.getRef(Clock.Clock), chance)
    const { onLeft } = call
    const followed = follow(execution, ask)
    return onLeft === undefined
      ? followed
      : Effect.onInterrupt(followed, () => Effect.sync(() => onLeft(execution.attempts)))
  })

/** The content, and the candidate that produced it. */
interface ServedContent<A, P extends Price> {
  readonly answer: A
  readonly by: ServedBy<P>
}

/** Calls one candidate after the other until one produces content. */
const follow = <A, R, P extends Price, Q extends AnyPoolCall<P>, C extends WorkCall>(
  execution: PlanExecution<P, Q, C>,
  ask: CallCandidate<A, R, P, Q, C>
): Effect.Effect<ServedContent<A, P>, PoolError, R> => {
  for (;;) {
    const { upcoming, waitMs } = execution
    if (upcoming === undefined) {
      if (waitMs === undefined) return Effect.fail(execution.error)
      return Effect.flatMap(Effect.sleep(waitMs), () => {
        execution.wake()
        return follow(execution, ask)
      })
    }
    const asking = ask(execution, upcoming)
    if (asking === undefined) {
      execution.unable(upcoming)
      continue
    }
    return Effect.flatMap(asking, (ended): Effect.Effect<ServedContent<A, P>, PoolError, R> => {
      const answer = answerIn(ended)
      if (answer !== undefined) {
        // The breaker of a complete answer already has its outcome, so this changes nothing for it.
        execution.answered(ended.admitted)
        return Effect.succeed({ answer, by: execution.served(ended.admitted) })
      }
      execution.failed(ended.admitted, ended.context, faultOf(ended))
      return follow(execution, ask)
    })
  }
}

/** Makes an attempt that the execution has started. */
const runAttempt = <A, R, P extends Price, Q extends AnyPoolCall<P>, C extends WorkCall>(
  execution: PlanExecution<P, Q, C>,
  admitted: AdmittedCandidate<P>,
  context: AttemptContext<C>,
  attempt: Effect.Effect<A | undefined, ProviderError, R>
): Effect.Effect<EndedAttempt<A, P, C>, never, R> => {
  const ended = (result: EndedAttempt<A, P, C>["result"]): EndedAttempt<A, P, C> => ({ admitted, context, result })
  const watched = Effect.onInterrupt(attempt, () =>
    Effect.sync(() => {
      context.record.cancelled()
      execution.abandoned(admitted)
    })
  )
  return Effect.match(watched, {
    onFailure: (error) => ended(Result.fail(error)),
    onSuccess: (answer) => ended(Result.succeed(answer))
  })
}

const askWork =
  <A>(attempt: WorkAttempt<A>, restOf?: RestOf<A>): CallCandidate<A, never, Price, WorkPoolCall, WorkCall> =>
  (execution, admitted) => {
    const context = execution.prepare(admitted)
    const work = attempt(context.provider, context.call)
    if (work === undefined) return undefined
    const begun = Effect.sync(() => execution.begun(admitted, context))
    return runAttempt(execution, admitted, context, Effect.andThen(begun, attemptWork(context, work, restOf)))
  }

const askChat =
  <A, R>(method: AttemptMethod<A, R>): CallCandidate<A, R, TokenPrice, PoolCall, ChatCall> =>
  (execution, admitted) => {
    const { hedgeAfterMs } = execution
    return hedgeAfterMs === undefined
      ? askOnce(execution, admitted, method)
      : askHedged(execution, admitted, method, hedgeAfterMs)
  }

const askOnce = <A, R>(
  execution: ChatExecution,
  admitted: AdmittedCandidate,
  method: AttemptMethod<A, R>,
  beside?: AdmittedCandidate
): Effect.Effect<EndedAttempt<A>, never, R> =>
  Effect.suspend(() => {
    const context = execution.begin(admitted, beside)
    return runAttempt(execution, admitted, context, method.attempt(context))
  })

/** Runs an attempt, and a second one in parallel when the first takes too long. The first one to produce content wins. */
const askHedged = Effect.fnUntraced(function* <A, R>(
  execution: ChatExecution,
  first: AdmittedCandidate,
  method: AttemptMethod<A, R>,
  afterMs: number
) {
  const fibers: Array<Fiber.Fiber<EndedAttempt<A>>> = []
  const start = Effect.fnUntraced(function* (admitted: AdmittedCandidate, beside?: AdmittedCandidate) {
    const fiber = yield* Effect.forkChild(askOnce(execution, admitted, method, beside), { startImmediately: true })
    fibers.push(fiber)
    return fiber
  })
  const raced = Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const startedAt = clock.currentTimeMillisUnsafe()
    const slow = yield* start(first)
    const early = yield* Effect.timeoutOption(Fiber.join(slow), afterMs)
    if (Option.isSome(early)) return early.value
    const hedge = execution.hedge()
    if (hedge === undefined) return yield* Fiber.join(slow)
    const quick = yield* start(hedge, first)
    const ended = yield* Effect.raceFirst(Fiber.join(slow), Fiber.join(quick))
    const other = ended.admitted === first ? quick : slow
    const pair = { first, hedge }
    if (answerIn(ended) === undefined) {
      execution.pairedAttemptFailed(pair, ended.admitted, ended.context, faultOf(ended))
      return yield* Fiber.join(other)
    }
    const late = other.pollUnsafe()
    const lateAnswer = late !== undefined && Exit.isSuccess(late) ? answerIn(late.value) : undefined
    if (late !== undefined && Exit.isSuccess(late) && lateAnswer === undefined) {
      execution.pairedAttemptFailed(pair, late.value.admitted, late.value.context, faultOf(late.value))
      return ended
    }
    execution.hedgeDecided(
      pair,
      ended.admitted,
      lateAnswer === undefined ? clock.currentTimeMillisUnsafe() - startedAt : undefined
    )
    other.interruptUnsafe()
    // It produced content at the same instant.
    if (lateAnswer !== undefined) yield* method.abandon(lateAnswer)
    return ended
  })
  return yield* Effect.onExit(raced, (exit) => (Exit.isSuccess(exit) ? Effect.void : Fiber.interruptAll(fibers)))
})

const askWhole = askChat(wholeAttempt)
const askStreamed = askChat(streamAttempt)
