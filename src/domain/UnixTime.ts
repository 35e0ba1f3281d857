/** Returns a time in Unix seconds, rounded down; null for null. */
export function secondsOf(time: Date): number
export function secondsOf(time: Date | null): number | null
export function secondsOf(time: Date | null): number | null {
  return time === null ? null : Math.floor(time.getTime() / 1_000)
}
