/** Sets of times: each a list of outages in order, of which no two touch. Pure functions over values. */
import type { Outage } from "./Notes.ts"

/** All of these times as a set. */
export const setOf = (times: ReadonlyArray<Outage>): ReadonlyArray<Outage> => {
  const set: Array<{ from: number; to: number }> = []
  for (const { from, to } of times.toSorted((a, b) => a.from - b.from)) {
    const last = set.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else set.push({ from, to })
  }
  return set
}

/** Each time with so many milliseconds more at its end, as a set. */
export const extended = (times: ReadonlyArray<Outage>, ms: number): ReadonlyArray<Outage> =>
  setOf(times.map(({ from, to }) => ({ from, to: to + ms })))

/** What two sets have in common. */
export const common = (a: ReadonlyArray<Outage>, b: ReadonlyArray<Outage>): ReadonlyArray<Outage> =>
  a.flatMap((one) =>
    b.flatMap((other) => {
      const [from, to] = [Math.max(one.from, other.from), Math.min(one.to, other.to)]
      return from < to ? [{ from, to }] : []
    })
  )

/** The first moment at which `ms` milliseconds have passed since `from` without any time of the set between. */
export const undisturbed = (set: ReadonlyArray<Outage>, from: number, ms: number): number => {
  let at = from
  for (const time of set) {
    if (time.from - at >= ms) break
    at = Math.max(at, time.to)
  }
  return at + ms
}
