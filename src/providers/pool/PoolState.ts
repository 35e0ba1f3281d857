/** The values that the files of the pool share. */
import type { Candidate } from "../../domain/Plan.ts"
import type { Price, TokenPrice } from "../../domain/Pricing.ts"
import type { Metrics } from "../../platform/telemetry/Metrics.ts"
import type { Host } from "../Hosts.ts"
import type { AnswerTimes, Clocks } from "./AnswerClock.ts"
import type { Breaker } from "./Breaker.ts"
import type { AttemptSample } from "./FirstContent.ts"

/** The state that all requests share. */
export interface PoolState {
  readonly hosts: ReadonlyMap<string, Host>
  readonly metrics: Metrics
  /** The service's time limits. A plan's policy can only shorten them. */
  readonly clocks: Clocks
  /** Adds an attempt to the live figures. */
  readonly observe: (sample: AttemptSample) => void
  /** Ids of the providers that receive the trace context of a call. Undefined: none. */
  readonly traceTo: ReadonlySet<string> | undefined
  readonly times: AnswerTimes
}

/** A candidate that may be called, with its breaker's permit. Without a breaker, its health is not tracked. */
export interface AdmittedCandidate<P extends Price = TokenPrice> {
  readonly candidate: Candidate<P>
  readonly host: Host
  readonly breaker: Breaker | undefined
  readonly permit: number
}

/** Two candidates that are called in parallel. */
export interface HedgedPair<P extends Price = TokenPrice> {
  readonly first: AdmittedCandidate<P>
  readonly hedge: AdmittedCandidate<P>
}
