/** Describes database errors in log lines. */
import { Cause, Logger } from "effect"
import { SqlError } from "effect/sql"
import { describeSqlError } from "../database/SqlCondition.ts"

/** The maximum nesting depth at which this looks for a database error. */
const MAX_NESTED = 8

/** The database error that this error is, or that caused it. */
const sqlErrorIn = (value: unknown, depth = 0): SqlError.SqlError | undefined => {
  if (SqlError.isSqlError(value)) return value
  if (depth === MAX_NESTED) return undefined
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

/** Returns the value without its database error, because that text says little and may quote the statement's parameters. */
const withoutDatabaseError = (value: unknown): unknown => {
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
            ? Cause.makeFailReason(withoutDatabaseError(reason.error))
            : Cause.makeDieReason(withoutDatabaseError(reason.defect))
        })
      )

/** Wraps a logger so that it describes the database's condition in words instead of printing the client's errors. */
export const inWords = <Output>(logger: Logger.Logger<unknown, Output>): Logger.Logger<unknown, Output> =>
  Logger.make((entry) =>
    logger.log({
      ...entry,
      message: Array.isArray(entry.message)
        ? entry.message.map(withoutDatabaseError)
        : withoutDatabaseError(entry.message),
      cause: causeInWords(entry.cause)
    })
  )
