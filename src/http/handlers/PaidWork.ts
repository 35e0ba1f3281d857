/** A paid operation other than chat: turns an HTTP request into a service request, and tracks its reader. */
import { Effect, type Result } from "effect"
import { Caller, type Principal } from "../../../schemas/Access.ts"
import { basePolicy } from "../../dialects/Routing.ts"
import type { Failure } from "../../domain/Failure.ts"
import type { PaidRequest } from "../../inference/Request.ts"
import { Config } from "../../platform/config/Config.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"
import { readJson } from "../edge/Body.ts"
import { requestContextOf } from "./ChatOperation.ts"
import { Exchange } from "../edge/Exchange.ts"

/** The path of an operation and its name, for receipts and as the scope of idempotency keys. */
export interface WorkRoute {
  readonly operation: string
  readonly path: string
}

/** A decoded body, and the service request it makes. */
export interface AcceptedRequest<D> {
  readonly decoded: D
  readonly paid: PaidRequest
}

/** Reads requests of one operation: `decode` handles their bodies, this function handles all other properties of a paid request. */
export const paidWork = <D extends { readonly model: string }>(
  { operation, path }: WorkRoute,
  decode: (body: unknown, principal: Principal) => Result.Result<D, Failure>
) =>
  Effect.map(Config, ({ sandbox }) =>
    Effect.fnUntraced(function* (request: ApiRequest) {
      const exchange = yield* Exchange
      const principal = yield* Caller
      const body = yield* readJson(request)
      const decoded = yield* Effect.fromResult(decode(body, principal))
      const received = { request, exchange, principal, body, operation, path, sandbox }
      const requestContext = yield* Effect.fromResult(requestContextOf(received))
      const paid: PaidRequest = { ...requestContext, model: decoded.model, policy: basePolicy(principal) }
      return { decoded, paid } satisfies AcceptedRequest<D>
    })
  )

/** The reader of a response. A callback for its disconnect runs at once if it has already disconnected. */
export const readerOf = ({ response }: Pick<ApiRequest, "response">) => {
  const ends: Array<() => void> = []
  const release = () => {
    for (const end of ends.splice(0)) end()
  }
  response.once("close", release)
  const onGone = (end: () => void): void => {
    ends.push(end)
    if (response.closed || response.destroyed) release()
  }
  return { gone: release, onGone }
}
