/** A paid operation other than chat: how its request becomes one of the service, and who reads its answer. */
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, type Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Caller, type Principal } from "../../schemas/Access.ts"
import { basePolicy } from "../dialects/Routing.ts"
import type { Failure } from "../domain/Failure.ts"
import type { PaidRequest } from "../inference/Request.ts"
import { Config } from "../platform/Config.ts"
import { readJson } from "./Body.ts"
import { circumstancesOf } from "./ChatOperation.ts"
import { Exchange } from "./Exchange.ts"

/** Where an operation is found and what it is called, on receipts and as the scope of idempotency keys. */
export interface WorkPlace {
  readonly operation: string
  readonly path: string
}

/** A decoded body, and the request it makes. */
export interface Accepted<D> {
  readonly decoded: D
  readonly paid: PaidRequest
}

/** Reads requests of one operation: their bodies by `decode`, and all else that a paid request is made of. */
export const paidWork = <D extends { readonly model: string }>(
  { operation, path }: WorkPlace,
  decode: (body: unknown, principal: Principal) => Result.Result<D, Failure>
) =>
  Effect.map(Config, ({ sandbox }) =>
    Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const exchange = yield* Exchange
      const principal = yield* Caller
      const body = yield* readJson(request)
      const decoded = yield* Effect.fromResult(decode(body, principal))
      const received = { request, exchange, principal, body, operation, path, sandbox }
      const circumstances = yield* Effect.fromResult(circumstancesOf(received))
      const paid: PaidRequest = { ...circumstances, model: decoded.model, policy: basePolicy(principal) }
      return { decoded, paid } satisfies Accepted<D>
    })
  )

/** The reader of an answer: what it is told to do when that is gone, it does at once where it is gone already. */
export const readerOf = (request: HttpServerRequest.HttpServerRequest) => {
  const response = NodeHttpServerRequest.toServerResponse(request)
  const ends: Array<() => void> = []
  const gone = () => {
    for (const end of ends.splice(0)) end()
  }
  response.once("close", gone)
  const onGone = (end: () => void): void => {
    ends.push(end)
    if (response.closed || response.destroyed) gone()
  }
  return { gone, onGone }
}
