/** Describes why a request failed in words that a log may contain: none come from the caller or from a provider. */
import type { Failure } from "../../domain/Failure.ts"
import { rowOf } from "../FailureRows.ts"
import { type FailedAttempt, isFiltered } from "../../providers/pool/PoolError.ts"

/** Why one attempt failed. */
const faultOf = ({ fault, provider }: FailedAttempt): string => {
  switch (fault?._tag) {
    case undefined:
      return `${provider} returned an empty answer`
    case "Refused":
      return isFiltered(fault) ? `${provider} filtered its whole answer` : `${provider} answered ${fault.status}`
    case "ServerError":
      return `${provider} answered ${fault.status}`
    case "Unauthorized":
      return `${provider} answered ${fault.status}: its key is not accepted`
    case "RateLimited":
      return `${provider} limits the gateway's rate`
    case "TimedOut":
      return `${provider} timed out (${fault.clock.replace("_", " ")})`
    case "Unreachable":
      return `${provider} cannot be reached`
    case "Broken":
      return `${provider} broke the connection`
    case "Malformed":
      return `${provider} sent a malformed answer`
    case "OffSchema":
      return `${provider} did not meet the schema`
    case "SchemaRefused":
      return `${provider} was not asked: the schema cannot be checked`
    case "Lost":
      return `the answer of ${provider} was lost`
  }
}

const isAttempts = (log: unknown): log is ReadonlyArray<FailedAttempt> =>
  Array.isArray(log) && log.length > 0 && log.every((one) => typeof one?.provider === "string" && "fault" in one)

/** The cause of a failure. `sentence` is the message for its caller. */
export const loggedReason = ({ log, reason }: Failure, sentence: string): string => {
  const text = rowOf(reason).unquoted?.(reason) ?? sentence
  return isAttempts(log) ? `${text} (${log.map(faultOf).join("; ")})` : text
}
