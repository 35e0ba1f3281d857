/** The behaviour of the sandbox's doubles for work other than chat. */
import { Effect } from "effect"
import { ProviderError, type ProviderFault } from "../ProviderError.ts"
import type { WorkCall } from "../Provider.ts"
import { brokenFault, faultAtOnce, SLOW_MS, type Steering, steeringOf } from "./Steering.ts"

/**
 * Runs one call at the double with this id: waits for the steered latency, fails as the steering asks, and answers otherwise. `answer`
 * decides what an empty answer is, which `fault=empty` asks for.
 */
export const playWork = <A>(
  id: string,
  { clocks, steering: header }: WorkCall,
  answer: (steering: Steering) => Effect.Effect<A, ProviderError>
): Effect.Effect<A, ProviderError> =>
  Effect.flatMap(steeringOf(id, header), (steering) => {
    const fail = (fault: ProviderFault) => Effect.fail(new ProviderError({ provider: id, fault }))
    const { fault } = steering
    const latency = fault === "stall" ? Infinity : (steering.latencyMs ?? (fault === "slow" ? SLOW_MS : 0))
    const outcome = () => {
      const failed = fault === "break" ? brokenFault : faultAtOnce(steering)
      return failed === undefined ? answer(steering) : fail(failed)
    }
    if (latency === 0) return outcome()
    const { answer: own, totalMs } = clocks
    const most = Math.min(totalMs, own?.ms ?? totalMs)
    const clock = own !== undefined && own.ms < totalMs ? own.clock : "total"
    return latency < most
      ? Effect.andThen(Effect.sleep(latency), Effect.suspend(outcome))
      : Effect.andThen(Effect.sleep(most), fail({ _tag: "TimedOut", clock }))
  })
