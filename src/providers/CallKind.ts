import type { Candidate } from "../domain/Plan.ts"
import type { Price, TokenPrice } from "../domain/Pricing.ts"
import type { AnswerKind } from "./pool/AnswerClock.ts"
import type { Operation } from "./pool/AttemptRecord.ts"
import type { CourseCall, PoolCall, WorkPoolCall } from "./pool/Course.ts"
import type { ChatCall, Clocks } from "./Provider.ts"
import { enforcedSchema } from "./structured/Structured.ts"
import type { WorkCall } from "./Work.ts"

/** The properties of a kind of call `Q`, and of the provider call `C` that is made from it. */
export interface CallKind<P extends Price, Q extends CourseCall<P>, C extends WorkCall> {
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
const LEAST_ANSWER_MS = 30_000
/** Images take longer. An abandoned image is still made and billed to the house. */
const LEAST_IMAGE_MS = 120_000

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
    return { size: `${32 - Math.clz32(call.maxOutputTokens(candidate))}${reasons}`, leastMs: LEAST_ANSWER_MS }
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
      : { size: operation, leastMs: operation === "images" ? LEAST_IMAGE_MS : LEAST_ANSWER_MS },
  folds: false,
  isEnforced: () => false
}
