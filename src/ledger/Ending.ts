/** Builds the operation that ends a request, whether its money was held or charged up front. */
import { minNano, type Nano } from "../domain/Money.ts"
import type { CloseOperation, CloseResult, ConcludeOperation, ConcludeResult, RequestEnd } from "./Operation.ts"

/** The end of a request without a result: it costs nothing, and its idempotency key is free for another try. */
export const withoutResult = (status: "failed" | "cancelled", error: { readonly _tag: string } | null): RequestEnd => ({
  status,
  keepClaim: false,
  resolvedModel: null,
  provider: null,
  closed: { error },
  answer: null
})

/** A request that is to end. */
export interface EndingRequest {
  readonly requestId: string
  readonly accountId: string
  /** What it was charged up front; undefined for one with a hold. */
  readonly charged: Nano | undefined
}

/**
 * The operation that ends a request: it closes a hold, or concludes an up-front charge and refunds the excess. A request without a
 * cost is released. A charge never grows.
 */
export const endOf = (
  { accountId, charged, requestId }: EndingRequest,
  cost: Nano | undefined,
  end: RequestEnd
): CloseOperation | ConcludeOperation => {
  if (charged !== undefined) return { ...end, requestId, accountId, refund: charged - minNano(cost ?? 0n, charged) }
  const settle = cost === undefined ? undefined : { cost }
  return { ...end, _tag: "Close", requestId, accountId, settle, onlyIfExpired: false }
}

/** The end of a request, whether it was closed or concluded. */
export interface EndResult {
  readonly cost: Nano
  /** The balance afterwards; undefined when the request had ended before. */
  readonly posted: Nano | undefined
}

/** The end of a request by the result of its close or its conclusion. */
export const endResultOf = (result: CloseResult | ConcludeResult): EndResult => ({
  cost: "settled" in result ? result.settled : result.cost,
  posted: "posted" in result ? result.posted : undefined
})
