import type { Effect, Result } from "effect"
import type { Failure } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import type { DataPolicy } from "../domain/Plan.ts"
import type { Bounds } from "./Metered.ts"
import type { PaidRequest } from "./Request.ts"

/** All that a paid request is made of beside its body. */
export type Circumstances = Pick<
  PaidRequest,
  "requestId" | "operation" | "principal" | "claim" | "steering" | "trace" | "watch" | "arrivedAt" | "routedAsBegun"
>

/** What of a batch's hold one of its requests may take. */
export type Share = Required<Pick<PaidRequest, "carvedFrom" | "holdAtMost">>

/** A request that was served and paid for. */
export interface ServedItem {
  readonly requestId: string
  readonly cost: Nano
  /** The JSON of its answer; undefined where that was not kept by the try that paid for it. */
  readonly body: string | undefined
}

/** What a body asks for, decoded, before anything is held or begun. */
export interface AcceptedBody {
  /** Members without effect. */
  readonly ignored: ReadonlyArray<string>
  readonly dataPolicy: DataPolicy
  /** The most bytes of its answer, where those may be very many. */
  readonly mostBytes?: number
  /** What is to be held for it; fails where nobody can serve it. */
  readonly bounds: () => Result.Result<Bounds, Failure>
  readonly serve: (share?: Share) => Effect.Effect<ServedItem, Failure>
  /** The JSON of its answer again, of what was kept of it; undefined where a refusal was kept. */
  readonly again: (kept: unknown, cost: Nano) => string | undefined
}

/** The paths of operations whose bodies can be served without an HTTP request of their own. */
export type SurfaceUrl = "/chat/completions" | "/messages" | "/responses" | "/embeddings"

/** An operation that a body can be given to. */
export interface Surface {
  /** The operation's name on the receipt. */
  readonly operation: string
  /** Decodes a body; `circumstances` are all that its request is made of beside that. Streaming is refused. */
  readonly accept: (body: unknown, circumstances: Circumstances) => Effect.Effect<AcceptedBody, Failure>
  /** What its caller would be answered with who was refused so. */
  readonly refused: (failed: Failure, requestId: string) => { readonly statusCode: number; readonly body: object }
}
