import type { LimitSource } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"

/** A budget and the UTC day on which its period began. A hold is settled in the period in which it was taken. */
export interface BudgetPeriod {
  readonly budgetId: string
  /** `YYYY-MM-DD` */
  readonly periodStart: string
}

/** The claim of a paid request on its idempotency key. It is stored in the row of the hold. */
export interface Claim {
  /** The key as the caller sent it. The receipt shows it. */
  readonly idempotencyKey: string
  /** The key and its scope (method and path) as one string. Unique per account until it is freed. */
  readonly claim: string
  /** A digest of the request, which tells a repeat from another request under the same key. */
  readonly fingerprint: string
}

/**
 * How long an idempotency key stays valid after its request ended, and how long the id of a replay leads to its receipt. The
 * documentation publishes this value.
 */
export const CLAIM_RETENTION_MS = 24 * 3_600_000

/** How a request ended, for its receipt. */
export type RequestStatus = "succeeded" | "failed" | "cancelled"

/** Opens a request. Holds at least `atLeast`, and up to `upTo` if the account has it. */
export interface HoldOperation {
  readonly _tag: "Hold"
  readonly requestId: string
  readonly accountId: string
  readonly keyId: string
  readonly projectId: string | null
  readonly operation: string
  readonly model: string
  readonly atLeast: Nano
  readonly upTo: Nano
  readonly ttlMs: number
  readonly budgets: ReadonlyArray<BudgetPeriod>
  /** The epoch of the key's row when its budgets were read. When the row has a later one, the hold is answered with `KeyChanged`. */
  readonly budgetsEpoch: number
  /** Facts of the request that are known at its start, for its receipt. */
  readonly opened: object
  readonly claim: Claim | undefined
  /**
   * Charges `atLeast` at once instead of holding it, as the price of a unit that is sold up front. Such a request must be concluded
   * within `ttlMs`, which nothing extends; otherwise everything is refunded.
   */
  readonly charge: boolean
  /**
   * Whether only doubles of the sandbox can serve it. Simulated money pays for such a request when it covers all that the hold may take, or
   * when there is not enough real money. Real money pays for any other request.
   */
  readonly simulated?: boolean
}

/** Enlarges an open hold, records the progress so far and extends its lifetime. */
export interface ExtendOperation {
  readonly _tag: "Extend"
  readonly requestId: string
  readonly accountId: string
  /** The amount that the owner knows to be held. The hold grows to this plus `more`, so a repeat adds nothing. */
  readonly held: Nano
  /** Zero renews the hold without enlarging it, which is never refused. */
  readonly more: Nano
  /** The cost so far. It is charged if the hold expires. */
  readonly progress: Nano
  readonly ttlMs: number
  /** The receipt's facts of that use if the hold expires. */
  readonly soFar?: Pick<CloseOperation, "resolvedModel" | "provider" | "closed"> | undefined
}

/** What the ledger writes about a request when it ends, whether it was held or charged. */
export interface RequestEnd {
  readonly status: RequestStatus
  /** Whether the outcome is final, so the idempotency key stays claimed. Otherwise the key is free for another try. */
  readonly keepClaim: boolean
  readonly resolvedModel: string | null
  readonly provider: string | null
  /** Facts that are known at the end, for the receipt. */
  readonly closed: object
  /** The answer to a repeat under the same idempotency key. */
  readonly answer: object | null
}

/** Ends a hold, once: settles what was used, or releases all of it. */
export interface CloseOperation extends RequestEnd {
  readonly _tag: "Close"
  readonly requestId: string
  readonly accountId: string
  /** The cost. The operator absorbs what exceeds the hold. Null settles the recorded progress. */
  readonly settle: { readonly cost: Nano | null } | undefined
  /** Ends it only if it is past its expiry by the database's clock. */
  readonly onlyIfExpired: boolean
}

/** Adds money: from outside, given by the operator, or simulated money of a sandbox. With a reference it happens once. */
export interface CreditOperation {
  readonly _tag: "Credit"
  readonly accountId: string
  readonly amount: Nano
  readonly source: "funding" | "grants" | "play"
  readonly reference: string | null
}

/** Corrects a balance by an operator's decision. It never takes what is held. With a reference it happens once. */
export interface AdjustOperation {
  readonly _tag: "Adjust"
  readonly accountId: string
  /** A negative amount takes money from the account. */
  readonly amount: Nano
  /** `adjustments` moves real money, `play` simulated money. */
  readonly source: "adjustments" | "play"
  readonly reference: string | null
}

/** Gives money back for a settled or charged request, and to its budgets. Never more in total than its cost, and once per reference. */
export interface RefundOperation {
  readonly _tag: "Refund"
  readonly requestId: string
  readonly accountId: string
  readonly amount: Nano
  readonly reference: string
}

/** Ends a request that was charged up front, once. */
export interface ConcludeOperation extends RequestEnd {
  readonly requestId: string
  readonly accountId: string
  /** The part of the charge to give back, never more than is left of it. */
  readonly refund: Nano
}

export type Operation =
  | HoldOperation
  | ExtendOperation
  | CloseOperation
  | CreditOperation
  | AdjustOperation
  | RefundOperation

/** The account's money after the operation, of the kinds that can pay for the request. */
export interface BalanceAfter {
  readonly posted: Nano
  readonly held: Nano
}

export type HoldResult =
  /** Also when the request was granted before, because a hold happens once. */
  | { readonly _tag: "Granted"; readonly granted: Nano }
  /** Another request holds the idempotency key. */
  | { readonly _tag: "Claimed"; readonly byRequestId: string }
  | { readonly _tag: "KeyInactive" }
  /** The key has other budgets by now. Nothing happened, and the caller may try the same hold with those. */
  | { readonly _tag: "KeyChanged" }
  /**
   * `available` is what is left in the limit that refused it: a budget, or the balance without what is held. `play` is the simulated money
   * of the account that must not pay for it; absent without any.
   */
  | {
      readonly _tag: "Refused"
      readonly limitSource: LimitSource
      readonly available: Nano
      readonly posted: Nano
      readonly play?: Nano
    }

export type ExtendResult =
  | { readonly _tag: "Extended" }
  | { readonly _tag: "Refused" }
  /** The request is no longer open. */
  | { readonly _tag: "Gone" }

export type CloseResult =
  | ({ readonly _tag: "Closed"; readonly settled: Nano; readonly absorbed: Nano } & BalanceAfter)
  /** It had ended before and settled this. Nothing moved, and the receipt shows a cost that came too late as absorbed. */
  | { readonly _tag: "Gone"; readonly settled: Nano }

export type ConcludeResult =
  /** Its final cost, and the balance afterwards. */
  | { readonly _tag: "Concluded"; readonly cost: Nano; readonly posted: Nano }
  /** It was concluded or refunded before and cost this, or there is no such request. */
  | { readonly _tag: "Gone"; readonly cost: Nano }

export type MoveResult =
  | { readonly _tag: "Moved" }
  /** It happened before under this reference, or its subject does not exist. */
  | { readonly _tag: "Gone" }

export type AdjustResult =
  | MoveResult
  /** It would take more than is available. */
  | { readonly _tag: "Refused"; readonly available: Nano }

export type OperationResult<Op extends Operation> = Op extends HoldOperation
  ? HoldResult
  : Op extends ExtendOperation
    ? ExtendResult
    : Op extends CloseOperation
      ? CloseResult
      : Op extends AdjustOperation
        ? AdjustResult
        : MoveResult

/** The result of an operation of any kind. */
export type AnyResult = HoldResult | ExtendResult | CloseResult | AdjustResult
