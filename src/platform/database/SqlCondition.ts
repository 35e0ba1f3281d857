/** Describes to operators why a database refuses a connection or a statement. */
import type { SqlError } from "effect/sql"

/** The description of a class of failures. */
interface Condition {
  readonly words: string
  /** Whether the cause is the database's reachability or state, so that the same statement may succeed later. */
  readonly transient?: true
  /** Whether the server's message contains no values: it can only name identifiers, files and addresses. */
  readonly detail?: true
}

/** Keyed by SQLSTATE, or by its first characters for the rest of a class. */
const conditions: Readonly<Record<string, Condition>> = {
  "08": { words: "the connection to the database failed", transient: true, detail: true },
  "22": { words: "a value does not fit its column or function" },
  "23": { words: "a constraint of the database is violated" },
  "23505": { words: "a value is in the database already" },
  "25006": { words: "the database is read-only", transient: true, detail: true },
  "28": { words: "the database refuses the login", transient: true, detail: true },
  "28P01": { words: "the database refuses the password", transient: true, detail: true },
  "3D000": { words: "the database does not exist", detail: true },
  "40001": { words: "a concurrent transaction changed the same rows", transient: true },
  "40P01": { words: "two transactions waited for each other", transient: true },
  "42": { words: "the statement does not fit the database's schema", detail: true },
  "42501": { words: "the database's role lacks a privilege", transient: true, detail: true },
  "53": { words: "the database is out of resources", transient: true, detail: true },
  "53100": { words: "the database's disk is full", transient: true, detail: true },
  "53200": { words: "the database is out of memory", transient: true, detail: true },
  "53300": { words: "the database accepts no more connections", transient: true, detail: true },
  "54": { words: "the statement exceeds a limit of the database", detail: true },
  "55P03": { words: "a lock was not available in time", transient: true, detail: true },
  "57014": { words: "the database stopped the statement, which took too long", transient: true, detail: true },
  "57P": { words: "the database is restarting", transient: true, detail: true },
  "57P01": { words: "the database ended the connection", transient: true, detail: true },
  "57P03": { words: "the database is starting or stopping", transient: true, detail: true },
  "57P04": { words: "the database has been dropped", transient: true, detail: true },
  "57P05": { words: "the database ended an idle connection", transient: true, detail: true },
  "58": { words: "the database cannot read or write its files", transient: true, detail: true },
  XX: { words: "the database has an internal error" },
  XX001: { words: "a table of the database is damaged", detail: true },
  XX002: { words: "an index of the database is damaged", detail: true }
}

/** The description of a connection that gives no answer. */
export const UNANSWERED = "the database does not answer"

/** A member of the server's message, or of the system's error. */
const fieldOf = ({ reason: { cause } }: SqlError.SqlError, name: "code" | "constraint"): string => {
  const value = typeof cause === "object" && cause !== null ? (cause as Record<string, unknown>)[name] : undefined
  return typeof value === "string" ? value : ""
}

/** The five characters of SQLSTATE; empty for an error that no server sent. */
const stateOf = (error: SqlError.SqlError): string => {
  const code = fieldOf(error, "code")
  // System errors have codes too, such as ECONNREFUSED and EPIPE.
  return /^(?!E[A-Z]{4}$)[0-9A-Z]{5}$/.test(code) ? code : ""
}

const conditionOf = (error: SqlError.SqlError): Condition => {
  const { reason } = error
  const state = stateOf(error)
  if (state !== "") {
    const other: Condition =
      reason.operation === "connect"
        ? { words: "the database refuses connections", transient: true, detail: true }
        : { words: "the database refused a statement" }
    return conditions[state] ?? conditions[state.slice(0, 3)] ?? conditions[state.slice(0, 2)] ?? other
  }
  if (reason.message === UNANSWERED) return { words: UNANSWERED, transient: true }
  if (reason.operation === "connect" || reason._tag === "ConnectionError") {
    return { words: "the database cannot be reached", transient: true, detail: true }
  }
  return { words: "a statement could not be sent to the database" }
}

/** Whether a fault is in the database's reachability or state and not in the statement. A missing connection always is. */
export const isTransient = (error: SqlError.SqlError): boolean =>
  error.isRetryable || error.reason.operation === "connect" || conditionOf(error).transient === true

/**
 * One line for logs and operators: the database's condition in words, then SQLSTATE and the server's message. It omits the message
 * where it may quote the values of parameters.
 */
export const describeSqlError = (error: SqlError.SqlError): string => {
  const { reason } = error
  const { detail, words } = conditionOf(error)
  const state = stateOf(error)
  const mayTell = detail === true || reason.operation === "connect"
  const shownDetail = mayTell && reason.cause instanceof Error ? reason.cause.message : fieldOf(error, "constraint")
  const facts = [state === "" ? "" : `SQLSTATE ${state}`, shownDetail].filter((part) => part !== "").join(": ")
  return facts === "" ? words : `${words} (${facts.replaceAll(/\s*\n\s*/g, " ")})`
}
