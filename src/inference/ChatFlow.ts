import { Cause, Effect, Exit } from "effect"
import type { Failure } from "../domain/Failure.ts"
import type { Output } from "../domain/Output.ts"
import { type Candidate, summaryOf } from "../domain/Plan.ts"
import type { TokenPrice } from "../domain/Pricing.ts"
import { promptBoundAt } from "../domain/TokenBound.ts"
import { countOutput, countPrompt } from "../domain/Tokens.ts"
import { noTokens, type TokenUsage } from "../domain/Usage.ts"
import type { PoolCall } from "../providers/pool/CallKind.ts"
import type { ProviderPool, ServedAnswer } from "../providers/pool/ProviderPool.ts"
import { keepAnswer } from "./Answer.ts"
import type { Answer } from "../domain/Answer.ts"
import { balanceWarning } from "../domain/Balance.ts"
import { capWithin, type Estimate } from "../domain/Estimate.ts"
import { type AdmittedRequest, type RequestResult, close, type MeteredOptions, routingOf } from "./Metered.ts"
import { failureOfPool, followedBy, keepsNothing, keptRefusal, type ActiveCall, unserved } from "./PaidFlow.ts"
import { ReasoningSealer, sealedOutput } from "./ReasoningSealer.ts"
import type { ReasoningSeals } from "./ReasoningSeals.ts"
import type { ChatRequest } from "./Request.ts"
import { type Outcome, settlementOf } from "./Settlement.ts"

/** A chat request with a committed hold. */
export type AdmittedChat = AdmittedRequest<ChatRequest, TokenPrice, Estimate>

/** The services for carrying out a chat, besides the pool. */
export interface ChatOptions extends MeteredOptions {
  readonly seals: ReasoningSeals["Service"]
}

/** Creates the sealer for the reasoning in a chat's answer. */
export const sealerOf = ({ seals }: ChatOptions, { request }: AdmittedChat, served: Candidate): ReasoningSealer =>
  new ReasoningSealer(seals, request.principal.accountId, served)

/** The result of a chat. */
export type ChatRequestResult = RequestResult<TokenPrice, Outcome>

/** The pool call of an admitted request. */
export const poolCall = (admitted: AdmittedChat, running: ActiveCall): PoolCall => {
  const { estimate, held, plan, request } = admitted
  return {
    requestId: request.requestId,
    accountId: request.principal.accountId,
    plan,
    conversation: request.conversation,
    promptBound: ({ model }) => promptBoundAt(estimate, model),
    held,
    steering: request.steering,
    trace: request.trace,
    maxOutputTokens: (candidate) => capWithin(candidate, estimate, held),
    ...followedBy(running)
  }
}

/** Our own count of the prompt's tokens, computed when first needed. It never exceeds what the hold covers. */
export const promptOnce = ({ estimate, plan, request }: AdmittedChat): (() => number) => {
  let counted: number | undefined
  const most = () => Math.max(...plan.candidates.map(({ model }) => promptBoundAt(estimate, model)))
  return () => (counted ??= Math.min(countPrompt(request.conversation), most()))
}

/** Our own count of a delivered answer's usage. */
const countedUsage = (admitted: AdmittedChat, outputTokens: number): TokenUsage => ({
  ...noTokens,
  input: promptOnce(admitted)(),
  output: outputTokens
})

/** The facts that stored answers and live ones share. */
export const answerOf = (admitted: AdmittedChat, carried: ChatRequestResult, output: Output, usage: TokenUsage) => {
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

/** The answer to store for a replay, if it is small enough and may be stored. */
export const keptAnswer = (
  admitted: AdmittedChat,
  carried: ChatRequestResult,
  output: Output,
  usage: TokenUsage
): object | null => (keepsNothing(admitted) ? null : keepAnswer(answerOf(admitted, carried, output, usage)))

const finishOf = (output: Output) => output.finish ?? (output.toolCalls.length > 0 ? "tool_calls" : "stop")

const finishServed = (options: ChatOptions, admitted: AdmittedChat, served: ServedAnswer<Output>) => {
  const output = sealedOutput(sealerOf(options, admitted, served.candidate), served.output)
  const carried: ChatRequestResult = {
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
  const settlement = settlementOf(carried.outcome, carried.served?.price)
  const { usage } = settlement
  const kept = () => keptAnswer(admitted, carried, output, usage)
  return Effect.map(close(options, admitted, carried, settlement, kept), ({ cost, posted }): Answer => ({
    ...answerOf(admitted, carried, output, usage),
    cost,
    balanceWarning: posted === undefined ? undefined : balanceWarning(posted)
  }))
}

/** Carries out an admitted request and closes its hold in every case. Only the provider's call can be interrupted. */
export const carryOutChat = (
  options: ChatOptions,
  pool: Pick<ProviderPool["Service"], "chat">,
  admitted: AdmittedChat,
  running: ActiveCall
): Effect.Effect<Answer, Failure> =>
  Effect.exit(Effect.interruptible(pool.chat(poolCall(admitted, running)))).pipe(
    Effect.flatMap((exit) => {
      if (Exit.isSuccess(exit)) return finishServed(options, admitted, exit.value)
      const { failures, outcome } = unserved(exit, running)
      const endedAt = performance.now()
      const carried: ChatRequestResult = { outcome, served: undefined, attempts: failures, firstTokenMs: null, endedAt }
      const kept = () => keptRefusal(admitted, outcome.error)
      return Effect.andThen(
        close(options, admitted, carried, settlementOf(outcome, undefined), kept),
        Effect.failCause(Cause.map(exit.cause, (error) => failureOfPool(admitted, error)))
      )
    }),
    Effect.uninterruptible
  )
