import { Cause, Effect, Exit } from "effect"
import { type Failure, failure, type Reason } from "../domain/Failure.ts"
import type { Output } from "../domain/Output.ts"
import { summaryOf } from "../domain/Plan.ts"
import { countOutput, countPrompt } from "../domain/Tokens.ts"
import { noTokens, type TokenUsage } from "../domain/Usage.ts"
import type { PoolCall } from "../providers/Course.ts"
import type { PoolError } from "../providers/PoolError.ts"
import type { ProviderPool, Served } from "../providers/ProviderPool.ts"
import { type Answer, balanceWarning, keepAnswer, keepRefusal, MAX_KEPT_BYTES } from "./Answer.ts"
import { capWithin } from "./Estimate.ts"
import { type Admitted, type Carried, close, type Closed, type MeteredOptions, routingOf } from "./Metered.ts"
import type { Outcome, Settlement } from "./Settlement.ts"

/** Whether hanging up on the attempt now running stops its bill. Nothing runs at first. */
export interface Running {
  stopsBillingOnAbort: boolean
}

/** The call of an admitted request. */
export const poolCall = (admitted: Admitted, running: Running): PoolCall => {
  const { estimate, held, plan, request } = admitted
  return {
    requestId: request.requestId,
    accountId: request.principal.accountId,
    plan,
    conversation: request.conversation,
    promptBound: estimate.promptBound,
    held,
    steering: request.steering,
    trace: request.trace,
    maxOutputTokens: (candidate) => capWithin(candidate, estimate, held),
    onAttempt: (attempt) => {
      running.stopsBillingOnAbort = attempt.stopsBillingOnAbort
    }
  }
}

/** The prompt's tokens by our own count, taken when first asked for: never more than the bound that was held for. */
export const promptOnce = (admitted: Admitted): (() => number) => {
  let counted: number | undefined
  return () => (counted ??= Math.min(countPrompt(admitted.request.conversation), admitted.estimate.promptBound))
}

/** The usage of a delivered answer by our own count. */
export const countedUsage = (admitted: Admitted, outputTokens: number): TokenUsage => ({
  ...noTokens,
  input: promptOnce(admitted)(),
  output: outputTokens
})

/** What kept answers and live ones have in common. */
export const answerOf = (admitted: Admitted, carried: Carried, output: Output, usage: TokenUsage) => {
  const routing = routingOf(admitted, carried)
  return {
    requestId: admitted.request.requestId,
    created: admitted.created,
    model: admitted.request.model,
    preset: admitted.request.preset,
    resolvedModel: routing.resolvedModel,
    provider: routing.provider ?? "",
    output,
    usage,
    routing: summaryOf(routing)
  }
}

/** Content is kept only where the caller's data policy lets it be. */
export const keepsNothing = (admitted: Admitted): boolean => admitted.plan.policy.dataPolicy === "zero_retention"

/** What a repeat is answered with: the answer, within a bound of its size, where it may be kept. */
export const keptAnswer = (admitted: Admitted, carried: Carried, output: Output, usage: TokenUsage): object | null => {
  if (keepsNothing(admitted)) return null
  const json = JSON.stringify(answerOf(admitted, carried, output, usage))
  return Buffer.byteLength(json, "utf8") <= MAX_KEPT_BYTES ? keepAnswer(json) : null
}

/** The same for a final refusal, which may quote what it refuses. */
export const keptRefusal = (admitted: Admitted, error: Reason | undefined): object | null =>
  error === undefined || keepsNothing(admitted) ? null : keepRefusal(error)

/** The failure of a request nobody served. What providers said goes to the log alone, and nowhere where nothing may be kept. */
export const failureOfPool = (admitted: Admitted, error: PoolError): Failure =>
  keepsNothing(admitted) ? failure(error.reason) : failure(error.reason, error.failures)

const finishOf = (output: Output) => output.finish ?? (output.toolCalls.length > 0 ? "tool_calls" : "stop")

/** What is known of a request nobody served. */
export const unserved = (
  exit: Exit.Failure<unknown, PoolError>
): { outcome: Outcome; failures: Carried["attempts"] } => {
  const error = exit.cause.reasons.find(Cause.isFailReason)?.error
  if (error !== undefined) return { outcome: { _tag: "Nothing", error: error.reason }, failures: error.attempts }
  const bug = exit.cause.reasons.some(Cause.isDieReason)
  return { outcome: { _tag: "Nothing", error: bug ? { _tag: "InternalError" } : undefined }, failures: [] }
}

const finishServed = (options: MeteredOptions, admitted: Admitted, served: Served<Output>) => {
  const { output } = served
  const carried: Carried = {
    outcome: {
      _tag: "Whole",
      finish: finishOf(output),
      delivered: { reported: output.usage, counted: () => countedUsage(admitted, countOutput(output)) }
    },
    served: served.candidate,
    attempts: served.attempts,
    firstTokenMs: null,
    endedAt: performance.now()
  }
  const kept = ({ usage }: Settlement) => keptAnswer(admitted, carried, output, usage)
  return Effect.map(close(options, admitted, carried, kept), ({ cost, posted, settlement }: Closed): Answer => ({
    ...answerOf(admitted, carried, output, settlement.usage),
    cost,
    balanceWarning: posted === undefined ? undefined : balanceWarning(posted)
  }))
}

/**
 * Carries out an admitted request and closes its hold, whatever happens. Only the provider's call can be interrupted.
 */
export const carryOutChat = (
  options: MeteredOptions,
  pool: Pick<ProviderPool["Service"], "chat">,
  admitted: Admitted,
  running: Running
): Effect.Effect<Answer, Failure> =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(Effect.interruptible(pool.chat(poolCall(admitted, running))))
    if (Exit.isSuccess(exit)) return yield* finishServed(options, admitted, exit.value)
    const { failures, outcome } = unserved(exit)
    const endedAt = performance.now()
    const carried: Carried = { outcome, served: undefined, attempts: failures, firstTokenMs: null, endedAt }
    const error = outcome._tag === "Nothing" ? outcome.error : undefined
    yield* close(options, admitted, carried, () => keptRefusal(admitted, error))
    return yield* Effect.failCause(Cause.map(exit.cause, (error) => failureOfPool(admitted, error)))
  }).pipe(Effect.uninterruptible)
