/** The time at which the headers arrive. */
export const RETRY_AFTER_NOW = Date.parse("2026-11-21T12:00:00Z")

/** Values of `Retry-After` with the milliseconds they ask for, for every reader of the header; undefined for an invalid value. */
export const retryAfters: ReadonlyArray<readonly [header: string, ms: number | undefined]> = [
  ["0", 0],
  ["7", 7_000],
  [" 120 ", 120_000],
  ["1.5", 1_500],
  ["99999999999", 99_999_999_999_000],
  ["9".repeat(400), Infinity],
  ["Sat, 21 Nov 2026 12:05:00 GMT", 300_000],
  ["Saturday, 21-Nov-26 12:05:00 GMT", 300_000],
  ["Sat Nov 21 12:05:00 2026", 300_000],
  ["Sat, 21 Nov 2026 11:05:00 GMT", -3_300_000],
  ["", undefined],
  ["-1", undefined],
  ["+5", undefined],
  ["1e3", undefined],
  ["Infinity", undefined],
  ["soon", undefined],
  ["soon 5", undefined],
  ["Sat, 99 Nov 2026", undefined],
  ["2030-01-01", undefined]
]
