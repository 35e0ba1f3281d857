import { Effect, Exit } from "effect"
import type { Failure } from "../domain/Failure.ts"
import type { Output } from "../domain/Output.ts"
import { type Candidate, summaryOf } from "../domain/Plan.ts"
import { longCachePrice, maximumCost, type Price, type TokenPrice } from "../domain/Pricing.ts"
import { promptBoundAt } from "../domain/TokenBound.ts"
import { countOutput, countPrompt } from "../domain/Tokens.ts"
import { noTokens, type TokenUsage, type CallUsage } from "../domain/Usage.ts"
import type { EstimateUse } from "../providers/pool/AttemptLog.ts"
import type { PoolCall } from "../providers/pool/CallKind.ts"
import type { ProviderPool, ServedAnswer } from "../providers/pool/ProviderPool.ts"
import { keepAnswer } from "./Answer.ts"
import type { Answer } from "../domain/Answer.ts"
import { balanceWarning } from "../domain/Balance.ts"
import { capWithin, type Estimate } from "../domain/Estimate.ts"
import { closeServed, closeUnserved, type ServedEnd } from "./Ending.ts"
import { type AdmittedRequest, affords, type AdmissionOptions, type RequestResult, routingOf } from "./Admission.ts"
import { type ActiveCall, followedBy } from "./PaidFlow.ts"
import { ReasoningSealer, sealedOutput } from "./ReasoningSealer.ts"
import type { ReasoningSeals } from "./ReasoningSeals.ts"
import type { ChatRequest } from "./Request.ts"
import type { Outcome } from "./Settlement.ts"
import { whileHeld } from "./WhileHeld.ts"

/** A chat request with a committed hold. */
export type AdmittedChat = AdmittedRequest<ChatRequest, TokenPrice, Estimate>

/** The services for carrying out a chat, besides the pool. */
export interface ChatOptions extends AdmissionOptions {
  readonly seals: ReasoningSeals["Service"]
}

/** Creates the sealer for the reasoning in a chat's answer. */
export const sealerOf = ({ seals }: ChatOptions, { request }: AdmittedChat, served: Candidate): ReasoningSealer =>
  new ReasoningSealer(seals, request.principal.accountId, served)

/** The most that a call of a candidate costs the operator. */
const mostCost = ({ estimate, held }: AdmittedChat, candidate: Candidate, cost: Price): bigint =>
  cost.unit === "token"
    ? maximumCost(longCachePrice(cost), promptBoundAt(estimate, candidate.model), capWithin(candidate, estimate, held))
    : 0n

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

/** Estimates what an attempt that served no answer used: the prompt, and the output that had arrived. */
const estimateUse =
  (admitted: AdmittedChat): EstimateUse<TokenPrice> =>
  (_, { output, prompt }) => {
    const outputTokens = output === undefined ? 0 : countOutput(output)
    return prompt === undefined
      ? countedUsage(admitted, outputTokens)
      : { ...noTokens, ...prompt, output: outputTokens }
  }

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
    affords: (candidate) => affords(admitted, candidate, (cost) => mostCost(admitted, candidate, cost)),
    estimateUse: estimateUse(admitted),
    ...followedBy(running)
  }
}

/** The facts that stored answers and live ones share. */
const answerOf = (admitted: AdmittedChat, carried: RequestResult, output: Output, usage: TokenUsage) => {
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

/** The usage of a chat, which is always in tokens. */
const tokensOf = (usage: CallUsage): TokenUsage => ("units" in usage ? noTokens : usage)

/** Ends a chat or a stream that a provider served, and returns its answer. `storable`: whether all of the output is at hand. */
export const closeAnswered = (
  options: ChatOptions,
  admitted: AdmittedChat,
  end: ServedEnd<TokenPrice>,
  output: Output,
  storable: boolean
): Effect.Effect<Answer, Failure> => {
  const kept = (carried: RequestResult, usage: CallUsage) =>
    storable ? keepAnswer(answerOf(admitted, carried, output, tokensOf(usage))) : null
  return Effect.map(closeServed(options, admitted, end, kept), ({ carried, cost, posted, usage }): Answer => ({
    ...answerOf(admitted, carried, output, tokensOf(usage)),
    cost,
    balanceWarning: posted === undefined ? undefined : balanceWarning(posted)
  }))
}

const finishOf = (output: Output) => output.finish ?? (output.toolCalls.length > 0 ? "tool_calls" : "stop")

const finishServed = (options: ChatOptions, admitted: AdmittedChat, served: ServedAnswer<Output>) => {
  const { attempts, candidate } = served
  const output = sealedOutput(sealerOf(options, admitted, candidate), served.output)
  const delivered = { reported: output.usage, counted: () => countedUsage(admitted, countOutput(output)) }
  const outcome: Outcome = { _tag: "Whole", finish: finishOf(output), delivered }
  const end = { candidate, attempts, outcome, firstTokenMs: null, endedAt: performance.now(), isGiven: false }
  return closeAnswered(options, admitted, end, output, true)
}

/** Carries out an admitted request and closes its hold in every case. Only the provider's call can be interrupted. */
export const carryOutChat = (
  options: ChatOptions,
  pool: Pick<ProviderPool["Service"], "chat">,
  admitted: AdmittedChat,
  running: ActiveCall
): Effect.Effect<Answer, Failure> =>
  whileHeld(admitted, running, pool.chat(poolCall(admitted, running))).pipe(
    Effect.flatMap((exit) =>
      Exit.isSuccess(exit)
        ? finishServed(options, admitted, exit.value)
        : closeUnserved(options, admitted, exit, running.attempts)
    ),
    Effect.uninterruptible
  )
