import { isRefusal, type Reason } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import type { FinishReason } from "../domain/Output.ts"
import { type Price, type TokenPrice, tokenCost, unitCost } from "../domain/Pricing.ts"
import { noTokens, type TokenUsage, type UsageBasis, type Used } from "../domain/Usage.ts"
import type { RequestStatus } from "../ledger/Operation.ts"

/** How a request ended, as far as its money is concerned. */
export type Outcome =
  /** The answer is complete. */
  | { readonly _tag: "Whole"; readonly delivered: Delivered; readonly finish: FinishReason }
  /** A part of the output arrived: the stream broke, the gateway cut it off, or the client disconnected. */
  | { readonly _tag: "Partial"; readonly delivered: Delivered; readonly error: Reason | undefined }
  | Nothing

/** No output arrived. */
export interface Nothing {
  readonly _tag: "Nothing"
  readonly error: Reason | undefined
}

/** How work other than chat ended: with an answer, with a part of it, or with nothing. */
export type WorkOutcome =
  | {
      readonly _tag: "Whole"
      /** The usage that the provider reported: prompt tokens or units, depending on the price. */
      readonly reported: number | undefined
      /** Our own count of the same; called only when the provider reported nothing. */
      readonly counted: () => number
    }
  /** The answer broke off after this much was passed on. Without an error, the gateway cut it off. */
  | { readonly _tag: "Partial"; readonly counted: () => number; readonly error: Reason | undefined }
  | Nothing

export interface Delivered {
  /** The usage that the provider reported. */
  readonly reported: TokenUsage | undefined
  /** Counts what was delivered; called only when the provider reported nothing. */
  readonly counted: () => TokenUsage
}

/** The consequences for the ledger. */
export interface Settlement<U extends Used = TokenUsage> {
  /** Undefined: release the hold. */
  readonly cost: Nano | undefined
  readonly usage: U
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

/**
 * The settlement of an outcome. Delivered output is paid for by the provider's figures if it reported any (zero is a figure), or else
 * by our own count. Without output, nothing is charged. An incomplete outcome without an error means that the client disconnected.
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

/** The settlement of work other than chat, by the same rules. `price` is that of the provider that served, or would have. */
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
