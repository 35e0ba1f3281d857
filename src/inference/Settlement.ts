import { isRefusal, type Reason } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import type { FinishReason } from "../domain/Output.ts"
import { type Price, type TokenPrice, tokenCost, unitCost } from "../domain/Pricing.ts"
import { noTokens, type TokenUsage, type UsageBasis, type Used } from "../domain/Usage.ts"
import type { RequestStatus } from "../ledger/Operation.ts"

/** How a request ended, as far as its money is concerned. */
export type Outcome =
  /** All of the answer came. */
  | { readonly _tag: "Whole"; readonly delivered: Delivered; readonly finish: FinishReason }
  /** Output came, and then no more: it broke, it was cut off, or the caller hung up. */
  | { readonly _tag: "Partial"; readonly delivered: Delivered; readonly error: Reason | undefined }
  | Nothing

/** Nothing came. */
export interface Nothing {
  readonly _tag: "Nothing"
  readonly error: Reason | undefined
}

/** How work other than chat ended: its answer came, or a part of it, or nothing did. */
export type WorkOutcome =
  | {
      readonly _tag: "Whole"
      /** What the provider said was used: prompt tokens or units, as the work is priced. */
      readonly reported: number | undefined
      /** The same by our own count; only called when nothing was reported. */
      readonly counted: () => number
    }
  /** It broke off when as much had been given on as this counts; without an error it was cut off. */
  | { readonly _tag: "Partial"; readonly counted: () => number; readonly error: Reason | undefined }
  | Nothing

export interface Delivered {
  /** What the provider said was used. */
  readonly reported: TokenUsage | undefined
  /** Counts what was delivered; only called when nothing was reported. */
  readonly counted: () => TokenUsage
}

/** What follows for the books. */
export interface Settlement<U extends Used = TokenUsage> {
  /** Undefined releases the hold. */
  readonly cost: Nano | undefined
  readonly usage: U
  readonly basis: UsageBasis
  readonly status: RequestStatus
  /** Whether the outcome is final for its idempotency key. */
  readonly final: boolean
}

/** Refusals of the request itself: the same request would be refused again. */
const isFinal = (error: Reason | undefined): boolean =>
  isRefusal(error) ||
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

const chargeOf = (price: Price, quantity: number): { readonly cost: Nano; readonly usage: Used } => {
  if (price.unit !== "token") {
    return { cost: unitCost(price, quantity), usage: { units: quantity, unit: price.unit } }
  }
  const usage = { ...noTokens, input: quantity }
  return { cost: tokenCost(price, usage), usage }
}

/** The settlement of work other than chat, by the same rules: `price` is that of who served, or would have. */
export const workSettlementOf = (outcome: WorkOutcome, price: Price): Settlement<Used> => {
  if (outcome._tag !== "Whole") {
    const { error } = outcome
    const status = error === undefined ? "cancelled" : "failed"
    if (outcome._tag === "Partial") {
      return { ...chargeOf(price, outcome.counted()), basis: "counted", status, final: true }
    }
    return { cost: undefined, usage: chargeOf(price, 0).usage, basis: "none", status, final: isFinal(error) }
  }
  const { reported } = outcome
  const basis = reported === undefined ? "counted" : "reported"
  return { ...chargeOf(price, reported ?? outcome.counted()), basis, status: "succeeded", final: true }
}
