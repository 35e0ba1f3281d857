import { Context } from "effect"
import { OpenApi } from "effect/http-api"

/** The properties of an operation besides its schemas. The endpoint contains its method, path, credential and idempotency header. */
export interface OperationFacts {
  /** The rate limit against which its requests count. */
  readonly limit:
    | "default"
    | "chat"
    | "search"
    | "images"
    | "video"
    | "video_status"
    | "management_reads"
    | "management_writes"
    | "operator_reads"
    | "operator_writes"
    | "console_reads"
    | "console_writes"
  /** The unit by which a successful request is charged. */
  readonly charge: "free" | "tokens" | "characters" | "requests" | "images" | "seconds"
  /** The scope that a management key needs for it. */
  readonly scope?: string
  /** Whether a POST computes an answer and changes nothing, so that it may be repeated without an idempotency key. */
  readonly safe?: boolean
  /** Whether a GET advances the job that it reports, or calls a provider for it. */
  readonly moves?: boolean
}

/** The facts of an endpoint. Every published endpoint has them. */
export class Operation extends Context.Service<Operation, OperationFacts>()("tollgate/Operation") {}

/** The annotations of an endpoint: its name in the contract, a line on what it does, and its facts. */
export const operation = (name: string, summary: string, facts: OperationFacts) =>
  Context.merge(OpenApi.annotations({ identifier: name, summary }), Context.make(Operation, facts))
