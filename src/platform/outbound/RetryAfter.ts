const SECONDS = /^\d+(?:\.\d+)?$/

/** How each of the three forms of an HTTP date begins. `Date.parse` alone would read `-1` or `soon 5` as a day of the year 2001. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [\w :-]+$/i

/**
 * Returns the milliseconds until the moment of a `Retry-After` header (RFC 9110, 10.2.3), which names seconds or an HTTP date. A date in
 * the past gives a negative number; any other text gives undefined. Providers also send decimal fractions of seconds.
 */
export const retryAfterMs = (header: string, nowMs: number): number | undefined => {
  const text = header.trim()
  if (SECONDS.test(text)) return Number(text) * 1_000
  // The oldest form of a date has no zone, and `Date.parse` would read it in local time.
  const dateMs = HTTP_DATE.test(text) ? Date.parse(text.endsWith("GMT") ? text : `${text} GMT`) : Number.NaN
  return Number.isNaN(dateMs) ? undefined : dateMs - nowMs
}
