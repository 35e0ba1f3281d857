import type { Candidate } from "../domain/Plan.ts"
import type { Price, TokenPrice } from "../domain/Pricing.ts"
import type { AnswerKind } from "./AnswerClock.ts"
import type { Operation } from "./AttemptRecord.ts"
import type { CourseCall, PoolCall, WorkPoolCall } from "./Course.ts"
import type { ChatCall, Clocks } from "./Provider.ts"
import { enforcedSchema } from "./Structured.ts"
import type { WorkCall } from "./Work.ts"

/** What calls `Q`, and what is made of them for one provider, `C`, have of their own. */
export interface CallKind<P extends Price, Q extends CourseCall<P>, C extends WorkCall> {
  readonly stream: boolean
  readonly operationOf: (call: Q) => Operation
  readonly callTo: (candidate: Candidate<P>, call: Q, clocks: Clocks) => C
  /** What its answer takes about as long as; undefined of one whose pieces are seen as they come. */
  readonly answerOf: (candidate: Candidate<P>, call: Q) => Pick<AnswerKind, "size" | "leastMs"> | undefined
  /** Whether it is asked for as a stream where the caller has a time for the first token. */
  readonly folds: boolean
  /** Whether answers of this candidate are checked before they are given out. */
  readonly isEnforced: (candidate: Candidate<P>, call: Q) => boolean
}

/** An attempt at a whole answer is given this long at the least, in milliseconds. */
const LEAST_ANSWER_MS = 30_000
/** Images take longer to make, and one that is left is made, and billed to the house, all the same. */
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
  // A video is handed in once, to whoever may have taken it: its turns have clocks of their own.
  answerOf: (_, { operation }) =>
    operation === "videos"
      ? undefined
      : { size: operation, leastMs: operation === "images" ? LEAST_IMAGE_MS : LEAST_ANSWER_MS },
  folds: false,
  isEnforced: () => false
}
