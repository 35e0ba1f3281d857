import type { Reason } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import type { FinishReason } from "../domain/Output.ts"
import { type TokenPrice, tokenCost } from "../domain/Pricing.ts"
import { noTokens, type TokenUsage, type UsageBasis } from "../domain/Usage.ts"
import type { RequestStatus } from "../ledger/Operation.ts"

/** How a request ended, as far as its money is concerned. */
export type Outcome =
  /** All of the answer came. */
  | { readonly _tag: "Whole"; readonly delivered: Delivered; readonly finish: FinishReason }
  /** Output came, and then no more: it broke, it was cut off, or the caller hung up. */
  | { readonly _tag: "Partial"; readonly delivered: Delivered; readonly error: Reason | undefined }
  /** Nothing came. */
  | { readonly _tag: "Nothing"; readonly error: Reason | undefined }

export interface Delivered {
  /** What the provider said was used. */
  readonly reported: TokenUsage | undefined
  /** Counts what was delivered; only called when nothing was reported. */
  readonly counted: () => TokenUsage
}

/** What follows for the books. */
export interface Settlement {
  /** Undefined releases the hold. */
  readonly cost: Nano | undefined
  readonly usage: TokenUsage
  readonly basis: UsageBasis
  readonly status: RequestStatus
  /** Whether the outcome is final for its idempotency key. */
  readonly final: boolean
}

/** Refusals of the request itself: the same request would be refused again. */
const isFinal = (error: Reason | undefined): boolean =>
  error?._tag === "ProviderRefused" ||
  error?._tag === "ImageTooLarge" ||
  (error?._tag === "ValidationError" && error.passing === undefined)

/**
 * The settlement of an outcome: what was delivered is paid for, by the provider's own figures when it gave any (zero is a
 * figure), else counted; nothing delivered is nothing charged. An outcome without an error that is not whole was cancelled by the
 * caller.
 */
export const settlementOf = (outcome: Outcome, price: TokenPrice | undefined): Settlement => {
  const failed: RequestStatus = outcome._tag !== "Whole" && outcome.error === undefined ? "cancelled" : "failed"
  if (outcome._tag === "Nothing" || price === undefined) {
    const error = outcome._tag === "Whole" ? undefined : outcome.error
    return { cost: undefined, usage: noTokens, basis: "none", status: failed, final: isFinal(error) }
  }
  const { reported } = outcome.delivered
  const usage = reported ?? outcome.delivered.counted()
  return {
    cost: tokenCost(price, usage),
    usage,
    basis: reported === undefined ? "counted" : "reported",
    status: outcome._tag === "Whole" ? "succeeded" : failed,
    final: true
  }
}
