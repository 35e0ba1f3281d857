import type { Effect, Result } from "effect"
import type { Failure } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import type { DataPolicy } from "../domain/Plan.ts"
import type { Bounds } from "../domain/Estimate.ts"
import type { PaidRequest, RequestContext } from "./Request.ts"

/** The part of a batch's hold that one of its requests may take. */
export type Share = Required<Pick<PaidRequest, "carvedFrom" | "holdAtMost">>

/** A request that was served and paid for. */
export interface ServedItem {
  readonly requestId: string
  readonly cost: Nano
  /** The JSON of its answer; undefined when the attempt that paid for it did not store it. */
  readonly body: string | undefined
}

/** A decoded body, before anything is held or started. */
export interface AcceptedBody {
  /** Fields without effect. */
  readonly ignored: ReadonlyArray<string>
  readonly dataPolicy: DataPolicy
  /** The maximum size of its answer in bytes, if that may be very large. */
  readonly mostBytes?: number
  /** The bounds of its hold. Fails when no provider can serve it. */
  readonly bounds: () => Result.Result<Bounds, Failure>
  readonly serve: (share?: Share) => Effect.Effect<ServedItem, Failure>
  /** The JSON of its answer, restored from the stored form; undefined when a refusal was stored. */
  readonly again: (kept: unknown, cost: Nano) => string | undefined
}

/** The paths of operations that can serve a body without an HTTP request of its own. */
export type BatchOperationUrl = "/chat/completions" | "/messages" | "/responses" | "/embeddings"

/** An operation that can serve a body. */
export interface BatchOperation {
  /** The operation's name on the receipt. */
  readonly operation: string
  /** Decodes a body. `requestContext` holds all other properties of its request. Rejects streaming. */
  readonly accept: (body: unknown, requestContext: RequestContext) => Effect.Effect<AcceptedBody, Failure>
  /** The response to a request that was rejected with this failure. */
  readonly refused: (failed: Failure, requestId: string) => { readonly statusCode: number; readonly body: object }
}
