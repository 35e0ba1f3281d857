import { Schema } from "effect"
import { isDay } from "../domain/Day.ts"

const form = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/

/** A moment in ISO 8601: a day, which begins at midnight UTC, or a time with its zone. */
export const Moment = Schema.String.check(
  Schema.makeFilter((text) => {
    const day = form.exec(text)?.[1]
    return day !== undefined && isDay(day) && !Number.isNaN(Date.parse(text))
      ? true
      : 'must be a day such as "2026-12-24" or a time with its zone such as "2026-12-24T18:00:00Z"'
  })
)

/** Returns a `Moment` in Unix milliseconds. */
export const millisOf = (moment: string): number => Date.parse(moment)
