/** Names of time buckets, short for an axis and long for a tooltip. */
import type { Interval } from "../data/Ranges.ts"

export interface Bucket {
  readonly short: string
  readonly long: string
}

const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" })
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit"
})
const longTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
// A day of usage is a UTC day, so its name is in UTC too.
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" })
const longDay = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeZone: "UTC" })

/** From this many hours on, the short name includes the day. */
const DAYS_OF_HOURS = 36

/** The names of the buckets that start at these Unix seconds. Hours are in the reader's time zone, days in UTC. */
export const bucketsOf = (starts: ReadonlyArray<number>, interval: Interval): ReadonlyArray<Bucket> =>
  starts.map((seconds) => {
    const ms = seconds * 1_000
    if (interval === "minute") return { short: time.format(ms), long: longTime.format(ms) }
    if (interval === "hour") {
      return {
        short: (starts.length > DAYS_OF_HOURS ? dayAndTime : time).format(ms),
        long: longTime.format(ms)
      }
    }
    const words = `${longDay.format(ms)}, UTC`
    return { short: day.format(ms), long: interval === "week" ? `Week from ${words}` : words }
  })
