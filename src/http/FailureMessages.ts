/** Builds the parts of failure messages. */
import type { FieldProblem, Reason } from "../domain/Failure.ts"
import { formatUsd, type Nano } from "../domain/Money.ts"

/** The maximum characters of a message, so that a response does not grow with the request it rejects. */
export const MAX_MESSAGE = 2_000

/** A text with a full stop at its end, unless it already ends like a sentence. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** A text of at most `length` characters. */
export const clipText = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`

type InsufficientCredits = Extract<Reason, { readonly _tag: "InsufficientCredits" }>

const simulatedMessage = ({ available, needed }: InsufficientCredits, play: Nano): string =>
  [
    `This request may go to a real provider, and simulated money cannot pay a real provider.`,
    `It may cost ${formatUsd(needed)}; ${formatUsd(available)} of your balance is real, ${formatUsd(play)} is simulated.`,
    "To add real money, the operator runs `npm run admin -- topup --email <address> --amount-usd <usd>`."
  ].join(" ")

/** Kinds of keys, as messages name them. */
export const keyNames = {
  inference: "an inference key (svc_sk_…)",
  management: "a management key (svc_mk_…)",
  operator: "an operator key (svc_ok_…)"
} as const

/** Names the limit that refuses a hold. */
export const creditsMessage = (reason: InsufficientCredits): string => {
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
    case "account_budget":
      return `This request may cost ${cost}, and ${has} is left of what this account may spend today (UTC).`
  }
}

/** Names the unknown model, and the model that the client probably meant. */
export const unknownModelMessage = (reason: Extract<Reason, { readonly _tag: "UnknownModel" }>): string => {
  const meant = reason.nearest === undefined ? "" : `. Did you mean ${reason.nearest}?`
  return `${reason.detail ?? `There is no model ${reason.model}`}${meant || "."} GET /models lists all models`
}

/** Methods in the order in which messages list them. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

/** Names the methods that a path has. */
export const methodMessage = ({ allowed, method }: Extract<Reason, { readonly _tag: "MethodNotAllowed" }>): string => {
  const [last, ...others] = allowed.toSorted((a, b) => METHODS.indexOf(b) - METHODS.indexOf(a))
  const first = others.length === 0 ? "" : `${others.toReversed().join(", ")} or `
  return `${method} is not allowed here; use ${first}${last}`
}

/** States the length of a prompt and the maximum length. */
export const contextMessage = ({
  tokens,
  window
}: Extract<Reason, { readonly _tag: "ContextLengthExceeded" }>): string =>
  `The prompt has about ${tokens.toLocaleString("en-US")} tokens, more than the context window of ${window.toLocaleString("en-US")}`

/** The maximum number of unknown names in a message. */
const MAX_NAMES = 4

/** Says why no provider is left, and which names of the caller's no provider has. */
export const noProviderMessage = ({
  detail,
  unknownProviders = []
}: Extract<Reason, { readonly _tag: "NoProviderAvailable" }>): string => {
  if (unknownProviders.length === 0) return detail
  const names = unknownProviders.slice(0, MAX_NAMES).map((name) => `"${name}"`)
  const more = unknownProviders.length > MAX_NAMES ? ` and ${unknownProviders.length - MAX_NAMES} more` : ""
  return `${detail}. The gateway has no provider ${names.join(", ")}${more}`
}

const PAID = "you pay for the output you received"

/** Says that no provider could serve, or which provider broke off. */
export const upstreamMessage = ({ detail, provider }: Extract<Reason, { readonly _tag: "UpstreamError" }>): string =>
  provider === undefined ? `No provider could serve this request (${detail})` : `${provider} broke off; ${PAID}`

/** Says which time limit ended, and with whom if the output began. */
export const timeoutMessage = ({ clock, provider }: Extract<Reason, { readonly _tag: "UpstreamTimeout" }>): string => {
  const limit = clock.replace("_", " ")
  return provider === undefined
    ? `No provider answered in time (${limit})`
    : `${provider} did not finish in time (${limit}); ${PAID}`
}

/** The first words of messages that continue after the name of a field. */
const PREDICATE = /^(?:must|is|are|could|cannot|requires|made)\b/

/** A problem of one field as a sentence. */
export const sentenceOfField = ({ field, message }: FieldProblem): string =>
  `\`${field}\`${PREDICATE.test(message) ? "" : ":"} ${message.replace(/\.?$/, ".")}`

/** Matches names of fields that a contract may contain. The caller has invented any other name. */
const PLAIN_FIELD = /^[A-Za-z0-9_.[\]-]{1,80}$/

/** At most four fields, without names that the caller invented. */
export const plainFields = (problems: ReadonlyArray<Pick<FieldProblem, "field">>): string => {
  const plain = problems.map(({ field }) => (PLAIN_FIELD.test(field) ? field : "a member"))
  return [...new Set(plain)].slice(0, 4).join(", ")
}
