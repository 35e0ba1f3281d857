import { Data } from "effect"
import type { Nano } from "./Money.ts"

/** One field of a request that is wrong, and why. */
export interface FieldProblem {
  readonly field: string
  readonly message: string
}

/** The limit that refuses a hold. `in_flight` ends when running requests settle; the other limits stay. */
export type LimitSource = "balance" | "in_flight" | "key_budget" | "project_budget" | "account_budget"

/**
 * Every way a request can fail for its caller, as a closed set. `http/FailureRows` says once which status, type and code each has
 * on the wire, and whether it charges.
 */
export type Reason =
  | { readonly _tag: "InvalidJson"; readonly detail: string }
  | {
      readonly _tag: "ValidationError"
      readonly problems: readonly [FieldProblem, ...ReadonlyArray<FieldProblem>]
      /** The same request may succeed later: at once, or after more than a few moments. */
      readonly passing?: "soon" | "later"
    }
  | { readonly _tag: "InvalidPeriod"; readonly detail: string }
  | { readonly _tag: "UnsupportedParameter"; readonly param: string; readonly detail: string }
  /** In this and similar reasons, `param` is the member that names the model when that is not `model`. */
  | {
      readonly _tag: "UnknownModel"
      readonly model: string
      readonly detail?: string
      /** The id with the most similar spelling. */
      readonly nearest?: string | undefined
      readonly param?: string
    }
  | { readonly _tag: "NoModelInBudget"; readonly budgetCents: number; readonly least: Nano }
  | { readonly _tag: "InvalidFallbackChain"; readonly detail: string; readonly param?: string }
  | { readonly _tag: "NotVisionCapable"; readonly model: string; readonly param?: string }
  | { readonly _tag: "NotToolCapable"; readonly model: string; readonly param?: string }
  | {
      readonly _tag: "ContextLengthExceeded"
      readonly tokens: number
      readonly window: number
      /** The member that holds the prompt when that is not `messages`. */
      readonly param?: string
    }
  | { readonly _tag: "ImageTooLarge"; readonly param: string; readonly limitBytes: number }
  | { readonly _tag: "MissingApiKey" }
  /** `detail` says what is wrong with the form of the key or of its header, if that is the cause. */
  | { readonly _tag: "InvalidApiKey"; readonly detail?: string }
  | { readonly _tag: "WrongKeyKind"; readonly needed: "inference" | "management" | "operator" }
  | { readonly _tag: "InsufficientScope"; readonly scope: string }
  /** The operator stopped the account until further notice. */
  | { readonly _tag: "AccountSuspended"; readonly detail: string }
  /** The operator ended the account for good. */
  | { readonly _tag: "AccountClosed"; readonly detail: string }
  | { readonly _tag: "NotSignedIn" }
  /** By this header, a page of another site may have sent it. */
  | { readonly _tag: "CrossSiteRequest"; readonly header: string; readonly detail?: string }
  /** The code is wrong, used or expired. The answer does not say which. */
  | { readonly _tag: "InvalidCode" }
  | {
      readonly _tag: "InsufficientCredits"
      readonly limitSource: LimitSource
      readonly needed: Nano
      readonly available: Nano
      readonly posted: Nano
      /** The account's simulated money, which cannot pay for this request; absent when there is none. */
      readonly play?: Nano
    }
  /** `param` is the member of the body that names it, if any. */
  | { readonly _tag: "NotFound"; readonly what: string; readonly id: string; readonly param?: string }
  | {
      readonly _tag: "UnknownRoute"
      readonly method: string
      readonly path: string
      readonly hint?: string | undefined
    }
  | { readonly _tag: "MethodNotAllowed"; readonly method: string; readonly allowed: ReadonlyArray<string> }
  | { readonly _tag: "KeyLimitReached"; readonly limit: number }
  /** The request contradicts the present state. */
  | { readonly _tag: "Conflict"; readonly detail: string }
  | { readonly _tag: "RequestTooLarge"; readonly limitBytes: number }
  /** The wanted type is JSON unless another is named. */
  | { readonly _tag: "UnsupportedMediaType"; readonly wanted?: string }
  | { readonly _tag: "RequestTimeout" }
  | { readonly _tag: "IdempotencyInProgress" }
  | { readonly _tag: "IdempotencyKeyReused" }
  | { readonly _tag: "IdempotencyResultUnavailable"; readonly requestId: string }
  | {
      readonly _tag: "RateLimitExceeded"
      readonly limit: number
      readonly retryAfterSeconds: number
      /** What there is too much of, if not requests of a window. */
      readonly detail?: string
    }
  | {
      readonly _tag: "ProviderRefused"
      readonly provider: string
      readonly detail: string
      /** The refused member, if known. */
      readonly param?: string
    }
  /** The provider found the prompt too long for its model. */
  | { readonly _tag: "ProviderOverflow"; readonly provider: string; readonly detail: string; readonly param?: string }
  /** The provider's content policy refused the prompt. */
  | {
      readonly _tag: "ContentPolicyViolation"
      readonly provider: string
      readonly detail: string
      readonly param?: string
    }
  | { readonly _tag: "EmptyCompletion" }
  | { readonly _tag: "SearchFailed"; readonly retryAfterSeconds?: number }
  /** An image or a video could not be made. */
  | { readonly _tag: "GenerationFailed"; readonly detail: string; readonly retryAfterSeconds?: number }
  /** A model made no image. */
  | { readonly _tag: "EmptyGeneration" }
  /** The provider of a video did not say how far it is. */
  | { readonly _tag: "StatusCheckFailed" }
  /** No provider is set up to make the video. */
  | { readonly _tag: "VideoUnavailable"; readonly detail: string }
  /** One request of a batch failed, which does not affect the others. */
  | { readonly _tag: "BatchRequestFailed"; readonly index: number; readonly detail: string }
  /** With `provider`, that provider broke off after its first output, which is charged. */
  | {
      readonly _tag: "UpstreamError"
      readonly detail: string
      readonly retryAfterSeconds?: number
      readonly provider?: string
    }
  /** Every provider that was asked receives too many requests. The pause is the shortest that one of them named. */
  | { readonly _tag: "UpstreamRateLimited"; readonly retryAfterSeconds: number }
  /** With `provider`, the time limit ended after the first output of that provider, which is charged. */
  | { readonly _tag: "UpstreamTimeout"; readonly clock: string; readonly provider?: string }
  /** With a pause, waiting helps: the providers that could serve are resting. */
  | {
      readonly _tag: "NoProviderAvailable"
      readonly detail: string
      readonly retryAfterSeconds?: number
      /** The field that excludes every provider on its own. */
      readonly param?: string
      /** Names in that field which no provider has, in the caller's words. */
      readonly unknownProviders?: ReadonlyArray<string>
    }
  /** Something that the request needs was not set up, or cannot be reached. */
  | { readonly _tag: "ServiceUnavailable"; readonly detail: string; readonly retryAfterSeconds?: number }
  | { readonly _tag: "StoreUnavailable" }
  | { readonly _tag: "Overloaded" }
  | { readonly _tag: "HoldExpired" }
  | { readonly _tag: "InternalError" }

