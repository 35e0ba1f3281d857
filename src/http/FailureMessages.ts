/** The message of each failure, for callers. */
import type { FieldProblem, Reason } from "../domain/Failure.ts"
import { formatUsd, type Nano } from "../domain/Money.ts"

/** The maximum characters of a message, so that a response does not grow with the request it rejects. */
export const MAX_MESSAGE = 2_000

/** A text of at most `length` characters. */
export const clipped = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`

type InsufficientCredits = Extract<Reason, { readonly _tag: "InsufficientCredits" }>

const simulatedMessage = ({ available, needed }: InsufficientCredits, play: Nano): string =>
  [
    `This request may go to a real provider, and simulated money cannot pay a real provider.`,
    `It may cost ${formatUsd(needed)}; ${formatUsd(available)} of your balance is real, ${formatUsd(play)} is simulated.`,
    "To add real money, the operator runs `npm run admin -- topup --email <address> --amount-usd <usd>`."
  ].join(" ")

const keys = {
  inference: "an inference key (svc_sk_…)",
  management: "a management key (svc_mk_…)",
  operator: "an operator key (svc_ok_…)"
} as const

const creditsMessage = (reason: InsufficientCredits): string => {
  if (reason.play !== undefined && reason.limitSource === "balance") return simulatedMessage(reason, reason.play)
  if (reason.posted === 0n) return "Your balance is zero. Add funds to make paid requests."
  const cost = formatUsd(reason.needed)
  const has = formatUsd(reason.available)
  switch (reason.limitSource) {
    case "balance":
      return `This request may cost ${cost}, and your balance is ${has}. Add funds or ask for less output.`
    case "in_flight":
      return `This request may cost ${cost}, and ${has} of your balance is not held by running requests. Try again when they finish.`
    case "key_budget":
      return `This request may cost ${cost}, and ${has} is left in the budget of this key.`
    case "project_budget":
      return `This request may cost ${cost}, and ${has} is left in the budget of this key's project.`
  }
}

const unknownModelMessage = (reason: Extract<Reason, { readonly _tag: "UnknownModel" }>): string => {
  const meant = reason.nearest === undefined ? "" : `. Did you mean ${reason.nearest}?`
  return `${reason.detail ?? `There is no model ${reason.model}`}${meant || "."} GET /models lists all models`
}

/** The messages of reasons without details. */
const sentences = {
  MissingApiKey: "Send your API key as `Authorization: Bearer <key>`",
  InvalidApiKey: "This API key is unknown or revoked",
  NotSignedIn: "Sign in first",
  InvalidCode: "This code is wrong, used or expired; request a new one",
  RequestTimeout: "The request did not arrive in time",
  IdempotencyInProgress: "A request with this idempotency key is still running",
  IdempotencyKeyReused: "This idempotency key was used for another request",
  EmptyCompletion: "The model answered nothing. You were not charged",
  SearchFailed: "No search engine could answer. You were not charged",
  EmptyGeneration: "The model made no image. You were not charged",
  StatusCheckFailed: "The provider's status of this video is unavailable; try again",
  StoreUnavailable: "The service cannot reach its database or its file store; try again",
  Overloaded: "The service is receiving too much at once. You were not charged",
  HoldExpired: "The request was not finished before its hold expired",
  InternalError: "Something went wrong in this service"
} as const satisfies Partial<Record<Reason["_tag"], string>>

/** The beginnings of messages that go on from the name of their field. */
const PREDICATE = /^(?:must|is|are|could|cannot|requires|made)\b/

/** A problem of one field as a sentence. */
export const sentenceOfField = ({ field, message }: FieldProblem): string =>
  `\`${field}\`${PREDICATE.test(message) ? "" : ":"} ${message.replace(/\.?$/, ".")}`

const sentenceOf = (reason: Reason): string => {
  switch (reason._tag) {
    case "InvalidJson":
      return `The body is not valid JSON: ${reason.detail}`
    case "ValidationError":
      return reason.problems.map(sentenceOfField).join(" ")
    case "UnsupportedParameter":
    case "InvalidFallbackChain":
    case "InvalidPeriod":
    case "NoProviderAvailable":
    case "VideoUnavailable":
    case "ServiceUnavailable":
    case "Conflict":
    case "AccountSuspended":
    case "AccountClosed":
      return reason.detail
    case "UnknownModel":
      return unknownModelMessage(reason)
    case "NoModelInBudget":
      return `No model of this request fits a budget of ${reason.budgetCents} cents; the least would be ${formatUsd(reason.least)}`
    case "NotVisionCapable":
      return `${reason.model} does not accept images`
    case "NotToolCapable":
      return `${reason.model} does not support tools`
    case "ContextLengthExceeded":
      return `The prompt has about ${reason.tokens} tokens, more than the context window of ${reason.window}`
    case "ImageTooLarge":
      return `An image may have at most ${reason.limitBytes} bytes`
    case "WrongKeyKind":
      return `This operation needs ${keys[reason.needed]}`
    case "InsufficientScope":
      return `This key lacks the scope ${reason.scope}`
    case "CrossSiteRequest":
      return reason.detail ?? `${reason.header} must come from a page of this service`
    case "InsufficientCredits":
      return creditsMessage(reason)
    case "NotFound":
      return `There is no ${reason.what} ${reason.id}`
    case "UnknownRoute":
      return `There is nothing at ${reason.method} ${reason.path}${reason.hint === undefined ? "" : `; ${reason.hint}`}`
    case "MethodNotAllowed":
      return `${reason.method} is not allowed here; use ${reason.allowed.join(" or ")}`
    case "KeyLimitReached":
      return `An account has at most ${reason.limit} active inference keys`
    case "RequestTooLarge":
      return `The body may have at most ${reason.limitBytes} bytes`
    case "UnsupportedMediaType":
      return `Send the body as ${reason.wanted ?? "application/json"}`
    case "IdempotencyResultUnavailable":
      return `The answer of ${reason.requestId} was not kept; its receipt, or else the audit log, says what became of it`
    case "RateLimitExceeded":
      return `${reason.detail ?? `More than ${reason.limit} requests in this window`}; try again in ${reason.retryAfterSeconds} s`
    case "ProviderRefused":
    case "ProviderOverflow":
    case "ContentPolicyViolation":
      return `${reason.provider} refused the request: ${reason.detail}`
    case "GenerationFailed":
      return `The generation failed (${reason.detail}). You were not charged`
    case "BatchRequestFailed":
      return `Request ${reason.index} of the batch failed: ${reason.detail}`
    case "UpstreamError":
      return `No provider could serve this request (${reason.detail})`
    case "UpstreamRateLimited":
      return `Every provider of this request is limiting the gateway's rate; try again in ${reason.retryAfterSeconds} s. You were not charged`
    case "UpstreamTimeout":
      return `No provider answered in time (${reason.clock.replace("_", " ")})`
    default:
      return sentences[reason._tag]
  }
}

/** The message for the caller, of at most 2,000 characters. It contains nothing that only operators may read. */
export const messageOf = (reason: Reason): string => clipped(sentenceOf(reason), MAX_MESSAGE)
