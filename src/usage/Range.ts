import { type Failure, invalid } from "../domain/Failure.ts"

/** The time of a question about usage: a period up to now, or two moments in milliseconds since 1970. */
export interface RangeQuestion {
  readonly period: string | undefined
  readonly startMs: number | undefined
  readonly endMs: number | undefined
}

/** Why a question names no range, if so: it names both a period and a moment, or only an end. */
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
