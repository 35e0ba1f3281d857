/** The range of time that a page shows, as it stands in the URL: a length up to now, or two dates. */

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

/** A change of some of these; undefined takes one away. */
export type Change<A> = { readonly [Name in keyof A]?: A[Name] | undefined }

/** The first and the last day of a custom range, in UTC as usage is. */
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

/** The day so many days before one. */
export const dayBefore = (day: string, days: number): string => dayOf(startOf(day) - days * DAY)

/** Whether a search names two days in order. */
export const isCustom = ({ from, to }: Days): boolean => from !== undefined && to !== undefined && from <= to

/** The moments of a range. A preset ends now, so its end moves. */
export const timesOf = (search: RangeSearch, usual: Preset, now: number): Times => {
  const { from, range = usual, to } = search
  if (from !== undefined && to !== undefined && from <= to) return { start: startOf(from), end: startOf(to) + DAY }
  // Whole days for days, so that the first bar is no part of one.
  const step = range === "7d" || range === "30d" ? DAY : range === "24h" ? HOUR : 60
  return { start: (Math.floor(now / step) + 1) * step - lengths[range], end: Math.floor(now) + 1 }
}

/** The range before a range: as much of it as has passed of the range. */
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

/** The intervals that give a chart of at least two buckets and not too many. */
export const intervalsOf = ({ end, start }: Times): ReadonlyArray<Interval> =>
  intervals.filter((interval) => {
    const buckets = (end - start) / widths[interval]
    return buckets >= 2 && buckets <= most[interval] - 1
  })

/** The interval for a range: the one that was chosen, where it fits. */
export const intervalOf = (times: Times, chosen: Interval | undefined): Interval => {
  const fitting = intervalsOf(times)
  if (chosen !== undefined && fitting.includes(chosen)) return chosen
  const span = times.end - times.start
  if (span <= 6 * HOUR) return "minute"
  if (span <= 3 * DAY) return "hour"
  return span <= 366 * DAY ? "day" : "week"
}
