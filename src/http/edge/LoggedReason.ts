/** Describes why a request failed in words that a log may contain: none come from the caller or from a provider. */
import type { Failure, Reason } from "../../domain/Failure.ts"
import type { FailedAttempt } from "../../providers/pool/PoolError.ts"

/** Names of fields that a contract may contain. Longer and stranger ones are the caller's invention. */
const PLAIN_FIELD = /^[A-Za-z0-9_.[\]-]{1,80}$/

const fieldsOf = (problems: ReadonlyArray<{ readonly field: string }>): string => {
  const plain = problems.map(({ field }) => (PLAIN_FIELD.test(field) ? field : "a member"))
  return [...new Set(plain)].slice(0, 4).join(", ")
}

/** Why one attempt failed. */
const faultOf = ({ fault, provider }: FailedAttempt): string => {
  switch (fault?._tag) {
    case undefined:
      return `${provider} answered nothing`
    case "ServerError":
    case "Refused":
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

/** A replacement for reasons with a message that quotes the caller or a provider; undefined for the others. */
const unquoted = (reason: Reason): string | undefined => {
  switch (reason._tag) {
    case "InvalidJson":
      return "the body is not valid JSON"
    case "ValidationError":
      return `invalid ${fieldsOf(reason.problems)}`
    case "UnsupportedParameter":
      return `unsupported ${fieldsOf([{ field: reason.param }])}`
    case "UnknownModel":
      return "the catalogue has no such model"
    case "InvalidFallbackChain":
      return "invalid list of models"
    case "InvalidPeriod":
      return "invalid period"
    case "NotFound":
      return `there is no such ${reason.what}`
    case "UnknownRoute":
      return "there is nothing at this path"
    case "Conflict":
      return "it conflicts with what is there"
    case "ProviderRefused":
      return `${reason.provider} refused the request`
    case "GenerationFailed":
      return "the provider could not make it"
    case "BatchRequestFailed":
      return `request ${reason.index} of the batch failed`
    case "UpstreamError":
      return "no provider could serve the request"
    case "InternalError":
      return "a defect, logged beside this line"
    default:
      return undefined
  }
}

/** The cause of a failure. `sentence` is the message for its caller. */
export const loggedReason = ({ log, reason }: Failure, sentence: string): string => {
  const said = unquoted(reason) ?? sentence
  return isAttempts(log) ? `${said} (${log.map(faultOf).join("; ")})` : said
}
