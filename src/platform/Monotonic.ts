import type { Clock } from "effect"

/**
 * The time in milliseconds, from a clock that never goes back: a corrected wall clock must neither prolong nor end what lasts for
 * a while.
 */
export const millisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
