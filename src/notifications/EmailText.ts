/** Writes the texts of emails from the facts of their notifications. */
import { formatUsd, type Nano } from "../domain/Money.ts"
import type { NotificationGroup } from "./NotificationsSql.ts"

export interface EmailText {
  readonly subject: string
  readonly body: string
}

/** The maximum number of notifications that an email lists one by one. */
const MAX_LISTED = 20

type Notification = NotificationGroup["notifications"][number]

/** Returns a fact of the notification without line breaks, because a name with line breaks could pose as a paragraph of the gateway. */
const word = ({ data }: Notification, name: string): string =>
  typeof data[name] === "string" ? data[name].replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ") : ""

/** Returns a time as `2026-03-01 09:30 UTC`. */
const moment = (at: string): string => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`

const dollars = (cents: unknown): string => (typeof cents === "number" ? `$${(cents / 100).toFixed(2)}` : "")

/** Returns the end of an email: the link to the settings. */
const footer = (base: string) => ["", `Choose which notifications you get: ${base}/settings`, ""]

const lowBalance = ({ posted }: NotificationGroup, base: string): EmailText => ({
  subject: `Your balance is ${formatUsd(posted as Nano)}`,
  body: [
    `The balance of your account is ${formatUsd(posted as Nano)}, below $5.00.`,
    "",
    "When it does not cover a request, the gateway refuses the request with 402.",
    `Top up: ${base}/billing`
  ].join("\n")
})

const budgetLine = (notification: Notification): string => {
  const { budget_cents: limit, spent_cents: spent, threshold_percent: percent } = notification.data
  const name = word(notification, "name") || "without a name"
  return `${word(notification, "scope") === "project" ? "The project" : "The key"} ${name} has spent ${percent}% of its ${word(notification, "period")} budget: ${dollars(spent)} of ${dollars(limit)}.`
}

const budgetAlerts = ({ notifications }: NotificationGroup, base: string): EmailText => ({
  subject:
    notifications.length === 1
      ? `${notifications[0]!.data["threshold_percent"]}% of the budget of ${word(notifications[0]!, "name") || "a key"} is spent`
      : `${notifications.length} budgets have reached a threshold`,
  body: [
    ...listed(notifications, budgetLine),
    "",
    "A budget that is spent refuses requests with 402.",
    `${base}/keys`
  ].join("\n")
})

const disabledLine = (notification: Notification): string =>
  `${moment(notification.at)}: the webhook endpoint ${word(notification, "url")} was disabled, because ${word(notification, "reason")}.`

const webhooksDisabled = ({ notifications }: NotificationGroup, base: string): EmailText => ({
  subject:
    notifications.length === 1
      ? "A webhook endpoint was disabled"
      : `${notifications.length} webhook endpoints were disabled`,
  body: [
    ...listed(notifications, disabledLine),
    "",
    "Its events wait for 5 days. Enable it again when it works, and it gets them.",
    `${base}/webhooks`
  ].join("\n")
})

const signInLine = (notification: Notification): string =>
  `${moment(notification.at)}: ${word(notification, "browser") || "an unknown browser"} at ${word(notification, "address") || "an unknown address"}`

const signIns = ({ notifications }: NotificationGroup, base: string): EmailText => ({
  subject: `New sign-in from ${word(notifications[0]!, "browser") || "an unknown browser"}`,
  body: [
    "Your account was signed in to from a browser or an address that it did not know:",
    "",
    ...listed(notifications, signInLine),
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

const keyLine = (notification: Notification): string => {
  const kind = word(notification, "kind") === "management" ? "The management key" : "The key"
  const shown = `${word(notification, "prefix")}…${word(notification, "last4")}`
  return `${moment(notification.at)}: ${kind} ${word(notification, "name")} (${shown}) was ${verbs[word(notification, "action")] ?? "changed"} ${actors[word(notification, "actor")] ?? "by the gateway"}.`
}

const keyChanges = ({ notifications }: NotificationGroup, base: string): EmailText => {
  const [first] = notifications
  const one = `The key ${word(first!, "name")} was ${verbs[word(first!, "action")] ?? "changed"}`
  return {
    subject: notifications.length === 1 ? one : `${notifications.length} changes of your keys`,
    body: [
      ...listed(notifications, keyLine),
      "",
      "If you did not expect this, revoke the key and look at the audit log:",
      `${base}/audit`
    ].join("\n")
  }
}

const listed = (
  notifications: ReadonlyArray<Notification>,
  line: (notification: Notification) => string
): ReadonlyArray<string> => {
  const more = notifications.length - MAX_LISTED
  return [...notifications.slice(0, MAX_LISTED).map(line), ...(more > 0 ? [`And ${more} more.`] : [])]
}

const writers = {
  low_balance: lowBalance,
  budget_alert: budgetAlerts,
  webhook_disabled: webhooksDisabled,
  sign_in: signIns,
  key_change: keyChanges
}

/** The maximum length of a subject, in characters: the line length that RFC 5322 recommends. A name in it could be longer. */
const LONGEST_SUBJECT = 78

/** Returns the email about a group of notifications. `base` is the URL of the console. */
export const emailOf = (group: NotificationGroup, base: string): EmailText => {
  const { body, subject } = writers[group.kind](group, base)
  return {
    subject: subject.length > LONGEST_SUBJECT ? `${subject.slice(0, LONGEST_SUBJECT - 1)}…` : subject,
    body: [body, ...footer(base)].join("\n")
  }
}

/** Returns the email to the former address of an account. It cannot be declined. */
export const emailChanged = (to: string, at: Date): EmailText => ({
  subject: "The email address of your account was changed",
  body: [
    `${moment(at.toISOString())}: the address of your account was changed to ${to}. Codes for signing in now go there, and every other`,
    "session was ended.",
    "",
    "If you did not do this, contact the operator of this service at once.",
    ""
  ].join("\n")
})
