/** Makes a paid request of the service from the call of a paid tool, and reports its progress. */
import { Clock, Duration, Effect, Result } from "effect"
import { basePolicy } from "../dialects/Routing.ts"
import type { Failure } from "../domain/Failure.ts"
import { nanoFromUsd } from "../domain/Money.ts"
import { requestContextOf, type ReceivedRequest } from "../http/handlers/ChatOperation.ts"
import type { PaidRequest, RequestContext } from "../inference/Request.ts"
import { Config } from "../platform/config/Config.ts"
import type { Call, CallCost } from "./Tool.ts"

/**
 * Everything but the arguments that the request of a call is made from. An idempotency key applies within one tool, and to the same
 * arguments.
 */
export const makeRequestContext = Effect.map(
  Config,
  ({ sandbox }) =>
    (call: Call): Result.Result<RequestContext, Failure> => {
      const { body, exchange, idempotencyKey, maxCostUsd, operation, principal, requestId } = call
      const headers = { ...call.headers, "idempotency-key": idempotencyKey }
      const received = {
        request: { headers: headers as unknown as ReceivedRequest["request"]["headers"], method: "POST" },
        body: maxCostUsd === undefined ? body : { ...body, max_cost_usd: maxCostUsd },
        path: `/mcp/${operation}`,
        exchange,
        principal,
        operation,
        sandbox
      } as const
      return Result.map(requestContextOf(received), (requestContext) => ({ ...requestContext, requestId }))
    }
)

/** The paid request of a call for a model. */
export const makePaidRequest = Effect.map(
  makeRequestContext,
  (contextOf) =>
    (call: Call, model: string): Effect.Effect<PaidRequest, Failure> =>
      Effect.map(Effect.fromResult(contextOf(call)), (made) => ({
        ...made,
        model,
        policy: basePolicy(call.principal),
        maxCost: call.maxCostUsd === undefined ? undefined : nanoFromUsd(call.maxCostUsd)
      }))
)

/** The cost of a paid answer. `body` is the API's. */
export const callCostOf = (
  { cost_usd, request_id }: { readonly cost_usd: number; readonly request_id: string },
  replayed: boolean
): CallCost => ({ costUsd: cost_usd, requestId: request_id, replayed })

/** The interval of progress reports. Proxies give up on a silent connection after 15 to 60 seconds. */
const REPORT_INTERVAL = Duration.seconds(1)

/** While the call runs, reports to the client what `progressAt` returns. */
export const reportWhile = <A, E, R>(
  { report }: Pick<Call, "report">,
  progressAt: (seconds: number) => { readonly progress: number; readonly message: string },
  run: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  if (report === undefined) return run
  const telling = Effect.flatMap(Clock.currentTimeMillis, (startedAt) => {
    let last = -1
    const tell = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { message, progress } = progressAt(Math.round((now - startedAt) / 1_000))
      if (progress <= last) return Effect.void
      last = progress
      return report(progress, message)
    })
    return Effect.forever(Effect.andThen(tell, Effect.sleep(REPORT_INTERVAL)))
  })
  return Effect.raceFirst(run, telling)
}
