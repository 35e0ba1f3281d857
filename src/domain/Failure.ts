import { Data } from "effect"
import type { Nano } from "./Money.ts"

/** One field of a request that is wrong, and why. */
export interface FieldProblem {
  readonly field: string
  readonly message: string
}

/** What stands in the way of a hold. `in_flight` passes by itself when running requests settle; the others do not. */
export type LimitSource = "balance" | "in_flight" | "key_budget" | "project_budget" | "account_budget"

/**
 * Every way a request can fail for its caller, as a closed set. Which status, type and code each has on the wire, and whether
 * it charges, stands once in `http/FailureRows`.
 */
export type Reason =
  | { readonly _tag: "InvalidJson"; readonly detail: string }
  | {
      readonly _tag: "ValidationError"
      readonly problems: readonly [FieldProblem, ...ReadonlyArray<FieldProblem>]
      /** The same request may be right another time: at once, or when more than moments have passed. */
      readonly passing?: "soon" | "later"
    }
  | { readonly _tag: "InvalidPeriod"; readonly detail: string }
  | { readonly _tag: "UnsupportedParameter"; readonly param: string; readonly detail: string }
  /** `param` of this and the like: the member that names the model, where it is not `model`. */
  | {
      readonly _tag: "UnknownModel"
      readonly model: string
      readonly detail?: string
      /** The id that is spelled most like it. */
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
      /** The member that holds the prompt, where it is not `messages`. */
      readonly param?: string
    }
  | { readonly _tag: "ImageTooLarge"; readonly param: string; readonly limitBytes: number }
  | { readonly _tag: "MissingApiKey" }
  /** `detail` says what is wrong with the form of the key or of its header, where that is what is wrong. */
  | { readonly _tag: "InvalidApiKey"; readonly detail?: string }
  | { readonly _tag: "WrongKeyKind"; readonly needed: "inference" | "management" | "operator" }
  | { readonly _tag: "InsufficientScope"; readonly scope: string }
  /** The operator stopped the account until further notice. */
  | { readonly _tag: "AccountSuspended"; readonly detail: string }
  /** The operator ended the account for good. */
  | { readonly _tag: "AccountClosed"; readonly detail: string }
  | { readonly _tag: "NotSignedIn" }
  /** A page of another site may have sent it, for all that this header says. */
  | { readonly _tag: "CrossSiteRequest"; readonly header: string; readonly detail?: string }
  /** The code is wrong, used or expired. The answer does not say which. */
  | { readonly _tag: "InvalidCode" }
  | {
      readonly _tag: "InsufficientCredits"
      readonly limitSource: LimitSource
      readonly needed: Nano
      readonly available: Nano
      readonly posted: Nano
      /** How much simulated money the account has, which cannot pay for this request; absent where there is none. */
      readonly play?: Nano
    }
  /** `param`: the member of the body that names it, if one does. */
  | { readonly _tag: "NotFound"; readonly what: string; readonly id: string; readonly param?: string }
  | {
      readonly _tag: "UnknownRoute"
      readonly method: string
      readonly path: string
      readonly hint?: string | undefined
    }
  | { readonly _tag: "MethodNotAllowed"; readonly method: string; readonly allowed: ReadonlyArray<string> }
  | { readonly _tag: "KeyLimitReached"; readonly limit: number }
  /** What is asked for does not go with what is so. */
  | { readonly _tag: "Conflict"; readonly detail: string }
  | { readonly _tag: "RequestTooLarge"; readonly limitBytes: number }
  /** The type that is wanted is JSON's, where it is not said. */
  | { readonly _tag: "UnsupportedMediaType"; readonly wanted?: string }
  | { readonly _tag: "RequestTimeout" }
  | { readonly _tag: "IdempotencyInProgress" }
  | { readonly _tag: "IdempotencyKeyReused" }
  | { readonly _tag: "IdempotencyResultUnavailable"; readonly requestId: string }
  | {
      readonly _tag: "RateLimitExceeded"
      readonly limit: number
      readonly retryAfterSeconds: number
      /** What there is too much of, where it is not the requests of a window. */
      readonly detail?: string
    }
  | {
      readonly _tag: "ProviderRefused"
      readonly provider: string
      readonly detail: string
      /** The member that was refused, where that is known. */
      readonly param?: string
    }
  /** The provider found the prompt too long for its model. */
  | { readonly _tag: "ProviderOverflow"; readonly provider: string; readonly detail: string; readonly param?: string }
  /** The provider does not answer such content. */
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
  /** The provider of a video could not be asked how far it is. */
  | { readonly _tag: "StatusCheckFailed" }
  /** No provider is set up to make the video. */
  | { readonly _tag: "VideoUnavailable"; readonly detail: string }
  /** One request of a batch failed; the others stand as they are. */
  | { readonly _tag: "BatchRequestFailed"; readonly index: number; readonly detail: string }
  | { readonly _tag: "UpstreamError"; readonly detail: string; readonly retryAfterSeconds?: number }
  /** Every provider that was asked answered that it receives too many requests; the pause is the shortest that one of them asked for. */
  | { readonly _tag: "UpstreamRateLimited"; readonly retryAfterSeconds: number }
  | { readonly _tag: "UpstreamTimeout"; readonly clock: string }
  /** Waiting helps where it says for how long: the providers that could serve are resting. */
  | { readonly _tag: "NoProviderAvailable"; readonly detail: string; readonly retryAfterSeconds?: number }
  /** Something that it takes was not set up, or cannot be reached. */
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
  /** It answered the same request before, under its idempotency key. */
  readonly replayed?: boolean
  /** Where in the caller's body stands what it is about, when that is a part of it. */
  readonly at?: string
}> {}

/** Shorthand for a failure with this reason. */
export const failure = (reason: Reason, log?: unknown): Failure =>
  new Failure(log === undefined ? { reason } : { reason, log })

/** The same failure, of what stands at this place of the caller's body. */
export const failedAt = (at: string, { log, reason }: Failure): Failure =>
  new Failure(log === undefined ? { reason, at } : { reason, at, log })

/** A request with wrong fields, the first of which names the error's `param`. */
export const invalid = (field: string, message: string, ...more: ReadonlyArray<FieldProblem>): Failure =>
  failure({ _tag: "ValidationError", problems: [{ field, message }, ...more] })
