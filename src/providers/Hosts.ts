/** What this node knows about each provider's health: a breaker for each of its models, and its remaining retry budget. */
import type { Timeouts } from "../domain/Plan.ts"
import type { Metrics } from "../platform/telemetry/Metrics.ts"
import { Breaker, type FailureDetails, type Opening } from "./pool/Breaker.ts"
import { pauseOf } from "./pool/PoolError.ts"
import type { Provider } from "./Provider.ts"
import type { Clocks } from "./pool/AnswerClock.ts"
import type { ProviderFault } from "./ProviderError.ts"
import { RetryBudget } from "./pool/RetryBudget.ts"

const clockOf = { connect: "connectMs", first_token: "firstTokenMs", idle: "idleMs", total: "totalMs" } as const

/**
 * Returns how a fault counts against its provider in the breakers; undefined when it counts neither there nor in the live figures.
 * Without a fault, the answer was well-formed and empty. A fault that a caller can cause at will must not count, because it would affect
 * all other callers.
 */
export const failureWeightOf = (
  fault: ProviderFault | undefined,
  attemptClocks: Clocks,
  service: Clocks
): FailureDetails | undefined => {
  switch (fault?._tag) {
    case undefined:
    case "Refused":
    case "OffSchema":
    case "SchemaRefused":
      return undefined
    case "Malformed":
      return fault.ofModel === true ? undefined : {}
    case "TimedOut":
      if (fault.held === true) return undefined
      // For a kind of answer that this node has never seen, the normal duration is unknown.
      if (fault.clock === "answer") return attemptClocks.answer?.known === true ? {} : { inShareOnly: true }
      return attemptClocks[clockOf[fault.clock]] >= service[clockOf[fault.clock]] ? {} : undefined
    case "Lost":
      // The call itself did not fail. If little time was left, the caller's limit or an earlier attempt was the reason.
      return fault.ours === true || attemptClocks.totalMs < service.totalMs ? undefined : { inShareOnly: true }
    case "Unauthorized":
      // A host also rejects single requests with 403, which is no reason to stop all other requests.
      return fault.status === 403 ? { inShareOnly: true } : { atOnce: true }
    default: {
      const pause = pauseOf(fault)
      return pause === undefined ? {} : { pauseMs: pause * 1_000 }
    }
  }
}

/** The caller's limits, each of which can only shorten the service's. */
export const withPolicyTimeouts = (clocks: Clocks, timeouts: Timeouts): Clocks => ({
  connectMs: Math.min(clocks.connectMs, timeouts.connectMs ?? Infinity),
  firstTokenMs: Math.min(clocks.firstTokenMs, timeouts.firstTokenMs ?? Infinity),
  idleMs: clocks.idleMs,
  totalMs: Math.min(clocks.totalMs, timeouts.totalMs ?? Infinity)
})

export interface Host {
  readonly provider: Provider
  readonly budget: RetryBudget
  readonly breakerOf: (model: string) => Breaker
}

/** Creates the hosts, with a breaker for each model that is called there. `onOpening` receives the openings that this node causes. */
export const makeHosts = (
  providers: ReadonlyArray<Provider>,
  metrics: Metrics,
  onOpening: (provider: string, model: string, opening: Opening) => void = () => {}
): ReadonlyMap<string, Host> => {
  const hostOf = (provider: Provider): Host => {
    const breakers = new Map<string, Breaker>()
    let resting = 0
    metrics.provider.breakersOpen(provider.id, () => resting)
    const made = (model: string): Breaker => {
      let closed = true
      let openedAt = 0
      metrics.provider.met(provider.id, model)
      const breaker = new Breaker(
        (state) => {
          if (closed !== (state === "closed")) {
            resting += closed ? 1 : -1
            if (closed) openedAt = performance.now()
            else metrics.provider.recovered(provider.id, performance.now() - openedAt)
          }
          closed = state === "closed"
          metrics.provider.breaker(provider.id, model, state)
        },
        (opening) => onOpening(provider.id, model, opening)
      )
      breakers.set(model, breaker)
      return breaker
    }
    return { provider, budget: new RetryBudget(), breakerOf: (model) => breakers.get(model) ?? made(model) }
  }
  return new Map(providers.map((provider) => [provider.id, hostOf(provider)]))
}
