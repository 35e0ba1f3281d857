import { Context } from "effect"
import { OpenApi } from "effect/http-api"

/** What an operation promises beside its shapes. Its method, path, credential and idempotency header stand in the endpoint. */
export interface OperationFacts {
  /** The rate limit a request of it counts against. */
  readonly limit:
    | "default"
    | "chat"
    | "search"
    | "images"
    | "video"
    | "video_status"
    | "management_reads"
    | "management_writes"
    | "console_reads"
    | "console_writes"
  /** What a success is charged by. */
  readonly charge: "free" | "tokens" | "characters" | "requests" | "images" | "seconds"
  /** The scope that a management key needs for it. */
  readonly scope?: string
  /** A POST that computes an answer and changes nothing, so that it may be repeated without a key. */
  readonly safe?: boolean
  /** A GET that moves what it tells of, or asks others for it. */
  readonly moves?: boolean
}

/** The facts of an endpoint. Every endpoint that the contract shows carries them. */
export class Operation extends Context.Service<Operation, OperationFacts>()("tollgate/Operation") {}

/** The annotations of an endpoint: its name in the contract, a line on what it does, and its facts. */
export const operation = (name: string, summary: string, facts: OperationFacts) =>
  Context.merge(OpenApi.annotations({ identifier: name, summary }), Context.make(Operation, facts))