/** Whether a provider judged the request itself, so that the same request would be refused again. */
export const isRefusal = (
  reason: Reason | undefined
): reason is Extract<Reason, { readonly _tag: "ProviderRefused" | "ProviderOverflow" | "ContentPolicyViolation" }> =>
  reason?._tag === "ProviderRefused" || reason?._tag === "ProviderOverflow" || reason?._tag === "ContentPolicyViolation"

/** The one error of the request path. `log` is for operators and never leaves the process. */
export class Failure extends Data.TaggedError("Failure")<{
  readonly reason: Reason
  readonly log?: unknown
  /** The same request already failed so, under its idempotency key. */
  readonly replayed?: boolean
  /** The path of the part of the caller's body that it is about, if it is about one. */
  readonly at?: string
}> {}

/** Shorthand for a failure with this reason. */
export const failure = (reason: Reason, log?: unknown): Failure =>
  new Failure(log === undefined ? { reason } : { reason, log })

/** A failure because a store, which `error` names, cannot be reached. */
export const storeFailure = (error: { readonly _tag: "Unavailable" }): Failure =>
  failure({ _tag: "StoreUnavailable" }, error)

/** A failure because the request conflicts with the current state of a resource. */
export const conflict = (detail: string): Failure => failure({ _tag: "Conflict", detail })

/** This failure, about the part at this path of the caller's body. */
export const failedAt = (at: string, { log, reason }: Failure): Failure =>
  new Failure(log === undefined ? { reason, at } : { reason, at, log })

/** A request with wrong fields. The first one becomes the error's `param`. */
export const invalid = (field: string, message: string, ...more: ReadonlyArray<FieldProblem>): Failure =>
  failure({ _tag: "ValidationError", problems: [{ field, message }, ...more] })
