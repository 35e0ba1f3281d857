/** Sets of intervals: each a list of outages in ascending order, no two of which touch. Pure functions over values. */
import type { Outage } from "./Evidence.ts"

export const union = (times: ReadonlyArray<Outage>): ReadonlyArray<Outage> => {
  const set: Array<{ from: number; to: number }> = []
  for (const { from, to } of times.toSorted((a, b) => a.from - b.from)) {
    const last = set.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else set.push({ from, to })
  }
  return set
}

/** The union of the intervals, each extended by `ms` at its end. */
export const extend = (times: ReadonlyArray<Outage>, ms: number): ReadonlyArray<Outage> =>
  union(times.map(({ from, to }) => ({ from, to: to + ms })))

export const intersection = (a: ReadonlyArray<Outage>, b: ReadonlyArray<Outage>): ReadonlyArray<Outage> =>
  a.flatMap((one) =>
    b.flatMap((other) => {
      const [from, to] = [Math.max(one.from, other.from), Math.min(one.to, other.to)]
      return from < to ? [{ from, to }] : []
    })
  )

/** The end of the first `ms` milliseconds after `from` that no interval of the set interrupts. */
export const quietSince = (set: ReadonlyArray<Outage>, from: number, ms: number): number => {
  let at = from
  for (const time of set) {
    if (time.from - at >= ms) break
    at = Math.max(at, time.to)
  }
  return at + ms
}
