/** Errors of the database as log lines tell them. */
import { Cause, Logger } from "effect"
import { SqlError } from "effect/sql"
import { describeSqlError } from "./SqlCondition.ts"

/** Errors within errors that are looked at. */
const MOST_NESTED = 8

/** The error of the database that an error is, or that it was made of. */
const sqlErrorIn = (value: unknown, depth = 0): SqlError.SqlError | undefined => {
  if (SqlError.isSqlError(value)) return value
  if (depth === MOST_NESTED) return undefined
  if (Cause.isCause(value)) {
    for (const reason of value.reasons) {
      if (reason._tag === "Interrupt") continue
      const found = sqlErrorIn(reason._tag === "Fail" ? reason.error : reason.defect, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  return value instanceof Error ? sqlErrorIn(value.cause, depth + 1) : undefined
}

/** A value without the error of the database in it, which says little and may quote parameters of the statement. */
const told = (value: unknown): unknown => {
  const found = sqlErrorIn(value)
  if (found === undefined) return value
  const words = describeSqlError(found)
  return value === found || !(value instanceof Error) ? words : `${value.message}: ${words}`
}

const causeInWords = (cause: Cause.Cause<unknown>): Cause.Cause<unknown> =>
  sqlErrorIn(cause) === undefined
    ? cause
    : Cause.fromReasons(
        cause.reasons.map((reason) => {
          if (reason._tag === "Interrupt") return reason
          return reason._tag === "Fail"
            ? Cause.makeFailReason(told(reason.error))
            : Cause.makeDieReason(told(reason.defect))
        })
      )

/** The same logger, which tells the database's condition in words in place of its client's errors. */
export const inWords = <Output>(logger: Logger.Logger<unknown, Output>): Logger.Logger<unknown, Output> =>
  Logger.make((entry) =>
    logger.log({
      ...entry,
      message: Array.isArray(entry.message) ? entry.message.map(told) : told(entry.message),
      cause: causeInWords(entry.cause)
    })
  )
