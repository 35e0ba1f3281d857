import { type Failure, invalid } from "../domain/Failure.ts"

/** The time range of a report on usage: a period up to now, or two times in milliseconds since 1970. */
export interface RangeQuestion {
  readonly period: string | undefined
  readonly startMs: number | undefined
  readonly endMs: number | undefined
}

/** Returns why a request names no range: it has both a period and a time, or only an end. Undefined for a valid range. */
export const rangeProblem = ({ endMs, period, startMs }: RangeQuestion): Failure | undefined => {
  if (period !== undefined && (startMs ?? endMs) !== undefined)
    return invalid("period", "must not be combined with `start_time` or `end_time`")
  return startMs === undefined && endMs !== undefined ? invalid("end_time", "requires `start_time`") : undefined
}

/** The failure for a range that ends before it starts. */
export const emptyRange = ({ endMs }: Pick<RangeQuestion, "endMs">): Failure =>
  endMs === undefined
    ? invalid("start_time", "must lie in the past")
    : invalid("end_time", "must be after `start_time`")
