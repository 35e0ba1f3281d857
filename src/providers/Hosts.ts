/** What this node knows of each provider's health: a breaker for each of its models, and what retries it may still be sent. */
import type { Timeouts } from "../domain/Plan.ts"
import type { Metrics } from "../platform/Metrics.ts"
import { Breaker, type FailedHow, type Opening } from "./Breaker.ts"
import { pauseOf } from "./PoolError.ts"
import type { Clocks, Provider, ProviderFault } from "./Provider.ts"
import { RetryBudget } from "./RetryBudget.ts"

const clockOf = { connect: "connectMs", first_token: "firstTokenMs", idle: "idleMs", total: "totalMs" } as const

/**
 * What a fault says of the provider, to its breakers and in the live figures; undefined says nothing. Without a fault its answer
 * was well-formed and empty. Whatever a caller can bring about at will says nothing, or it would decide for all others.
 */
export const weigh = (fault: ProviderFault | undefined, given: Clocks, service: Clocks): FailedHow | undefined => {
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
      // Of a kind of answer that was never seen, nobody knows how long it takes.
      if (fault.clock === "answer") return given.answer?.known === true ? {} : { inShareOnly: true }
      return given[clockOf[fault.clock]] >= service[clockOf[fault.clock]] ? {} : undefined
    case "Lost":
      // Nothing of the call itself went wrong, and where little time was left, that was the caller's choice or another's doing.
      return fault.ours === true || given.totalMs < service.totalMs ? undefined : { inShareOnly: true }
    case "Unauthorized":
      // A host also forbids single requests, which is no reason to keep all others from it.
      return fault.status === 403 ? { inShareOnly: true } : { atOnce: true }
    default: {
      const pause = pauseOf(fault)
      return pause === undefined ? {} : { pauseMs: pause * 1_000 }
    }
  }
}

/** The caller's clocks, each of which can only shorten the service's. */
export const shorten = (clocks: Clocks, timeouts: Timeouts): Clocks => ({
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

/** Breakers are as many as providers have models in the catalogue. `onOpening` hears of those that this node opens. */
export const makeHosts = (
  providers: ReadonlyArray<Provider>,
  metrics: Metrics,
  onOpening: (provider: string, model: string, opening: Opening) => void = () => {}
): ReadonlyMap<string, Host> => {
  let resting = 0
  metrics.gauge(
    "svc.provider.breakers.open",
    "Models of providers that are not called, or only probed, because they failed",
    "{breaker}",
    () => resting
  )
  const hostOf = (provider: Provider): Host => {
    const breakers = new Map<string, Breaker>()
    const made = (model: string): Breaker => {
      let closed = true
      metrics.provider.met(provider.id, model)
      const breaker = new Breaker(
        (state) => {
          if (closed !== (state === "closed")) resting += closed ? 1 : -1
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
