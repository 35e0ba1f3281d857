import { Schema } from "effect"

const form = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/

/** Reports whether the calendar has the day. `Date.parse` accepts February 30 as a day in March. */
const isDay = (day: string): boolean => {
  const time = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}

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

/** Returns the UTC day of a time in Unix milliseconds, as `YYYY-MM-DD`. */
export const dayOf = (millis: number): string => new Date(millis).toISOString().slice(0, 10)
