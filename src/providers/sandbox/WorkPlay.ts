import { Effect, Result } from "effect"
import { ProviderError, type ProviderFault } from "../Provider.ts"
import type { WorkCall } from "../Work.ts"
import { noSteering, parseSteering, type Steering } from "./Steering.ts"

const SLOW_MS = 2_000

const faultOf = (steering: Steering): ProviderFault | undefined => {
  switch (steering.fault) {
    case "rate_limit":
      return { _tag: "RateLimited", retryAfterSeconds: 1 }
    case "error":
      return { _tag: "ServerError", status: 500, detail: "a simulated server error" }
    case "malformed":
      return { _tag: "Malformed", detail: "a simulated answer that is not JSON" }
    case "break":
      return { _tag: "Broken", detail: "a simulated loss of the connection" }
    default:
      return undefined
  }
}

/**
 * Work other than chat as the double of this provider does it: after the latency that its call's steering asks for, by Effect's
 * clock and within the call's, and with the fault that it asks for. `done` makes the answer, and sees to the other wishes.
 */
export const playWork = <A>(
  provider: string,
  call: WorkCall,
  done: (steering: Steering) => Result.Result<A, ProviderFault>
): Effect.Effect<A, ProviderError> =>
  Effect.suspend(() => {
    const fail = (fault: ProviderFault) => Effect.fail(new ProviderError({ provider, fault }))
    const read = call.steering === undefined ? Result.succeed(noSteering) : parseSteering(call.steering)
    if (Result.isFailure(read)) return fail({ _tag: "Refused", status: 400, detail: read.failure[0].message })
    const asked = read.success
    const steering: Steering =
      asked.provider === undefined || asked.provider === provider
        ? asked
        : { ...asked, fault: undefined, latencyMs: undefined }
    const { totalMs } = call.clocks
    const ms = steering.fault === "stall" ? Infinity : (steering.latencyMs ?? (steering.fault === "slow" ? SLOW_MS : 0))
    const answer = Effect.suspend((): Effect.Effect<A, ProviderError> => {
      const fault = faultOf(steering)
      if (fault !== undefined) return fail(fault)
      const made = done(steering)
      return Result.isFailure(made) ? fail(made.failure) : Effect.succeed(made.success)
    })
    if (ms === 0) return answer
    return ms < totalMs
      ? Effect.andThen(Effect.sleep(ms), answer)
      : Effect.andThen(Effect.sleep(totalMs), fail({ _tag: "TimedOut", clock: "total" }))
  })
