/** The time range of a page, as its URL holds it: a length up to now, or two days. */

export const presets = ["1h", "24h", "7d", "30d"] as const
export type Preset = (typeof presets)[number]

const HOUR = 3_600
const DAY = 86_400

const lengths: Readonly<Record<Preset, number>> = {
  "1h": HOUR,
  "24h": DAY,
  "7d": 7 * DAY,
  "30d": 30 * DAY
}

/** A change of some fields. An undefined value removes the field. */
export type Change<A> = { readonly [Name in keyof A]?: A[Name] | undefined }

/** The first and the last day of a custom range, in UTC. */
export interface Days {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export interface RangeSearch extends Days {
  readonly range?: Preset | undefined
}

/** Moments in Unix seconds; the end is excluded. */
export interface Times {
  readonly start: number
  readonly end: number
}

/** Whether a text is a day of the calendar, as `YYYY-MM-DD`. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().slice(0, 10) === text

const startOf = (day: string): number => Date.parse(day) / 1_000

/** The day of a moment in UTC, as `YYYY-MM-DD`. */
export const dayOf = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10)

/** The day that is this many days before another. */
export const dayBefore = (day: string, days: number): string => dayOf(startOf(day) - days * DAY)

/** Whether a search names two days in order. */
export const isCustom = ({ from, to }: Days): boolean => from !== undefined && to !== undefined && from <= to

/** The start and the end of a range. A preset ends now, so its end moves. */
export const timesOf = (search: RangeSearch, usual: Preset, now: number): Times => {
  const { from, range = usual, to } = search
  if (from !== undefined && to !== undefined && from <= to) return { start: startOf(from), end: startOf(to) + DAY }
  // A range of days begins with a whole day, so that its first bar is complete.
  const step = range === "7d" || range === "30d" ? DAY : range === "24h" ? HOUR : 60
  return { start: (Math.floor(now / step) + 1) * step - lengths[range], end: Math.floor(now) + 1 }
}

/** The range before another one, with the same length as the part of it that has passed. */
export const timesBefore = ({ end, start }: Times): Times => {
  const length = end - start
  const whole = Math.ceil(length / HOUR) * HOUR
  return { start: start - whole, end: start - whole + length }
}

export const intervals = ["minute", "hour", "day", "week"] as const
export type Interval = (typeof intervals)[number]

const widths: Readonly<Record<Interval, number>> = {
  minute: 60,
  hour: HOUR,
  day: DAY,
  week: 7 * DAY
}
const most: Readonly<Record<Interval, number>> = { minute: 360, hour: 744, day: 366, week: 105 }

/** The intervals that divide a range into at least two buckets and not too many. */
export const intervalsOf = ({ end, start }: Times): ReadonlyArray<Interval> =>
  intervals.filter((interval) => {
    const buckets = (end - start) / widths[interval]
    return buckets >= 2 && buckets <= most[interval] - 1
  })

/** Returns the chosen interval if it suits the range, and otherwise a suitable one. */
export const intervalOf = (times: Times, chosen: Interval | undefined): Interval => {
  const fitting = intervalsOf(times)
  if (chosen !== undefined && fitting.includes(chosen)) return chosen
  const span = times.end - times.start
  if (span <= 6 * HOUR) return "minute"
  if (span <= 3 * DAY) return "hour"
  return span <= 366 * DAY ? "day" : "week"
}
