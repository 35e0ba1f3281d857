import type { Candidate } from "../domain/Plan.ts"
import type { Price, TokenPrice } from "../domain/Pricing.ts"
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
  /** Whether answers of this candidate are checked before they are given out. */
  readonly isEnforced: (candidate: Candidate<P>, call: Q) => boolean
}

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
    steering: call.steering
  }),
  isEnforced: (candidate, { conversation }) => enforcedSchema(conversation, candidate) !== undefined
})

export const wholeChat = chatKind(false)
export const streamedChat = chatKind(true)

export const otherWork: CallKind<Price, WorkPoolCall, WorkCall> = {
  stream: false,
  operationOf: ({ operation }) => operation,
  callTo: (candidate, { requestId, steering }, clocks) => ({ requestId, candidate, clocks, steering }),
  isEnforced: () => false
}
