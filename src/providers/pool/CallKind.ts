import type { Candidate, Attempt, Plan } from "../../domain/Plan.ts"
import type { Price, TokenPrice } from "../../domain/Pricing.ts"
import type { Trace } from "../../platform/telemetry/Tracing.ts"
import type { ChatCall, WorkCall } from "../Provider.ts"
import type { Clocks, AnswerKind } from "./AnswerClock.ts"
import type { EstimateUse } from "./AttemptLog.ts"
import type { WorkOperation } from "../../domain/Work.ts"
import { enforcedSchema } from "../structured/Structured.ts"
import type { Operation } from "./AttemptRecord.ts"

/** A call that several providers may be tried for, whatever its kind. */
export interface AnyPoolCall<P extends Price> extends Pick<WorkCall, "requestId" | "steering"> {
  readonly plan: Plan<P>
  /** The trace of its attempts, if there is one. */
  readonly trace?: Trace | undefined
  /**
   * Called at the start of every attempt with its provider, so that the gateway knows after a disconnect whether to drain the answer.
   * While two attempts run in parallel, stopping ends the bill only if it does so at both providers.
   */
  readonly onAttempt?: (info: {
    readonly provider: string
    readonly stopsBillingOnAbort: boolean
    /** The attempt starts now, and no other is running. */
    readonly beginsAlone: boolean
  }) => void
  /** Reports whether a call of this candidate stays within the bounds on its provider's cost. Called before a candidate's first call. */
  readonly affords?: (candidate: Candidate<P>) => boolean
  /** Estimates the usage of an attempt that served no answer and reported none. Absent: such usage stays unknown. */
  readonly estimateUse?: EstimateUse<P>
  /** Called with the attempts made so far when no client waits for an answer any more. */
  readonly onLeft?: (attempts: ReadonlyArray<Attempt>) => void
}

/** A chat call that several providers may be tried for. */
export interface PoolCall extends AnyPoolCall<TokenPrice>, Pick<ChatCall, "accountId" | "conversation" | "held"> {
  /** The maximum prompt tokens that the hold covers at a candidate. */
  readonly promptBound: (candidate: Candidate) => number
  /** The output cap at a candidate, within the hold. */
  readonly maxOutputTokens: (candidate: Candidate) => number
}

/** Work other than chat that several providers may be tried for. */
export interface WorkPoolCall extends AnyPoolCall<Price> {
  readonly operation: WorkOperation
}

/** The properties of a kind of call `Q`, and of the provider call `C` that is made from it. */
export interface CallKind<P extends Price, Q extends AnyPoolCall<P>, C extends WorkCall> {
  readonly stream: boolean
  readonly operationOf: (call: Q) => Operation
  readonly callTo: (candidate: Candidate<P>, call: Q, clocks: Clocks) => C
  /** The kind of answer, for comparing durations. Undefined when the caller sees the answer as it arrives. */
  readonly answerOf: (candidate: Candidate<P>, call: Q) => Pick<AnswerKind, "size" | "leastMs"> | undefined
  /** Whether the gateway requests a stream when the caller limits the time to the first token. */
  readonly folds: boolean
  /** Whether answers of this candidate are checked before they are returned. */
  readonly isEnforced: (candidate: Candidate<P>, call: Q) => boolean
}

/** The shortest time limit for a complete answer, in milliseconds. */
const MIN_ANSWER_MS = 30_000

/** Images take longer, and providers bill an abandoned image all the same. In milliseconds. */
const MIN_IMAGE_MS = 120_000

const firstTokenMsOf = ({ plan }: PoolCall): number | undefined => plan.policy.timeouts.firstTokenMs

const isEnforced = (candidate: Candidate, { conversation }: PoolCall): boolean =>
  enforcedSchema(conversation, candidate) !== undefined

const chatKind = (stream: boolean): CallKind<TokenPrice, PoolCall, ChatCall> => ({
  stream,
  operationOf: () => "chat",
  callTo: (candidate, call, clocks) => ({
    requestId: call.requestId,
    accountId: call.accountId,
    candidate,
    conversation: call.conversation,
    caching: call.plan.policy.caching,
    maxOutputTokens: call.maxOutputTokens(candidate),
    promptBound: call.promptBound(candidate),
    held: call.held,
    clocks,
    steering: call.steering,
    ...(firstTokenMsOf(call) !== undefined && (!stream || isEnforced(candidate, call)) ? { folds: true } : {})
  }),
  answerOf: (candidate, call) => {
    if (stream && !isEnforced(candidate, call)) return undefined
    const reasons = call.conversation.reasoning === undefined ? "" : "r"
    return { size: `${32 - Math.clz32(call.maxOutputTokens(candidate))}${reasons}`, leastMs: MIN_ANSWER_MS }
  },
  folds: true,
  isEnforced
})

export const wholeChat = chatKind(false)

export const streamedChat = chatKind(true)

export const otherWork: CallKind<Price, WorkPoolCall, WorkCall> = {
  stream: false,
  operationOf: ({ operation }) => operation,
  callTo: (candidate, { requestId, steering }, clocks) => ({ requestId, candidate, clocks, steering }),
  // A video is submitted once, even if it is unknown whether the provider accepted it; its later calls have time limits of their own.
  answerOf: (_, { operation }) =>
    operation === "videos"
      ? undefined
      : { size: operation, leastMs: operation === "images" ? MIN_IMAGE_MS : MIN_ANSWER_MS },
  folds: false,
  isEnforced: () => false
}
