import { Data } from "effect"
import type { Output } from "../domain/Output.ts"

/** How a provider call can fail. */
export type ProviderFault =
  | { readonly _tag: "Unreachable"; readonly detail: string }
  /** `held`: a slow reader made the provider wait for a part of that time. */
  | {
      readonly _tag: "TimedOut"
      readonly clock: "connect" | "first_token" | "idle" | "answer" | "total"
      readonly held?: true
    }
  | { readonly _tag: "RateLimited"; readonly retryAfterSeconds: number | undefined }
  /** The provider rejected the caller's request (400, 404, 413, 422 …). Another provider may accept it. */
  | {
      readonly _tag: "Refused"
      /** 200 when the provider answered, but its content filter left nothing of the answer. It may bill such an answer. */
      readonly status: number
      readonly detail: string
      /** The rejected field of the caller's request, if the adapter knows it. */
      readonly param?: string
      /** The prompt is too long for the model's context, or its content is not allowed. */
      readonly about?: "context" | "policy"
    }
  /** The gateway's own credential or account at the provider is at fault. */
  | { readonly _tag: "Unauthorized"; readonly status: number }
  | {
      readonly _tag: "ServerError"
      readonly status: number
      readonly detail: string
      /** The pause the host asks for, if it names one. */
      readonly retryAfterSeconds?: number
    }
  /**
   * `ofModel`: the host is healthy, but could not parse its model's output. With some tools, a model produces such output every time.
   */
  | { readonly _tag: "Malformed"; readonly detail: string; readonly ofModel?: true }
  /** The answer violates the requested schema, or could not be checked. `detail` tells where, in the gateway's own words. */
  | { readonly _tag: "OffSchema"; readonly detail: string }
  /** No provider was called, because no answer could be checked against the caller's schema, which is in `field`. */
  | {
      readonly _tag: "SchemaRefused"
      readonly field: string
      readonly detail: string
      /** Whether the check may succeed at another time. */
      readonly passing?: true
      /** Set instead of `passing` when the account has reached its limit of invalid answers, whatever the schema. */
      readonly limit?: { readonly limit: number; readonly retryAfterSeconds: number }
    }
  /** The connection ended before the answer did. */
  | { readonly _tag: "Broken"; readonly detail: string }
  /**
   * The work was done and will be billed, but its result is lost. The pool tries no other provider, because the operator would pay again.
   * `ours`: the loss says nothing about the provider. `param` is the field of the caller's request that made the result too long.
   */
  | { readonly _tag: "Lost"; readonly detail: string; readonly ours?: true; readonly param?: string }

/**
 * A failed attempt. The `detail` of its fault comes from outside. Operators may see it; callers may see only that of `Refused` and of the
 * two schema faults.
 */
export class ProviderError extends Data.TaggedError("ProviderError")<{
  readonly provider: string
  readonly fault: ProviderFault
  /** What had arrived of the answer, where the adapter has collected it. */
  readonly arrived?: Output
}> {}
