import { DAY_MS } from "../../domain/Day.ts"
/** When the demo sends how many requests. */

const HOUR_MS = 3_600_000

/** A moment of the demo, as its distance from now, and the requests that are sent in it. */
export interface Moment {
  readonly behindMs: number
  readonly requests: number
}

/** A source of numbers from 0 to 1 that a seed determines (mulberry32). */
export const makeRandom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** How busy an hour of a day is: nights are quiet, weekends are half as busy as other days. */
const loadAt = (ms: number): number => {
  const at = new Date(ms)
  const hour = at.getUTCHours()
  const isWeekend = at.getUTCDay() % 6 === 0
  return (0.35 + 0.65 * Math.max(0, Math.sin(((hour - 6) / 14) * Math.PI))) * (isWeekend ? 0.5 : 1)
}

/**
 * Moments from the first day to now: four a day at first, eight a day of the last week, every hour of the last day, every five minutes of
 * the last hour. Each takes as long as its slowest request, so far days have few.
 */
export const momentsOf = (
  days: number,
  requests: number,
  nowMs: number,
  random: () => number
): ReadonlyArray<Moment> => {
  const spans: Array<{ readonly startMs: number; readonly lengthMs: number }> = []
  const add = (fromMs: number, toMs: number, lengthMs: number) => {
    for (let startMs = fromMs; startMs > toMs; startMs -= lengthMs) spans.push({ startMs, lengthMs })
  }
  add(days * DAY_MS, Math.min(days, 7) * DAY_MS, 6 * HOUR_MS)
  add(Math.min(days, 7) * DAY_MS, DAY_MS, 3 * HOUR_MS)
  add(DAY_MS, HOUR_MS, HOUR_MS)
  add(HOUR_MS, 0, HOUR_MS / 12)
  // The account grows: a month later it sends twice as much.
  const weights = spans.map(
    ({ lengthMs, startMs }) =>
      (lengthMs * loadAt(nowMs - startMs) * (2 - startMs / (days * DAY_MS)) * (0.6 + 0.8 * random())) / HOUR_MS
  )
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  return spans.map(({ lengthMs, startMs }, at) => ({
    behindMs: Math.max(1_000, Math.round(startMs - random() * lengthMs)),
    requests: Math.max(1, Math.round((requests * weights[at]!) / whole))
  }))
}
