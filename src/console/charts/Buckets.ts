/** Names of buckets of time, for an axis and for a tooltip. */
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
// A day of usage is a day in UTC, so its name is that of UTC as well.
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" })
const longDay = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeZone: "UTC" })

const DAYS_OF_HOURS = 36

/** The buckets that start at these Unix seconds. */
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
