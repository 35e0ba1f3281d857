import type { Clock } from "effect"

/** The time in milliseconds from a clock that never goes back. A corrected wall clock must neither extend nor shorten a timeout. */
export const millisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
