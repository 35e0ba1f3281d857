import type { LimitSource } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"

/** A budget and the UTC day its period began; what is held in a period is settled in that period. */
export interface BudgetPeriod {
  readonly budgetId: string
  /** `YYYY-MM-DD` */
  readonly periodStart: string
}

/** The claim a paid request lays on its idempotency key, in the same row as its hold. */
export interface Claim {
  /** The key as the caller sent it, shown on the receipt. */
  readonly idempotencyKey: string
  /** Key and scope (method and path) as one string; unique per account while it stands. */
  readonly claim: string
  /** Digest of the request; another request under the same key has another one. */
  readonly fingerprint: string
}

/**
 * How long an idempotency key stays valid after its request ended, and how long the id of a replay leads to its receipt. The
 * documentation publishes this value.
 */
export const CLAIM_RETENTION_MS = 24 * 3_600_000

/** How a request ended, for its receipt. */
export type RequestStatus = "succeeded" | "failed" | "cancelled"

/** Opens a request: takes at least `atLeast` and as much of `upTo` as there is. */
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
  /** That of the key's row when the budgets were read from it; after another, the hold is answered with `KeyChanged`. */
  readonly budgetsEpoch: number
  /** Facts of the request known at its start, kept on its receipt. */
  readonly opened: object
  readonly claim: Claim | undefined
  /**
   * Charges `atLeast` at once instead of holding: the price of a unit sold up front. Such a request is to be concluded within its
   * time to live, which nothing puts off, or all is given back.
   */
  readonly charge: boolean
  /**
   * Whether only doubles of the sandbox can serve it. Such a request is paid with play money where that covers all it may take, or
   * where there is not enough real money. Any other request is paid with real money.
   */
  readonly simulated?: boolean
}

/** Adds to an open hold, records the progress made so far and puts its expiry off. */
export interface ExtendOperation {
  readonly _tag: "Extend"
  readonly requestId: string
  readonly accountId: string
  /** What its owner knows to be held: the hold grows to this and `more`, so that a repeat adds nothing. */
  readonly held: Nano
  /** Zero renews without taking more; that is never refused. */
  readonly more: Nano
  /** What has been used so far; the charge if the hold expires. */
  readonly progress: Nano
  readonly ttlMs: number
  /** What the receipt says of that use if the hold expires. */
  readonly soFar?: Pick<CloseOperation, "resolvedModel" | "provider" | "closed"> | undefined
}

/** What is written of a request when it ends, however it was paid for. */
export interface RequestEnd {
  readonly status: RequestStatus
  /** Keeps the idempotency key taken: the outcome is final. Otherwise the key is free for another try. */
  readonly keepClaim: boolean
  readonly resolvedModel: string | null
  readonly provider: string | null
  /** Facts known at the end, kept on the receipt. */
  readonly closed: object
  /** What a repeat under the same idempotency key is answered with. */
  readonly answer: object | null
}

/** Ends a hold once: settles what was used or releases it all. */
export interface CloseOperation extends RequestEnd {
  readonly _tag: "Close"
  readonly requestId: string
  readonly accountId: string
  /** The cost; more than the hold is absorbed by the house. Null settles the recorded progress. */
  readonly settle: { readonly cost: Nano | null } | undefined
  /** Ends it only if it is past its expiry by the database's clock. */
  readonly onlyIfExpired: boolean
}

/** Money in: from outside, given by the house, or play money of a sandbox. A reference makes it happen once. */
export interface CreditOperation {
  readonly _tag: "Credit"
  readonly accountId: string
  readonly amount: Nano
  readonly source: "funding" | "grants" | "play"
  readonly reference: string | null
}

/** Corrects a balance by an operator's decision. It never takes what is held. A reference makes it happen once. */
export interface AdjustOperation {
  readonly _tag: "Adjust"
  readonly accountId: string
  /** Below zero it takes from the account. */
  readonly amount: Nano
  /** `adjustments` moves real money, `play` play money. */
  readonly source: "adjustments" | "play"
  readonly reference: string | null
}

/** Money back for a settled or charged request, and to its budgets; never more in sum than it cost, and once per reference. */
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
  /** What is given back of the charge; never more than is left of it. Zero leaves it as it is. */
  readonly refund: Nano
}

export type Operation =
  | HoldOperation
  | ExtendOperation
  | CloseOperation
  | CreditOperation
  | AdjustOperation
  | RefundOperation

/** The account's money after the operation, of the kinds that such a request can be paid with. */
export interface Standing {
  readonly posted: Nano
  readonly held: Nano
}

export type HoldResult =
  /** Also for a request that was granted before: a hold happens once. */
  | { readonly _tag: "Granted"; readonly granted: Nano }
  /** Another request holds the idempotency key. */
  | { readonly _tag: "Claimed"; readonly byRequestId: string }
  | { readonly _tag: "KeyInactive" }
  /** The key has got other budgets: nothing happened, and the same hold may be tried with those. */
  | { readonly _tag: "KeyChanged" }
  /**
   * `available` is what is left of what limits it: a budget, or else the balance without what is held. `play` is how much play money
   * there is that must not pay for it; absent where there is none.
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
  | ({ readonly _tag: "Closed"; readonly settled: Nano; readonly absorbed: Nano } & Standing)
  /** It had ended before, with this settled; nothing moved, and a cost that came too late stands on the receipt as absorbed. */
  | { readonly _tag: "Gone"; readonly settled: Nano }

export type ConcludeResult =
  /** What it cost in the end, and what the account has then. */
  | { readonly _tag: "Concluded"; readonly cost: Nano; readonly posted: Nano }
  /** It had been concluded before, or given back at its expiry, and cost this; or there is no such request. */
  | { readonly _tag: "Gone"; readonly cost: Nano }

export type MoveResult =
  | { readonly _tag: "Moved" }
  /** It happened before under this reference, or there is nothing it could happen to. */
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

/** What a verdict of the statement means for one operation, before it is narrowed to its kind. */
export type AnyResult = HoldResult | ExtendResult | CloseResult | AdjustResult
