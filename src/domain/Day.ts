/** UTC days, as `YYYY-MM-DD`. */

export const DAY_MS = 86_400_000

/** Returns the UTC day of a time in Unix milliseconds. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** Reports whether the calendar has the day. `Date.parse` alone accepts February 30 as a day in March. */
export const isDay = (text: string): boolean => {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(ms) && dayOf(ms) === text
}

/** Returns the milliseconds from a time to the next UTC day. */
export const untilTomorrowMs = (ms: number): number => DAY_MS - (ms % DAY_MS)
