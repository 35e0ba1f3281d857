/** The values of a course: what all courses share, and the calls of one. */
import type { Candidate } from "../../domain/Plan.ts"
import type { Price, TokenPrice } from "../../domain/Pricing.ts"
import type { Metrics } from "../../platform/telemetry/Metrics.ts"
import type { Host } from "../Hosts.ts"
import type { AnswerTimes, Clocks } from "./AnswerClock.ts"
import type { Breaker } from "./Breaker.ts"
import type { AttemptSample } from "./FirstContent.ts"

/** The state that all requests share. */
export interface Courses {
  readonly hosts: ReadonlyMap<string, Host>
  readonly metrics: Metrics
  /** The service's time limits. A plan's policy can only shorten them. */
  readonly clocks: Clocks
  readonly observe: (sample: AttemptSample) => void
  readonly traceTo: ReadonlySet<string> | undefined
  readonly times: AnswerTimes
}

/** A candidate that is to be called next. Without a breaker, its health is not tracked. */
export interface Turn<P extends Price = TokenPrice> {
  readonly candidate: Candidate<P>
  readonly host: Host
  readonly breaker: Breaker | undefined
  readonly permit: number
}

/** Two attempts that run in parallel. */
export interface Pair<P extends Price = TokenPrice> {
  readonly first: Turn<P>
  readonly hedge: Turn<P>
}
