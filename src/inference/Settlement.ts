import { isRefusal, type Reason } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import type { FinishReason } from "../domain/Output.ts"
import { type Price, tokenCost, unitCost } from "../domain/Pricing.ts"
import { noTokens, type TokenUsage, type UsageBasis, type CallUsage } from "../domain/Usage.ts"
import type { RequestStatus } from "../ledger/Operation.ts"

/** How a request ended, as far as its money is concerned: a chat by its tokens, other work by one quantity. */
export type Outcome<U extends TokenUsage | number = TokenUsage> =
  /** The answer is complete. */
  | { readonly _tag: "Whole"; readonly delivered: DeliveredUsage<U>; readonly finish?: FinishReason }
  /**
   * A part of the output arrived. With an error, the answer broke off; without one, the gateway cut it off or the client
   * disconnected.
   */
  | { readonly _tag: "Partial"; readonly delivered: DeliveredUsage<U>; readonly error: Reason | undefined }
  | NoOutput

/** No output arrived. Without an error, the client disconnected or the service stopped. */
export interface NoOutput {
  readonly _tag: "NoOutput"
  readonly error: Reason | undefined
}

/** What was delivered: tokens of all kinds, or one quantity, of prompt tokens or units depending on the price. */
export interface DeliveredUsage<U extends TokenUsage | number = TokenUsage> {
  /** The usage that the provider reported. */
  readonly reported: U | undefined
  /** Counts what was delivered; called only when the provider reported nothing. */
  readonly counted: () => U
}

/** The consequences for the ledger. */
export interface Settlement {
  /** Undefined: release the hold. */
  readonly cost: Nano | undefined
  readonly usage: CallUsage
  readonly basis: UsageBasis
  readonly status: RequestStatus
  /** Whether the outcome is final for its idempotency key. */
  readonly final: boolean
}

/** Whether the error is a rejection of the request itself, so that the same request would be rejected again. */
const isFinal = (error: Reason | undefined): boolean =>
  isRefusal(error) ||
  error?._tag === "ImageTooLarge" ||
  (error?._tag === "ValidationError" && error.passing === undefined)

/** The usage in the measure of the price. */
export const usedAt = (price: Price, delivered: TokenUsage | number): CallUsage => {
  if (typeof delivered !== "number") return delivered
  return price.unit === "token" ? { ...noTokens, input: delivered } : { units: delivered, unit: price.unit }
}

const costOf = (price: Price, usage: CallUsage): Nano | undefined => {
  if (price.unit === "token") return "units" in usage ? undefined : tokenCost(price, usage)
  return "units" in usage ? unitCost(price, usage.units) : undefined
}

/**
 * The settlement of an outcome at the price of the provider that served, or would have. Delivered output is paid for by the provider's
 * figures if it reported any (zero is a figure), or else by our own count. Without output, nothing is charged.
 */
export const settlementOf = (outcome: Outcome | Outcome<number>, price: Price): Settlement => {
  const error = outcome._tag === "Whole" ? undefined : outcome.error
  const status = outcome._tag === "Whole" ? "succeeded" : error === undefined ? "cancelled" : "failed"
  if (outcome._tag === "NoOutput") {
    return { cost: undefined, usage: usedAt(price, 0), basis: "none", status, final: isFinal(error) }
  }
  const { counted, reported } = outcome.delivered
  const usage = usedAt(price, reported ?? counted())
  const basis = reported === undefined ? "counted" : "reported"
  return { cost: costOf(price, usage), usage, basis, status, final: true }
}
