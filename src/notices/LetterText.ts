/** What letters say, from the facts of their notices. */
import { formatUsd, type Nano } from "../domain/Money.ts"
import type { NoticeGroup } from "./NoticesSql.ts"

export interface LetterText {
  readonly subject: string
  readonly body: string
}

/** The most notices that a letter lists one by one. */
const MOST_LISTED = 20

type Notice = NoticeGroup["notices"][number]

/** A text of the notice's facts without line breaks, which could otherwise pretend to be a paragraph of ours. */
const word = ({ data }: Notice, name: string): string =>
  typeof data[name] === "string" ? data[name].replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ") : ""

/** A moment as `2026-03-01 09:30 UTC`. */
const moment = (at: string): string => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`

const dollars = (cents: unknown): string => (typeof cents === "number" ? `$${(cents / 100).toFixed(2)}` : "")

/** The letter's end: where the owner chooses. */
const footer = (base: string) => ["", `Choose which notices you get: ${base}/settings`, ""]

const lowBalance = ({ posted }: NoticeGroup, base: string): LetterText => ({
  subject: `Your balance is ${formatUsd(posted as Nano)}`,
  body: [
    `The balance of your account is ${formatUsd(posted as Nano)}, below $5.00.`,
    "",
    "When it does not cover a request, the gateway refuses the request with 402.",
    `Top up: ${base}/billing`
  ].join("\n")
})

const budgetLine = (notice: Notice): string => {
  const { budget_cents: limit, spent_cents: spent, threshold_percent: percent } = notice.data
  const name = word(notice, "name") || "without a name"
  return `${word(notice, "scope") === "project" ? "The project" : "The key"} ${name} has spent ${percent}% of its ${word(notice, "period")} budget: ${dollars(spent)} of ${dollars(limit)}.`
}

const budgetAlerts = ({ notices }: NoticeGroup, base: string): LetterText => ({
  subject:
    notices.length === 1
      ? `${notices[0]!.data["threshold_percent"]}% of the budget of ${word(notices[0]!, "name") || "a key"} is spent`
      : `${notices.length} budgets have reached a threshold`,
  body: [...listed(notices, budgetLine), "", "A budget that is spent refuses requests with 402.", `${base}/keys`].join(
    "\n"
  )
})

const disabledLine = (notice: Notice): string =>
  `${moment(notice.at)}: the webhook endpoint ${word(notice, "url")} was disabled, because ${word(notice, "reason")}.`

const webhooksDisabled = ({ notices }: NoticeGroup, base: string): LetterText => ({
  subject:
    notices.length === 1 ? "A webhook endpoint was disabled" : `${notices.length} webhook endpoints were disabled`,
  body: [
    ...listed(notices, disabledLine),
    "",
    "Its events wait for 5 days. Enable it again when it works, and it gets them.",
    `${base}/webhooks`
  ].join("\n")
})

const signInLine = (notice: Notice): string =>
  `${moment(notice.at)}: ${word(notice, "browser") || "an unknown browser"} at ${word(notice, "address") || "an unknown address"}`

const signIns = ({ notices }: NoticeGroup, base: string): LetterText => ({
  subject: `New sign-in from ${word(notices[0]!, "browser") || "an unknown browser"}`,
  body: [
    "Your account was signed in to from a browser or an address that it did not know:",
    "",
    ...listed(notices, signInLine),
    "",
    "If that was you, there is nothing to do. If not, end the session and check who can read this mailbox,",
    "because the code for signing in was sent to it.",
    `${base}/settings`
  ].join("\n")
})

const verbs: Readonly<Record<string, string>> = { created: "created", rotated: "rotated", revoked: "revoked" }

const actors: Readonly<Record<string, string>> = {
  owner: "in the console",
  key: "by a management key",
  operator: "by the operator"
}

const keyLine = (notice: Notice): string => {
  const kind = word(notice, "kind") === "management" ? "The management key" : "The key"
  const shown = `${word(notice, "prefix")}…${word(notice, "last4")}`
  return `${moment(notice.at)}: ${kind} ${word(notice, "name")} (${shown}) was ${verbs[word(notice, "action")] ?? "changed"} ${actors[word(notice, "actor")] ?? "by the gateway"}.`
}

const keyChanges = ({ notices }: NoticeGroup, base: string): LetterText => {
  const [first] = notices
  const one = `The key ${word(first!, "name")} was ${verbs[word(first!, "action")] ?? "changed"}`
  return {
    subject: notices.length === 1 ? one : `${notices.length} changes of your keys`,
    body: [
      ...listed(notices, keyLine),
      "",
      "If you did not expect this, revoke the key and look at the audit log:",
      `${base}/audit`
    ].join("\n")
  }
}

const listed = (notices: ReadonlyArray<Notice>, line: (notice: Notice) => string): ReadonlyArray<string> => {
  const more = notices.length - MOST_LISTED
  return [...notices.slice(0, MOST_LISTED).map(line), ...(more > 0 ? [`And ${more} more.`] : [])]
}

const writers = {
  low_balance: lowBalance,
  budget_alert: budgetAlerts,
  webhook_disabled: webhooksDisabled,
  sign_in: signIns,
  key_change: keyChanges
}

/** The longest subject, as RFC 5322 recommends for a line. A name in it may be longer. */
const LONGEST_SUBJECT = 78

/** Returns the letter about a group of notices. `base` is the URL of the console. */
export const letterOf = (group: NoticeGroup, base: string): LetterText => {
  const { body, subject } = writers[group.kind](group, base)
  return {
    subject: subject.length > LONGEST_SUBJECT ? `${subject.slice(0, LONGEST_SUBJECT - 1)}…` : subject,
    body: [body, ...footer(base)].join("\n")
  }
}

/** Returns the letter to the former address of an account. It cannot be declined. */
export const emailChanged = (to: string, at: Date): LetterText => ({
  subject: "The email address of your account was changed",
  body: [
    `${moment(at.toISOString())}: the address of your account was changed to ${to}. Codes for signing in now go there, and every other`,
    "session was ended.",
    "",
    "If you did not do this, contact the operator of this service at once.",
    ""
  ].join("\n")
})
