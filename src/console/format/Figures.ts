/** Counts, shares, times and durations as people read them. */

const whole = new Intl.NumberFormat()
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 })
const rate = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 })
// Always one digit, so that shares in a column stand one below the other.
const percent = new Intl.NumberFormat(undefined, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1
})
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" })

/** A whole number with its separators. */
export const count = (value: number): string => whole.format(value)

/** A number in a tile or on an axis: from 100,000 on with a unit, such as 1.2M. */
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

/** A size of a file, in units of a thousand. */
export const bytes = (size: number): string => {
  const step = size < 1_000 ? 0 : Math.min(sizes.length - 1, Math.floor(Math.log10(size) / 3))
  return sizes[step]!.format(size / 1_000 ** step)
}

/** A share of one, such as 12.5%. A share below zero has the minus of figures, which is as wide as a digit. */
export const share = (value: number): string => percent.format(value).replace("-", "−")

/** A duration: milliseconds below a second, seconds above, minutes above those. */
export const duration = (ms: number): string => {
  if (ms < 1) return `${ms.toFixed(2)} ms`
  if (ms < 10) return `${ms.toFixed(1)} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 60_000
    ? `${(ms / 1_000).toFixed(2)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}

/** A span of whole seconds, such as 2 min 5 s or 3 h 10 min. */
export const lasting = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}

/** A moment with its date, to the second, from Unix seconds. */
export const moment = (seconds: number): string => absolute.format(seconds * 1_000)

/** A date, from Unix seconds. */
export const date = (seconds: number): string => day.format(seconds * 1_000)

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

/** From this change on, a figure is so many times what it was. */
const MANIFOLD = 9

/** The change from one figure to another, in words; undefined where there is nothing to compare. */
export const change = (now: number, before: number): string | undefined => {
  if (before === 0) return undefined
  const by = (now - before) / before
  if (Math.abs(by) < 0.005) return "unchanged"
  // A percentage of four digits is harder to grasp than a factor.
  if (by >= MANIFOLD) return `▲ ${whole.format(Math.round(now / before))} times`
  return `${by > 0 ? "▲" : "▼"} ${rate.format(Math.abs(by))}`
}
