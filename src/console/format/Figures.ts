/** Formats counts, shares, times and durations. */

const whole = new Intl.NumberFormat()
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 })
const rate = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 })
// One digit always, so that the shares of a column line up.
const percent = new Intl.NumberFormat(undefined, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1
})
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" })
const month = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" })

/** A whole number with thousands separators. */
export const count = (value: number): string => whole.format(value)

/** A number for a tile or an axis. Numbers from 100,000 on have a unit, such as 1.2M. */
export const brief = (value: number): string =>
  Math.abs(value) < 100_000 ? whole.format(value) : compact.format(value)

const sizes = ["byte", "kilobyte", "megabyte", "gigabyte"].map(
  (unit) =>
    new Intl.NumberFormat(undefined, {
      style: "unit",
      unit,
      unitDisplay: unit === "byte" ? "long" : "short",
      maximumFractionDigits: 1
    })
)

/** A file size in decimal units, such as 1.2 MB. */
export const bytes = (size: number): string => {
  const step = size < 1_000 ? 0 : Math.min(sizes.length - 1, Math.floor(Math.log10(size) / 3))
  return sizes[step]!.format(size / 1_000 ** step)
}

/** A share of one, such as 12.5%. The minus sign is as wide as a digit. */
export const share = (value: number): string => percent.format(value).replace("-", "−")

const points = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2, signDisplay: "always" })

/** A markup from basis points, with its sign, such as +12.5% or −5%. */
export const signedPercent = (basisPoints: number): string => points.format(basisPoints / 10_000).replace("-", "−")

/** A duration of whole seconds, such as 2 min 5 s or 3 h 10 min. */
export const lasting = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}

/** Formats with a fixed number of digits after the point. */
const fixed = [0, 1, 2].map(
  (digits) => new Intl.NumberFormat(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits })
)

/** A duration from milliseconds: milliseconds below a second, seconds below a minute, and minutes or hours above. */
export const duration = (ms: number): string => {
  // Each bound is where rounding reaches the next unit, so that no text says 1,000 ms or 60 s.
  if (ms < 999.5) return `${fixed[ms < 1 ? 2 : ms < 9.95 ? 1 : 0]!.format(ms)} ms`
  return ms < 59_995 ? `${fixed[2]!.format(ms / 1_000)} s` : lasting(Math.round(ms / 1_000))
}

/** A date and time to the second, in the reader's time zone, from Unix seconds. */
export const moment = (seconds: number): string => absolute.format(seconds * 1_000)

/** A day in UTC, such as Mar 5, 2026, from Unix seconds. */
export const utcDate = (seconds: number): string => day.format(seconds * 1_000)

/** The name of a month, such as March 2026, from `YYYY-MM`. */
export const monthName = (yearAndMonth: string): string => month.format(Date.parse(`${yearAndMonth}-01`))

const STEPS = [
  ["second", 60],
  ["minute", 3_600],
  ["hour", 86_400],
  ["day", 30 * 86_400],
  ["month", 365 * 86_400]
] as const

const SECONDS = { second: 1, minute: 60, hour: 3_600, day: 86_400, month: 30 * 86_400 }

/** How long ago a moment is, or how far ahead. */
export const ago = (seconds: number, now: number = Date.now() / 1_000): string => {
  const distance = seconds - now
  const size = Math.abs(distance)
  if (size < 5) return "now"
  for (const [unit, end] of STEPS) {
    if (size < end) return relative.format(Math.trunc(distance / SECONDS[unit]), unit)
  }
  return relative.format(Math.trunc(distance / (365 * 86_400)), "year")
}

/** Growth by at least this share is written with the earlier figure, because a percentage of four digits says little. */
const MAX_GROWTH = 9

/** The change of a figure from the range before to the range now, in words. `show` writes the figure. */
export const change = (now: number, before: number, show: (figure: number) => string): string => {
  if (before === 0) return `${show(0)} in the range before`
  const by = (now - before) / before
  if (Math.abs(by) < 0.005) return "As before"
  if (by >= MAX_GROWTH) return `▲ from ${show(before)}`
  return `${by > 0 ? "▲" : "▼"} ${rate.format(Math.abs(by))} vs before`
}
